/** Owns what a page sees of a call. No task id is part of it, also where the server put one into its texts. */
import type { TaskHandle } from "../client/taskHandle.js";
import type { TaskInputRequest } from "../engine/types.js";
import { whyNotJson, type JsonObject, type JsonValue } from "../internal/json.js";
import { scrub, scrubJson } from "../internal/scrub.js";
import type { AnswerView, InputBody, InputView, OutcomeView, TaskDetailView, TaskView } from "./wire.js";

/** What the host lets through of a call's context; what it throws goes to `onError`. */
export interface ViewOptions {
  readonly context: ((context: JsonValue) => JsonValue | undefined) | undefined;
  readonly onError: (error: unknown) => void;
}

/** A call as the page shows it. */
export function viewOf(handle: TaskHandle, options: ViewOptions): TaskView {
  const { statusMessage, expiresAt, outcome, taskId } = handle;
  const context = contextOf(handle.context, options);
  const view: TaskView = {
    id: handle.id,
    server: handle.server,
    tool: handle.tool,
    status: handle.status,
    ...(statusMessage === undefined ? {} : { statusMessage }),
    ...(context === undefined ? {} : { context }),
    createdAt: handle.createdAt.toISOString(),
    ...(expiresAt === undefined ? {} : { expiresAt: expiresAt.toISOString() }),
    cancelRequested: handle.cancelRequested,
    inputs: [],
    answers: handle.answers.map(answerView),
    ...(outcome === undefined ? {} : { outcome: outcomeView(outcome) }),
  };
  // The local id is the host's own choice, and is needed as it is.
  return {
    ...scrubbed(view, taskId),
    id: view.id,
    inputs: handle.pendingInputs.map((request) => inputView(request, taskId)),
  };
}

/** A call with its result. */
export function detailOf(handle: TaskHandle, options: ViewOptions): TaskDetailView {
  const view = viewOf(handle, options);
  const { outcome } = handle;
  if (outcome?.status !== "completed") return view;
  return { ...view, result: scrubbed(outcome.result, handle.taskId) };
}

/** The server's own key of an open question, by the key that the page was shown. */
export function openKey(handle: TaskHandle, shownKey: string): string | undefined {
  const keys = handle.pendingInputs.map(({ key }) => key);
  return keys.find((key) => key === shownKey) ?? keys.find((key) => scrub(key, [handle.taskId]) === shownKey);
}

/** The answer that stands for a question, by the key that the page was shown. */
export function standingAnswer(
  handle: TaskHandle,
  shownKey: string,
): TaskHandle["answers"][number] | undefined {
  const answers = handle.answers;
  return (
    answers.findLast(({ key }) => key === shownKey) ??
    answers.findLast(({ key }) => scrub(key, [handle.taskId]) === shownKey)
  );
}

function inputView(request: TaskInputRequest, taskId: string | undefined): InputView {
  const { unanswered } = request;
  return {
    ...bodyOf(request, taskId),
    key: scrub(request.key, [taskId]),
    serverName: scrub(request.serverDisplayName, [taskId]),
    askedAt: request.askedAt.toISOString(),
    ...(unanswered === undefined
      ? {}
      : { answeredByPolicyAt: unanswered.at.toISOString(), policyAction: unanswered.action }),
  };
}

/**
 * What is asked. A URL stays as it is: it is the server's word to this person, and useless when changed. So do the
 * values and names of a form, since the answer must fit them; its texts do not.
 */
function bodyOf(request: TaskInputRequest, taskId: string | undefined): InputBody {
  switch (request.kind) {
    case "elicitation-form":
      return {
        kind: request.kind,
        message: scrub(request.message, [taskId]),
        requestedSchema: scrubbedTexts(request.requestedSchema, taskId) as JsonObject,
      };
    case "elicitation-url":
      return { kind: request.kind, message: scrub(request.message, [taskId]), url: request.url };
    case "sampling":
      return { kind: request.kind, params: scrubbed(request.params as JsonObject, taskId) };
    case "roots":
      return { kind: request.kind };
  }
}

/** Members of a schema whose texts are for people only. */
const FOR_PEOPLE = new Set(["title", "description", "enumNames"]);

function scrubbedTexts(value: JsonValue | undefined, taskId: string | undefined): JsonValue | undefined {
  if (taskId === undefined || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => scrubbedTexts(item, taskId) ?? null);
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, member]) => [
      name,
      // A property may be called `title`: then this is its schema, an object.
      FOR_PEOPLE.has(name) && (typeof member === "string" || Array.isArray(member))
        ? scrubJson(member, [taskId])
        : scrubbedTexts(member, taskId),
    ]),
  );
}

function answerView(answer: TaskHandle["answers"][number]): AnswerView {
  const { key, action, answeredAt, by, source, message } = answer;
  return {
    key,
    action,
    answeredAt: answeredAt.toISOString(),
    ...(by === undefined ? {} : { by }),
    source,
    ...(message === undefined ? {} : { message: message.slice(0, 1000) }),
  };
}

function outcomeView(outcome: NonNullable<TaskHandle["outcome"]>): OutcomeView {
  const settledAt = outcome.settledAt.toISOString();
  switch (outcome.status) {
    case "completed":
      return {
        status: "completed",
        settledAt,
        ...(outcome.result["isError"] === true ? { isError: true } : {}),
      };
    case "failed": {
      const { code, message } = outcome.error;
      return { status: "failed", settledAt, error: { code, message } };
    }
    case "cancelled":
      return { status: "cancelled", settledAt };
    case "lost":
      return { status: "lost", settledAt, reason: outcome.reason };
  }
}

function contextOf(context: JsonValue | undefined, options: ViewOptions): JsonValue | undefined {
  if (context === undefined || options.context === undefined) return undefined;
  try {
    const shown = options.context(context);
    const reason = shown === undefined ? undefined : whyNotJson(shown, "context");
    if (reason !== undefined) throw new TypeError(`context: expected JSON, but ${reason}`);
    return shown;
  } catch (error) {
    options.onError(error);
    return undefined;
  }
}

/** A value that is no longer JSON without the task id is not shown at all. */
function scrubbed<Value extends object>(value: Value, taskId: string | undefined): Value {
  const clean = scrubJson(value, [taskId]);
  return clean === "[hidden]" ? ({} as Value) : clean;
}
