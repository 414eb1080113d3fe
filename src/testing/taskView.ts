/** Owns where a task stands: a pure function of what is stored and the time. No clock, no I/O. */
import type { JsonObject } from "../internal/json.js";
import type { StoredAnswer, StoredTask, TaskEnd, TaskStep, TestInputRequest, TestRpcError } from "./types.js";

/** A task at one instant. */
export interface TaskView {
  readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled";
  readonly message: string | undefined;
  readonly updatedAtMs: number;
  readonly open: readonly (readonly [key: string, request: TestInputRequest])[];
  readonly result?: JsonObject;
  readonly error?: TestRpcError;
  /** When it changes next if nobody does anything; Infinity when only an answer or a cancel moves it. */
  readonly nextAtMs: number;
}

/** Ends a task whose steps ran out. */
export type Finish = (args: JsonObject, answers: Readonly<Record<string, JsonObject>>) => TaskEnd;

/** Where the task stands at `nowMs`. */
export function taskView(task: StoredTask, finish: Finish, nowMs: number): TaskView {
  // A `run` tool decides itself what a cancel does.
  const honoured = task.cancel === "honour" && task.steps !== null && task.cancelAtMs !== null;
  const cancelledAt = honoured ? (task.cancelAtMs ?? 0) + task.cancelLagMs : Infinity;
  const view = uncancelledView(task, finish, Math.min(nowMs, cancelledAt));
  if (isTerminal(view.status)) return view;
  if (nowMs >= cancelledAt) {
    return {
      status: "cancelled",
      message: "Cancelled",
      updatedAtMs: cancelledAt,
      open: [],
      nextAtMs: Infinity,
    };
  }
  return { ...view, nextAtMs: Math.min(view.nextAtMs, cancelledAt) };
}

/** True when the time to live has passed. */
export function isGone(task: StoredTask, nowMs: number): boolean {
  return task.ttlMs !== null && nowMs >= task.createdAtMs + task.ttlMs;
}

export function isTerminal(status: string): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

function uncancelledView(task: StoredTask, finish: Finish, nowMs: number): TaskView {
  if (task.steps === null) return liveView(task);
  let atMs = task.createdAtMs;
  let message: string | undefined;
  for (const step of task.steps) {
    message = step.message ?? message;
    if (step.kind === "work") {
      const endMs = atMs + step.ms;
      if (nowMs < endMs) return working(message, atMs, endMs);
      atMs = endMs;
    } else if (step.kind === "ask") {
      const asked = askedAt(task, step, atMs);
      if (asked.open.length > 0) return inputRequired(message, asked.atMs, asked.open);
      atMs = asked.atMs;
    } else if (step.kind === "wait") {
      return working(message, atMs, Infinity);
    } else {
      return ended(step.kind === "complete" ? { result: step.result } : { error: step.error }, message, atMs);
    }
  }
  return ended(finish(task.arguments, answersByKey(task.answers)), message, atMs);
}

function askedAt(
  task: StoredTask,
  step: TaskStep & { kind: "ask" },
  fromMs: number,
): { atMs: number; open: [string, TestInputRequest][] } {
  const open: [string, TestInputRequest][] = [];
  let atMs = fromMs;
  for (const [key, request] of Object.entries(step.requests)) {
    const answer = task.answers.find((one) => one.key === key);
    if (answer === undefined) open.push([key, request]);
    else atMs = Math.max(atMs, answer.atMs);
  }
  return { atMs, open };
}

function liveView(task: StoredTask): TaskView {
  const live = task.live ?? { atMs: task.createdAtMs, asked: [] };
  if (live.end !== undefined) {
    if ("cancelled" in live.end) {
      return {
        status: "cancelled",
        message: live.message,
        updatedAtMs: live.atMs,
        open: [],
        nextAtMs: Infinity,
      };
    }
    return ended(live.end, live.message, live.atMs);
  }
  const open = live.asked
    .filter(({ key }) => !task.answers.some((answer) => answer.key === key))
    .map(({ key, request }) => [key, request] as const);
  return open.length > 0
    ? inputRequired(live.message, live.atMs, open)
    : working(live.message, live.atMs, Infinity);
}

/** The applied answers. Keys are the client's to send but ours to choose, so own properties only. */
export function answersByKey(answers: readonly StoredAnswer[]): Record<string, JsonObject> {
  return Object.fromEntries(answers.map(({ key, value }) => [key, value]));
}

function working(message: string | undefined, updatedAtMs: number, nextAtMs: number): TaskView {
  return { status: "working", message, updatedAtMs, open: [], nextAtMs };
}

function inputRequired(message: string | undefined, updatedAtMs: number, open: TaskView["open"]): TaskView {
  return { status: "input_required", message, updatedAtMs, open, nextAtMs: Infinity };
}

function ended(end: TaskEnd, message: string | undefined, updatedAtMs: number): TaskView {
  const base = { message, updatedAtMs, open: [], nextAtMs: Infinity };
  return "result" in end
    ? { ...base, status: "completed", result: end.result }
    : { ...base, status: "failed", error: end.error };
}
