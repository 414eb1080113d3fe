/** The one function that moves a record: every event in every phase, and what may never happen. */
import { describe, expect, test } from "vitest";
import type { TaskEvent } from "../../src/task/events.js";
import type { Phase, TaskRecord } from "../../src/task/record.js";
import { readRecord, writeRecord } from "../../src/task/record.js";
import { outcomeOf } from "../../src/task/outcome.js";
import { isStale } from "../../src/task/storedSnapshot.js";
import { isOver, transition } from "../../src/task/transition.js";
import { context, EVENTS, NOW, PHASES, question, record, seen, snapshot } from "./records.js";

type Type = TaskEvent["type"];

/** The phase after each event; a dash where the event does not fit and changes nothing. */
const TABLE: Record<Type, Record<Phase, Phase | "-">> = {
  //               calling    asking      tracking    settled      delivered
  callSending: row("calling", "calling", "-", "-", "-"),
  callNotRun: row("calling", "-", "-", "-", "-"),
  callCompleted: row("settled", "-", "-", "-", "-"),
  callFailed: row("settled", "-", "-", "-", "-"),
  callLost: row("settled", "-", "-", "-", "-"),
  callAsked: row("asking", "-", "-", "-", "-"),
  handleReceived: row("tracking", "-", "-", "-", "-"),
  callAbandoned: row("settled", "settled", "-", "-", "-"),
  snapshotSeen: row("-", "-", "tracking", "-", "-"),
  pollStarted: row("-", "-", "-", "-", "-"),
  pollFailed: row("-", "-", "tracking", "-", "-"),
  taskGone: row("-", "-", "settled", "-", "-"),
  ttlPassed: row("-", "-", "settled", "-", "-"),
  inputAnswered: row("-", "asking", "tracking", "-", "-"),
  updateAcked: row("-", "-", "-", "-", "-"),
  updateRefused: row("-", "-", "-", "-", "-"),
  cancelRequested: row("calling", "asking", "tracking", "-", "-"),
  cancelAcked: row("-", "-", "tracking", "-", "-"),
  gaveUp: row("-", "-", "settled", "-", "-"),
  revived: row("-", "-", "-", "-", "-"),
  paused: row("-", "-", "tracking", "-", "-"),
  delivered: row("-", "-", "-", "delivered", "-"),
};

function row(...to: (Phase | "-")[]): Record<Phase, Phase | "-"> {
  return Object.fromEntries(PHASES.map((phase, i) => [phase, to[i]])) as Record<Phase, Phase | "-">;
}

describe("every event in every phase", () => {
  const cases = EVENTS.flatMap((event) => PHASES.map((phase) => ({ event, type: event.type, phase })));
  test.each(cases)("$type while $phase", ({ event, type, phase }) => {
    const before = record(phase);
    const frozen = writeRecord(before);
    const moved = transition(before, event, context());
    const expected = TABLE[type][phase];
    if (expected === "-") expect(moved).toEqual({ ...unmoved, record: before });
    else {
      expect(moved.record.phase).toBe(expected);
      expect(moved.save).toBe(true);
      expect(moved.record.updatedAtMs).toBe(NOW);
    }
    // Pure: what went in is as it was, and what comes out is a readable record.
    expect(writeRecord(before)).toBe(frozen);
    expect(readRecord(writeRecord(moved.record))).toMatchObject({ ok: true });
  });
});

const unmoved = { save: false, statusChanged: false, notices: [], unproven: false };

describe("terminal is final", () => {
  const endings: TaskEvent[] = [
    seen({ status: "completed", result: { content: [] } }),
    seen({ status: "failed", error: { code: -32000, message: "boom" } }),
    seen({ status: "cancelled" }),
    { type: "taskGone", elapsedMs: 1000 },
    { type: "ttlPassed" },
  ];
  test.each(endings)("nothing but a delivery moves what ended by $type $snapshot.status", (ending) => {
    const over = transition(record("tracking"), ending, context()).record;
    expect(isOver(over)).toBe(true);
    for (const event of [...EVENTS, ...endings]) {
      const moved = transition(over, event, context({ nowMs: NOW + 1 })).record;
      expect(moved.outcome).toEqual(over.outcome);
      expect(moved.settledAtMs).toBe(over.settledAtMs);
      if (event.type !== "delivered") expect(moved).toBe(over);
    }
  });

  test("only what the host gave up may be revived, delivered or not", () => {
    const gaveUp = transition(record("tracking"), { type: "gaveUp" }, context()).record;
    const delivered = transition(gaveUp, { type: "delivered" }, context()).record;
    for (const over of [gaveUp, delivered]) {
      const revived = transition(over, { type: "revived" }, context()).record;
      expect(revived).toMatchObject({ phase: "tracking", taskId: "task-1" });
      expect(Object.keys(revived)).not.toEqual(expect.arrayContaining(["outcome"]));
    }
    expect(transition(record("settled"), { type: "revived" }, context()).save).toBe(false);
  });

  test("arguments, request state and payloads of questions go with the outcome", () => {
    const asking = record("asking", { requestState: "state-secret" });
    const over = transition(asking, { type: "callAbandoned" }, context()).record;
    expect(writeRecord(over)).not.toMatch(/state-secret|prod|params|response/);
  });
});

