/**
 * A server that had refused an answer showed the task once without its questions (a read that was behind): the refused one
 * counted as over, and was never asked again; and its answer was listed twice.
 */
import { expect, test } from "vitest";
import { RpcError } from "../../src/index.js";
import { ack, asks, form, handle, rig, startTask, state, virtualClock, yes } from "../engine/support.js";

test("a refused question that is shown again is asked again", async () => {
  const clock = virtualClock();
  let refuses = true;
  let shows = true;
  const run = await rig(
    {
      "tools/call": handle(),
      "tasks/get": () => (shows ? asks({ k: form() }) : state()),
      "tasks/update": () => (refuses ? new RpcError({ code: -32602, message: "no" }) : ack),
    },
    { clock },
  );
  const task = await startTask(run);
  task.settled().catch(() => undefined);
  await clock.advance(1500);
  await run.within(task.respond("k", yes).catch(() => undefined));
  await clock.advance(1500);
  expect(run.told.of("error")).toMatchObject([{ error: { name: "InputNotTakenError" } }]);
  shows = false;
  await clock.advance(5000);
  expect(task.pendingInputs).toEqual([]);
  expect(task.answers).toHaveLength(1);
  shows = true;
  refuses = false;
  await clock.advance(5000);
  expect(task.pendingInputs).toMatchObject([{ key: "k" }]);
  await run.within(task.respond("k", yes));
  await clock.advance(1500);
  expect(task.answers).toHaveLength(2);
});
