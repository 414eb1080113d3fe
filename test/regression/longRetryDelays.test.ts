/** F038: a `retry.maxDelayMs` beyond what a timer takes made repeated requests a storm: each delay ended at once. */
import { expect, test } from "vitest";
import { oneShot } from "../../src/engine/oneShot.js";
import { rig, virtualClock } from "../engine/support.js";

test.each([
  { minDelayMs: 2 ** 31, maxDelayMs: 2 ** 31 },
  { minDelayMs: 2 ** 32, maxDelayMs: 1e15 },
  { minDelayMs: 1e15, maxDelayMs: Number.MAX_VALUE },
])("%j is waited out", async (delays) => {
  // Timers of the platform are virtual, and told what they are asked for.
  const clock = virtualClock();
  await rig({}, { clock });
  const asked: number[] = [];
  const before = globalThis.setTimeout;
  globalThis.setTimeout = ((run: () => void, ms: number) => {
    asked.push(ms);
    return before(run, ms);
  }) as typeof setTimeout;
  try {
    let attempts = 0;
    const end = new AbortController();
    const running = oneShot(
      () => {
        attempts += 1;
        return Promise.reject(new Error("no"));
      },
      { ...delays, factor: 2, signal: end.signal, again: () => true },
    );
    running.catch(() => undefined);
    await clock.advance(5000);
    expect(attempts).toBe(1);
    for (const ms of asked) expect(ms).toBeLessThanOrEqual(2 ** 31 - 1);
    expect(asked.length).toBeGreaterThan(0);
    end.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
  } finally {
    globalThis.setTimeout = before;
  }
});
