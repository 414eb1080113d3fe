/** Push in virtual time: what is asked for, what is polled all the same, and when an outcome is known. */
import { describe, expect, test } from "vitest";
import { ConnectionError, MissingCapabilityError, RpcError } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { pushRig, type PushRig } from "./pushSupport.js";
import { form, gaps, makeClient, startTask, text, virtualClock, yes } from "./support.js";

const finished = (words = "done"): JsonObject => ({ status: "completed", result: text(words) });
const rpc = (code: number): RpcError => new RpcError({ code, message: "no" });
const drop = (): ConnectionError => new ConnectionError("dropped", { mayHaveRun: true });
const states = (run: PushRig): string[] => run.told.of("push").map(({ state }) => state);

/** Two polls of one task are never closer than its interval, whatever the streams do. */
function expectPolite(run: PushRig, hint = 5000): void {
  const byTask = new Map<unknown, number[]>();
  for (const { params, atMs } of run.connection.requestsOf("tasks/get")) {
    byTask.set(params["taskId"], [...(byTask.get(params["taskId"]) ?? []), atMs]);
  }
  for (const times of byTask.values()) {
    for (const gap of gaps(times)) expect(gap).toBeGreaterThanOrEqual(hint);
  }
}

/** Starts a task whose end somebody waits for, as hosts do; answers when that was known. */
async function held(
  run: PushRig,
): Promise<{ knownAtMs: () => number | undefined; settled: Promise<unknown> }> {
  const task = await startTask(run);
  let knownAtMs: number | undefined;
  const settled = task.settled().then((outcome) => {
    knownAtMs = run.clock.monotonic();
    return outcome;
  });
  settled.catch(() => undefined);
  return { knownAtMs: () => knownAtMs, settled };
}

describe("requests", () => {
  test("a task of ten minutes on a server that pushes: one call, the first poll, one catch-up, and the safety polls", async () => {
    const run = await pushRig(virtualClock());
    const { settled, knownAtMs } = await held(run);
    await run.clock.advance(600_000);
    run.change(finished());
    expect(await run.within(settled)).toMatchObject({ status: "completed" });
    expect(knownAtMs()).toBe(600_000);
    const { requests, pollsSavedByPush } = run.client.stats();
    // The first poll at 5 s finds that the task is worth a stream, the catch-up is at 10 s, one more before the first comment
    // comes on the stream at 20 s, the safety polls each minute after.
    expect(run.times("tasks/get")).toEqual([
      5000,
      10_000,
      ...Array.from({ length: 10 }, (_, i) => 15_000 + i * 60_000),
    ]);
    expect(requests).toEqual({ "tools/call": 1, "tasks/get": 12, "subscriptions/listen": 1 });
    // With the longest jitter ten polls fit in a minute, of which one was sent; eight in the last 45 s. Polls alone: 109 to 120.
    expect(pollsSavedByPush).toBe(9 * 9 + 8);
    expect(states(run)).toEqual(["open", "closed"]);
  });

  test("always: no poll before the stream, and the first one is the catch-up", async () => {
    const run = await pushRig(virtualClock(), [{}], { push: "always" });
    const { settled } = await held(run);
    await run.clock.advance(600_000);
    run.change(finished());
    await run.within(settled);
    expect(run.stream.openedAtMs).toBe(250);
    expect(run.times("tasks/get")).toEqual([
      5000,
      ...Array.from({ length: 10 }, (_, i) => 10_000 + i * 60_000),
    ]);
  });

  test("auto: a task that ends within its first interval never pays for a stream", async () => {
    const run = await pushRig(virtualClock());
    const { settled } = await held(run);
    await run.clock.advance(4000);
    run.changeQuietly(finished());
    await run.within(settled);
    expect(run.streams).toEqual([]);
    expect(run.times("tasks/get")).toEqual([5000]);
  });

  test("off, and a connection that cannot listen: polls alone", async () => {
    const run = await pushRig(virtualClock(), [{}], { push: "off" });
    await held(run);
    await run.clock.advance(60_000);
    expect([run.streams.length, run.times("tasks/get").length]).toEqual([0, 12]);
    expect(run.client.stats().pollsSavedByPush).toBe(0);
  });

  test("F049: a completion by notice settles at once, whatever the hint", async () => {
    const run = await pushRig(virtualClock(), [{}], { push: "always", hint: 60_000 });
    const { settled, knownAtMs } = await held(run);
    await run.clock.advance(2000);
    run.change(finished());
    await run.within(settled);
    expect([knownAtMs(), run.times("tasks/get")]).toEqual([2000, []]);
  });

  test("F094: callers who wait before and after the notice all hear of it", async () => {
    const run = await pushRig(virtualClock(), [{}], { push: "always" });
    const task = await startTask(run);
    const before = [task.result(), task.result()];
    await run.clock.advance(1000);
    run.change(finished("all"));
    expect(await run.within(Promise.all([...before, task.result()]))).toEqual([
      text("all"),
      text("all"),
      text("all"),
    ]);
  });

  test("F086: 50 tasks share one stream, two while it is replaced; polls that come later wait for the next one", async () => {
    const run = await pushRig(virtualClock(), [{}], { push: "always", concurrency: 64 });
    const all = [];
    for (let i = 0; i < 50; i += 1) {
      all.push(await held(run));
      await run.clock.advance(i % 5 === 0 ? 700 : 10);
    }
    await run.clock.advance(20_000);
    expect(run.open).toBe(1);
    expect(run.mostOpen).toBe(2);
    expect(run.stream.taskIds).toHaveLength(50);
    // Replaced every two seconds at most, and no more often than tasks came.
    expect(run.streams.length).toBeLessThanOrEqual(6);
    // The new one stood before the old one went.
    for (const [i, stream] of run.streams.slice(0, -1).entries()) {
      expect(stream.closedAtMs).toBe(run.streams[i + 1]!.acknowledgedAtMs);
    }
    for (let i = 0; i < 50; i += 1) run.change(finished(), `task-${i}`);
    await run.within(Promise.all(all.map(({ settled }) => settled)));
    expect(run.open).toBe(0);
    expectPolite(run);
  });

  test("tasks that leave do not cost a new stream; the last one closes it", async () => {
    const run = await pushRig(virtualClock(), [{}], { push: "always" });
    const [first, second] = [await held(run), await held(run)];
    await run.clock.advance(1000);
    run.change(finished(), "task-0");
    await run.within(first.settled);
    await run.clock.advance(10_000);
    expect([run.streams.length, run.open]).toEqual([1, 1]);
    run.change(finished(), "task-1");
    await run.within(second.settled);
    await run.clock.advance(1);
    expect(run.open).toBe(0);
  });
});

