/** Owns how a task is read from the wire: tolerant of what servers leave out or add, exact about identity and status. */
import { InvalidResponseError } from "../errors.js";
import { isObject, isTooDeep, type JsonObject, type JsonValue } from "../internal/json.js";
import { scrub, scrubJson } from "../internal/scrub.js";
import { readInputRequests, type InputRequestEntry } from "./inputRequests.js";

/** The statuses of this revision. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** One observed state of a task. */
export interface TaskSnapshot {
  /** The server's handle. A secret. */
  readonly taskId: string;
  /** A {@link TaskStatus}, or text that this release does not know: that is kept, and is never terminal. */
  readonly status: string;
  /** At most 8192 characters; the rest is cut off. */
  readonly statusMessage?: string;
  /** As the server wrote it; may be unparsable. */
  readonly createdAt?: string;
  /** As the server wrote it; may be unparsable. */
  readonly lastUpdatedAt?: string;
  /** Milliseconds from creation; null: unlimited; undefined: not said, or not usable. */
  readonly ttlMs?: number | null;
  /** Milliseconds, a positive integer; undefined: not said, or not usable. */
  readonly pollIntervalMs?: number;
  /** The open questions; undefined: not said. Only while the status is `input_required`. */
  readonly inputRequests?: readonly InputRequestEntry[];
  /** Of a completed task. Undefined when the server left it out. */
  readonly result?: JsonObject;
  /** Of a failed task. Undefined when the server left it out. */
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonValue };
  /** The keys that this release does not read, `_meta` included, as they came. */
  readonly extra?: JsonObject;
  /** What could not be used, one sentence each, naming the field. */
  readonly warnings: readonly string[];
}

const KNOWN_STATUSES: ReadonlySet<string> = new Set<TaskStatus>([
  "working",
  "input_required",
  "completed",
  "failed",
  "cancelled",
]);
const MAX_STATUS_MESSAGE = 8192;

/** True for a status of this revision. */
export function isKnownStatus(status: unknown): status is TaskStatus {
  return typeof status === "string" && KNOWN_STATUSES.has(status);
}

/**
 * Reads the fields of a task, as a handle, a poll or a push shows them. Fields that cannot be used are left out with
 * a warning. Throws `InvalidResponseError` (with `taskId`, where there is one) when there is no task id or no status.
 * A handle may be over already, but carries no result or error by the protocol: there, nothing is missing.
 */
export function readTaskSnapshot(raw: unknown, shownBy: "handle" | "state" = "state"): TaskSnapshot {
  if (!isObject(raw)) throw new InvalidResponseError("The task is not an object");
  // First of all, so that whatever else is wrong, the host can still cancel what it caused.
  const taskId = taskIdOf(raw);
  if (taskId === undefined) throw new InvalidResponseError("taskId: expected a non-empty string");
  const status = raw["status"];
  if (typeof status !== "string") throw new InvalidResponseError("status: expected a string", { taskId });

  const warnings: string[] = [];
  const statusMessage = readText(raw, "statusMessage", warnings);
  const createdAt = readText(raw, "createdAt", warnings);
  const lastUpdatedAt = readText(raw, "lastUpdatedAt", warnings);
  const ttlMs = raw["ttlMs"] === null ? null : readDuration(raw, "ttlMs", warnings);
  const pollIntervalMs = readDuration(raw, "pollIntervalMs", warnings);
  const inputRequests = status === "input_required" ? readQuestions(raw, warnings) : undefined;
  const ofPayload = shownBy === "handle" ? [] : warnings;
  const result = status === "completed" ? readResult(raw, ofPayload) : undefined;
  const error = status === "failed" ? readError(raw, taskId, ofPayload) : undefined;
  const extra = extraOf(raw, warnings);
  return {
    taskId,
    status,
    ...(statusMessage !== undefined && { statusMessage: truncated(statusMessage) }),
    ...(createdAt !== undefined && { createdAt }),
    ...(lastUpdatedAt !== undefined && { lastUpdatedAt }),
    ...(ttlMs !== undefined && { ttlMs }),
    ...(pollIntervalMs !== undefined && { pollIntervalMs }),
    ...(inputRequests !== undefined && { inputRequests }),
    ...(result !== undefined && { result }),
    ...(error !== undefined && { error }),
    ...(extra !== undefined && { extra }),
    warnings,
  };
}

/**
 * Reads the answer to `tasks/get`. `resultType` may be complete, absent, or (some servers) task; the task may be
 * nested under `task`. Throws `InvalidResponseError` for anything else, and for the state of another task.
 */
