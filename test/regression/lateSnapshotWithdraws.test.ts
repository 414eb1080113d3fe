/**
 * Polls and a stream are two ways: what was sent before a question could arrive after it. Where the server's times do not
 * tell (whole seconds, or none), the question was withdrawn for up to a minute, and then put to the person again.
 */
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/internal/json.js";
import { pushRig, type PushRig } from "../engine/pushSupport.js";
import { form, startTask, state, virtualClock } from "../engine/support.js";

const asking: JsonObject = { status: "input_required", inputRequests: { k1: form() } };

async function rigOf(answerMs: number): Promise<{ run: PushRig; asked: string[] }> {
  const asked: string[] = [];
  const run = await pushRig(virtualClock(), [{}], {
    push: "always",
    answerMs,
    onInputRequest(request) {
      asked.push(request.key);
      return undefined;
    },
  });
  const settled = (await startTask(run)).settled();
  settled.catch(() => undefined);
  return { run, asked };
}

test("an answer that a notice overtook withdraws nothing; the next one decides", async () => {
  const { run, asked } = await rigOf(500);
  // The poll of 5000 has its answer, and is on the way back with it.
  await run.clock.advance(5100);
  run.change(asking);
  await run.clock.advance(2000);
  expect(asked).toEqual(["k1"]);
  expect(run.told.of("inputWithdrawn")).toEqual([]);
  // Not a minute later: what was left out is asked for at the usual pace.
  run.changeQuietly({ status: "working", inputRequests: {} });
  await run.clock.advance(5000);
  expect(run.told.of("inputWithdrawn")).toHaveLength(1);
});

test("a notice that a poll overtook withdraws nothing, and makes the next poll come", async () => {
  const { run, asked } = await rigOf(0);
  await run.clock.advance(1000);
  run.changeQuietly(asking);
  await run.clock.advance(5000);
  expect(asked).toEqual(["k1"]);
  const before = run.times("tasks/get").length;
  run.stream.push(state({ taskId: "task-0", pollIntervalMs: 5000 }));
  await run.clock.advance(6000);
  expect(asked).toEqual(["k1"]);
  expect(run.told.of("inputWithdrawn")).toEqual([]);
  expect(run.times("tasks/get").length).toBe(before + 1);
});

test("a notice that shows to be newer withdraws at once", async () => {
  const { run } = await rigOf(0);
  await run.clock.advance(1000);
  run.change(asking);
  await run.clock.advance(10);
  run.stream.push(state({ taskId: "task-0", pollIntervalMs: 5000, lastUpdatedAt: "2026-08-01T00:00:02Z" }));
  await run.clock.advance(10);
  expect(run.told.of("inputWithdrawn")).toHaveLength(1);
});

test("a server whose answers contradict its notices is believed in its answers", async () => {
  const { run } = await rigOf(500);
  await run.clock.advance(5100);
  run.stream.push(state({ taskId: "task-0", pollIntervalMs: 5000, ...asking }));
  await run.clock.advance(5500);
  run.stream.push(state({ taskId: "task-0", pollIntervalMs: 5000, ...asking }));
  await run.clock.advance(1000);
  expect(run.told.of("inputWithdrawn")).toHaveLength(1);
});
