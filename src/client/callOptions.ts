/** Owns the checks of what `callTool` is given. */
import { isObject, whyNotJson, type JsonObject, type JsonValue } from "../internal/json.js";
import { refuseUnknown } from "../internal/options.js";
import {
  duration,
  mustBeObject,
  nonEmpty,
  oneOf,
  optionalFunction,
  wrong,
  DEFAULT_CALL_MS,
} from "./options.js";

/** Which tool to call. */
export interface ToolCallParams {
  readonly name: string;
  /** Must survive JSON unchanged. Default `{}`. */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

/** Options of `callTool`. All times are in milliseconds. */
export interface CallToolOptions {
  /**
   * Makes the call repeatable: a call with an id that the store knows is not sent again, but answers with the same
   * task or result, also after a restart. At most 256 characters, unique within the scope. Default: a random id.
   */
  readonly callId?: string | undefined;
  /** JSON that is kept with the task and handed back everywhere (a conversation id, a user). */
  readonly context?: JsonValue | undefined;
  /** Ends the caller's wait with the signal's reason. A handle that arrives later is recorded all the same. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long to wait for the server's answer to the call (a result or a handle); then `WaitTimeoutError`. Progress
   * notices start it anew, and time in which people answer does not count. Default 60 000.
   */
  readonly timeoutMs?: number | undefined;
  /** Wait this long for a task (and for people) and answer with its result if it ended by then. Default 0. */
  readonly waitMs?: number | undefined;
  /** `"retry"`: send the call again when nobody can say whether it ran. Default `"fail"`. */
  readonly onUnknownOutcome?: "fail" | "retry" | undefined;
  /** More members of the request's `_meta` (trace context). Kept only while the call may have to be sent again. */
  readonly meta?: JsonObject | undefined;
  /** More HTTP headers for this call. Never stored: a call that is resumed after a restart goes without them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Progress notices of the call before its answer. */
  readonly onProgress?: ((progress: Readonly<Record<string, unknown>>) => void) | undefined;
  /**
   * The tool's `outputSchema`. Kept with the call: `callTool` and `TaskHandle.result` check `structuredContent` against
   * it, also after a restart, and reject with `InvalidResultError`. Results with `isError` are not checked.
   */
  readonly outputSchema?: JsonObject | undefined;
}

/** A checked call. */
export interface CheckedCall {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly callId: string | undefined;
  readonly context: JsonValue | undefined;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly waitMs: number;
  readonly onUnknownOutcome: "fail" | "retry";
  readonly meta: JsonObject | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly onProgress: ((progress: Readonly<Record<string, unknown>>) => void) | undefined;
  readonly outputSchema: JsonObject | undefined;
}

const MAX_CALL_ID = 256;
const CALL_OPTIONS = [
  "callId",
  "context",
  "signal",
  "timeoutMs",
  "waitMs",
  "onUnknownOutcome",
  "meta",
  "headers",
  "onProgress",
  "outputSchema",
];

/** Checks. Throws `TypeError` that names the option. */
export function checkCall(params: ToolCallParams, options: CallToolOptions): CheckedCall {
  mustBeObject("params", params);
  mustBeObject("options", options);
  refuseUnknown("params", params, ["name", "arguments"]);
  refuseUnknown("options", options, CALL_OPTIONS);
  const args = params.arguments ?? {};
  mustBeObject("arguments", args);
  return {
    tool: nonEmpty("name", params.name),
    arguments: json("arguments", args) as JsonObject,
    callId: options.callId === undefined ? undefined : callIdOf(options.callId),
    context: options.context === undefined ? undefined : json("context", options.context),
    signal: options.signal,
    timeoutMs: duration("timeoutMs", options.timeoutMs ?? DEFAULT_CALL_MS),
    waitMs: waitOf(options.waitMs ?? 0),
    onUnknownOutcome: oneOf("onUnknownOutcome", options.onUnknownOutcome ?? "fail", ["fail", "retry"]),
    meta: options.meta === undefined ? undefined : jsonObject("meta", options.meta),
    headers: options.headers === undefined ? undefined : headersOf(options.headers),
    onProgress: optionalFunction("onProgress", options.onProgress),
    outputSchema:
      options.outputSchema === undefined ? undefined : jsonObject("outputSchema", options.outputSchema),
  };
}

/** A copy by JSON: what the host does with its object later changes nothing here. */
function json(name: string, value: unknown): JsonValue {
  const reason = whyNotJson(value, name);
  if (reason !== undefined) throw new TypeError(`${name}: expected JSON, but ${reason}`);
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}

function waitOf(waitMs: unknown): number {
  if (typeof waitMs === "number" && Number.isFinite(waitMs) && waitMs >= 0) return waitMs;
  throw wrong("waitMs", waitMs, "0 or a positive number of milliseconds");
}

function callIdOf(callId: unknown): string {
  const id = nonEmpty("callId", callId);
  if (id.length > MAX_CALL_ID) {
    throw new TypeError(`callId: expected at most ${MAX_CALL_ID} characters, got ${id.length}`);
  }
  return id;
}

function jsonObject(name: string, value: unknown): JsonObject {
  if (!isObject(value)) throw wrong(name, value, "an object");
  return json(name, value) as JsonObject;
}

function headersOf(headers: unknown): Readonly<Record<string, string>> {
  const fits = isObject(headers) && Object.values(headers).every((value) => typeof value === "string");
  if (!fits) throw wrong("headers", headers, "an object of strings");
  return headers as Record<string, string>;
}