describe("what is acknowledged", () => {
  test("ids that are not are polled as usual, and notices of them are taken all the same", async () => {
    const run = await pushRig(virtualClock(), [{ accept: () => ["task-0"] }], { push: "always" });
    await held(run);
    const { settled, knownAtMs } = await held(run);
    await run.clock.advance(60_000);
    const polls = run.connection.requestsOf("tasks/get").map(({ params }) => params["taskId"]);
    expect(polls.filter((id) => id === "task-0")).toHaveLength(2);
    expect(polls.filter((id) => id === "task-1")).toHaveLength(12);
    await run.clock.advance(1000);
    run.changeQuietly(finished(), "task-1");
    run.stream.push({ taskId: "task-1", ...finished() });
    await run.within(settled);
    expect(knownAtMs()).toBe(61_000);
    expect(run.streams).toHaveLength(1);
  });

  test("safety polls do not pass the end of the time to live", async () => {
    const run = await pushRig(virtualClock(), [{}], { push: "always", ttlMs: 30_000 });
    const { settled } = await held(run);
    await run.clock.advance(31_000);
    expect(run.times("tasks/get")).toEqual([5000, 10_000, 30_000]);
    expect(await run.within(settled)).toMatchObject({ status: "lost", reason: "expired" });
    expect(run.clock.monotonic()).toBe(40_000);
  });

  test("F074: no acknowledgement in time is a failure; a quiet stream is none", async () => {
    const run = await pushRig(virtualClock(), [{ unacknowledged: true }, {}], {
      push: { mode: "always", ackTimeoutMs: 5000, idleMs: 700_000 },
    });
    await held(run);
    await run.clock.advance(5300);
    expect(run.streams[0]!.closedAtMs).toBe(5250);
    await run.clock.advance(600_000);
    expect([run.streams.length, run.open]).toEqual([2, 1]);
  });
});