describe("a snapshot", () => {
  const moved = (more: Parameters<typeof seen>[0], before: Partial<TaskRecord> = {}) =>
    transition(record("tracking", before), seen(more), context());

  test("that is older changes nothing; the same instant or an unreadable one is believed", () => {
    const older = moved({ status: "input_required", lastUpdatedAt: "2026-08-01T00:00:00Z" });
    expect(older).toMatchObject(unmoved);
    for (const lastUpdatedAt of ["2026-08-01T00:01:00Z", "20260801T000000Z", "nonsense"]) {
      expect(moved({ status: "paused", lastUpdatedAt }).record.snapshot?.status).toBe("paused");
    }
  });

  test("that is older is believed when it is told to, and when it is the end", () => {
    const lastUpdatedAt = "2026-08-01T00:00:00Z";
    const told = transition(
      record("tracking"),
      seen({ statusMessage: "x", lastUpdatedAt }, { acceptStale: true }),
      context(),
    );
    expect(told.record.snapshot?.statusMessage).toBe("x");
    expect(moved({ status: "cancelled", lastUpdatedAt }).record.outcome).toEqual({ status: "cancelled" });
  });

  test("that changed nothing is not worth a write; a new hint, status or message is", () => {
    expect(moved({ lastUpdatedAt: "2026-08-01T00:02:00Z" }, { questions: [] }).save).toBe(false);
    expect(moved({ pollIntervalMs: 5000 }).save).toBe(true);
    expect(moved({ ttlMs: 5000 }).save).toBe(true);
    expect(moved({ statusMessage: "half" })).toMatchObject({ save: true, statusChanged: true });
  });

  test("F017: without a ttl keeps the last one; null takes it back", () => {
    expect(moved({}).record.snapshot?.ttlMs).toBe(60_000);
    expect(moved({ ttlMs: null }).record.snapshot?.ttlMs).toBeNull();
    const handle: TaskEvent = { type: "handleReceived", snapshot: snapshot(), digests: new Map() };
    expect(transition(record("calling"), handle, context()).record.snapshot?.ttlMs).toBeNull();
  });

  test("F016: unknown keys are kept and cannot shadow ours; a flood of them is not kept", () => {
    const extra = { _meta: { a: 1 }, color: "red", taskId: "other", ttlMs: 1 };
    const kept = moved({ extra });
    expect(kept.record.snapshot).toMatchObject({ color: "red", taskId: "task-1", ttlMs: 60_000 });
    const read = readRecord(writeRecord(kept.record));
    expect(read).toMatchObject({ ok: true, record: { snapshot: { _meta: { a: 1 } } } });
    expect(moved({ extra: { flood: "x".repeat(20_000) } }).record.snapshot).not.toHaveProperty("flood");
  });

  test("F097: that says the task is over, without its payload, proves nothing and shows nothing", () => {
    for (const status of ["completed", "failed"]) {
      const told = moved({ status, lastUpdatedAt: "2026-08-01T09:00:00Z" });
      expect(told).toMatchObject({ unproven: true, statusChanged: false });
      expect(told.record).toMatchObject({ phase: "tracking", snapshot: { status: "working" } });
      // Its time does not make the next, honest one stale; and open questions stay open.
      const next = transition(
        told.record,
        seen({ lastUpdatedAt: "2026-08-01T00:02:00Z", statusMessage: "m" }),
        context(),
      );
      expect(next.record.snapshot?.statusMessage).toBe("m");
      expect(
        moved({ status }, { snapshot: { ...record("tracking").snapshot!, status: "input_required" } }).record
          .questions,
      ).toHaveLength(1);
    }
    expect(outcomeOf(snapshot({ status: "cancelled" }))).toEqual({ status: "cancelled" });
  });

  test("with a status of a later revision is never the end", () => {
    expect(moved({ status: "expired", result: { content: [] } }).record.phase).toBe("tracking");
  });

  test("clears the count of failures, and is then worth a write", () => {
    const told = moved({}, { failures: 5, notBeforeMs: NOW + 1 });
    expect(told.save).toBe(true);
    expect(told.record.failures).toBeUndefined();
    expect(told.record.notBeforeMs).toBeUndefined();
  });

  test("F064: a poll uses up what an orderly close left, but not a backoff", () => {
    const poll = (before: Partial<TaskRecord>) =>
      transition(record("tracking", before), { type: "pollStarted" }, context()).record.notBeforeMs;
    expect(poll({ notBeforeMs: NOW })).toBeUndefined();
    expect(poll({ notBeforeMs: NOW, failures: 2 })).toBe(NOW);
    const failed = transition(
      record("tracking", { failures: 4 }),
      { type: "pollFailed", notBeforeMs: 7 },
      context(),
    );
    expect(failed).toMatchObject({ save: true, record: { failures: 5, notBeforeMs: 7 } });
  });

  test("F164: the time to live is checked with every one, and recomputed from it", () => {
    const at = (elapsedMs: number, more: Parameters<typeof seen>[0]) =>
      transition(record("tracking"), seen(more, { elapsedMs }), context()).record;
    expect(at(61_500, {}).outcome).toEqual({ status: "lost", reason: "expired" });
    expect(at(61_500, { ttlMs: 300_000 }).phase).toBe("tracking");
    expect(at(30_000, { ttlMs: 10_000 }).outcome).toEqual({ status: "lost", reason: "expired" });
    expect(at(1e15, { ttlMs: null }).phase).toBe("tracking");
    // An end that was seen late is still the end.
    expect(at(1e15, { status: "completed", result: {} }).outcome?.status).toBe("completed");
  });

  test("F163: a task that is gone is expired by our own clock, else unknown", () => {
    const gone = (elapsedMs: number) =>
      transition(record("tracking"), { type: "taskGone", elapsedMs }, context()).record;
    expect(gone(54_000).outcome).toEqual({ status: "lost", reason: "unknown" });
    expect(gone(66_000).outcome).toEqual({ status: "lost", reason: "expired" });
  });
});

