/** A second `close()` (that of `await using`) resolved while the first one still waited for a call under way. */
import { expect, test } from "vitest";
import { handle, rig, state, virtualClock } from "../engine/support.js";
import { memoryStore } from "../../src/store/memory.js";

test("every close() resolves when the client is closed", async () => {
  const clock = virtualClock();
  const call = async (): Promise<ReturnType<typeof handle>> => {
    await new Promise<void>((resolve) => clock.setTimer(2000, resolve));
    return handle();
  };
  const store = memoryStore(clock);
  const run = await rig({ "tools/call": call, "tasks/get": state() }, { clock, store });
  run.client.callTool("srv", { name: "deploy" }, { callId: "c1" }).catch(() => undefined);
  await clock.advance(500);
  const first = run.client.close({ timeoutMs: 5000 });
  await run.within(run.client[Symbol.asyncDispose]());
  expect(clock.monotonic()).toBe(2000);
  await first;
});