export function readTaskAnswer(raw: JsonObject, taskId: string): TaskSnapshot {
  const type = raw["resultType"];
  if (type !== undefined && type !== "complete" && type !== "task") {
    throw new InvalidResponseError("resultType: not one that tasks/get may have");
  }
  const snapshot = readTaskSnapshot(unnested(raw));
  if (snapshot.taskId !== taskId) {
    throw new InvalidResponseError("taskId: the answer to tasks/get is about another task");
  }
  return snapshot;
}

/** The task's fields of an answer, also where an older draft nests them under `task`. */
export function unnested(raw: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { task, ...outer } = raw;
  return isObject(task) && raw["taskId"] === undefined ? { ...outer, ...task } : raw;
}

/** The task id of whatever looks like a task, flat or nested, or undefined. */
export function taskIdOf(raw: Readonly<Record<string, unknown>>): string | undefined {
  const taskId = unnested(raw)["taskId"];
  return typeof taskId === "string" && taskId !== "" ? taskId : undefined;
}

function readText(
  raw: Readonly<Record<string, unknown>>,
  field: string,
  warnings: string[],
): string | undefined {
  const value = raw[field];
  if (typeof value === "string") return value;
  if (value !== undefined && value !== null) warnings.push(`${field} is not a string and was ignored`);
  return undefined;
}

/** A hint in milliseconds, rounded up: hints are lower bounds. */
function readDuration(
  raw: Readonly<Record<string, unknown>>,
  field: string,
  warnings: string[],
): number | undefined {
  const value = raw[field];
  if (value === undefined) return undefined;
  if (typeof value === "number" && value > 0 && value <= Number.MAX_SAFE_INTEGER) return Math.ceil(value);
  warnings.push(`${field} is not a usable number of milliseconds and was ignored`);
  return undefined;
}

function readQuestions(
  raw: Readonly<Record<string, unknown>>,
  warnings: string[],
): readonly InputRequestEntry[] | undefined {
  const value = raw["inputRequests"];
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) {
    warnings.push("inputRequests is not an object and was ignored");
    return undefined;
  }
  const { entries, issues } = readInputRequests(value);
  warnings.push(...issues.map((issue) => `inputRequests: ${issue}`));
  return entries;
}

function readResult(raw: Readonly<Record<string, unknown>>, warnings: string[]): JsonObject | undefined {
  const result = raw["result"];
  if (isTooDeep(result)) {
    warnings.push("result is nested too deep to be used");
    return undefined;
  }
  if (isObject(result)) return result as JsonObject;
  warnings.push("result is missing from a completed task");
  return undefined;
}

/** The server's text is kept, less the task id. */
function readError(
  raw: Readonly<Record<string, unknown>>,
  taskId: string,
  warnings: string[],
): TaskSnapshot["error"] {
  const error = raw["error"];
  if (!isObject(error) || typeof error["code"] !== "number") {
    warnings.push("error is missing from a failed task");
    return undefined;
  }
  const { code, message, data } = error;
  const usable = data !== undefined && !isTooDeep(data);
  if (data !== undefined && !usable) warnings.push("error.data is nested too deep and was ignored");
  return {
    code,
    message: typeof message === "string" ? truncated(scrub(message, [taskId])) : "",
    ...(usable && { data: scrubJson(data as JsonValue, [taskId]) }),
  };
}

function extraOf(raw: Readonly<Record<string, unknown>>, warnings: string[]): JsonObject | undefined {
  /* eslint-disable @typescript-eslint/no-unused-vars -- the rest is what is wanted; a rest keeps odd keys as own ones */
  const {
    resultType,
    taskId,
    status,
    statusMessage,
    createdAt,
    lastUpdatedAt,
    ttlMs,
    pollIntervalMs,
    inputRequests,
    result,
    error,
    ...extra
  } = raw;
  /* eslint-enable @typescript-eslint/no-unused-vars */
  if (isTooDeep(extra)) {
    warnings.push("unknown members are nested too deep and were ignored");
    return undefined;
  }
  return Object.keys(extra).length > 0 ? (extra as JsonObject) : undefined;
}

function truncated(text: string): string {
  if (text.length <= MAX_STATUS_MESSAGE) return text;
  // Half of a surrogate pair at the end would not survive UTF-8.
  return text.slice(0, MAX_STATUS_MESSAGE).replace(/[\ud800-\udbff]$/, "");
}
