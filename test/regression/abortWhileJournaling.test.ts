/** A caller that left while the intent was being written waited on, and its call was sent all the same. */
import { expect, test } from "vitest";
import { handle, rig, state, virtualClock } from "../engine/support.js";
import { memoryStore } from "../../src/store/memory.js";

const tool = { name: "deploy", arguments: { env: "prod" } };

test("an abort while the intent is being journaled ends the wait at once, and nothing is sent", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const write = store.setIfAbsent.bind(store);
  store.setIfAbsent = async (...args) => {
    await new Promise<void>((resolve) => clock.setTimer(5000, resolve));
    return write(...args);
  };
  const run = await rig({ "tools/call": handle(), "tasks/get": state() }, { clock, store });
  const controller = new AbortController();
  const call = run.client.callTool("srv", tool, { callId: "c1", signal: controller.signal });
  const ended = expect(call).rejects.toThrow("the user left");
  await clock.advance(1000);
  controller.abort(new Error("the user left"));
  await ended;
  expect(clock.monotonic()).toBe(1000);
  await clock.advance(10_000);
  expect(run.connection.requestsOf("tools/call")).toEqual([]);
  expect(await run.client.tasks()).toEqual([]);
});
