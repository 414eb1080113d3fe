/** Owns small makers of what a page is shown. */
import type { AnswerView, InputBody, InputView, OutcomeView, TaskView } from "../../../src/approvals/wire.js";
import type { JsonObject } from "../../../src/internal/json.js";

/** Some instant in the past. */
export const THEN = "2026-03-04T10:00:00.000Z";

export function task(changes: Partial<TaskView> & { readonly id: string }): TaskView {
  return {
    server: "ci",
    tool: "deploy",
    status: (changes.inputs?.length ?? 0) > 0 ? "input_required" : "working",
    createdAt: THEN,
    cancelRequested: false,
    inputs: [],
    answers: [],
    ...changes,
  };
}

export function input(body: InputBody, changes: Partial<Omit<InputView, keyof InputBody>> = {}): InputView {
  return { key: "q1", version: "v1", serverName: "The Workshop", askedAt: THEN, ...changes, ...body };
}

export function form(
  properties: JsonObject,
  required: readonly string[] = [],
  message = "Tell me",
): InputBody {
  return {
    kind: "elicitation-form",
    message,
    requestedSchema: { type: "object", properties, required },
  };
}

export function asking(
  body: InputBody,
  changes: Partial<Omit<InputView, keyof InputBody>> = {},
  id = "t1",
): TaskView {
  return task({ id, inputs: [input(body, changes)] });
}

export function answered(before: TaskView, changes: Partial<AnswerView> = {}): TaskView {
  return {
    ...before,
    status: "working",
    inputs: [],
    answers: [{ key: "q1", action: "accept", answeredAt: THEN, source: "respond", ...changes }],
  };
}

export function ended(before: TaskView, outcome: Omit<OutcomeView, "settledAt">): TaskView {
  const end = { settledAt: "2026-03-04T10:01:05.000Z", ...outcome };
  return { ...before, status: outcome.status, inputs: [], outcome: end };
}
