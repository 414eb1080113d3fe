import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { boundedDelay, MAX_TIMER_MS, sleep, systemClock } from "../../src/internal/clock.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("systemClock", () => {
  test("F038: a delay beyond 2^31 ms is waited out in steps, and ends when it should", () => {
    const run = vi.fn();
    const delayMs = 3 * MAX_TIMER_MS + 5000;
    systemClock.setTimer(delayMs, run);
    vi.advanceTimersByTime(delayMs - 1);
    expect(run).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(run).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("stopping works in every step, and twice", () => {
    const run = vi.fn();
    const stop = systemClock.setTimer(2 * MAX_TIMER_MS, run);
    vi.advanceTimersByTime(MAX_TIMER_MS + 10);
    stop();
    stop();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(4 * MAX_TIMER_MS);
    expect(run).not.toHaveBeenCalled();
  });

  test.each([NaN, -1, 0, -Infinity])("a delay of %s counts as none", (delayMs) => {
    const run = vi.fn();
    systemClock.setTimer(delayMs, run);
    expect(run).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(run).toHaveBeenCalledTimes(1);
  });

  test("an endless delay does not fire at once", () => {
    const run = vi.fn();
    const stop = systemClock.setTimer(Infinity, run);
    vi.advanceTimersByTime(10 * MAX_TIMER_MS);
    expect(run).not.toHaveBeenCalled();
    stop();
  });

  test("a timer that fires early is armed again", () => {
    const run = vi.fn();
    const now = vi.spyOn(performance, "now");
    const startMs = performance.now();
    systemClock.setTimer(100, run);
    now.mockReturnValue(startMs + 99.2);
    vi.advanceTimersByTime(100);
    expect(run).not.toHaveBeenCalled();
    now.mockReturnValue(startMs + 100);
    vi.advanceTimersByTime(1);
    expect(run).toHaveBeenCalledTimes(1);
    now.mockRestore();
  });

  test("timers let a process end, unless they are to keep it alive", () => {
    vi.useRealTimers();
    const armed: NodeJS.Timeout[] = [];
    const real = globalThis.setTimeout;
    const spy = vi.spyOn(globalThis, "setTimeout").mockImplementation((run: () => void, ms?: number) => {
      const timer = real(run, ms);
      armed.push(timer);
      return timer;
    });
    systemClock.setTimer(60_000, () => undefined)();
    systemClock.setTimer(60_000, () => undefined, { keepAlive: true })();
    spy.mockRestore();
    expect(armed.map((timer) => timer.hasRef())).toEqual([false, true]);
  });
});

test.each([
  [NaN, 0],
  [-5, 0],
  [12.5, 12.5],
])("boundedDelay(%s) is %s", (delayMs, expected) => expect(boundedDelay(delayMs)).toBe(expected));

test("boundedDelay of Infinity can be added to an instant", () => {
  expect(Number.isSafeInteger(Math.floor(performance.now() + boundedDelay(Infinity)))).toBe(true);
});

describe("sleep", () => {
  test("resolves after its time, and leaves no timer and no listener", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const remove = vi.spyOn(signal, "removeEventListener");
    const slept = sleep(systemClock, 1000, { signal });
    await vi.advanceTimersByTimeAsync(1000);
    await slept;
    expect(remove).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("F061: an abort rejects at once with the signal's own reason, and the timer is gone", async () => {
    const controller = new AbortController();
    const slept = sleep(systemClock, 120_000, { signal: controller.signal });
    const reason = { any: "thing" };
    controller.abort(reason);
    await expect(slept).rejects.toBe(reason);
    expect(vi.getTimerCount()).toBe(0);
    await expect(sleep(systemClock, 1, { signal: controller.signal })).rejects.toBe(reason);
    expect(vi.getTimerCount()).toBe(0);
  });
});
