/** Owns what an answer is: a result, a question or a task. A handle never passes for an empty result. */
import { CallToolResultSchema, ContentBlockSchema } from "@modelcontextprotocol/sdk/types.js";
import { InvalidResponseError } from "../errors.js";
import { isObject, isTooDeep, withoutNulls, type JsonObject } from "../internal/json.js";
import { readInputRequests, type InputRequestEntry } from "./inputRequests.js";
import { isKnownStatus, readTaskSnapshot, taskIdOf, unnested, type TaskSnapshot } from "./task.js";

/** What `tools/call` answered. */
export type CallAnswer =
  | { readonly kind: "result"; readonly result: JsonObject }
  | {
      readonly kind: "input_required";
      readonly inputRequests: readonly InputRequestEntry[];
      /** To be sent back exactly; absent when the server gave none. */
      readonly requestState?: string;
    }
  | { readonly kind: "task"; readonly snapshot: TaskSnapshot };

/**
 * The SDK's schema, except that this revision allows any JSON value as structured content. The content is checked
 * block by block: the schema as a whole would collect an essay of issues for each of a million wrong ones.
 */
const callToolResult = CallToolResultSchema.omit({ structuredContent: true, content: true });

/** The SDK's own schema of a tool's result, for its 1.x client, which wants one. */
export const callToolResultSchema: unknown = CallToolResultSchema;

/**
 * Reads the answer to `tools/call`. Throws `InvalidResponseError`, with `taskId` where the answer names a task, for
 * an unknown `resultType`, for a handle that does not say that it is one, and for a result that is none.
 */
export function readCallAnswer(raw: JsonObject): CallAnswer {
  switch (raw["resultType"]) {
    case undefined:
    case "complete":
      return { kind: "result", result: readResult(raw) };
    case "input_required":
      return readQuestion(raw);
    case "task":
      return { kind: "task", snapshot: readTaskSnapshot(unnested(raw), "handle") };
    default:
      throw new InvalidResponseError("resultType: not one that this revision knows", {
        taskId: taskIdOf(raw),
      });
  }
}

/**
 * Checks that the answer to a request which supports no tasks is a complete one, and answers it as it came, with
 * whatever else it carries. `what` names the request in the error.
 */
export function readCompleteAnswer(raw: JsonObject, what: string): JsonObject {
  if (!isObject(raw)) throw new InvalidResponseError(`${what}: the result is not an object`);
  const type = raw["resultType"];
  if (type === undefined || type === "complete") return raw;
  const why = type === "task" ? "a task was answered to a request that supports none" : "unknown resultType";
  throw new InvalidResponseError(`${what}: ${why}`, { taskId: taskIdOf(raw) });
}

function readResult(raw: JsonObject): JsonObject {
  if (isDisguisedHandle(raw)) {
    throw new InvalidResponseError("The answer has the shape of a task but no resultType that says so", {
      taskId: taskIdOf(raw),
    });
  }
  if (isTooDeep(raw)) throw new InvalidResponseError("The answer is nested too deep to be used");
  const problem = resultProblem(raw);
  if (problem !== undefined) {
    throw new InvalidResponseError(`The answer is no tool result: ${problem} is not as expected`);
  }
  return raw["content"] === undefined ? { ...raw, content: [] } : raw;
}

/** The first member that is not as expected. */
function resultProblem(raw: JsonObject): string | undefined {
  const { content = [], ...rest } = raw;
  const parsed = callToolResult.safeParse(withoutNulls(rest));
  if (!parsed.success) return parsed.error.issues[0]?.path.join(".") || "result";
  if (!Array.isArray(content)) return "content";
  const at = content.findIndex((block) => !isContentBlock(block));
  return at < 0 ? undefined : `content.${at}`;
}

/** As it is, or as it is meant. */
function isContentBlock(block: unknown): boolean {
  if (ContentBlockSchema.safeParse(block).success) return true;
  return isObject(block) && ContentBlockSchema.safeParse(withoutNulls(block)).success;
}

/** Members that a task has and a result has not. */
const OF_HANDLES = ["status", "createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs"];

/** A result that says nothing, but names a task: also where the server's library put empty content around it. */
function isDisguisedHandle(raw: JsonObject): boolean {
  const { content, structuredContent = null } = raw;
  if (structuredContent !== null || taskIdOf(raw) === undefined) return false;
  const task = unnested(raw);
  if (content === undefined || content === null)
    return OF_HANDLES.some((member) => task[member] !== undefined);
  return Array.isArray(content) && content.length === 0 && isKnownStatus(task["status"]);
}

function readQuestion(raw: JsonObject): CallAnswer {
  // Servers whose language has no "absent" write null.
  const inputRequests = raw["inputRequests"] ?? {};
  const requestState = raw["requestState"] ?? undefined;
  if (!isObject(inputRequests)) throw new InvalidResponseError("inputRequests: expected an object");
  if (requestState !== undefined && typeof requestState !== "string") {
    throw new InvalidResponseError("requestState: expected a string");
  }
  const { entries, issues } = readInputRequests(inputRequests);
  // Unlike a task's, these questions must all be answered in one go: one that cannot be read blocks the call.
  if (issues[0] !== undefined) throw new InvalidResponseError(`inputRequests: ${issues[0]}`);
  if (entries.length === 0 && requestState === undefined) {
    throw new InvalidResponseError(
      "The answer asks for input, but names neither inputRequests nor requestState",
    );
  }
  return {
    kind: "input_required",
    inputRequests: entries,
    ...(requestState !== undefined && { requestState }),
  };
}
