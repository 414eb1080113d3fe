/** Owns what a time to live may be before it meets a store. */

/** Beyond a hundred years a time to live only overflows somebody's integers. */
const MAX_TTL_MS = 100 * 365.25 * 24 * 3600 * 1000;

/**
 * A whole number of milliseconds, at least 1, or undefined for no expiry. Stores disagree on 0, negatives, NaN,
 * Infinity and fractions, so none of these reaches one: what is over is kept for 1 ms, what is no number or too
 * far away never expires.
 */
export function boundedTtl(ttlMs: number | undefined): number | undefined {
  if (ttlMs === undefined || Number.isNaN(ttlMs) || ttlMs > MAX_TTL_MS) return undefined;
  return Math.max(1, Math.ceil(ttlMs));
}
