/** Owns JSON-RPC messages that come in: which is the answer to a request, and which error class an error becomes. */
import {
  EraNotSupportedError,
  InvalidResponseError,
  MissingCapabilityError,
  RpcError,
  TaskNotFoundError,
  type TasksError,
} from "../errors.js";
import { isObject, isTooDeep, type JsonObject } from "../internal/json.js";
import { scrub, scrubJson } from "../internal/scrub.js";
import { encodeHeaderValue, PROTOCOL_VERSION, RPC } from "../protocol/index.js";
import type { Notice } from "./types.js";

/** A JSON-RPC error as it came. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** What a message is to the request that waits. */
export type Incoming =
  | { readonly kind: "result"; readonly result: JsonObject }
  /** `addressed` is false when the server did not say which request it means. */
  | { readonly kind: "error"; readonly error: WireError; readonly addressed: boolean }
  | { readonly kind: "notice"; readonly notice: Notice }
  /** A server-to-client request: this revision has none. */
  | { readonly kind: "ignored" };

const MAX_ERROR_MESSAGE = 8192;
/** Members of input responses whose values are words of the protocol. */
const PROTOCOL_WORDS: ReadonlySet<string> = new Set(["action", "role", "type", "stopReason"]);

/** Parses text as JSON. Answers undefined where it is none: the parser's own message would quote it. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Sorts a parsed message. Throws `InvalidResponseError` for what is no message, or the answer to another request. */
export function readMessage(message: unknown, id: string): Incoming {
  if (!isObject(message)) throw new InvalidResponseError("The answer is not a JSON-RPC message");
  if (typeof message["method"] === "string") {
    if (message["id"] !== undefined) return { kind: "ignored" };
    const params = isObject(message["params"]) ? message["params"] : {};
    return { kind: "notice", notice: { method: message["method"], params } };
  }
  const addressed = message["id"] === id;
  // JSON-RPC 1.0 names both members, and some servers still do.
  if (message["error"] !== undefined && message["error"] !== null) {
    // A server that could not read the request does not know its id.
    if (!addressed && message["id"] !== null && message["id"] !== undefined) throw notOurs();
    return { kind: "error", error: readError(message["error"]), addressed };
  }
  if (!addressed) throw notOurs();
  if (!isObject(message["result"])) {
    throw new InvalidResponseError("The JSON-RPC answer has neither an error nor a result object");
  }
  return { kind: "result", result: message["result"] as JsonObject };
}

/**
 * The error class of a JSON-RPC error. The server's text is kept, less the request's own secrets: those of its params,
 * and the `credentials` of its headers.
 */
export function rpcError(
  error: WireError,
  request: {
    method: string;
    params: JsonObject;
    status?: number | undefined;
    retryAfterMs?: number | undefined;
    credentials?: readonly string[];
  },
): TasksError {
  const { status, retryAfterMs, credentials = [] } = request;
  const http = { status, retryAfterMs };
  const secrets = [...secretsOf(request.params), ...credentials];
  const wire = {
    code: error.code,
    message: scrub(error.message, secrets),
    ...(error.data !== undefined && { data: scrubJson(error.data, secrets) }),
  };
  const data = isObject(error.data) ? error.data : {};
  switch (error.code) {
    case RPC.invalidParams:
      return request.method === "tasks/get" ? new TaskNotFoundError(wire) : new RpcError(wire, http);
    case RPC.missingCapability:
      return new MissingCapabilityError(wire, http);
    case RPC.missingCapabilityOld:
      // Earlier servers use the number; others may use it for something else.
      return isObject(data["requiredCapabilities"])
        ? new MissingCapabilityError(wire, http)
        : new RpcError(wire, http);
    case RPC.unsupportedVersion: {
      const supported = textsOf(data["supported"]);
      return supported.includes(PROTOCOL_VERSION) ? new RpcError(wire, http) : eraError(supported);
    }
    default:
      return new RpcError(wire, http);
  }
}

/** The error of a server that does not speak this revision. */
export function eraError(supported: readonly string[] = [], cause?: unknown): EraNotSupportedError {
  const instead =
    supported.length > 0
      ? "it names other versions"
      : "it seems to be of an earlier revision that wants initialize, or the URL is not that of an MCP endpoint";
  return new EraNotSupportedError(`The server does not speak MCP ${PROTOCOL_VERSION}: ${instead}`, {
    supported,
    ...(cause !== undefined && { cause }),
  });
}

function readError(error: unknown): WireError {
  if (!isObject(error) || typeof error["code"] !== "number") {
    throw new InvalidResponseError("The JSON-RPC error has no code");
  }
  const { code, message, data } = error;
  const text = typeof message === "string" ? message.slice(0, MAX_ERROR_MESSAGE) : "";
  // What is nested too deep could neither be stored nor printed.
  return data === undefined || isTooDeep(data) ? { code, message: text } : { code, message: text, data };
}

/** What the request carried and no message may show, also as the headers had it. */
export function secretsOf(params: JsonObject): (string | undefined)[] {
  const [taskId, requestState] = [params["taskId"], params["requestState"]];
  return [
    typeof taskId === "string" ? taskId : undefined,
    typeof requestState === "string" ? requestState : undefined,
    typeof taskId === "string" ? encodeHeaderValue(taskId) : undefined,
    ...answersOf(params["inputResponses"]),
  ];
}

/** The texts that people answered with. What belongs to the protocol (action, role, type) is no secret. */
function answersOf(value: unknown, found: string[] = []): string[] {
  if (typeof value === "string") found.push(value);
  else if (Array.isArray(value)) value.forEach((item) => answersOf(item, found));
  else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) if (!PROTOCOL_WORDS.has(key)) answersOf(member, found);
  }
  return found;
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

function notOurs(): InvalidResponseError {
  return new InvalidResponseError("The answer has the JSON-RPC id of another request");
}
