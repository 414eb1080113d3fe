/** Owns repeating a single request until it is answered: update, cancel, listing, a call that did not run. Polls are the scheduler's. */
import pRetry from "p-retry";
import { MAX_TIMER_MS } from "../internal/clock.js";

/** How to repeat. */
export interface OneShotOptions {
  readonly signal: AbortSignal;
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  readonly factor: number;
  /** Whether this failure may be followed by another attempt, and what to do before it. */
  readonly again: (error: unknown, attempt: number) => boolean | Promise<boolean>;
}

/**
 * Runs the attempt until it succeeds, may not be repeated, or the signal aborts. Rejects with the last failure as
 * it was, or the signal's reason. Delays grow and are jittered; their timers keep no process alive.
 */
export async function oneShot<T>(attempt: () => Promise<T>, options: OneShotOptions): Promise<T> {
  // p-retry takes only errors that are neither TypeErrors nor DOMExceptions seriously: ours travel in a box.
  try {
    return await pRetry(
      async () => {
        try {
          return await attempt();
        } catch (error) {
          throw new Boxed(error);
        }
      },
      {
        retries: Infinity,
        // It waits on timers that fire at once beyond their limit.
        minTimeout: Math.min(options.minDelayMs, MAX_TIMER_MS),
        maxTimeout: Math.min(options.maxDelayMs, MAX_TIMER_MS),
        factor: options.factor,
        randomize: true,
        unref: true,
        signal: options.signal,
        shouldRetry: ({ error, attemptNumber }) => options.again(unboxed(error), attemptNumber),
      },
    );
  } catch (error) {
    throw unboxed(error);
  }
}

class Boxed extends Error {
  constructor(readonly inner: unknown) {
    super("boxed");
  }
}

function unboxed(error: unknown): unknown {
  return error instanceof Boxed ? error.inner : error;
}
