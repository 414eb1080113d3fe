/** A change that was stored late took over another process's outcome in silence: polls went on, and waiters hung. */
import { expect, test } from "vitest";
import { done, handle, rig, startTask, state, testStore, text, virtualClock } from "../engine/support.js";

test("an outcome that is found while a refused write is repeated is told, and ends the polls", async () => {
  const clock = virtualClock();
  const store = testStore(clock);
  const seen = [state(), state({ statusMessage: "half" })];
  const a = await rig({ "tools/call": handle(), "tasks/get": seen }, { clock, store, leaseMs: 0 });
  const task = await startTask(a);
  await clock.advance(1500);
  // This process cannot write for a moment, and another one, which can, finds the end.
  store.refuses = (value) => value.includes("half");
  await clock.advance(1000);
  const b = await rig({ "tasks/get": done() }, { clock, store, leaseMs: 0 });
  const found = await b.client.task(task.id);
  expect(await b.within(found!.result(), 1500)).toEqual(text("done"));
  store.refuses = () => false;
  expect(await a.within(task.result(), 5000)).toEqual(text("done"));
  const polls = a.connection.requestsOf("tasks/get").length;
  await clock.advance(30_000);
  expect(a.connection.requestsOf("tasks/get")).toHaveLength(polls);
});
