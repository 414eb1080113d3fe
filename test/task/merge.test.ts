/** Two processes wrote one record: what cannot be taken back wins. */
import { describe, expect, test } from "vitest";
import { mergeRecords } from "../../src/task/merge.js";
import type { Question, TaskRecord } from "../../src/task/record.js";
import { transition } from "../../src/task/transition.js";
import { context, EVENTS, NOW, PHASES, question, record } from "./records.js";

const over = (outcome: TaskRecord["outcome"], more: Partial<TaskRecord> = {}): TaskRecord =>
  record("settled", { ...(outcome === undefined ? {} : { outcome }), ...more });
const unknownCall = (): TaskRecord => {
  const {
    taskId: _id,
    snapshot: _snapshot,
    receivedAtMs: _at,
    ...rest
  } = over({
    status: "lost",
    reason: "call-outcome-unknown",
  });
  return rest;
};

describe("outcomes", () => {
  test("the first one stays", () => {
    const first = over({ status: "failed", error: { code: 1, message: "first" } });
    const second = over({ status: "completed", result: {} });
    expect(mergeRecords(first, second)).toEqual(first);
    for (const phase of PHASES) expect(mergeRecords(first, record(phase)).outcome).toEqual(first.outcome);
  });

  test("a delivery stays done, whoever did it first", () => {
    const stored = record("delivered", { deliveredAtMs: NOW - 50 });
    expect(mergeRecords(stored, record("settled"))).toMatchObject({
      phase: "delivered",
      deliveredAtMs: NOW - 50,
    });
    expect(mergeRecords(record("settled"), record("delivered", { deliveredAtMs: NOW }))).toMatchObject({
      phase: "delivered",
      deliveredAtMs: NOW,
    });
  });

  test("one that says that the host gave up gives way", () => {
    const gaveUp = over({ status: "lost", reason: "gave-up" });
    expect(mergeRecords(gaveUp, record("tracking")).phase).toBe("tracking");
    expect(mergeRecords(gaveUp, over({ status: "cancelled" })).outcome?.status).toBe("cancelled");
    expect(mergeRecords(over({ status: "cancelled" }), gaveUp).outcome?.status).toBe("cancelled");
  });

  test("one that says that nobody knows gives way to the process that got the answer", () => {
    expect(mergeRecords(unknownCall(), record("tracking"))).toMatchObject({
      phase: "tracking",
      taskId: "task-1",
    });
    expect(mergeRecords(unknownCall(), over({ status: "completed", result: {} })).outcome?.status).toBe(
      "completed",
    );
    expect(mergeRecords(unknownCall(), record("calling")).phase).toBe("settled");
  });
});

describe("handles", () => {
  test("a stored one is not lost to a process that has none, whatever that wants to store", () => {
    const stored = record("tracking");
    for (const mine of [record("calling"), record("asking"), unknownCall()]) {
      expect(mergeRecords(stored, mine)).toMatchObject({ phase: "tracking", taskId: "task-1" });
    }
  });

  test("the first one stays when a call was sent by two", () => {
    const mine = record("tracking", {
      taskId: "task-2",
      snapshot: { taskId: "task-2", status: "working", ttlMs: null },
    });
    expect(mergeRecords(record("tracking"), mine).taskId).toBe("task-1");
  });
});

describe("cancels and answers", () => {
  test("a cancel stays asked and acknowledged, from the earlier moment", () => {
    const merged = mergeRecords(
      record("tracking", { cancelRequestedAtMs: NOW - 9 }),
      record("tracking", { cancelRequestedAtMs: NOW, cancelAckedAtMs: NOW }),
    );
    expect(merged).toMatchObject({ cancelRequestedAtMs: NOW - 9, cancelAckedAtMs: NOW });
  });

  const merged = (stored: Partial<Question>, mine: Partial<Question>): Question | undefined =>
    mergeRecords(
      record("tracking", { questions: [question("k", stored)] }),
      record("tracking", { questions: [question("k", mine)] }),
    ).questions[0];

  test("an answer that another process stored is taken over", () => {
    expect(merged({ state: "answered", response: { a: 1 } }, { state: "open" })).toMatchObject({
      state: "answered",
      response: { a: 1 },
    });
  });

  test("of two answers the first one stands", () => {
    const early: Partial<Question> = { state: "answered", response: { a: 1 }, answeredAtMs: NOW - 5 };
    const late: Partial<Question> = { state: "answered", response: { a: 2 }, answeredAtMs: NOW };
    expect(merged(early, late)?.response).toEqual({ a: 1 });
    expect(merged(late, early)?.response).toEqual({ a: 1 });
  });

  test("progress is not undone, except by sending an acknowledged answer once more", () => {
    const acked: Partial<Question> = { state: "acked", response: { a: 1 }, ackedAtMs: NOW - 5 };
    expect(merged(acked, { state: "answered", response: { a: 1 } })?.state).toBe("acked");
    expect(merged(acked, { ...acked, state: "answered", resent: 1 })?.state).toBe("answered");
    expect(merged({ state: "closed" }, { state: "open" })?.state).toBe("closed");
  });

  test("a request that changed meanwhile is another question", () => {
    expect(merged({ state: "answered", response: { a: 1 }, digest: "old" }, { state: "open" })?.state).toBe(
      "open",
    );
  });

  test("another round of the call has other questions", () => {
    const stored = record("asking", {
      requestState: "1",
      questions: [question("k", { state: "answered", response: {} })],
    });
    expect(mergeRecords(stored, record("asking", { requestState: "2" })).questions[0]?.state).toBe("open");
  });
});

test("merging what was stored with itself, or twice, changes nothing more", () => {
  const records = PHASES.flatMap((phase) =>
    EVENTS.map((event) => transition(record(phase), event, context()).record),
  );
  for (const stored of records) {
    for (const mine of records) {
      const once = mergeRecords(stored, mine);
      expect(mergeRecords(once, mine)).toEqual(once);
      expect(mergeRecords(once, once)).toBe(once);
    }
  }
});
