/** Owns waiting until something happened. It does not know what. */
import { linkSignals } from "../../internal/abort.js";
import { sleep, type Clock } from "../../internal/clock.js";
import { createDeferred, type Deferred } from "../../internal/deferred.js";

/** A bell: who waits hears the next ring. */
export interface News {
  ring(): void;
  /** Resolves at the next ring, and at the latest after `waitMs`; rejects with the signal's reason. */
  next(waitMs: number, signal: AbortSignal | undefined): Promise<void>;
}

export function createNews(clock: Clock): News {
  const waiting = new Set<Deferred<void>>();
  return {
    ring() {
      for (const waiter of waiting) waiter.resolve();
    },
    async next(waitMs, signal) {
      signal?.throwIfAborted();
      const link = linkSignals(signal);
      const waiter = createDeferred<void>();
      waiting.add(waiter);
      try {
        await Promise.race([waiter.promise, sleep(clock, waitMs, { signal: link.signal })]);
      } finally {
        waiting.delete(waiter);
        link.release();
        link.abort(new DOMException("The wait is over", "AbortError"));
      }
    },
  };
}
