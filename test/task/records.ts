/** Owns records and events for the tests of the pure core: one of each kind. It asserts nothing. */
import type { JsonObject } from "../../src/internal/json.js";
import type { TaskSnapshot } from "../../src/protocol/index.js";
import type { TaskEvent } from "../../src/task/events.js";
import type { Phase, Question, TaskRecord } from "../../src/task/record.js";
import type { TransitionContext } from "../../src/task/transition.js";

export const NOW = 1_000_000;

export const context = (more: Partial<TransitionContext> = {}): TransitionContext => ({
  nowMs: NOW,
  poll: { defaultIntervalMs: 1000, minIntervalMs: 100, maxIntervalMs: 3_600_000, jitter: 0 },
  answers: { answerGraceMs: 10_000 },
  ...more,
});

export const question = (key: string, more: Partial<Question> = {}): Question => ({
  key,
  method: "roots/list",
  params: {},
  digest: `digest-${key}`,
  askedAtMs: NOW - 500,
  state: "open",
  ...more,
});

export function record(phase: Phase, more: Partial<TaskRecord> = {}): TaskRecord {
  const base: TaskRecord = {
    v: 1,
    id: "local-1",
    scope: "default",
    server: "srv",
    identity: "https://srv.example/mcp",
    era: "2026-07-28",
    tool: "deploy",
    callDigest: "digest",
    createdAtMs: NOW - 1000,
    updatedAtMs: NOW - 1000,
    phase,
    questions: [],
  };
  const call = { arguments: { env: "prod" }, onUnknownOutcome: "fail", inFlight: true } as const;
  const task = {
    taskId: "task-1",
    receivedAtMs: NOW - 900,
    snapshot: { taskId: "task-1", status: "working", ttlMs: 60_000, lastUpdatedAt: "2026-08-01T00:01:00Z" },
  };
  switch (phase) {
    case "calling":
      return { ...base, call, ...more };
    case "asking":
      return { ...base, call: { ...call, inFlight: false }, questions: [question("k")], ...more };
    case "tracking":
      return { ...base, ...task, questions: [question("k")], ...more };
    case "settled":
    case "delivered":
      return {
        ...base,
        ...task,
        outcome: { status: "completed", result: { content: [] } },
        settledAtMs: NOW - 100,
        ...(phase === "delivered" ? { deliveredAtMs: NOW - 50 } : {}),
        ...more,
      };
  }
}

export const snapshot = (more: Partial<TaskSnapshot> = {}): TaskSnapshot => ({
  taskId: "task-1",
  status: "working",
  warnings: [],
  ...more,
});

export function seen(
  more: Partial<TaskSnapshot>,
  event: Partial<Extract<TaskEvent, { type: "snapshotSeen" }>> = {},
): TaskEvent {
  const shown = snapshot(more);
  const digests = new Map((shown.inputRequests ?? []).map(([key]) => [key, `digest-${key}`]));
  return { type: "snapshotSeen", snapshot: shown, digests, elapsedMs: 900, acceptStale: false, ...event };
}

const result: JsonObject = { content: [{ type: "text", text: "other" }] };
const error = { code: -32000, message: "other" };

/** One of every event. */
export const EVENTS: readonly TaskEvent[] = [
  { type: "callSending" },
  { type: "callNotRun" },
  { type: "callCompleted", result },
  { type: "callFailed", error },
  { type: "callLost" },
  {
    type: "callAsked",
    inputRequests: [["q", { method: "roots/list", params: {} }]],
    digests: new Map(),
    requestState: "s",
  },
  { type: "handleReceived", snapshot: snapshot({ taskId: "task-2" }), digests: new Map() },
  { type: "callAbandoned" },
  seen({ statusMessage: "half way", lastUpdatedAt: "2026-08-01T00:02:00Z" }),
  { type: "pollStarted" },
  { type: "pollFailed", notBeforeMs: NOW + 5000 },
  { type: "taskGone", elapsedMs: 1000 },
  { type: "ttlPassed" },
  {
    type: "inputAnswered",
    key: "k",
    digest: "digest-k",
    response: { roots: [] },
    by: undefined,
    source: "handler",
  },
  { type: "updateAcked", keys: ["k"] },
  { type: "updateRefused", key: "k" },
  { type: "cancelRequested" },
  { type: "cancelAcked" },
  { type: "gaveUp" },
  { type: "revived" },
  { type: "paused", notBeforeMs: NOW + 5000 },
  { type: "delivered" },
];

export const PHASES: readonly Phase[] = ["calling", "asking", "tracking", "settled", "delivered"];
