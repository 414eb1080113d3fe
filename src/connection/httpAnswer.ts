/** Owns how an HTTP response becomes a result or an error. It sends nothing and retries nothing. */
import { ConnectionError, InvalidResponseError, TasksError } from "../errors.js";
import type { JsonObject } from "../internal/json.js";
import { RPC } from "../protocol/index.js";
import { discardBody, readText } from "./body.js";
import { bodyFailure, readRetryAfter } from "./failures.js";
import type { ResponseLike } from "./httpOptions.js";
import { eraError, parseJson, readMessage, rpcError, type Incoming } from "./rpc.js";
import { readEvents } from "./sse.js";
import type { Notice } from "./types.js";

/** The request that the response answers, and how to read it. */
export interface AnswerContext {
  readonly id: string;
  readonly method: string;
  readonly params: JsonObject;
  /** Of the request's headers: no error may show them. */
  readonly credentials: readonly string[];
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly nowMs: number;
  /** True once the server has answered as one of this revision does. */
  readonly modern: boolean;
  readonly onNotice: (notice: Notice) => void;
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
const SSE_TYPE = /^text\/event-stream\s*(?:;|$)/i;
/** Larger bodies of errors are pages for people. */
const MAX_ERROR_BODY = 1024 * 1024;
/** The layers in front of the server speak here, whatever the body: their status and Retry-After count. */
const GATE_STATUSES: ReadonlySet<number> = new Set([401, 403, 408, 425, 429]);
/** The request was refused unread. */
const NOT_RUN_STATUSES: ReadonlySet<number> = new Set([401, 403, 429]);
/** How servers of earlier revisions turn a request away that has no session. */
export const ERA_STATUSES: ReadonlySet<number> = new Set([400, 404, 405, 406, 415, 426]);
/** The error numbers by which a server of this revision may be known when it does not repeat the request's id. */
const MODERN_CODES: ReadonlySet<number> = new Set(
  Object.values<number>(RPC).filter((code) => code !== RPC.invalidRequest),
);

/** The answer of a response. Rejects with the error classes of `Connection.request`, or as the signal says. */
export async function readAnswer(response: ResponseLike, context: AnswerContext): Promise<Incoming> {
  const { status } = response;
  if (status < 200 || status > 299) return readErrorAnswer(response, context);
  if (status === 202 || status === 204) {
    discardBody(response.body);
    throw new InvalidResponseError(`HTTP ${status} promises no answer, but the request needs one`, {
      status,
    });
  }
  try {
    if (isEventStream(response)) return await readStream(response, context);
    if (JSON_TYPE.test(typeOf(response))) return await readBody(response, context);
  } catch (error) {
    throw error instanceof TasksError ? error : bodyFailure(error, status);
  }
  discardBody(response.body);
  throw new InvalidResponseError("The answer is neither JSON nor an event stream", { status });
}

/** True for an answer of success that comes as server-sent events. */
export function isEventStream(response: ResponseLike): boolean {
  return response.status >= 200 && response.status <= 299 && SSE_TYPE.test(typeOf(response));
}

function typeOf({ headers }: ResponseLike): string {
  return headers.get("content-type") ?? "";
}

async function readBody(response: ResponseLike, context: AnswerContext): Promise<Incoming> {
  const { status } = response;
  const text = await readText(response.body, context);
  if (text.trim() === "") throw new ConnectionError("The answer is empty", { status, mayHaveRun: true });
  const message = parseJson(text);
  if (message === undefined) throw new InvalidResponseError("The answer is not JSON", { status });
  const incoming = readMessage(message, context.id);
  if (incoming.kind === "result" || incoming.kind === "error") return incoming;
  throw new InvalidResponseError("The answer is a JSON-RPC request or notification", { status });
}

async function readStream(response: ResponseLike, context: AnswerContext): Promise<Incoming> {
  const { status, body } = response;
  const { maxBytes, signal } = context;
  if (body) {
    for await (const event of readEvents(body, { maxBytes, maxEventBytes: maxBytes, signal })) {
      if (event.event !== undefined && event.event !== "message") continue;
      const message = parseJson(event.data);
      if (message === undefined)
        throw new InvalidResponseError("An event of the answer is not JSON", { status });
      const incoming = readMessage(message, context.id);
      if (incoming.kind === "notice") context.onNotice(incoming.notice);
      else if (incoming.kind !== "ignored") return incoming;
    }
  }
  throw new ConnectionError("The event stream ended without the answer", { status, mayHaveRun: true });
}

async function readErrorAnswer(response: ResponseLike, context: AnswerContext): Promise<Incoming> {
  const { status } = response;
  const { incoming, complete } = await readErrorBody(response, context);
  if (incoming !== undefined && isTheServers(incoming, status, context.modern)) return incoming;
  const cause = incoming && rpcError(incoming.error, { ...context, status });
  if (complete && !context.modern && ERA_STATUSES.has(status)) throw eraError([], cause);
  throw new ConnectionError(`HTTP ${status} from the server`, {
    status,
    retryAfterMs: readRetryAfter(response.headers, context.nowMs),
    mayHaveRun: !NOT_RUN_STATUSES.has(status),
    ...(cause !== undefined && { cause }),
  });
}

/**
 * Whether a JSON-RPC error is the server's answer to the request. Errors that name no request are also how servers
 * of earlier revisions and gateways in trouble turn requests away.
 */
function isTheServers(
  { addressed, error }: Extract<Incoming, { kind: "error" }>,
  status: number,
  modern: boolean,
): boolean {
  if (GATE_STATUSES.has(status)) return false;
  if (addressed) return true;
  if (status >= 500) return false;
  return modern || MODERN_CODES.has(error.code) || !ERA_STATUSES.has(status);
}

/** The JSON-RPC error in the body, if that is what it holds; `complete` is false when the body broke off. */
async function readErrorBody(
  response: ResponseLike,
  context: AnswerContext,
): Promise<{ incoming?: Extract<Incoming, { kind: "error" }>; complete: boolean }> {
  const maxBytes = Math.min(context.maxBytes, MAX_ERROR_BODY);
  try {
    const text = await readText(response.body, { maxBytes, signal: context.signal });
    const incoming = readMessage(parseJson(text), context.id);
    return incoming.kind === "error" ? { incoming, complete: true } : { complete: true };
  } catch (error) {
    context.signal.throwIfAborted();
    return { complete: error instanceof InvalidResponseError };
  }
}
