/** Owns how the page asks the host: addresses, headers, a time limit, and reading refusals. It keeps no state. */
import { linkSignals, raceSignal } from "../internal/abort.js";
import type { Clock } from "../internal/clock.js";
import { isObject, type JsonObject } from "../internal/json.js";
import { TasksStoreError } from "./tasksStoreError.js";
import type { RefusalBody, RefusalCode } from "./wire.js";

/** Headers, or what answers them for each request (a token that is renewed, for instance). */
export type StoreHeaders = HeaderFields | (() => HeaderFields | Promise<HeaderFields>);

type HeaderFields = Readonly<Record<string, string>>;

/** What `fetch` must be able to do. */
export type StoreFetch = (url: string, init: RequestInit) => Promise<Response>;

/** How the host is reached. */
export interface HostAddress {
  /** Where the handler is mounted. */
  readonly url: string;
  readonly headers: StoreHeaders | undefined;
  readonly fetch: StoreFetch | undefined;
  readonly credentials: RequestCredentials | undefined;
  readonly clock: Clock;
}

/** An answer of the handler's: JSON. */
export interface HostAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

/** Asks the host. */
export interface HostRequests {
  /** The response as it comes, whatever its status. Rejects with `TasksStoreError`, or the signal's reason once that aborts. */
  open(route: string, init: AbortableInit): Promise<Response>;
  get(route: string, query: string, signal?: AbortSignal): Promise<HostAnswer>;
  /** Rejects with `TasksStoreError` as `get`: for refusals, and where nobody can say what became of it. */
  post(route: string, body: JsonObject): Promise<HostAnswer>;
}

/** Of a request that somebody can end: neither the page's `headers` nor its `fetch` need heed the signal. */
export type AbortableInit = RequestInit & { readonly signal: AbortSignal };

/** Longer than any answer takes; nobody waits for ever at a dead connection. */
const TIME_LIMIT_MS = 30_000;

export function createHostRequests(address: HostAddress): HostRequests {
  const { clock } = address;
  // The query of the address is kept: some hosts tell their tenants by it.
  const [, path = "", search = ""] = /^([^?#]*)(\?[^#]*)?/.exec(address.url) ?? [];
  const base = path.replace(/\/+$/, "");

  async function open(route: string, init: AbortableInit, query = ""): Promise<Response> {
    const { signal } = init;
    const given =
      typeof address.headers === "function"
        ? await raceSignal(headersOf(address.headers), signal)
        : address.headers;
    const own = (init.headers ?? {}) as Record<string, string>;
    const joined = query === "" ? search : `${search === "" ? "?" : `${search}&`}${query}`;
    const sent = send(`${base}/${route}${joined}`, {
      ...init,
      headers: { ...given, ...own },
      ...(address.credentials === undefined ? {} : { credentials: address.credentials }),
    });
    try {
      return await raceSignal(sent, signal);
    } catch (cause) {
      if (!signal.aborted) throw new TasksStoreError("The host cannot be reached", { cause });
      // A fetch that does not heed the signal may answer yet: nobody would read that, or close it.
      sent.then(({ body }) => body?.cancel()).catch(() => undefined);
      throw signal.reason;
    }
  }

  /** Looked up late: the page may have it replaced, and a server that only renders may have none. */
  async function send(url: string, init: RequestInit): Promise<Response> {
    const own = address.fetch;
    return own === undefined ? globalThis.fetch(url, init) : own(url, init);
  }

  async function ask(route: string, init: RequestInit, query = ""): Promise<HostAnswer> {
    const limit = linkSignals(init.signal ?? undefined);
    const stop = clock.setTimer(TIME_LIMIT_MS, () =>
      limit.abort(new TasksStoreError(`The host did not answer within ${TIME_LIMIT_MS} ms`)),
    );
    try {
      const response = await open(route, { ...init, signal: limit.signal }, query);
      const body = await bodyOf(response, limit.signal);
      if (!response.ok || body === undefined) throw refusalError(response, body);
      return { status: response.status, body };
    } finally {
      stop();
      limit.release();
    }
  }

  return {
    open,
    get: (route, query, signal) =>
      ask(route, { headers: ACCEPT_JSON, ...(signal === undefined ? {} : { signal }) }, query),
    post: (route, body) =>
      ask(route, {
        method: "POST",
        headers: { ...ACCEPT_JSON, "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
  };
}

/** The error that an answer stands for which is no success of the handler's. */
export function refusalError(response: Response, body: JsonObject | undefined): TasksStoreError {
  const refusal = body === undefined ? undefined : refusalOf(body);
  const { status } = response;
  if (refusal !== undefined)
    return new TasksStoreError(refusal.message, { refusal: refusal.code, status, detail: refusal });
  // A host that sends people to its sign-in page.
  const isElsewhere = response.redirected || response.type === "opaqueredirect";
  const code: RefusalCode | undefined =
    status === 401 || status === 403 || isElsewhere ? "forbidden" : undefined;
  return new TasksStoreError(`The host answered ${status}, and not as the approvals handler does`, {
    refusal: code,
    status,
  });
}

/** The body as a JSON object, or undefined. Rejects only with the signal's reason, or when the connection breaks. */
export async function bodyOf(response: Response, signal: AbortSignal): Promise<JsonObject | undefined> {
  const text = await raceSignal(response.text(), signal).catch((cause: unknown) => {
    if (signal.aborted) throw signal.reason;
    throw new TasksStoreError("The host's answer broke off", { status: response.status, cause });
  });
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

const ACCEPT_JSON = { accept: "application/json" };

/** A host's reason is for a line of the page, not for a book. */
const MOST_MESSAGE_CHARS = 2000;

function refusalOf(body: JsonObject): RefusalBody["error"] | undefined {
  const { error } = body;
  if (!isObject(error)) return undefined;
  const { code, message, field, answeredAt, by } = error;
  if (typeof code !== "string" || typeof message !== "string") return undefined;
  return {
    code: code as RefusalCode,
    message: message.slice(0, MOST_MESSAGE_CHARS),
    ...(typeof field === "string" ? { field } : {}),
    ...(typeof answeredAt === "string" ? { answeredAt } : {}),
    ...(typeof by === "string" ? { by } : {}),
  };
}

async function headersOf(headers: () => HeaderFields | Promise<HeaderFields>): Promise<HeaderFields> {
  try {
    return await headers();
  } catch (cause) {
    throw new TasksStoreError("The page's own function headers failed", { cause });
  }
}