describe("streams that fail", () => {
  test("F067: accepted and dropped, a hundred times: delays grow, and push rests at the cap", async () => {
    const run = await pushRig(virtualClock(), [{ dropAfterMs: 10 }], { push: "always" });
    await held(run);
    await run.clock.advance(250_000);
    expect(run.streams).toHaveLength(5);
    const delays = gaps(run.streams.map(({ openedAtMs }) => openedAtMs));
    expect(delays).toEqual([1030, 2030, 4030, 8030]);
    expect(states(run).at(-1)).toBe("off");
    // F068: from there on the task is polled, and the state says so.
    expect(run.client.stats().servers["srv"]).toMatchObject({ up: true, push: "off" });
    expect(
      gaps(run.times("tasks/get"))
        .slice(-20)
        .every((gap) => gap === 5000),
    ).toBe(true);
    run.script({});
    await run.clock.advance(100_000);
    expect([run.streams.length, states(run).at(-1)]).toEqual([6, "open"]);
    expectPolite(run);
  });

  test("a useful notice, or a minimum life, makes the backoff begin anew", async () => {
    const run = await pushRig(virtualClock(), [{ dropAfterMs: 10 }, { dropAfterMs: 10 }, {}], {
      push: "always",
    });
    await held(run);
    await run.clock.advance(10_000);
    run.change({ statusMessage: "half" });
    run.stream.drop();
    await run.clock.advance(1100);
    expect(run.streams).toHaveLength(4);
    await run.clock.advance(30_000);
    run.stream.drop();
    await run.clock.advance(1100);
    expect(run.streams).toHaveLength(5);
  });

  test.each([100, 3000, 20_000, 90_000])(
    "a stream that is cut 50 times: no outcome later than one interval (cut after %i ms)",
    async (dropAfterMs) => {
      const run = await pushRig(virtualClock(), [{ dropAfterMs }], {
        push: { mode: "always", maxFailures: 1000 },
      });
      const { knownAtMs } = await held(run);
      let cuts = 0;
      for (let round = 0; cuts < 50 && round < 100_000; round += 1) {
        await run.clock.advance(997);
        cuts = run.streams.filter(({ closedAtMs }) => closedAtMs !== undefined).length;
      }
      expect(cuts).toBeGreaterThanOrEqual(50);
      const endedAtMs = run.clock.monotonic();
      run.change(finished());
      await run.clock.advance(6000);
      expect(knownAtMs()! - endedAtMs).toBeLessThanOrEqual(5000);
      expectPolite(run);
    },
  );

  test.each([0, 500, 1000, 1500, 3000, 4900])(
    "an end that the dropped stream could not tell any more is found within an interval (%i ms after the drop)",
    async (afterMs) => {
      const run = await pushRig(virtualClock(), [{}], { push: "always" });
      const { knownAtMs } = await held(run);
      await run.clock.advance(47_000);
      run.script({ ackAfterMs: 60_000 });
      run.stream.drop();
      await run.clock.advance(afterMs);
      run.changeQuietly(finished());
      const endedAtMs = run.clock.monotonic();
      await run.clock.advance(10_000);
      expect(knownAtMs()! - endedAtMs).toBeLessThanOrEqual(5000);
      expectPolite(run);
    },
  );

  test("F076: what ends between a drop and the next acknowledgement is found by the poll after it, not a hint later", async () => {
    const run = await pushRig(virtualClock(), [{}], { push: "always", hint: 60_000 });
    const { knownAtMs } = await held(run);
    await run.clock.advance(200_000);
    run.stream.drop();
    await run.clock.advance(500);
    run.changeQuietly(finished());
    await run.clock.advance(2000);
    expect(run.streams).toHaveLength(2);
    expect(knownAtMs()).toBe(run.stream.acknowledgedAtMs);
  });

  test("a poll that was under way at the acknowledgement is no catch-up: what it was told may be older", async () => {
    const run = await pushRig(virtualClock(), [{ ackAfterMs: 5250 }], { push: "always", answerMs: 2000 });
    const { knownAtMs } = await held(run);
    await run.clock.advance(5200);
    // The poll of 5 s was answered from the state before this, and the stream of 5.5 s tells what comes after it.
    run.changeQuietly(finished());
    await run.clock.advance(20_000);
    expect(run.stream.acknowledgedAtMs).toBe(5500);
    expect(knownAtMs()).toBe(14_000);
  });

  test("F070: an end that a stream swallows which was silent from the start is found within as long as the task took", async () => {
    for (const lastsMs of [4000, 11_000, 40_000]) {
      const run = await pushRig(virtualClock(), [{ silent: true }], { push: "always", hint: 500 });
      const { knownAtMs } = await held(run);
      await run.clock.advance(lastsMs);
      run.changeQuietly(finished());
      await run.clock.advance(lastsMs);
      expect(knownAtMs()).toBeLessThanOrEqual(2 * lastsMs);
    }
  });

  test("F070: an end that a silent stream does not tell is found by the safety poll", async () => {
    const run = await pushRig(virtualClock(), [{ silent: true }, {}], { push: "always" });
    const { knownAtMs } = await held(run);
    await run.clock.advance(41_000);
    run.change(finished());
    await run.clock.advance(60_000);
    // After the catch-up at 5 s: 10, 20, 40, 80.
    expect(knownAtMs()).toBe(80_000);
  });

  test("F070: the watchdog: comments are life", async () => {
    const run = await pushRig(virtualClock(), [{ silent: true }], {
      push: { mode: "always", idleMs: 45_000 },
    });
    await held(run);
    for (let i = 0; i < 10; i += 1) {
      await run.clock.advance(15_000);
      run.stream.comment();
    }
    expect(run.streams).toHaveLength(1);
    await run.clock.advance(45_000 + 1100);
    expect(run.streams).toHaveLength(2);
    expect(run.streams[0]!.closedAtMs).toBe(150_000 + 45_000);
    expect(run.told.of("error")).toEqual([]);
  });

  test("F070: three keep-alives that do not come are enough, whatever idleMs says", async () => {
    const run = await pushRig(virtualClock(), [{ silent: true }, {}], { push: "always" });
    const { knownAtMs } = await held(run);
    for (let i = 0; i < 4; i += 1) {
      await run.clock.advance(5000);
      run.stream.comment();
    }
    // Half-open from here on: the end is not told.
    run.changeQuietly(finished());
    const endedAtMs = run.clock.monotonic();
    await run.clock.advance(60_000);
    expect(run.streams).toHaveLength(2);
    expect(run.streams[0]!.closedAtMs).toBe(endedAtMs + 15_000);
    expect(knownAtMs()! - endedAtMs).toBeLessThanOrEqual(17_000);
  });

  test("a half-open stream delays no outcome beyond the safety poll, or the watchdog where that comes first", async () => {
    for (const hint of [1000, 5000, 30_000]) {
      const run = await pushRig(virtualClock(), [{}, { silent: true }], { push: "always", hint });
      const { knownAtMs } = await held(run);
      // The last news is at the acknowledgement; the end comes at the worst moment, right after the catch-up poll.
      run.script({ silent: true });
      await run.clock.advance(hint + 1000);
      run.changeQuietly(finished());
      const endedAtMs = run.clock.monotonic();
      await run.clock.advance(400_000);
      expect(knownAtMs()! - endedAtMs).toBeLessThanOrEqual(Math.min(Math.max(60_000, 10 * hint), 92_000));
    }
  });

  test("F071, F082, F083: every way to end falls back to polls quietly, and says nothing of the server", async () => {
    const run = await pushRig(virtualClock(), [{}], { push: "always" });
    const { settled } = await held(run);
    for (let i = 0; i < 10; i += 1) {
      await run.clock.advance(60_000);
      run.stream.drop(
        new ConnectionError("The answer broke off", {
          status: 200,
          mayHaveRun: true,
          cause: new TypeError("terminated"),
        }),
      );
    }
    await run.clock.advance(2000);
    expect(run.open).toBe(1);
    expect(run.told.of("error")).toEqual([]);
    expect(run.told.of("serverDown")).toEqual([]);
    run.change(finished());
    expect(await run.within(settled)).toMatchObject({ status: "completed" });
  });

  test("a graceful end is no error, and a stream that only ever ends is not reopened for ever", async () => {
    const run = await pushRig(virtualClock(), [{}], { push: "always" });
    await held(run);
    for (let i = 0; i < 5; i += 1) {
      await run.clock.advance(20_000);
      if (run.open > 0) run.stream.end();
    }
    await run.clock.advance(1);
    expect(run.told.of("error")).toEqual([]);
    expect(run.streams).toHaveLength(5);
    expect(states(run).at(-1)).toBe("off");
  });

  test("while the replacement fails, the old stream goes on", async () => {
    const run = await pushRig(virtualClock(), [{}, { refuse: drop() }], { push: "always" });
    const first = await held(run);
    await run.clock.advance(3000);
    await held(run);
    await run.clock.advance(20_000);
    expect(run.streams.length).toBeGreaterThan(2);
    expect([run.open, run.streams[0]!.closedAtMs]).toEqual([1, undefined]);
    run.changeQuietly(finished());
    run.streams[0]!.push({ taskId: "task-0", ...finished() });
    await run.within(first.settled);
    run.script({});
    await run.clock.advance(300_000);
    expect(run.stream.taskIds).toEqual(["task-1"]);
    expect(run.open).toBe(1);
    expectPolite(run);
  });
});

