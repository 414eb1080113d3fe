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
/** The request was refused unread. */
const NOT_RUN_STATUSES: ReadonlySet<number> = new Set([401, 403, 429]);

/**
 * What a rejected `send` becomes. The transports keep neither headers nor, in 1.x, the body of an answer:
 * `Retry-After` is lost on this way.
 */
export function sendFailure(error: unknown, request: FailedRequest): TasksError {
  const status = statusOf(error);
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
    cause: withoutSecrets(error, params),
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

/** The error itself, unless it quotes what no error may show: then only its kind and scrubbed text. */
function withoutSecrets(error: unknown, params: JsonObject): unknown {
  if (!(error instanceof Error)) return error;
  const secrets = secretsOf(params);
  const message = scrub(error.message, secrets);
  const data = isObject((error as { data?: unknown }).data)
    ? JSON.stringify((error as { data?: unknown }).data)
    : "";
  if (message === error.message && scrub(data, secrets) === data) return error;
  const cause = new Error(message);
  cause.name = error.name;
  return cause;
}
