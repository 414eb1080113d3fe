/** Field cases of polling: when a task is looked at, and what one look may and may not do. */
import { describe, expect, test } from "vitest";
import { ConnectionError, RpcError, TaskLostError, type TaskHandle } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import type { FakeClock, ScriptedRequest } from "../../src/testing/index.js";
import { done, gaps, handle, rig, startTask, state, text, virtualClock, type Rig } from "./support.js";

const taskId = ({ params }: ScriptedRequest): string => params["taskId"] as string;

test.each([
  ["working", handle({ pollIntervalMs: 5000 })],
  ["input_required without its requests", handle({ pollIntervalMs: 5000, status: "input_required" })],
  ["completed without its result", handle({ pollIntervalMs: 5000, status: "completed" })],
])("F034: the first poll is not before the handle's hint: %s", async (_what, seed) => {
  const run = await rig({ "tools/call": seed, "tasks/get": state({ pollIntervalMs: 5000 }) });
  await startTask(run);
  await run.clock.advance(12_000);
  expect(run.times("tasks/get")).toEqual([5000, 10_000]);
});

test.each([-1, 0])("F035: a hint of %i falls back to the default", async (pollIntervalMs) => {
  const run = await rig({ "tools/call": handle({ pollIntervalMs }), "tasks/get": state({ pollIntervalMs }) });
  await startTask(run);
  await run.clock.advance(2000);
  expect(run.times("tasks/get")).toEqual([1000, 2000]);
});

test.each([[NaN], [1e400], ["5"], [null], [true], [[]], [2 ** 53]])(
  "F037: an unusable hint (%s): default spacing, one warning for the handle and one for all polls, no throw",
  async (hint) => {
    const pollIntervalMs = hint as unknown as number;
    const run = await rig({
      "tools/call": handle({ pollIntervalMs }),
      "tasks/get": state({ pollIntervalMs }),
    });
    await startTask(run);
    await run.clock.advance(5000);
    expect(run.times("tasks/get")).toHaveLength(5);
    const warnings = run.told.of("error").filter(({ error }) => error.message.includes("pollIntervalMs"));
    expect(warnings).toHaveLength(2);
  },
);

test("F038: hints and times to live beyond what a timer takes", async () => {
  const long = { pollIntervalMs: 2 ** 31, ttlMs: 90 * 86_400_000 };
  const run = await rig({ "tools/call": handle(long), "tasks/get": state(long) });
  const task = await startTask(run);
  await run.clock.advance(5000);
  expect(run.times("tasks/get")).toEqual([]);
  // The bound of ours: an hour, so that no hint parks a task for ever.
  await run.clock.advance(3_600_000);
  expect(run.times("tasks/get")).toEqual([3_600_000]);
  expect(task.status).toBe("working");
});

describe("giveUpAfterMs", () => {
  test("F040, F052: ends working polls at the limit, as gave-up, never as failed or cancelled", async () => {
    const run = await rig(
      { "tools/call": handle({ pollIntervalMs: 7000 }), "tasks/get": state({ pollIntervalMs: 7000 }) },
      {
        poll: { giveUpAfterMs: 30_000 },
      },
    );
    const task = await startTask(run);
    const error: unknown = await run.within(task.result().catch((reason: unknown) => reason));
    expect(error).toBeInstanceOf(TaskLostError);
    expect(error).toMatchObject({ reason: "gave-up" });
    expect(run.clock.monotonic()).toBe(30_000);
    expect(task.taskId).toBe("task-secret-1");
    expect(run.connection.requestsOf("tasks/cancel")).toEqual([]);
  });

  test("F041: a limit of three intervals exactly: at most three polls, no delay of zero", async () => {
    const run = await rig(
      { "tools/call": handle(), "tasks/get": state() },
      { poll: { giveUpAfterMs: 3000 } },
    );
    const task = await startTask(run);
    await run.within(task.settled());
    expect(run.times("tasks/get").length).toBeLessThanOrEqual(3);
    for (const gap of gaps(run.times("tasks/get"))) expect(gap).toBeGreaterThanOrEqual(1000);
    expect(run.clock.monotonic()).toBe(3000);
  });

  test("F052: resume() goes on with it, and the true end is told", async () => {
    const answers = [state(), state(), done("after all")];
    const script = { "tools/call": handle(), "tasks/get": answers };
    const run = await rig(script, { poll: { giveUpAfterMs: 2500 } });
    const task = await startTask(run);
    expect(await run.within(task.settled())).toMatchObject({ status: "lost", reason: "gave-up" });
    const [again] = await run.client.resume();
    expect(again!.id).toBe(task.id);
    expect(await run.within(again!.result())).toEqual(text("after all"));
  });

  test("resume() goes on with it also while its delivery is still being tried", async () => {
    const script = { "tools/call": handle(), "tasks/get": [state(), state(), done("after all")] };
    const onSettled = ({ status }: { status: string }): void => {
      if (status === "lost") throw new Error("the database is down");
    };
    const run = await rig(script, { poll: { giveUpAfterMs: 2500 }, onSettled });
    const task = await startTask(run);
    await run.within(task.settled());
    const [again] = await run.client.resume();
    expect(await run.within(again!.result(), 60_000)).toEqual(text("after all"));
  });
});

