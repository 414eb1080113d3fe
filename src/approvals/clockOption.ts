/** Owns the check of a clock that was handed in, for the host's side and the page's. It keeps no time. */
import { isClock, type Clock } from "../internal/clock.js";

/** The clock as it was given. Throws `TypeError` where it is none. */
export function checkClock(given: unknown): Clock | undefined {
  if (given === undefined) return undefined;
  if (!isClock(given))
    throw new TypeError("clock: expected an object with now(), monotonic() and setTimer()");
  return given;
}