describe("servers that refuse", () => {
  test.each([
    ["F073: a result before the acknowledgement", { endsAtOnce: true }],
    ["F085: -32601", { refuse: rpc(-32601) }],
    ["-32021", { refuse: new MissingCapabilityError({ code: -32021, message: "no" }) }],
  ] as const)("%s: one attempt, polls, no second one before the cool-down is over", async (what, step) => {
    const run = await pushRig(virtualClock(), [step], { push: "always" });
    await held(run);
    await run.clock.advance(299_000);
    expect(run.streams).toHaveLength(1);
    expect(states(run)).toEqual(["off"]);
    expect(run.times("tasks/get")).toHaveLength(59);
    expect(run.told.of("error")).toHaveLength(what === "-32021" ? 1 : 0);
    await run.clock.advance(2000);
    expect(run.streams).toHaveLength(2);
    await run.clock.advance(301_000);
    expect(run.told.of("error")).toHaveLength(what === "-32021" ? 1 : 0);
    expect(run.told.of("serverDown")).toEqual([]);
  });

  test("F079: -32602: every task is looked at, and those that are still there are listened for, once", async () => {
    const run = await pushRig(virtualClock(), [{ refuse: rpc(-32602) }, {}], { push: "always" });
    const [gone, other] = [await held(run), await held(run)];
    run.changeQuietly(finished(), "task-0");
    await run.clock.advance(4000);
    expect(run.streams).toHaveLength(1);
    await run.clock.advance(4000);
    expect(await run.within(gone.settled)).toMatchObject({ status: "completed" });
    expect(run.streams.map(({ taskIds }) => taskIds)).toEqual([["task-0", "task-1"], ["task-1"]]);
    run.change(finished(), "task-1");
    expect(await run.within(other.settled)).toMatchObject({ status: "completed" });
    expect(run.times("tasks/get")).toEqual([5000, 5000]);
  });

  test("-32602 again: polls for the cool-down", async () => {
    const run = await pushRig(virtualClock(), [{ refuse: rpc(-32602) }], { push: "always" });
    await held(run);
    await run.clock.advance(200_000);
    expect(run.streams).toHaveLength(2);
    expect(states(run)).toEqual(["off"]);
  });

  test("429 with Retry-After: neither a stream nor a poll before its time", async () => {
    const limited = new ConnectionError("HTTP 429", { status: 429, retryAfterMs: 40_000, mayHaveRun: false });
    const run = await pushRig(virtualClock(), [{ refuse: limited }, {}], { push: "always" });
    await held(run);
    await run.clock.advance(40_200);
    expect([run.streams.length, run.times("tasks/get")]).toEqual([1, []]);
    await run.clock.advance(2000);
    expect(run.streams).toHaveLength(2);
    expect(run.times("tasks/get")).toHaveLength(1);
  });

  test("401 is tried again, and only polls say that the server refuses us", async () => {
    const refused = new ConnectionError("HTTP 401", { status: 401, mayHaveRun: false });
    const run = await pushRig(virtualClock(), [{ refuse: refused }, {}], { push: "always" });
    await held(run);
    await run.clock.advance(3000);
    expect([run.streams.length, run.open]).toEqual([2, 1]);
    expect(run.told.of("serverDown")).toEqual([]);
  });

  test("no stream is opened to a server that is down; the poll that finds it again brings the stream back", async () => {
    const run = await pushRig(virtualClock(), [{}], { push: "always" });
    await held(run);
    await run.clock.advance(10_000);
    run.connection.script("tasks/get", drop());
    run.script({ refuse: drop() });
    run.stream.drop();
    await run.clock.advance(100_000);
    const tried = run.streams.length;
    expect(run.told.of("serverDown")).toHaveLength(1);
    // At 250 ms, and after the drop at 11 s and 13 s: then a poll has found the server gone.
    expect(tried).toBe(3);
    run.connection.script("tasks/get", ({ params }) => ({
      taskId: params["taskId"] as string,
      status: "working",
    }));
    run.script({});
    await run.clock.advance(100_000);
    expect(run.streams.length).toBe(tried + 1);
    expect(run.open).toBe(1);
  });
});

