/** Owns who waits for one call to be handed over: each caller with its own time and its own leaving. It sends nothing. */
import { WaitTimeoutError, type StoreError } from "../errors.js";
import type { Clock, StopTimer } from "../internal/clock.js";
import { createDeferred, type Deferred } from "../internal/deferred.js";

/** What callers are handed: the call became a task, or is over. */
export interface HandedOver {
  /** Set when the handle could not be stored. */
  readonly storeError: StoreError | undefined;
  /** Set when the call ended with an error before it was a task. */
  readonly error: unknown;
}

/** How a caller waits. */
export interface CallerLimits {
  /** How long without an answer or a sign of life, in milliseconds; time in which people answer does not count. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** One caller's wait. */
export interface CallerWait {
  /** Rejects with `WaitTimeoutError`, the signal's reason, or what ended the call's driver. */
  readonly handed: Promise<HandedOver>;
  /** The caller needs to wait no longer, and holds the call: that is no leaving. Harmless after the end. */
  release(): void;
}

/** All waits for one call. */
export interface CallerWaits {
  add(limits: CallerLimits): CallerWait;
  /** A request begins, or the server gave a sign of life: everybody's time starts anew. */
  restart(): void;
  /** For everybody, also for those who come later. Only the first one counts, also with `reject`. */
  resolve(handed: HandedOver): void;
  reject(error: unknown): void;
  readonly settled: boolean;
  readonly waiting: number;
  /** There were callers, none waits any more, and none holds the call. */
  readonly left: boolean;
}

interface Waiter {
  readonly limits: CallerLimits;
  readonly gate: Deferred<HandedOver>;
  stopTimer: StopTimer;
  onAbort: () => void;
}

export function createCallerWaits(context: {
  clock: Clock;
  /** What a caller's time means now: people's (it does not count), between attempts, or the server's. */
  timeOf: () => "people" | "between-attempts" | "server";
  /** The last caller's time is over between attempts: to be answered with what the last attempt met. */
  stopTrying: (timeout: WaitTimeoutError) => void;
  /** The last caller aborted its wait. */
  onAbandoned: () => void;
}): CallerWaits {
  const waiters = new Set<Waiter>();
  const handed = createDeferred<HandedOver>();
  let joined = false;
  let released = false;

  function arm(waiter: Waiter): void {
    waiter.stopTimer();
    waiter.stopTimer = context.clock.setTimer(waiter.limits.timeoutMs, () => timedOut(waiter));
  }

  function timedOut(waiter: Waiter): void {
    const meaning = context.timeOf();
    if (meaning === "people") return arm(waiter);
    const timeout = new WaitTimeoutError(
      waiter.limits.timeoutMs,
      "the call may still be running, and a task that comes of it is tracked",
    );
    if (meaning === "between-attempts" && waiters.size === 1) return context.stopTrying(timeout);
    drop(waiter);
    waiter.gate.reject(timeout);
  }

  function aborted(waiter: Waiter): void {
    drop(waiter);
    waiter.gate.reject(waiter.limits.signal?.reason);
    if (waiters.size === 0 && !released) context.onAbandoned();
  }

  function drop(waiter: Waiter): void {
    waiters.delete(waiter);
    waiter.stopTimer();
    waiter.limits.signal?.removeEventListener("abort", waiter.onAbort);
  }

  function settle(how: (gate: Deferred<HandedOver>) => void): void {
    how(handed);
    if (waiters.size > 0) released = true;
    for (const waiter of [...waiters]) {
      drop(waiter);
      how(waiter.gate);
    }
  }

  return {
    add(limits) {
      joined = true;
      if (handed.settled) return { handed: handed.promise, release: () => undefined };
      const waiter: Waiter = {
        limits,
        gate: createDeferred(),
        stopTimer: () => undefined,
        onAbort: () => aborted(waiter),
      };
      waiters.add(waiter);
      arm(waiter);
      limits.signal?.addEventListener("abort", waiter.onAbort, { once: true });
      if (limits.signal?.aborted === true) aborted(waiter);
      return {
        handed: waiter.gate.promise,
        release() {
          if (!waiters.has(waiter)) return;
          released = true;
          drop(waiter);
        },
      };
    },
    restart: () => waiters.forEach(arm),
    resolve: (value) => settle((gate) => gate.resolve(value)),
    reject: (error) => settle((gate) => gate.reject(error)),
    get settled() {
      return handed.settled;
    },
    get waiting() {
      return waiters.size;
    },
    get left() {
      return joined && waiters.size === 0 && !released;
    },
  };
}
