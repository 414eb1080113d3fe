/** A cancel that the server acknowledged and forgot could never be asked for again. */
import { expect, test } from "vitest";
import { ack, handle, rig, startTask, state } from "../engine/support.js";

test("a second cancel of a task that runs on is sent", async () => {
  let cancels = 0;
  const run = await rig({
    "tools/call": handle(),
    "tasks/get": () => state({ status: cancels > 1 ? "cancelled" : "working" }),
    "tasks/cancel": () => ((cancels += 1), ack),
  });
  const task = await startTask(run);
  await run.within(task.cancel());
  await run.clock.advance(9000);
  expect([task.status, cancels]).toEqual(["working", 1]);
  await run.within(task.cancel());
  expect(await run.within(task.settled())).toMatchObject({ status: "cancelled", cancelRequested: true });
  expect(cancels).toBe(2);
});
