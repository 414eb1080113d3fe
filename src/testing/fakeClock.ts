/** Owns virtual time for tests. Nothing here reads the machine's clock, except to give real I/O a moment. */
import { boundedDelay, type Clock } from "../internal/clock.js";

export interface FakeClockOptions {
  /** Wall clock at the start, ms since 1970. Default: 2026-08-01T00:00:00Z. */
  readonly nowMs?: number;
  /**
   * Lets everything that is ready run: called before and after every timer. The default lets microtasks, immediates
   * and short WebCrypto work finish. Give your own when real I/O has to end first.
   */
  readonly settle?: () => Promise<void>;
}

/** A clock that stands still until it is told to go on. */
export interface FakeClock extends Clock {
  /** Goes on by `ms`, running the timers that fall due in their order, each at its own instant. */
  advance(ms: number): Promise<void>;
  /** Moves the wall clock alone, forth or back; `monotonic()` and timers do not notice. */
  jump(ms: number): void;
  /** How many timers are pending. */
  readonly timers: number;
  /** When the next timer is due, in ms from now; Infinity when there is none. */
  readonly nextInMs: number;
  /**
   * Goes from timer to timer until the promise settles or the predicate is true, and answers the promise's value.
   * Rejects when `limitMs` (virtual) has passed before that, or when there is nothing left to wait for.
   */
  runUntil<T>(goal: Promise<T> | (() => boolean), limitMs: number): Promise<T | undefined>;
}

interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
}

const START_MS = Date.UTC(2026, 7, 1);
/** How often `runUntil` gives real work a millisecond when no timer is pending. */
const REAL_ROUNDS = 200;

/** Makes a clock that stands still. */
export function fakeClock(options: FakeClockOptions = {}): FakeClock {
  const settle = options.settle ?? settleAll;
  const timers = new Set<Timer>();
  let monotonicMs = 0;
  let wallMs = options.nowMs ?? START_MS;

  function next(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of timers) if (first === undefined || timer.dueMs < first.dueMs) first = timer;
    return first;
  }

  function goTo(instantMs: number): void {
    const passedMs = Math.max(0, instantMs - monotonicMs);
    monotonicMs += passedMs;
    wallMs += passedMs;
  }

  function fire(timer: Timer): void {
    goTo(timer.dueMs);
    timers.delete(timer);
    timer.run();
  }

  async function advance(ms: number): Promise<void> {
    const targetMs = monotonicMs + ms;
    await settle();
    for (let timer = next(); timer !== undefined && timer.dueMs <= targetMs; timer = next()) {
      fire(timer);
      await settle();
    }
    goTo(targetMs);
  }

  async function runUntil<T>(goal: Promise<T> | (() => boolean), limitMs: number): Promise<T | undefined> {
    const reached = typeof goal === "function" ? goal : watch(goal);
    const limitAtMs = monotonicMs + limitMs;
    let realRounds = 0;
    await settle();
    while (!reached()) {
      const timer = next();
      if (timer === undefined) {
        if (realRounds === REAL_ROUNDS)
          throw new Error("runUntil: no timer is pending and the goal is not reached");
        realRounds += 1;
        await new Promise((resolve) => setTimeout(resolve, 1));
      } else if (timer.dueMs > limitAtMs) {
        throw new Error(`runUntil: the goal is not reached within ${limitMs} ms`);
      } else {
        fire(timer);
      }
      await settle();
    }
    return typeof goal === "function" ? undefined : await goal;
  }

  return {
    now: () => wallMs,
    monotonic: () => monotonicMs,
    setTimer(delayMs, run) {
      const timer = { dueMs: monotonicMs + boundedDelay(delayMs), run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance,
    jump(ms) {
      wallMs += ms;
    },
    get timers() {
      return timers.size;
    },
    get nextInMs() {
      return (next()?.dueMs ?? Infinity) - monotonicMs;
    },
    runUntil,
  };
}

/** True once the promise is settled; a rejection is handled here and shown by whoever awaits the promise. */
function watch(promise: Promise<unknown>): () => boolean {
  let settled = false;
  const note = (): void => {
    settled = true;
  };
  promise.then(note, note);
  return () => settled;
}

/**
 * WebCrypto answers from a thread pool, at no moment that can be known. Work of our own, begun later and awaited,
 * comes back after what was begun before it, nearly always; a few rounds cover work that begins more work.
 */
async function settleAll(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    await crypto.subtle.digest("SHA-256", new Uint8Array(64));
  }
  await new Promise((resolve) => setImmediate(resolve));
}
