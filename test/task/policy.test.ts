/** The arithmetic of waiting. */
import { describe, expect, test } from "vitest";
import {
  backoffMs,
  expiresAtMs,
  hasOutlivedTtl,
  intervalMs,
  jittered,
  storeTtlMs,
} from "../../src/task/policy.js";
import { context, NOW, PHASES, record } from "./records.js";

const { poll } = context();
const hinted = (pollIntervalMs: number | undefined) => ({
  snapshot: {
    taskId: "t",
    status: "working",
    ttlMs: null,
    ...(pollIntervalMs === undefined ? {} : { pollIntervalMs }),
  },
});

describe("intervalMs", () => {
  test.each([
    ["the hint", 2500, 2500],
    ["a fraction, rounded up", 2500.2, 2501],
    ["the floor", 1, poll.minIntervalMs],
    ["the ceiling", 2 ** 53, poll.maxIntervalMs],
    ["F035: no time", 0, poll.defaultIntervalMs],
    ["F035: negative time", -1, poll.defaultIntervalMs],
    ["F037: no number", NaN, poll.defaultIntervalMs],
    ["F037: no end", Infinity, poll.defaultIntervalMs],
    ["no hint", undefined, poll.defaultIntervalMs],
  ])("%s", (_what, hint, expected) => {
    expect(intervalMs(hinted(hint), poll)).toBe(expected);
  });

  test("without a snapshot it is the default", () => expect(intervalMs({}, poll)).toBe(1000));
});

test("jitter only lengthens, by its part at most", () => {
  for (const delayMs of [1, 100, 999.5, 3_600_000]) {
    for (const random of [0, 0.3, 0.999999]) {
      expect(jittered(delayMs, 0.1, random)).toBeGreaterThanOrEqual(delayMs);
      expect(jittered(delayMs, 0.1, random)).toBeLessThanOrEqual(Math.ceil(delayMs * 1.1));
    }
  }
});

describe("backoffMs", () => {
  const policy = { minDelayMs: 1000, maxDelayMs: 60_000, factor: 2 };

  test("grows to its maximum and stays there", () => {
    const steps = [1, 2, 3, 4, 5, 6, 7, 8].map((failures) => backoffMs(failures, policy, 0));
    expect(steps).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  });

  test("is finite and within its bounds for whatever a record may say", () => {
    for (const failures of [-5, 0, 1, 61, 1e9, Infinity]) {
      for (const random of [0, 0.999999]) {
        const delayMs = backoffMs(failures, policy, random);
        expect(delayMs).toBeGreaterThanOrEqual(policy.minDelayMs);
        expect(delayMs).toBeLessThanOrEqual(policy.maxDelayMs * 1.5);
      }
    }
  });

  test("a factor of one is constant", () => expect(backoffMs(50, { ...policy, factor: 1 }, 0)).toBe(1000));
});

describe("time to live", () => {
  test("F166: it counts from the local receipt of the handle, not from the server's createdAt", () => {
    const task = record("tracking");
    expect(expiresAtMs(task)).toBe(NOW - 900 + 60_000);
    expect(expiresAtMs({ ...task, snapshot: { ...task.snapshot!, ttlMs: null } })).toBeUndefined();
    expect(expiresAtMs(record("calling"))).toBeUndefined();
  });

  test("it is outlived only beyond the slack, and never when unlimited", () => {
    expect(hasOutlivedTtl(60_000, 61_000, 1000)).toBe(false);
    expect(hasOutlivedTtl(60_000, 61_001, 1000)).toBe(true);
    expect(hasOutlivedTtl(null, Infinity, 0)).toBe(false);
  });
});

describe("storeTtlMs", () => {
  const policy = { retentionMs: 86_400_000, maxRetentionMs: 30 * 86_400_000 };

  test("nothing is kept for ever, and nothing is dropped before its end", () => {
    expect(storeTtlMs(record("delivered"), NOW, policy)).toBe(policy.retentionMs);
    expect(storeTtlMs(record("tracking"), NOW, policy)).toBe(59_100 + policy.retentionMs);
    for (const phase of ["calling", "asking", "settled"] as const) {
      expect(storeTtlMs(record(phase), NOW, policy)).toBe(policy.maxRetentionMs);
    }
  });

  test("F109: an unlimited task gets the longest time", () => {
    const unlimited = record("tracking", { snapshot: { taskId: "t", status: "working", ttlMs: null } });
    expect(storeTtlMs(unlimited, NOW, policy)).toBe(policy.maxRetentionMs);
  });

  test("a task past its end, seen by a clock that jumped, is kept long enough to be looked at", () => {
    const short = { retentionMs: 1, maxRetentionMs: 2 };
    expect(storeTtlMs(record("tracking"), NOW + 1e12, short)).toBeGreaterThanOrEqual(3_600_000);
  });

  test("it is positive in every phase", () => {
    for (const phase of PHASES) {
      expect(storeTtlMs(record(phase), NOW + 1e15, { retentionMs: 0, maxRetentionMs: 1 })).toBeGreaterThan(0);
    }
  });
});
