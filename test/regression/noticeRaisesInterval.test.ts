/** A notice made the interval longer; the poll that had been planned by the shorter one went out all the same. */
import { expect, test } from "vitest";
import { pushRig } from "../engine/pushSupport.js";
import { virtualClock } from "../engine/support.js";

test("a poll keeps the interval in force when it goes out, not the one it was planned by", async () => {
  const run = await pushRig(virtualClock(), [{ accept: (taskIds) => taskIds }], {
    hint: 10_000,
    poll: { jitter: 0 },
  });
  await run.within(run.client.callTool("srv", { name: "build" }));
  // The first poll, and the stream that it is worth; the catch-up is planned for 20 s.
  await run.clock.advance(12_000);
  expect(run.times("tasks/get")).toEqual([10_000]);
  run.change({ pollIntervalMs: 60_000, statusMessage: "later" });
  await run.clock.advance(57_000);
  expect(run.times("tasks/get")).toEqual([10_000]);
  await run.clock.advance(2000);
  expect(run.times("tasks/get")).toEqual([10_000, 70_000]);
});