describe("questions", () => {
  const asks = (keys: string[]) =>
    seen({
      status: "input_required",
      inputRequests: keys.map((key) => [key, { method: "roots/list", params: {} }]),
    });

  test("an answer cannot be replaced, and a closed key never reopens", () => {
    let now = transition(record("tracking"), asks(["k"]), context()).record;
    const answers = [{ roots: [] }, { roots: [{ uri: "file:///x" }] }];
    for (const response of answers) {
      now = transition(
        now,
        { type: "inputAnswered", key: "k", digest: "digest-k", response, by: undefined, source: "handler" },
        context(),
      ).record;
    }
    expect(now.questions).toMatchObject([{ state: "answered", response: answers[0] }]);
    now = transition(now, { type: "updateAcked", keys: ["k"] }, context()).record;
    now = transition(now, seen({}), context()).record;
    expect(now.questions).toMatchObject([{ key: "k", state: "closed" }]);
    now = transition(now, asks(["k"]), context({ nowMs: NOW + 1e6 })).record;
    expect(now.questions).toMatchObject([{ key: "k", state: "closed" }]);
  });

  test("an answer to a changed request is not taken", () => {
    const event: TaskEvent = {
      type: "inputAnswered",
      key: "k",
      digest: "another",
      response: { roots: [] },
      by: undefined,
      source: "handler",
    };
    expect(transition(record("tracking"), event, context()).save).toBe(false);
  });

  test("input_required without its requests leaves them as they are", () => {
    const now = transition(record("tracking"), seen({ status: "input_required" }), context()).record;
    expect(now.questions).toEqual([question("k")]);
  });

  test("after a cancel was asked for, open ones are over and new ones are not shown; given answers stay", () => {
    const before = record("tracking", {
      questions: [question("open"), question("given", { state: "answered", response: {} })],
    });
    const cancelled = transition(before, { type: "cancelRequested" }, context()).record;
    expect(cancelled.questions.map(({ state }) => state)).toEqual(["closed", "answered"]);
    const after = transition(cancelled, asks(["open", "given", "new"]), context()).record;
    expect(after.questions.map(({ key, state }) => [key, state])).toEqual([
      ["open", "closed"],
      ["given", "answered"],
    ]);
    expect(transition(cancelled, { type: "cancelRequested" }, context({ nowMs: NOW + 5 })).save).toBe(false);
  });

  test("a new round before a task has questions of its own, and its own state or none", () => {
    const first = record("calling", {
      requestState: "old",
      questions: [question("k", { state: "answered", response: {} })],
    });
    const event: TaskEvent = {
      type: "callAsked",
      inputRequests: [["k", { method: "roots/list", params: {} }]],
      digests: new Map([["k", "digest-k"]]),
      requestState: undefined,
    };
    const now = transition(first, event, context()).record;
    expect(now.questions).toMatchObject([{ key: "k", state: "open", askedAtMs: NOW }]);
    expect(now.requestState).toBeUndefined();
    expect(now.call?.inFlight).toBe(false);
  });

  test("of a handle replace those of the call", () => {
    const event: TaskEvent = { type: "handleReceived", snapshot: snapshot(), digests: new Map() };
    const before = record("calling", {
      questions: [question("k", { state: "answered" })],
      requestState: "s",
    });
    const { record: now, statusChanged } = transition(before, event, context());
    expect(now).toMatchObject({ phase: "tracking", questions: [], receivedAtMs: NOW, callDigest: "digest" });
    expect([now.call, now.requestState, statusChanged]).toEqual([undefined, undefined, true]);
  });
});

test("isStale needs two readable times", () => {
  expect(isStale({ lastUpdatedAt: "2026-08-01T00:01:00Z" }, { lastUpdatedAt: "2026-08-01T00:00:59Z" })).toBe(
    true,
  );
  expect(isStale(undefined, { lastUpdatedAt: "2026-08-01T00:00:59Z" })).toBe(false);
  expect(isStale({ lastUpdatedAt: "x" }, { lastUpdatedAt: "2026-08-01T00:00:59Z" })).toBe(false);
  expect(isStale({}, {})).toBe(false);
});
