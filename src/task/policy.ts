/** Owns the arithmetic of waiting: intervals, backoff, time to live, how long records are kept. Pure: time and chance come in. */
import type { TaskRecord } from "./record.js";

/** How often to look at a task. All in milliseconds. */
export interface PollPolicy {
  /** Where the server gives no usable hint. */
  readonly defaultIntervalMs: number;
  /** Hints below it are raised to it. */
  readonly minIntervalMs: number;
  /** Hints above it are lowered to it, so that a hostile hint cannot park a task for ever. */
  readonly maxIntervalMs: number;
  /** How much a wait is lengthened at random, as a part of it (0.1: up to a tenth). */
  readonly jitter: number;
}

/** Growing delays after failures. All in milliseconds. */
export interface BackoffPolicy {
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  readonly factor: number;
}

/** The interval in force: the server's newest hint within our bounds. */
export function intervalMs(record: Pick<TaskRecord, "snapshot">, policy: PollPolicy): number {
  const hint = record.snapshot?.pollIntervalMs;
  if (hint === undefined || !Number.isFinite(hint) || hint <= 0) return policy.defaultIntervalMs;
  return Math.min(Math.max(Math.ceil(hint), policy.minIntervalMs), policy.maxIntervalMs);
}

/** A wait made a little longer, never shorter. `random` is in [0, 1). */
export function jittered(delayMs: number, jitter: number, random: number): number {
  return Math.ceil(delayMs * (1 + jitter * random));
}

/** The delay after the n-th failure in a row (n from 1): grows by the factor up to the maximum, with up to half of it added at random. */
export function backoffMs(failures: number, policy: BackoffPolicy, random: number): number {
  const grown = policy.minDelayMs * policy.factor ** Math.min(Math.max(failures, 1) - 1, 60);
  return Math.ceil(Math.min(grown, policy.maxDelayMs) * (1 + 0.5 * random));
}

/** When the time to live ends by the wall clock, or undefined where it is unlimited or not known. */
export function expiresAtMs(record: Pick<TaskRecord, "receivedAtMs" | "snapshot">): number | undefined {
  const ttlMs = record.snapshot?.ttlMs ?? null;
  if (record.receivedAtMs === undefined || ttlMs === null) return undefined;
  return record.receivedAtMs + ttlMs;
}

/**
 * True when a task that the server still shows as running has outlived its time to live. One interval of slack:
 * a snapshot that was taken in time may be seen late.
 */
export function hasOutlivedTtl(ttlMs: number | null, elapsedMs: number, slackMs: number): boolean {
  return ttlMs !== null && elapsedMs > ttlMs + slackMs;
}

/** How long records are kept. All in milliseconds. */
export interface RetentionPolicy {
  /** After delivery. */
  readonly retentionMs: number;
  /** For what has no end of its own: unlimited tasks, open questions, outcomes that nobody took. */
  readonly maxRetentionMs: number;
}

/** The store's time to live for a record, counted from now: nothing is kept for ever, nothing is dropped early. */
export function storeTtlMs(record: TaskRecord, nowMs: number, policy: RetentionPolicy): number {
  switch (record.phase) {
    case "delivered":
      return Math.max(policy.retentionMs, 1);
    case "calling":
    case "asking":
    case "settled":
      return policy.maxRetentionMs;
    case "tracking": {
      const endMs = expiresAtMs(record);
      if (endMs === undefined) return policy.maxRetentionMs;
      return Math.max(endMs - nowMs, 0) + Math.max(policy.retentionMs, HOUR_MS);
    }
  }
}

const HOUR_MS = 3_600_000;
