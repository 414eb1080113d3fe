/** A process that was stopped with a call in its queue sent it when it woke, after another one had taken it over and sent it. */
import { expect, test } from "vitest";
import { ConnectionError } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { memoryStore } from "../../src/store/memory.js";
import type { KeyValueStore } from "../../src/store/types.js";
import type { FakeClock } from "../../src/testing/index.js";
import { handle, rig, state, text, virtualClock } from "../engine/support.js";

const LEASE_MS = 15_000;

/** A store, and one process's way to it, which can be stopped for a while. */
function stoppable(clock: FakeClock) {
  const store = memoryStore(clock);
  let stopped: Promise<void> | undefined;
  let wake = (): void => undefined;
  const mine: KeyValueStore = {
    ...store,
    get: async (...args) => (await stopped, store.get(...args)),
    setIfAbsent: async (...args) => (await stopped, store.setIfAbsent(...args)),
    setIfUnchanged: async (...args) => (await stopped, store.setIfUnchanged(...args)),
  };
  const stop = (): void => void (stopped = new Promise((resolve) => (wake = resolve)));
  const goOn = (): void => {
    stopped = undefined;
    wake();
  };
  return { store, mine, stop, goOn };
}

test("a call whose server asked for patience is sent by the process that has it then, and by no other", async () => {
  const clock = virtualClock();
  const { store, mine, stop, goOn } = stoppable(clock);
  let calls = 0;
  const executed: string[] = [];
  const call = (name: string) => (): JsonObject | Error => {
    calls += 1;
    if (calls === 1)
      return new ConnectionError("busy", { mayHaveRun: false, status: 429, retryAfterMs: 2 * LEASE_MS });
    executed.push(name);
    return handle();
  };
  const a = await rig({ "tools/call": call("a"), "tasks/get": state() }, { clock, store: mine });
  a.client.callTool("srv", { name: "deploy" }, { callId: "c1", timeoutMs: 600_000 }).catch(() => undefined);
  await clock.advance(1000);
  const b = await rig({ "tools/call": call("b"), "tasks/get": state() }, { clock, store });
  stop();
  await clock.advance(3 * LEASE_MS);
  goOn();
  await clock.advance(4 * LEASE_MS);
  expect(executed).toEqual(["b"]);
  expect((await b.client.task("c1"))?.taskId).toBe("task-secret-1");
});

test("so is a call that queued, when its process does not know yet that it was taken for dead", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const executed: string[] = [];
  const call =
    (process: string) =>
    async ({ params }: { params: JsonObject }): Promise<JsonObject> => {
      const name = params["name"] as string;
      executed.push(`${process} ${name}`);
      await new Promise<void>((resolve) => clock.setTimer(13_000, resolve));
      return text(name);
    };
  const a = await rig({ "tools/call": call("a") }, { clock, store, concurrency: 1 });
  for (const name of ["first", "second"]) {
    a.client.callTool("srv", { name }, { callId: name, timeoutMs: 600_000 }).catch(() => undefined);
    await clock.advance(100);
  }
  await clock.advance(2300);
  await rig({ "tools/call": call("b"), "tools/list": { tools: [] } }, { clock, store });
  await clock.advance(7600);
  // Signs of life at 10 s and 12.5 s are between: who looks next finds nobody, and the first call ends after that.
  for await (const [key] of store.entries("")) if (key.endsWith("!roster")) await store.delete(key);
  await clock.advance(60_000);
  expect(executed).toEqual(["a first", "b second"]);
});
