/** A task that was forgotten while something of it was under way came back, or was watched on. */
import { expect, test } from "vitest";
import { asks, form, handle, rig, startTask, state, virtualClock } from "../engine/support.js";
import { memoryStore } from "../../src/store/memory.js";

test("an answer that is being read does not bring it back", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const get = asks({ k: form() }, { pollIntervalMs: -1 });
  const run = await rig({ "tools/call": handle(), "tasks/get": get }, { clock, store });
  const task = await startTask(run);
  let forgotten: Promise<void> | undefined;
  // The wrong interval is reported when the answer is there, and its questions are still to be read.
  run.client.on("error", () => void (forgotten ??= task.forget()));
  await clock.advance(1500);
  expect(forgotten).toBeDefined();
  await forgotten;
  await clock.advance(5000);
  expect(await run.client.tasks()).toEqual([]);
});

test("an older handle forgets the task that was taken up again", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const options = { clock, store, poll: { giveUpAfterMs: 2500 } };
  const run = await rig({ "tools/call": handle(), "tasks/get": state() }, options);
  const task = await startTask(run);
  expect(await run.within(task.settled())).toMatchObject({ reason: "gave-up" });
  await run.client.resume();
  await task.forget();
  const polls = run.connection.requestsOf("tasks/get").length;
  await clock.advance(60_000);
  expect(run.connection.requestsOf("tasks/get")).toHaveLength(polls);
  expect(await run.client.tasks()).toEqual([]);
});

test("the store is not read any more for it", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const run = await rig({ "tools/call": handle(), "tasks/get": asks({ k: form() }) }, { clock, store });
  const task = await startTask(run);
  await clock.advance(1500);
  expect(task.pendingInputs).toHaveLength(1);
  const read = store.get.bind(store);
  store.get = async (key) => {
    await new Promise<void>((resolve) => clock.setTimer(100, resolve));
    return read(key);
  };
  // In the middle of a look into the store.
  await clock.advance(2050 - 500);
  await run.within(task.forget());
  const { reads } = run.client.stats().store;
  await clock.advance(60_000);
  expect(run.client.stats().store.reads).toBe(reads);
});