describe("notices", () => {
  test("F080: unknown ids, other methods and what cannot be read are harmless, and reported once at most", async () => {
    const run = await pushRig(virtualClock(), [{}], { push: "always" });
    const { settled } = await held(run);
    await run.clock.advance(1000);
    for (let i = 0; i < 3; i += 1) {
      run.stream.push({ taskId: "someone-elses", ...finished() });
      run.stream.push({ taskId: "task-0" });
      run.stream.push({ status: "completed" });
      run.stream.push({ taskId: 7, status: null });
    }
    const errors = run.told.of("error");
    expect(errors).toHaveLength(1);
    expect(errors[0]!.error.message).not.toContain("task-0");
    run.change(finished());
    expect(await run.within(settled)).toMatchObject({ status: "completed" });
  });

  test("stale, doubled and reordered ones change nothing, however often they come", async () => {
    const run = await pushRig(virtualClock(), [{}], { push: "always" });
    const task = await startTask(run);
    void task.settled();
    await run.clock.advance(1000);
    const at = (second: number): string => `2026-08-01T00:00:0${second}Z`;
    run.change({ statusMessage: "second", lastUpdatedAt: at(5) });
    for (let i = 0; i < 6; i += 1) {
      run.stream.push({ taskId: "task-0", status: "working", statusMessage: "first", lastUpdatedAt: at(3) });
    }
    await run.clock.advance(10);
    expect(task.statusMessage).toBe("second");
    run.change({ ...finished(), lastUpdatedAt: at(6) });
    await run.clock.advance(10);
    expect(task.status).toBe("completed");
    run.stream.push({ taskId: "task-0", status: "failed", error: { code: 1, message: "late" } });
    await run.clock.advance(10);
    expect(task.status).toBe("completed");
    expect(run.told.of("settled")).toHaveLength(1);
  });

  test.each(["completed", "failed"])(
    "F097: %s without its payload does not settle, however often it is told; the next polite poll decides",
    async (status) => {
      const run = await pushRig(virtualClock(), [{}], { push: "always" });
      const { settled, knownAtMs } = await held(run);
      await run.clock.advance(20_000);
      for (let i = 0; i < 4; i += 1) run.stream.push({ taskId: "task-0", status });
      await run.clock.advance(10);
      expect(knownAtMs()).toBeUndefined();
      // The last poll was at 10 s: the next may go out at once.
      expect(run.times("tasks/get")).toEqual([5000, 10_000, 20_000]);
      await run.clock.advance(10_000);
      expect(knownAtMs()).toBeUndefined();
      run.change(finished());
      expect(await run.within(settled)).toMatchObject({ status: "completed" });
      expectPolite(run);
    },
  );

  test("a question that a notice brings is shown at once; its answer is followed at the usual pace until it is taken", async () => {
    const run = await pushRig(virtualClock(), [{}], { push: "always", onInputRequest: () => yes });
    await held(run);
    await run.clock.advance(30_000);
    run.change({ status: "input_required", inputRequests: { ok: form() } });
    await run.clock.advance(1);
    expect(run.told.of("input")).toHaveLength(1);
    expect(run.connection.requestsOf("tasks/update")).toHaveLength(1);
    await run.clock.advance(20_000);
    // An acknowledgement proves nothing: the server still asks.
    expect(run.times("tasks/get").filter((at) => at >= 30_000)).toHaveLength(5);
    run.change({ status: "working", inputRequests: null });
    await run.clock.advance(50_000);
    expect(run.times("tasks/get").filter((at) => at >= 50_001).length).toBeLessThanOrEqual(1);
    expectPolite(run);
  });

  test("input_required without its requests is asked for at the next polite moment", async () => {
    const run = await pushRig(virtualClock(), [{}], { push: "always", onInputRequest: () => undefined });
    await held(run);
    await run.clock.advance(30_000);
    run.changeQuietly({ status: "input_required", inputRequests: { ok: form() } });
    run.stream.push({ taskId: "task-0", status: "input_required" });
    await run.clock.advance(1);
    expect(run.told.of("input")).toHaveLength(1);
  });

  test("several calls with one task hear of one notice, and one question is put once", async () => {
    const one = {
      resultType: "task",
      taskId: "task-0",
      status: "working",
      ttlMs: null,
      pollIntervalMs: 5000,
    };
    const run = await pushRig(virtualClock(), [{}], {
      push: "always",
      calls: one,
      onInputRequest: () => undefined,
    });
    const [a, b] = [await held(run), await held(run)];
    await run.clock.advance(1000);
    expect(run.stream.taskIds).toEqual(["task-0"]);
    run.change({ status: "input_required", inputRequests: { ok: form() } });
    await run.clock.advance(1);
    expect(run.told.of("input")).toHaveLength(1);
    run.change(finished());
    expect(await run.within(Promise.all([a.settled, b.settled]))).toMatchObject([
      { status: "completed" },
      { status: "completed" },
    ]);
  });
});