test("F043: a poll that hangs is given up and repeated; the task goes on and is not cancelled", async () => {
  const run = await rig({ "tools/call": handle(), "tasks/get": ["hang", done()] });
  const task = await startTask(run);
  expect(await run.within(task.result())).toEqual(text("done"));
  expect(run.times("tasks/get")).toHaveLength(2);
  expect(run.connection.requestsOf("tasks/cancel")).toEqual([]);
});

test("F044: errors of gateways are repeated, and a success resets their count", async () => {
  const busy = new ConnectionError("HTTP 503", { mayHaveRun: true, status: 503 });
  const run = await rig({ "tools/call": handle(), "tasks/get": [busy, state(), busy, busy, done()] });
  const task = await startTask(run);
  expect(await run.within(task.result())).toEqual(text("done"));
  expect(run.told.of("retry").map(({ attempt }) => attempt)).toEqual([1, 1, 2]);
});

test("F046: a poll that fails for ever rejects nobody until somebody's own limit, and is no unhandled rejection", async () => {
  const run = await rig({
    "tools/call": handle(),
    "tasks/get": new RpcError({ code: -32603, message: "no" }),
  });
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  const task = await startTask(run);
  // The design wins over the case: only the server can say that a task failed, so result() goes on waiting.
  const wait = run.within(task.result({ timeoutMs: 600_000 }), 700_000);
  await expect(wait).rejects.toMatchObject({ code: "WAIT_TIMEOUT" });
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

test("F047: a failed task whose handle nobody holds is told by event, not by an unhandled rejection", async () => {
  const failed = state({ status: "failed", error: { code: -32000, message: "boom" } });
  const run = await rig({ "tools/call": handle(), "tasks/get": failed });
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  await startTask(run);
  await run.clock.advance(5000);
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
  expect(run.told.of("settled")).toMatchObject([{ status: "failed", error: { message: "boom" } }]);
});

test("F050: at most one tasks/get per task in flight, however slow the server is", async () => {
  let open = 0;
  let most = 0;
  const slow = async (): Promise<JsonObject> => {
    most = Math.max(most, (open += 1));
    await new Promise<void>((resolve) => run.clock.setTimer(1000, resolve));
    open -= 1;
    return state({ pollIntervalMs: 100 });
  };
  const run: Rig = await rig({ "tools/call": handle({ pollIntervalMs: 100 }), "tasks/get": slow });
  await startTask(run);
  await run.clock.advance(20_000);
  expect(most).toBe(1);
  // From an answer to the next request, not from request to request.
  for (const gap of gaps(run.times("tasks/get"))) expect(gap).toBeGreaterThanOrEqual(1100);
});

test("F053: after a long sleep of the machine each task is polled once, and what ended meanwhile is delivered", async () => {
  const clock = sleepyClock();
  const get = (request: ScriptedRequest): JsonObject => {
    const more = { taskId: taskId(request), ttlMs: 3_600_000 };
    return clock.monotonic() > 3_600_000 && taskId(request) === "task-0"
      ? done("meanwhile", more)
      : state(more);
  };
  const call = (_: ScriptedRequest, n: number): JsonObject =>
    handle({ taskId: `task-${n}`, ttlMs: 3_600_000 });
  const run = await rig({ "tools/call": call, "tasks/get": get }, { clock });
  const tasks: TaskHandle[] = [];
  for (let n = 0; n < 5; n += 1) tasks.push(await startTask(run));
  await clock.advance(2500);
  const before = run.times("tasks/get").length;
  clock.sleep(3 * 3_600_000);
  await clock.advance(500);
  expect(run.times("tasks/get").length - before).toBe(5);
  expect(run.told.of("settled").find(({ id }) => id === tasks[0]!.id)).toMatchObject({ status: "completed" });
});

/** A clock whose machine can sleep: time passes, and no timer fires in it. */
function sleepyClock(): FakeClock & { sleep(ms: number): void } {
  const awake = virtualClock();
  let sleptMs = 0;
  return {
    ...awake,
    get timers() {
      return awake.timers;
    },
    get nextInMs() {
      return awake.nextInMs;
    },
    now: () => awake.now() + sleptMs,
    monotonic: () => awake.monotonic() + sleptMs,
    sleep: (ms) => void (sleptMs += ms),
  };
}

test("F167: an update for every change of the message; an absent one clears it", async () => {
  const script = {
    "tools/call": handle(),
    "tasks/get": [
      state({ statusMessage: "A" }),
      state({ statusMessage: "A" }),
      state({ statusMessage: "B" }),
      state(),
      done(),
    ],
  };
  const run = await rig(script);
  const task = await startTask(run);
  await run.within(task.result());
  const messages = run.told.of("updated").map(({ snapshot }) => snapshot.statusMessage);
  expect(messages).toEqual([undefined, "A", "B", undefined]);
});
