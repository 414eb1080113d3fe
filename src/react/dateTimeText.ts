/** Owns the two ways between an instant with its zone (as it is sent) and local text (as browsers' inputs have it). Pure but for the machine's zone. */

/** `2026-03-04T10:00:00` of the machine's zone for an RFC 3339 instant; empty where it is none. */
export function localInputText(instant: string): string {
  const at = new Date(instant);
  return Number.isNaN(at.getTime()) ? "" : localText(at);
}

/**
 * The local text as an instant with the offset that the machine's zone has then: `2026-03-04T10:00:00+01:00`. A time
 * that the zone skips moves forward by the gap, one that it has twice is the first. What cannot be read stays as it is.
 */
export function withZone(local: string): string {
  const at = new Date(local);
  if (Number.isNaN(at.getTime())) return local;
  const minutes = -at.getTimezoneOffset();
  // Before there were zones, places had offsets with seconds, which cannot be written.
  if (!Number.isInteger(minutes)) return at.toISOString();
  const size = Math.abs(minutes);
  const offset = `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  return `${localText(at)}${offset}`;
}

function localText(at: Date): string {
  const date = `${String(at.getFullYear()).padStart(4, "0")}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${date}T${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
