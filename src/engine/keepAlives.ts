/** Owns the rhythm of a stream's keep-alives, learned as they come: how long a silence is to be borne. It ends nothing. */
import type { Clock } from "../internal/clock.js";

/** A stream that misses so many keep-alives in a row is dead. */
const MISSED = 3;
/** So many gaps must have been seen before they count as a rhythm. */
const GAPS_NEEDED = 2;
/** The pieces of one message come within this time. */
const PIECES_MS = 1000;
/** No rhythm makes us less patient than this. */
const LEAST_MS = 10_000;

/** The rhythm of one stream. */
export interface KeepAlives {
  /** A sign of life came in; what it is shows a moment later. */
  sign(): void;
  /** The last sign was a message: those come when there is news, and say nothing of the rhythm. */
  message(): void;
  /** The silence after which the stream is dead, in milliseconds: the option's, or three of the longest gaps if that is less. */
  readonly patienceMs: number;
  /** The least that `patienceMs` may become. */
  readonly leastMs: number;
}

export function createKeepAlives(clock: Clock, idleMs: number): KeepAlives {
  let unsure: number | undefined;
  let last: number | undefined;
  let longestMs = 0;
  let gaps = 0;

  /** The sign before was not a message: it was a keep-alive. */
  function settle(): void {
    if (unsure === undefined) return;
    if (last !== undefined) {
      longestMs = Math.max(longestMs, unsure - last);
      gaps += 1;
    }
    last = unsure;
    unsure = undefined;
  }

  return {
    sign() {
      const now = clock.monotonic();
      if (unsure !== undefined && now - unsure < PIECES_MS) return;
      settle();
      unsure = now;
    },
    message: () => void (unsure = undefined),
    get patienceMs() {
      if (gaps < GAPS_NEEDED) return idleMs;
      return Math.min(idleMs, Math.max(MISSED * longestMs, LEAST_MS));
    },
    leastMs: Math.min(idleMs, LEAST_MS),
  };
}
