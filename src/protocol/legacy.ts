/** Owns the words and shapes of revision 2025-11-25, and how they read in ours: no field name of the one passes to the other. No I/O. */
import { isObject, type JsonObject, type JsonValue } from "../internal/json.js";
import {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_PROTOCOL_VERSION,
  META_SUBSCRIPTION_ID,
  TASKS_EXTENSION,
} from "./constants.js";

export const LEGACY_RELATED_TASK = "io.modelcontextprotocol/related-task";

/** How a tool of that revision may be called. */
export type TaskSupport = "required" | "optional" | "forbidden";

/** What a server of that revision may ask within a task. */
const QUESTIONS: ReadonlySet<string> = new Set([
  "elicitation/create",
  "sampling/createMessage",
  "roots/list",
]);
/** What the envelope of our revision adds, and the progress token, which belongs to whoever sends the request. */
const NOT_THEIRS: ReadonlySet<string> = new Set([
  META_PROTOCOL_VERSION,
  META_CLIENT_INFO,
  META_CLIENT_CAPABILITIES,
  META_SUBSCRIPTION_ID,
  TASKS_EXTENSION,
  "progressToken",
]);
/** The mark names a task id, which no host and no digest needs; a token differs each time the same thing is asked. */
const NOT_SHOWN: ReadonlySet<string> = new Set([LEGACY_RELATED_TASK, "progressToken"]);

/** True when `tools/call` may ask the server for a task. */
export function offersToolTasks(capabilities: JsonObject): boolean {
  let found: JsonValue | undefined = capabilities;
  for (const name of ["tasks", "requests", "tools", "call"]) {
    found = isObject(found) ? found[name] : undefined;
  }
  return isObject(found);
}

/** What a listed tool says of tasks; whatever cannot be read counts as `forbidden`, as the revision has it. */
export function taskSupportOf(tool: unknown): TaskSupport {
  const execution = isObject(tool) ? tool["execution"] : undefined;
  const support = isObject(execution) ? execution["taskSupport"] : undefined;
  return support === "required" || support === "optional" ? support : "forbidden";
}

/** The params of a request as that revision takes them: what only ours has is left out, `meta` joins what was there. */
export function legacyParams(params: JsonObject, meta: JsonObject | undefined): JsonObject {
  const { _meta: own, inputResponses: _answers, requestState: _state, task: _task, ...rest } = params;
  const joined = without({ ...(isObject(own) ? own : {}), ...meta }, NOT_THEIRS);
  return Object.keys(joined).length === 0 ? rest : { ...rest, _meta: joined };
}

/** A result without the mark of its task and without a `resultType`, which that revision does not have. */
export function plainResult(raw: JsonObject): JsonObject {
  const { resultType: _type, ...rest } = raw;
  return withShownMeta(rest);
}

/** A task of that revision with the field names of ours; a payload or questions are not in it. */
export function modernTask(raw: Readonly<Record<string, unknown>>): JsonObject {
  const {
    ttl,
    pollInterval,
    resultType: _type,
    ttlMs: _ttlMs,
    pollIntervalMs: _pollIntervalMs,
    inputRequests: _questions,
    requestState: _state,
    result: _result,
    error: _error,
    ...rest
  } = raw as JsonObject;
  return {
    ...withShownMeta(rest),
    ...(ttl !== undefined && { ttlMs: ttl }),
    ...(pollInterval !== undefined && { pollIntervalMs: pollInterval }),
  };
}

/** The answer to `tools/call` as our revision has it: a flat handle, or the result. */
export function modernCallAnswer(raw: JsonObject): JsonObject {
  const { task, ...outer } = raw;
  if (!isObject(task)) return plainResult(raw);
  const { _meta: meta } = withShownMeta(outer);
  return { ...(meta !== undefined && { _meta: meta }), ...modernTask(task), resultType: "task" };
}

/** The task that a message of the server belongs to. */
export function relatedTaskId(params: Readonly<Record<string, unknown>>): string | undefined {
  const meta = params["_meta"];
  const related = isObject(meta) ? meta[LEGACY_RELATED_TASK] : undefined;
  const taskId = isObject(related) ? related["taskId"] : undefined;
  return typeof taskId === "string" && taskId !== "" ? taskId : undefined;
}

/** True for a question to the host. One that asks for a task of its own is for whoever declared that it can make some. */
export function isQuestion(method: string, params: JsonObject): boolean {
  return QUESTIONS.has(method) && params["task"] === undefined;
}

/** The params of a question as hosts see them. */
export function questionParams(params: JsonObject): JsonObject {
  return withShownMeta(params);
}

function withShownMeta(value: JsonObject): JsonObject {
  const { _meta: own, ...rest } = value;
  if (!isObject(own)) return rest;
  const meta = without(own, NOT_SHOWN);
  return Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta };
}

function without(value: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)));
}
