/** An answer that waited for a server to be reachable left as it was, though a notice had put another question in the meantime. */
import { expect, test } from "vitest";
import { ConnectionError } from "../../src/index.js";
import { pushRig } from "../engine/pushSupport.js";
import { form, handle, startTask, virtualClock, yes } from "../engine/support.js";

test("an answer whose question changes while it waits to be sent is not sent", async () => {
  const busy = new ConnectionError("busy", { mayHaveRun: false, status: 429, retryAfterMs: 60_000 });
  const run = await pushRig(virtualClock(), [{}], {
    calls: (_request, n) => (n === 0 ? handle({ taskId: "task-0", pollIntervalMs: 5000 }) : busy),
  });
  const task = await startTask(run);
  // Somebody waits, so the stream stays open.
  task.settled().catch(() => undefined);
  await run.clock.advance(30_000);
  const asks = (message: string, at: string): void =>
    run.change(
      {
        status: "input_required",
        inputRequests: { a: form(message) },
        lastUpdatedAt: `2030-01-01T10:${at}:00.000Z`,
      },
      "task-0",
    );
  asks("Read the file?", "01");
  await run.clock.advance(10);
  expect(task.pendingInputs).toHaveLength(1);

  void run.client.callTool("srv", { name: "build" }).catch(() => undefined);
  await run.clock.advance(10);
  await run.within(task.respond("a", yes));
  await run.clock.advance(1000);
  expect(run.times("tasks/update")).toEqual([]);
  asks("Delete the file?", "02");
  await run.clock.advance(10);
  // The notice has told it, and the answer is still waiting.
  expect(run.told.of("error")).toHaveLength(1);
  expect(run.times("tasks/update")).toEqual([]);
  await run.clock.advance(200_000);
  expect(run.told.of("error")).toMatchObject([{ error: { name: "InvalidResponseError" } }]);
  expect(run.times("tasks/update")).toEqual([]);
  // The server is asked about the task all the same.
  expect(run.times("tasks/get").at(-1)).toBeGreaterThan(91_000);
});