describe("the end", () => {
  test("close, and forget of the last task, close the stream and leave no timer behind", async () => {
    const run = await pushRig(virtualClock(), [{}], { push: "always" });
    const task = await startTask(run);
    void task.settled().catch(() => undefined);
    await run.clock.advance(1000);
    expect(run.open).toBe(1);
    await run.within(task.forget());
    expect(run.open).toBe(0);
    await startTask(run);
    await run.clock.advance(1000);
    expect(run.open).toBe(1);
    await run.within(run.client.close());
    expect(run.open).toBe(0);
    await run.clock.advance(600_000);
    expect([run.open, run.clock.timers]).toEqual([0, 0]);
  });

  test("where nobody waits, the stream is let go for a moment: soon at first, then ever more seldom", async () => {
    const run = await pushRig(virtualClock(), [{}], { push: "always" });
    const task = await startTask(run);
    await run.clock.advance(20_000);
    const lives = run.streams.map((one) => (one.closedAtMs ?? NaN) - one.acknowledgedAtMs!);
    expect(lives.slice(0, -1)).toEqual([1000, 2000, 4000, 8000]);
    expect(states(run)).toEqual(["open"]);
    // Somebody waits: from now on it stays.
    const opened = run.streams.length;
    const result = task.result();
    await run.clock.advance(400_000);
    expect(run.streams.length).toBeLessThanOrEqual(opened);
    run.change(finished());
    await run.within(result);
    expectPolite(run);
  });

  test("an orderly close leaves the usual pace to the next process, not the seldom one", async () => {
    const clock = virtualClock();
    const store = new Map<string, unknown>();
    const run = await pushRig(clock, [{}], { push: "always", store: store as never });
    await held(run);
    await clock.advance(7000);
    await run.within(run.client.close());
    const again = await pushRig(clock, [{}], { push: "always", store: store as never });
    await clock.advance(60_000);
    expect(again.times("tasks/get")[0]).toBe(10_000);
  });

  test("what another process asks for is seen as soon as with polls", async () => {
    const clock = virtualClock();
    const store = new Map<string, unknown>();
    const run = await pushRig(clock, [{}], { push: "always", store: store as never });
    const { id } = await startTask(run);
    await clock.advance(20_000);
    const elsewhere = makeClient(clock, { store: store as never });
    const task = await elsewhere.task(id);
    task!.cancel().catch(() => undefined);
    await clock.advance(10_100);
    expect(run.connection.requestsOf("tasks/cancel")).toHaveLength(1);
  });
});
