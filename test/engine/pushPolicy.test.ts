/** The decisions about push, as tables. */
import { describe, expect, test } from "vitest";
import { ConnectionError, EraNotSupportedError, MissingCapabilityError, RpcError } from "../../src/errors.js";
import {
  askedRestMs,
  pollsWithin,
  reopenDelayMs,
  safetyDelayMs,
  verdictOf,
  wasUseful,
  type StreamEnd,
} from "../../src/engine/pushPolicy.js";

const rpc = (code: number, status?: number): StreamEnd => ({
  kind: "failed",
  error: new RpcError({ code, message: "no" }, { status }),
});
const http = (status?: number, retryAfterMs?: number): StreamEnd => ({
  kind: "failed",
  error: new ConnectionError("no", { mayHaveRun: true, status, retryAfterMs }),
});

describe("what the end of a stream means", () => {
  test.each([
    ["F073: a result before the acknowledgement", { kind: "result" }, false, "rest"],
    ["a result after it", { kind: "result" }, true, "reopen"],
    ["F070: silence", { kind: "silent" }, true, "reopen"],
    ["F082: a drop", http(), true, "reopen"],
    ["F083, F095: 401", http(401), false, "reopen"],
    ["403 with a JSON-RPC body", rpc(-32601, 403), false, "reopen"],
    ["F085: -32601", rpc(-32601), false, "rest"],
    ["F079: -32602", rpc(-32602), false, "recheck"],
    ["-32603", rpc(-32603), false, "reopen"],
    [
      "an earlier revision",
      { kind: "failed", error: new EraNotSupportedError("old", { supported: [] }) },
      false,
      "rest",
    ],
    ["a bug of the connection", { kind: "failed", error: new TypeError("x") }, false, "reopen"],
  ] as const)("%s", (_what, end, acknowledged, kind) => {
    const verdict = verdictOf(end, acknowledged);
    expect(verdict).toEqual({ kind });
  });

  test("what a person can mend is reported", () => {
    const error = new MissingCapabilityError({ code: -32021, message: "no" });
    expect(verdictOf({ kind: "failed", error }, false)).toEqual({ kind: "rest", report: error });
    expect(verdictOf(rpc(-32020), false)).toMatchObject({ kind: "rest", report: { rpcCode: -32020 } });
  });

  test("only Retry-After asks for rest", () => {
    expect([askedRestMs(http(429, 7000)), askedRestMs(http(429)), askedRestMs(rpc(-32601))]).toEqual([
      7000, 0, 0,
    ]);
  });
});

test("F067: delays grow up to the budget, and only a notice or a minimum life makes a stream useful", () => {
  const policy = { maxFailures: 4, minDelayMs: 1000, maxDelayMs: 3000, factor: 2 };
  expect([1, 2, 3, 4].map((n) => reopenDelayMs(n, policy, 0))).toEqual([1000, 2000, 3000, undefined]);
  expect(reopenDelayMs(1, policy, 0.5)).toBe(1250);
  const useful = (notices: number, livedMs: number) => wasUseful({ notices, livedMs }, { minLifeMs: 30_000 });
  expect([useful(0, 10), useful(1, 10), useful(0, 30_000)]).toEqual([false, true, true]);
});

test("the safety poll: the larger of 60 s and ten intervals, never beyond the time to live, never below the interval", () => {
  const delay = (politeMs: number, ttlLeftMs: number | null) =>
    safetyDelayMs({ politeMs, ttlLeftMs, safetyPollMs: 60_000, unproven: undefined });
  expect([
    delay(1000, null),
    delay(10_000, null),
    delay(1000, 20_000),
    delay(1000, 10),
    delay(1000, -5),
  ]).toEqual([60_000, 100_000, 20_000, 1000, 1000]);
});

test("F070: on a stream that has shown no life, safety polls grow rarer one by one", () => {
  const delay = (unproven: number, ttlLeftMs: number | null = null) =>
    safetyDelayMs({ politeMs: 5000, ttlLeftMs, safetyPollMs: 60_000, unproven });
  expect([0, 1, 2, 3, 4, 5000].map((n) => delay(n))).toEqual([5000, 10_000, 20_000, 40_000, 60_000, 60_000]);
  expect(delay(3, 7000)).toBe(7000);
});

test("polls that surely would have been sent", () => {
  expect([
    pollsWithin(12_000, 5000),
    pollsWithin(4999, 5000),
    pollsWithin(-1, 5000),
    pollsWithin(1, 0),
  ]).toEqual([2, 0, 0, 0]);
});
