/** Owns the decisions about push: what the end of a stream means, when the next one is due, how seldom a pushed task is polled. Pure. */
import { ConnectionError, EraNotSupportedError, MissingCapabilityError, RpcError } from "../errors.js";
import { RPC } from "../protocol/index.js";
import { backoffMs, type BackoffPolicy } from "../task/policy.js";
import type { PushPolicy } from "./types.js";

/** How a stream ended. */
export type StreamEnd =
  | { readonly kind: "result" }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "silent" };

/** What to do after a stream. */
export type Verdict =
  /** Open another one, after a while. */
  | { readonly kind: "reopen" }
  /** One of its tasks may be unknown or over: look at each, then listen for those that are still there. */
  | { readonly kind: "recheck" }
  /** Leave it for the cool-down. `report`: a person can mend it. */
  | { readonly kind: "rest"; readonly report?: unknown };

const REPLACE_MIN_MS = 2000;
const REPLACE_MAX_MS = 30_000;

/** Ten intervals, and no more often than the option says. */
const SAFETY_INTERVALS = 10;

/**
 * What a stream's end means. A refusal is meant for all streams of this server; whatever may be the network's doing
 * is tried again. Only polls decide whether a server is down: no verdict says so.
 */
export function verdictOf(end: StreamEnd, wasAcknowledged: boolean): Verdict {
  if (end.kind === "silent") return { kind: "reopen" };
  // A server that has an end ready before it has begun does not mean to push.
  if (end.kind === "result") return { kind: wasAcknowledged ? "reopen" : "rest" };
  const { error } = end;
  // An earlier revision: its calls and polls say so where it matters.
  if (error instanceof EraNotSupportedError) return { kind: "rest" };
  if (error instanceof MissingCapabilityError) return { kind: "rest", report: error };
  if (!(error instanceof RpcError) || error.status === 401 || error.status === 403) return { kind: "reopen" };
  switch (error.rpcCode) {
    case RPC.methodNotFound:
      return { kind: "rest" };
    case RPC.invalidParams:
      return { kind: "recheck" };
    case RPC.headerMismatch:
    case RPC.unsupportedVersion:
      return { kind: "rest", report: error };
    default:
      return { kind: "reopen" };
  }
}

/** How long the server wants to be left alone, in milliseconds. */
export function askedRestMs(end: StreamEnd): number {
  if (end.kind !== "failed") return 0;
  const { error } = end;
  const tells = error instanceof ConnectionError || error instanceof RpcError;
  return tells ? (error.retryAfterMs ?? 0) : 0;
}

/**
 * From the acknowledgement of a stream to its replacement by one for more tasks. `inRow`: how many streams were replaced
 * without a longer rest between. Each costs a look at every task, so where tasks keep coming, new ones are polled longer.
 */
export function replaceAfterMs(inRow: number): number {
  return Math.min(REPLACE_MIN_MS * 2 ** Math.min(inRow, 10), REPLACE_MAX_MS);
}

/** The replacements in a row after one more, of a stream that lived so long. */
export function replacedInRow(before: number, livedMs: number): number {
  return livedMs >= 2 * REPLACE_MAX_MS ? 0 : before + 1;
}

/** Whether a stream makes up for the failures before it. */
export function wasUseful(
  stream: { readonly notices: number; readonly livedMs: number },
  policy: Pick<PushPolicy, "minLifeMs">,
): boolean {
  return stream.notices > 0 || stream.livedMs >= policy.minLifeMs;
}

/** From the n-th failure in a row to the next opening; undefined once the budget is spent. */
export function reopenDelayMs(
  failures: number,
  policy: Pick<PushPolicy, "maxFailures"> & BackoffPolicy,
  random: number,
): number | undefined {
  return failures >= policy.maxFailures ? undefined : backoffMs(failures, policy, random);
}

/**
 * From an answer to the next poll of a task whose changes are pushed: seldom, but not beyond the end of its time to
 * live, which nobody pushes. Never less than the interval.
 *
 * A stream that says nothing may be half-open: until it shows life, polls grow rarer one by one, so that an end that it
 * swallows is never found later than as much again as the wait was long.
 */
export function safetyDelayMs(task: {
  readonly politeMs: number;
  readonly safetyPollMs: number;
  /** Polls since a stream was acknowledged that has shown no life since; undefined where it has. */
  readonly unproven: number | undefined;
  /** Until the time to live ends; null: it does not. */
  readonly ttlLeftMs: number | null;
}): number {
  const restedMs = Math.max(task.safetyPollMs, SAFETY_INTERVALS * task.politeMs);
  const seldomMs =
    task.unproven === undefined
      ? restedMs
      : Math.min(restedMs, task.politeMs * 2 ** Math.min(task.unproven, 60));
  // After its end a task is looked at as if nothing were pushed: somebody has to find out.
  return Math.max(Math.min(seldomMs, task.ttlLeftMs ?? Infinity), task.politeMs);
}

/** The polls that surely would have been sent in a stretch of time after an answer. */
export function pollsWithin(stretchMs: number, longestIntervalMs: number): number {
  return longestIntervalMs > 0 ? Math.floor(Math.max(stretchMs, 0) / longestIntervalMs) : 0;
}
