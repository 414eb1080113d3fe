/** Owns what the errors of SDK transports say: the status, the JSON-RPC error inside, whether the request can have run. */
import { ConnectionError, type TasksError } from "../../errors.js";
import { isObject, type JsonObject } from "../../internal/json.js";
import { scrub } from "../../internal/scrub.js";
import { fetchFailure } from "../failures.js";
import { parseJson, readMessage, rpcError, secretsOf } from "../rpc.js";

/** The request that could not be sent, or was turned away. */
export interface FailedRequest {
  readonly id: string;
  readonly method: string;
  readonly params: JsonObject;
}

/** The layers in front of the server speak here, whatever the body. */
const GATE_STATUSES: ReadonlySet<number> = new Set([401, 403, 408, 425, 429]);
/** What the official SDK's servers answer where they find no session; a number for servers' own use. */
const NO_SESSION = -32000;
/** The request was refused unread. */
const NOT_RUN_STATUSES: ReadonlySet<number> = new Set([401, 403, 429]);

/**
 * What a rejected `send` becomes. The transports keep neither headers nor, in 1.x, the body of an answer:
 * `Retry-After` is lost on this way.
 */
export function sendFailure(error: unknown, request: FailedRequest, hasSession = false): TasksError {
  const status = statusOf(error);
  if (status !== undefined && hasSession && isSessionUnknown(error, status)) {
    return new ConnectionError("The server does not know the session any more", {
      status,
      mayHaveRun: false,
      cause: withoutSecrets(error, request.params, status),
    });
  }
  if (status === undefined) {
    if (isObject(error) && error["code"] === "NOT_CONNECTED") return notConnected(error);
    const failure = fetchFailure(error);
    const { mayHaveRun } = failure;
    return new ConnectionError(failure.message, {
      status: failure.status,
      mayHaveRun,
      cause: withoutSecrets(error, request.params),
    });
  }
  return wireErrorOf(error, status, request) ?? httpFailure(error, status, request);
}

/** True for the failure by which a server says that it has forgotten the session: the request was refused unread. */
export function isSessionLost(error: unknown): boolean {
  if (!(error instanceof ConnectionError) || error.mayHaveRun) return false;
  return error.status === 404 || error.status === 400;
}

/**
 * 404 is the protocol's answer to the id of an unknown session. Servers on the official SDK's example say 400, with a
 * JSON-RPC error that names no request.
 */
function isSessionUnknown(error: unknown, status: number): boolean {
  if (status !== 400) return status === 404;
  const { data, message } = error as { data?: unknown; message?: unknown };
  const text = isObject(data) ? data["text"] : message;
  // 1.x has the body at the end of its own words.
  const body = typeof text === "string" ? parseJson(text.slice(Math.max(text.indexOf("{"), 0))) : undefined;
  if (!isObject(body) || !isObject(body["error"])) return false;
  return (body["id"] ?? null) === null && body["error"]["code"] === NO_SESSION;
}

/** There is nobody to send to: the client has no transport, or is about to get one. */
export function notConnected(cause?: unknown): ConnectionError {
  return new ConnectionError("The SDK client is not connected", {
    mayHaveRun: false,
    ...(cause !== undefined && { cause }),
  });
}

function httpFailure(error: unknown, status: number, { params }: FailedRequest): ConnectionError {
  return new ConnectionError(`HTTP ${status} from the server`, {
    status,
    mayHaveRun: !NOT_RUN_STATUSES.has(status),
    cause: withoutSecrets(error, params, status),
  });
}

/** 2.x: `status`; 1.x: a numeric `code` that is an HTTP status. */
function statusOf(error: unknown): number | undefined {
  if (!isObject(error)) return undefined;
  const data = error["data"];
  const told = isObject(data) ? data["status"] : error["code"];
  return typeof told === "number" && told >= 100 && told <= 599 ? told : undefined;
}

/** The server's own JSON-RPC error, where the transport kept the body that it came in. */
function wireErrorOf(error: unknown, status: number, request: FailedRequest): TasksError | undefined {
  const data = isObject(error) ? error["data"] : undefined;
  const text = isObject(data) ? data["text"] : undefined;
  if (typeof text !== "string" || GATE_STATUSES.has(status)) return undefined;
  try {
    const incoming = readMessage(parseJson(text), request.id);
    if (incoming.kind !== "error" || (!incoming.addressed && status >= 500)) return undefined;
    return rpcError(incoming.error, { ...request, status });
  } catch {
    // A page for people, or the answer to somebody else: the status is all that is known.
    return undefined;
  }
}

/**
 * What may be shown of the transport's own error. Its text and data quote what the server sent, which nobody has looked
 * at: of an HTTP answer only the status is kept, of what could not be read only that. Others are kept as they are,
 * unless they hold a secret of the request.
 */
function withoutSecrets(error: unknown, params: JsonObject, status?: number): unknown {
  if (!(error instanceof Error)) return undefined;
  const quotesServer = status !== undefined || error.name === "SyntaxError" || error.name === "ZodError";
  const secrets = secretsOf(params);
  const message = quotesServer ? quoted(status) : scrub(error.message, secrets);
  if (!quotesServer && message === error.message && hasNoSecret(error, secrets)) return error;
  const cause = new Error(message);
  cause.name = error.name;
  return cause;
}

function quoted(status: number | undefined): string {
  return status === undefined ? "The answer cannot be read" : `HTTP ${status}`;
}

function hasNoSecret(error: Error, secrets: readonly (string | undefined)[], depth = 0): boolean {
  const { data, cause } = error as { data?: unknown; cause?: unknown };
  const shown = [error.message, isObject(data) ? JSON.stringify(data) : ""].join("\n");
  if (scrub(shown, secrets) !== shown) return false;
  return depth < MAX_CAUSES && cause instanceof Error ? hasNoSecret(cause, secrets, depth + 1) : true;
}

const MAX_CAUSES = 16;
