/** Owns the check of a clock that was handed in, for the host's side and the page's. It keeps no time. */
import type { Clock } from "../internal/clock.js";
import { isObject } from "../internal/json.js";

/** The clock as it was given. Throws `TypeError` where it is none. */
export function checkClock(given: unknown): Clock | undefined {
  if (given === undefined) return undefined;
  const fits =
    isObject(given) &&
    (["now", "monotonic", "setTimer"] as const).every((name) => typeof given[name] === "function");
  if (!fits) throw new TypeError("clock: expected an object with now(), monotonic() and setTimer()");
  return given as unknown as Clock;
}
