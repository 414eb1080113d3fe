/** Owns every wait, every reading of time and the source of chance. Nothing else in the core may touch timers, dates or Math.random. */

/** The longest delay a JavaScript timer takes; above it, timers fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Stops a timer. Harmless when the timer has fired or was stopped before. */
export type StopTimer = () => void;

/** Time as the runtime sees it. Replace it to run whole scenarios in virtual time. */
export interface Clock {
  /** Wall-clock time in milliseconds since 1970. It may jump; it is used only for what must survive a restart. */
  now(): number;
  /** Milliseconds on a clock that never jumps or goes back. Its zero means nothing. */
  monotonic(): number;
  /**
   * Calls `run` once, not before `delayMs` has passed. A delay that is not a positive finite number counts
   * as 0; one beyond 2^31-1 is waited out in steps. `keepAlive: false` (the default) lets a process that
   * waits for nothing else exit.
   */
  setTimer(delayMs: number, run: () => void, options?: { keepAlive?: boolean }): StopTimer;
}

const OF_CLOCKS = ["now", "monotonic", "setTimer"] as const;

/** Whether what was handed in can be used as a clock. */
export function isClock(value: unknown): value is Clock {
  if (typeof value !== "object" || value === null) return false;
  return OF_CLOCKS.every((name) => typeof (value as Partial<Clock>)[name] === "function");
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(delayMs, run, options) {
    const due = performance.now() + boundedDelay(delayMs);
    let timer: ReturnType<typeof setTimeout>;
    const arm = (): void => {
      timer = setTimeout(check, Math.min(Math.max(due - performance.now(), 0), MAX_TIMER_MS));
      if (options?.keepAlive !== true) unref(timer);
    };
    // Timers fire early by a millisecond or so, and long waits go in steps: look again.
    const check = (): void => {
      if (performance.now() < due) arm();
      else run();
    };
    arm();
    return () => clearTimeout(timer);
  },
};

/** The machine's chance, in [0, 1): the one place where it enters. */
export const systemRandom = (): number => Math.random();

/** A delay that is safe to add to an instant: not NaN, not negative, not infinite. */
export function boundedDelay(delayMs: number): number {
  if (Number.isNaN(delayMs) || delayMs <= 0) return 0;
  return Math.min(delayMs, Number.MAX_SAFE_INTEGER / 2);
}

/**
 * Resolves after `delayMs`, or rejects with the signal's own reason as soon as it aborts.
 * The timer and the listener are gone in both cases.
 */
export function sleep(
  clock: Clock,
  delayMs: number,
  options: { signal?: AbortSignal | undefined; keepAlive?: boolean } = {},
): Promise<void> {
  const { signal, keepAlive = false } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const stop = clock.setTimer(
      delayMs,
      () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      },
      { keepAlive },
    );
    function onAbort(): void {
      stop();
      reject(signal?.reason as Error);
    }
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

function unref(timer: unknown): void {
  // Browsers answer a number; Node, Deno and Bun an object with unref.
  if (typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function") {
    (timer.unref as () => void).call(timer);
  }
}
