/**
 * A process that went while the calls of another one were being taken over left its own to nobody: the taking over
 * under way had passed them by, and counted for both.
 */
import { expect, test } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import type { KeyValueStore } from "../../src/store/types.js";
import { done, handle, rig, startTask, state, virtualClock } from "../engine/support.js";

test("the calls of both are taken over", async () => {
  const clock = virtualClock();
  const inner = memoryStore(clock);
  let slow = false;
  const store: KeyValueStore = {
    ...inner,
    async setIfUnchanged(key, ...args) {
      // Claims take a while, beats do not.
      if (slow && !key.endsWith("!roster")) {
        await new Promise<void>((resolve) => clock.setTimer(12_000, resolve));
      }
      return inner.setIfUnchanged(key, ...args);
    },
  };
  const script = (taskId: string) => ({ "tools/call": handle({ taskId }), "tasks/get": state({ taskId }) });
  const one = await rig(script("task-1"), { clock, store: inner });
  await startTask(one);
  const other = await rig(script("task-2"), { clock, store: inner });
  await startTask(other);
  const left = await rig(
    { "tasks/get": ({ params }) => Promise.resolve(done("done", { taskId: params["taskId"] as string })) },
    { clock, store },
  );
  await clock.advance(1000);
  slow = true;
  for (const gone of [one, other]) {
    const closed = gone.client.close({ timeoutMs: 100 });
    await clock.advance(200);
    await closed;
    await clock.advance(7000);
  }
  slow = false;
  await clock.advance(60_000);
  expect(left.told.of("settled")).toHaveLength(2);
});
