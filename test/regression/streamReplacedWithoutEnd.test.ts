/** Where long tasks kept coming, the stream was replaced every two seconds, and each time every task was polled: push saved nothing. */
import { expect, test } from "vitest";
import { pushRig } from "../engine/pushSupport.js";
import { startTask, text, virtualClock } from "../engine/support.js";

test("a host that starts a task every three seconds pays for push with few streams and few polls", async () => {
  const run = await pushRig(virtualClock(), [{}], { concurrency: 64 });
  const first = (await startTask(run)).settled();
  for (let n = 1; n <= 100; n += 1) {
    (await startTask(run)).settled().catch(() => undefined);
    await run.clock.advance(3000);
    // Each lives for half a minute.
    if (n > 10) run.change({ status: "completed", result: text("x") }, `task-${n - 10}`);
  }
  const polls = run.connection.requestsOf("tasks/get").filter(({ params }) => params["taskId"] === "task-0");
  // 60 without push.
  expect(polls.length).toBeLessThanOrEqual(20);
  expect(run.streams.length).toBeLessThanOrEqual(16);
  run.change({ status: "completed", result: text("x") });
  expect(await run.within(first)).toMatchObject({ status: "completed" });
  // All that live are on the stream half a minute later.
  await run.clock.advance(35_000);
  expect(run.stream.taskIds).toHaveLength(10);
});
