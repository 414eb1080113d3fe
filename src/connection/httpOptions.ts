/** Owns the options of the HTTP connection: their checks and defaults. It sends nothing. */
import { systemClock, type Clock } from "../internal/clock.js";
import { refuseUnknown } from "../internal/options.js";

/** What is handed to `fetch`. */
export interface FetchInit {
  method: "POST";
  headers: Record<string, string>;
  body: string;
  redirect: "manual";
  signal: AbortSignal;
}

/** The part of a `Response` that is used. */
export interface ResponseLike {
  readonly status: number;
  readonly type?: string;
  readonly headers: { get(name: string): string | null };
  readonly body: ReadableStream<Uint8Array> | null;
}

/** The part of `fetch` that is used: the platform's own fits, and so do wrappers of it, as for OAuth. */
export type FetchLike = (url: string, init: FetchInit) => Promise<ResponseLike>;

/** Header names and values. */
export type HeadersRecord = Readonly<Record<string, string>>;

/** How {@link httpConnection} talks to the server. */
export interface HttpConnectionOptions {
  /**
   * More headers, or what answers them: a function is asked before every request, so that a token may be renewed.
   * When it throws, nothing is sent (`ConnectionError`, `mayHaveRun: false`). The protocol's own headers win.
   */
  readonly headers?: HeadersRecord | (() => HeadersRecord | Promise<HeadersRecord>) | undefined;
  /** Sends the request. Default: the global `fetch`. It must honour `redirect: "manual"` and `signal`. */
  readonly fetch?: FetchLike | undefined;
  /**
   * Milliseconds without a sign of life (the complete answer, or a progress notice) after which a request is given
   * up with `ConnectionError`. Default 60000. Infinity: never.
   */
  readonly timeoutMs?: number | undefined;
  /** The most that one answer may take, in bytes after decompression. Default 16 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** Who the server is, across restarts. Default: the URL without query, fragment and trailing slash. */
  readonly identity?: string | undefined;
  /**
   * Whether a server that turns 2026-07-28 away is spoken to as one of 2025-11-25. Default `"auto"`; `"never"`:
   * `EraNotSupportedError`; `"only"`: 2026-07-28 is not tried, for servers that have tasks in the earlier one alone.
   */
  readonly earlier?: "auto" | "never" | "only" | undefined;
  /** Default: the machine's. */
  readonly clock?: Clock | undefined;
}

/** The checked options. */
export interface HttpSettings {
  readonly url: URL;
  readonly headers: () => Promise<HeadersRecord>;
  readonly fetch: FetchLike;
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly identity: string;
  readonly earlier: "auto" | "never" | "only";
  readonly clock: Clock;
}

const HTTP_OPTIONS = ["headers", "fetch", "timeoutMs", "maxResponseBytes", "identity", "earlier", "clock"];
const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Checks what the host gave. Throws `TypeError` naming the option and its value, unless that may be a secret. */
export function readHttpOptions(url: string | URL, options: HttpConnectionOptions): HttpSettings {
  const target = readUrl(url);
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`options must be an object, not ${shown(options)}`);
  }
  refuseUnknown("httpConnection", options, HTTP_OPTIONS);
  const { fetch = defaultFetch, identity = identityOf(target), clock = systemClock } = options;
  const { earlier = "auto" } = options;
  if (!["auto", "never", "only"].includes(earlier)) {
    throw new TypeError(`earlier must be "auto", "never" or "only", not ${shown(earlier)}`);
  }
  if (typeof fetch !== "function") throw new TypeError(`fetch must be a function, not ${shown(fetch)}`);
  if (typeof identity !== "string" || identity === "") {
    throw new TypeError(`identity must be a non-empty string, not ${shown(identity)}`);
  }
  if (typeof clock !== "object" || clock === null || typeof clock.setTimer !== "function") {
    throw new TypeError(`clock must be a Clock, not ${shown(clock)}`);
  }
  const { maxResponseBytes = DEFAULT_MAX_RESPONSE_BYTES } = options;
  if (!Number.isSafeInteger(maxResponseBytes) || maxResponseBytes <= 0) {
    throw new TypeError(`maxResponseBytes must be a positive integer, not ${shown(maxResponseBytes)}`);
  }
  return {
    url: target,
    headers: readHeadersOption(options.headers),
    fetch,
    timeoutMs: readTimeout(options.timeoutMs ?? DEFAULT_TIMEOUT_MS),
    maxResponseBytes,
    identity,
    earlier,
    clock,
  };
}

/** A usable `timeoutMs`. Throws `TypeError`. */
export function readTimeout(timeoutMs: unknown): number {
  if (typeof timeoutMs === "number" && timeoutMs > 0) return timeoutMs;
  throw new TypeError(`timeoutMs must be a positive number of milliseconds, not ${shown(timeoutMs)}`);
}

/**
 * Merges headers by name, ignoring case; later ones win. Throws `TypeError` naming the header, never its value, when
 * one cannot be sent.
 */
export function mergeHeaders(...sources: readonly (HeadersRecord | undefined)[]): Record<string, string> {
  const merged: Record<string, string> = {};
  for (const [name, value] of sources.flatMap((source) => Object.entries(source ?? {}))) {
    if (!HEADER_NAME.test(name)) throw new TypeError("headers: a name is not a header name");
    if (typeof value !== "string" || !HEADER_VALUE.test(value)) {
      throw new TypeError(`headers: the value of ${name} is not a header value`);
    }
    merged[name.toLowerCase()] = value;
  }
  return merged;
}

function readUrl(given: string | URL): URL {
  const text = given instanceof URL ? given.href : given;
  // The value is not quoted: what is no URL may still hold a password.
  if (typeof text !== "string" || !URL.canParse(text)) throw new TypeError("url must be an absolute URL");
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new TypeError(`url must be http or https, not ${url.protocol}`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new TypeError("url must not hold a user name or password: use the option headers");
  }
  url.hash = "";
  return url;
}

function identityOf(url: URL): string {
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

function readHeadersOption(headers: HttpConnectionOptions["headers"]): () => Promise<HeadersRecord> {
  if (typeof headers === "function") return async () => headers();
  if (headers !== undefined && (typeof headers !== "object" || headers === null)) {
    throw new TypeError(`headers must be an object or a function, not a ${typeof headers}`);
  }
  const fixed = mergeHeaders(headers);
  return () => Promise.resolve(fixed);
}

const defaultFetch: FetchLike = (url, init) => globalThis.fetch(url, init);

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 100));
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
