/**
 * A process that was started anew over a store that takes no writes (its disk is full) could not take its predecessor
 * off the roster, took the calls for that one's, and looked after none.
 */
import { expect, test } from "vitest";
import { handle, rig, startTask, state, testStore, virtualClock } from "../engine/support.js";

test("its calls are looked after all the same", async () => {
  const clock = virtualClock();
  const store = testStore(clock);
  const a = await rig({ "tools/call": handle(), "tasks/get": state() }, { clock, store, instance: "one" });
  await startTask(a);
  store.refuses = () => true;
  const b = await rig({ "tasks/get": state() }, { clock, store, instance: "one" });
  await clock.advance(10_000);
  expect(b.times("tasks/get").length).toBeGreaterThan(5);
});
