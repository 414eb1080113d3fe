/** Owns what a failed exchange says: whether the request can have been executed, and when to come back. */
import { ConnectionError } from "../errors.js";
import { isObject } from "../internal/json.js";

/** The longest that a server can make us stay away. */
export const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000;

/** Errors of connecting: there was nobody to send to. */
const NO_CONNECTION: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
]);
/** Errors of the TLS handshake: the request waits for its end. Renegotiation comes later, and is not one of them. */
const NO_TLS = /^(?:CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO_SELF_SIGNED|ERR_TLS_(?!RENEG|SESSION_ATTACK))/;
/** System calls on a connection that stood: the same error numbers then come too late to tell. */
const ON_CONNECTION: ReadonlySet<unknown> = new Set(["read", "write", "writev", "shutdown"]);
const MAX_CAUSES = 16;

/** What a rejected `fetch` becomes. */
export function fetchFailure(error: unknown): ConnectionError {
  if (isUnauthorized(error)) {
    // OAuth wrappers throw where the server answered 401 and they could not get it another token.
    return new ConnectionError("The server refused the credentials", {
      status: 401,
      mayHaveRun: false,
      cause: error,
    });
  }
  const notSent = certainlyNotSent(error);
  return new ConnectionError(
    notSent ? "The server could not be reached" : "The connection failed before an answer came",
    { mayHaveRun: !notSent, cause: error },
  );
}

/** What a body becomes that broke off. */
export function bodyFailure(error: unknown, status: number): ConnectionError {
  return new ConnectionError("The answer broke off", { status, mayHaveRun: true, cause: error });
}

/** True only when the error proves that no byte of the request was sent. Looks through causes and aggregates. */
export function certainlyNotSent(error: unknown, depth = 0): boolean {
  if (!isObject(error) || depth > MAX_CAUSES) return false;
  const { code, syscall, errors, cause } = error;
  // Several addresses were tried: each must have been out of reach.
  if (Array.isArray(errors) && errors.length > 0) {
    return errors.every((each: unknown) => certainlyNotSent(each, depth + 1));
  }
  if (typeof code === "string" && (NO_CONNECTION.has(code) || NO_TLS.test(code)))
    return !ON_CONNECTION.has(syscall);
  return certainlyNotSent(cause, depth + 1);
}

/**
 * `Retry-After` in milliseconds, at most a day: seconds, or a date, which is rounded up to whole seconds. A date is
 * measured against the server's own `Date`, where it sends one: its clock is not ours.
 */
export function readRetryAfter(
  headers: { get(name: string): string | null },
  nowMs: number,
): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (!value) return undefined;
  // A header that was sent twice (by the server and by what stands before it) comes as a list: the longer wait counts.
  const seconds = value.split(",").map((part) => part.trim());
  if (seconds.every((part) => /^\d+(?:\.\d+)?$/.test(part)))
    return Math.min(Math.max(...seconds.map((part) => Math.ceil(Number(part) * 1000))), MAX_RETRY_AFTER_MS);
  const until = httpDate(value);
  if (until === undefined) return undefined;
  const aheadMs = until - (httpDate(headers.get("date")) ?? nowMs);
  return Math.min(Math.max(Math.ceil(aheadMs / 1000) * 1000, 0), MAX_RETRY_AFTER_MS);
}

/** The oldest of the three forms that HTTP knows names no zone, and means GMT. */
const ASCTIME = /^[a-z]{3} [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/i;
/** Other texts that Date.parse takes may be read as local time. */
const ZONE = /(?:GMT|UTC|\dZ|:\d\d ?[+-]\d\d:?\d\d)$/i;

function httpDate(value: string | null): number | undefined {
  const text = value?.trim() ?? "";
  const isOld = ASCTIME.test(text);
  if (!isOld && !ZONE.test(text)) return undefined;
  const atMs = Date.parse(isOld ? `${text} GMT` : text);
  return Number.isNaN(atMs) ? undefined : atMs;
}

/** By name, since the class comes from whichever SDK the host's wrapper uses. */
function isUnauthorized(error: unknown, depth = 0): boolean {
  if (!isObject(error) || depth > MAX_CAUSES) return false;
  const named = error["name"] === "UnauthorizedError" || error.constructor?.name === "UnauthorizedError";
  return named || isUnauthorized(error["cause"], depth + 1);
}
