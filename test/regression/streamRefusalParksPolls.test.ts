/** A Retry-After of a day on `subscriptions/listen` kept every poll, answer and cancel from the server for that day. */
import { expect, test } from "vitest";
import { ConnectionError } from "../../src/index.js";
import { pushRig } from "../engine/pushSupport.js";
import { startTask, text, virtualClock } from "../engine/support.js";

const DAY_MS = 86_400_000;

test("streams stay away for as long as they are asked to; polls come back within a minute, and find the end", async () => {
  const busy = new ConnectionError("HTTP 503", { status: 503, retryAfterMs: DAY_MS, mayHaveRun: false });
  const run = await pushRig(virtualClock(), [{ refuse: busy }]);
  const settled = (await startTask(run)).settled();
  await run.clock.advance(10_000);
  expect(run.streams).toHaveLength(1);
  run.changeQuietly({ status: "completed", result: text("done") });
  expect(await run.within(settled, 120_000)).toMatchObject({ status: "completed" });
  const next = (await startTask(run)).settled();
  next.catch(() => undefined);
  await run.clock.advance(DAY_MS / 2);
  expect(run.streams).toHaveLength(1);
});

test("where the server asks the same of polls, they obey", async () => {
  const busy = new ConnectionError("HTTP 429", { status: 429, retryAfterMs: 3_600_000, mayHaveRun: false });
  const run = await pushRig(virtualClock(), [{ refuse: busy }]);
  const settled = (await startTask(run)).settled();
  settled.catch(() => undefined);
  await run.clock.advance(6000);
  run.connection.script("tasks/get", busy);
  await run.clock.advance(3_600_000);
  expect(run.times("tasks/get")).toHaveLength(2);
});
