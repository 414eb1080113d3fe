/** The promises that push could break, each as an invariant over streams that come, lie and go at random. */
import { describe, expect, test } from "vitest";
import { ConnectionError, RpcError } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { pushRig, type ListenStep, type PushRig } from "../engine/pushSupport.js";
import { gaps, startTask, testStore, text, virtualClock } from "../engine/support.js";

const HINT = 5000;
const TASKS = 4;

/** Chance that is the same for every run of a seed. */
function chance(seed: number): () => number {
  let state = seed * 2654435761 + 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function anyStep(random: () => number): ListenStep {
  const refusals = [
    { refuse: new ConnectionError("dropped", { mayHaveRun: true }) },
    { refuse: new RpcError({ code: -32602, message: "no" }) },
    { refuse: new RpcError({ code: -32601, message: "no" }) },
    { unacknowledged: true },
    { endsAtOnce: true },
  ] as const;
  if (random() < 0.25) return refusals[Math.floor(random() * refusals.length)]!;
  return {
    ackAfterMs: 1 + random() * 3000,
    ...(random() < 0.5 && { dropAfterMs: random() * 20_000 }),
    ...(random() < 0.2 && { accept: (ids: readonly string[]) => ids.filter((_id, i) => i % 2 === 0) }),
  };
}

interface Life {
  readonly run: PushRig;
  readonly endedAtMs: Map<string, number>;
  readonly knownAtMs: Map<string, number>;
}

/** Tasks that end at random times while streams do anything but lie half open; notices are doubled and out of order. */
async function live(seed: number): Promise<Life> {
  const random = chance(seed);
  const run = await pushRig(
    virtualClock(),
    Array.from({ length: 60 }, () => anyStep(random)),
    {
      push: { mode: random() < 0.5 ? "always" : "auto", cooldownMs: 60_000 },
      hint: HINT,
      random,
    },
  );
  const endedAtMs = new Map<string, number>();
  const knownAtMs = new Map<string, number>();
  const settled: Promise<unknown>[] = [];
  for (let i = 0; i < TASKS; i += 1) {
    const task = await startTask(run);
    const { taskId } = task;
    settled.push(task.settled().then(() => knownAtMs.set(taskId!, run.clock.monotonic())));
  }
  let second = 0;
  while (endedAtMs.size < TASKS) {
    await run.clock.advance(500 + random() * 3000);
    second += 1;
    const lastUpdatedAt = new Date(run.clock.now()).toISOString();
    for (let i = 0; i < TASKS; i += 1) {
      const taskId = `task-${i}`;
      if (endedAtMs.has(taskId)) continue;
      if (random() < 0.03) {
        endedAtMs.set(taskId, run.clock.monotonic());
        run.change({ status: "completed", result: text(taskId), lastUpdatedAt }, taskId);
      } else if (random() < 0.3) {
        run.change({ statusMessage: `step ${second}`, lastUpdatedAt }, taskId);
      }
      // Old news once more, an end without a proof, news of somebody else's task.
      if (random() < 0.2) replay(run, taskId);
    }
  }
  await run.within(Promise.all(settled));
  return { run, endedAtMs, knownAtMs };
}

function replay(run: PushRig, taskId: string): void {
  const old: JsonObject = { status: "working", statusMessage: "old", lastUpdatedAt: "2026-08-01T00:00:00Z" };
  const stream = run.streams.at(-1);
  stream?.push({ taskId, ...old });
  stream?.push({ taskId, status: "completed", lastUpdatedAt: "2026-08-01T00:00:00Z" });
  stream?.push({ taskId: "task-of-another", status: "completed", result: text("not ours") });
}

describe.each(Array.from({ length: 30 }, (_, seed) => seed))("a life with push, seed %i", (seed) => {
  test("Promises 4 to 6, 10 and 12 hold", async () => {
    const { run, endedAtMs, knownAtMs } = await live(seed);
    // 4: nothing that streams do fails a task; and no outcome is later than a poll interval (with its jitter) after its end.
    const outcomes = run.told.of("settled");
    expect(outcomes.map(({ status }) => status)).toEqual(Array(TASKS).fill("completed"));
    for (const [taskId, atMs] of endedAtMs) {
      expect(knownAtMs.get(taskId)! - atMs).toBeLessThanOrEqual(HINT * 1.1 + 1);
    }
    // 5: two polls of one task are never closer than its interval.
    for (let i = 0; i < TASKS; i += 1) {
      const polls = run.connection
        .requestsOf("tasks/get")
        .filter(({ params }) => params["taskId"] === `task-${i}`);
      for (const gap of gaps(polls.map(({ atMs }) => atMs))) expect(gap).toBeGreaterThanOrEqual(HINT);
    }
    // 6, 10: each outcome is told once, and is its own.
    expect(new Set(outcomes.map(({ id }) => id)).size).toBe(TASKS);
    expect(run.mostOpen).toBeLessThanOrEqual(2);
    expect(run.open).toBe(0);
    // 12: no task id in what is told.
    expect(JSON.stringify(run.told.all)).not.toMatch(/"message":"[^"]*task-\d/);
  });
});

test("Promise 6: the outcome that a notice brings is stored before it is told", async () => {
  const clock = virtualClock();
  const store = testStore(clock);
  const run = await pushRig(clock, [{}], { push: "always", store });
  const task = await startTask(run);
  void task.settled().catch(() => undefined);
  await clock.advance(1000);
  let storedWhenTold = false;
  run.client.on("settled", () => (storedWhenTold = store.writes.at(-1)?.includes("by notice") === true));
  run.change({ status: "completed", result: text("by notice") });
  await clock.advance(10);
  expect(storedWhenTold).toBe(true);
});

test("Promise 11: a machine that slept, and hints that are no numbers, cause no burst", async () => {
  const run = await pushRig(virtualClock(), [{}], { push: "always", hint: NaN });
  const task = await startTask(run);
  void task.settled().catch(() => undefined);
  await run.clock.advance(10_000);
  run.clock.jump(3 * 3_600_000);
  run.stream.push({
    taskId: "task-0",
    status: "working",
    pollIntervalMs: -1,
    ttlMs: "x",
  });
  run.clock.jump(-6 * 3_600_000);
  await run.clock.advance(10_000);
  // The catch-up, and three that grow rarer until the notice shows that the stream lives.
  expect(run.times("tasks/get").length).toBeLessThanOrEqual(4);
  expect(task.status).toBe("working");
});

test("Promise 12: a notice of a task that another server of this client has is not taken from this one", async () => {
  const one = await pushRig(virtualClock(), [{}], { push: "always" });
  const task = await startTask(one);
  void task.settled().catch(() => undefined);
  await one.clock.advance(1000);
  const connection = Object.create(one.connection, {
    identity: { value: "scripted:other" },
  }) as typeof one.connection;
  await one.client.connect("other", connection);
  const call = await one.within(one.client.callTool("other", { name: "deploy", arguments: {} }));
  expect(call.kind).toBe("task");
  await one.clock.advance(1000);
  const other = one.streams.at(-1)!;
  expect(other.taskIds).toEqual(["task-1"]);
  other.push({ taskId: "task-0", status: "completed", result: text("forged") });
  await one.clock.advance(100);
  expect(task.status).toBe("working");
});
