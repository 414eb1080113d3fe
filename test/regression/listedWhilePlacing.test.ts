import { expect, it } from "vitest";
import { ack, done, handle, rig, testStore, virtualClock } from "../engine/support.js";

/** A store whose first write of a call is done at once, and acknowledged when `acknowledge` is called. */
function slowToAcknowledge() {
  const clock = virtualClock();
  const store = testStore(clock);
  const create = store.setIfAbsent?.bind(store);
  let acknowledge = (): void => undefined;
  const acknowledged = new Promise<void>((resolve) => (acknowledge = resolve));
  let isWritten = false;
  return {
    clock,
    acknowledge,
    isWritten: () => isWritten,
    store: Object.assign(store, {
      async setIfAbsent(key: string, value: string, ttlMs: number | undefined) {
        const created = (await create?.(key, value, ttlMs)) === true;
        if (!value.includes('"phase":"calling"')) return created;
        isWritten = true;
        await acknowledged;
        return created;
      },
    }),
  };
}

const script = { "tools/call": handle(), "tasks/get": done(), "tasks/update": ack };

it("a call that is listed or looked up while its intent is being stored is sent all the same", async () => {
  const { clock, store, acknowledge, isWritten } = slowToAcknowledge();
  const run = await rig(script, { clock, store });
  const calling = run.client.callTool("srv", { name: "deploy" }, { callId: "a" });
  await clock.runUntil(isWritten, 1000);
  // What reads the store finds the record; nobody may take it for a call that was left behind.
  const listed = await run.client.tasks();
  const looked = run.client.task("a");
  await clock.advance(0);
  acknowledge();
  const call = await run.within(calling);
  expect(call).toMatchObject({ kind: "task" });
  expect(run.connection.requestsOf("tools/call")).toHaveLength(1);
  expect(listed.map(({ id }) => id)).toEqual([]);
  expect(await run.within(looked)).toMatchObject({ id: "a", status: "working" });
});
