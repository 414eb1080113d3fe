/** Owns what a page sees of a call. No task id is part of it, also where the server put one into its texts. */
import type { TaskHandle } from "../client/taskHandle.js";
import type { TaskInputRequest } from "../engine/types.js";
import { whyNotJson, type JsonObject, type JsonValue } from "../internal/json.js";
import { shortText, shownSchema, shownText, shownValue } from "./shownText.js";
import type { AnswerView, InputBody, InputView, OutcomeView, TaskDetailView, TaskView } from "./wire.js";

/** What the host lets through of a call's context; what it throws goes to `onError`. */
export interface ViewOptions {
  readonly context: ((context: JsonValue) => JsonValue | undefined) | undefined;
  readonly onError: (error: unknown) => void;
}

/** A question of more JSON than this, its message apart, is not shown: every reader of every list would carry it. */
const MAX_INPUT_CHARS = 262_144;
/** Of more answers, the last ones are shown. */
const MAX_ANSWERS = 50;

/** A call as the page shows it. */
export function viewOf(handle: TaskHandle, options: ViewOptions): TaskView {
  const { statusMessage, expiresAt, outcome, taskId } = handle;
  const requests = handle.pendingInputs;
  const shown = requests.filter((request) => !isTooLarge(request));
  const context = contextOf(handle.context, options);
  return {
    id: handle.id,
    server: handle.server,
    tool: handle.tool,
    status: shortText(handle.status, taskId),
    ...(statusMessage === undefined ? {} : { statusMessage: shortText(statusMessage, taskId) }),
    ...(context === undefined ? {} : { context }),
    createdAt: handle.createdAt.toISOString(),
    ...(expiresAt === undefined ? {} : { expiresAt: expiresAt.toISOString() }),
    cancelRequested: handle.cancelRequested,
    inputs: shown.map((request) => inputView(request, taskId)),
    ...(shown.length === requests.length ? {} : { unshownInputs: requests.length - shown.length }),
    answers: handle.answers.slice(-MAX_ANSWERS).map((answer) => answerView(answer, taskId)),
    ...(outcome === undefined ? {} : { outcome: outcomeView(outcome, taskId) }),
  };
}

/** A call with its result. */
export function detailOf(handle: TaskHandle, options: ViewOptions): TaskDetailView {
  const view = viewOf(handle, options);
  const { outcome } = handle;
  if (outcome?.status !== "completed") return view;
  return { ...view, result: shownValue(outcome.result, handle.taskId) };
}

function inputView(request: TaskInputRequest, taskId: string | undefined): InputView {
  const { unanswered } = request;
  return {
    ...bodyOf(request, taskId),
    key: shownText(request.key, taskId),
    version: request.version,
    ...(request.refused === true ? { refused: true } : {}),
    // The host's own name of the server stands in where it has none of its own.
    serverName:
      request.serverDisplayName === request.server
        ? request.server
        : shortText(request.serverDisplayName, taskId),
    askedAt: request.askedAt.toISOString(),
    ...(unanswered === undefined
      ? {}
      : { answeredByPolicyAt: unanswered.at.toISOString(), policyAction: unanswered.action }),
  };
}

function isTooLarge(request: TaskInputRequest): boolean {
  const { key } = request;
  switch (request.kind) {
    case "elicitation-form":
      return jsonChars([key, request.requestedSchema]) > MAX_INPUT_CHARS;
    case "elicitation-url":
      return jsonChars([key, request.url]) > MAX_INPUT_CHARS;
    case "sampling":
      return jsonChars([key, request.params]) > MAX_INPUT_CHARS;
    case "roots":
      return jsonChars([key]) > MAX_INPUT_CHARS;
  }
}

function jsonChars(value: unknown): number {
  return JSON.stringify(value).length;
}

/** What is asked. A URL stays as it is: it is the server's word to this person, and useless when changed. */
function bodyOf(request: TaskInputRequest, taskId: string | undefined): InputBody {
  switch (request.kind) {
    case "elicitation-form":
      return {
        kind: request.kind,
        message: shortText(request.message, taskId),
        requestedSchema: shownSchema(request.requestedSchema, taskId),
      };
    case "elicitation-url":
      return { kind: request.kind, message: shortText(request.message, taskId), url: request.url };
    case "sampling":
      return { kind: request.kind, params: shownValue(request.params as JsonObject, taskId) };
    case "roots":
      return { kind: request.kind };
  }
}

function answerView(answer: TaskHandle["answers"][number], taskId: string | undefined): AnswerView {
  const { key, version, action, answeredAt, by, source, message } = answer;
  return {
    key: shownText(key, taskId),
    version,
    action,
    answeredAt: answeredAt.toISOString(),
    ...(by === undefined ? {} : { by }),
    source,
    ...(message === undefined ? {} : { message: shownText(message, taskId).slice(0, 1000) }),
  };
}

function outcomeView(outcome: NonNullable<TaskHandle["outcome"]>, taskId: string | undefined): OutcomeView {
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
      return { status: "failed", settledAt, error: { code, message: shortText(message, taskId) } };
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
