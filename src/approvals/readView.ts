/** Owns what the page takes of what the host sends: a call whose members are as the wire says. The host is ours, but a proxy may not be, nor its version. Pure. */
import { isObject } from "../internal/json.js";
import { question } from "./taskFilter.js";
import type { AnswerView, InputView, OutcomeView, TaskDetailView } from "./wire.js";

type Fields = Readonly<Record<string, unknown>>;

const NEEDED = ["server", "tool", "status", "createdAt"] as const;
const TEXTS = ["statusMessage", "expiresAt"] as const;

/**
 * The call, or undefined where it is none. Questions and answers that nobody could show are left out (of questions, it
 * says how many), and so are optional members that are not what they should be. What is right stays the same object.
 */
export function readTask(value: unknown): TaskDetailView | undefined {
  if (!isObject(value)) return undefined;
  const { id, inputs, answers, outcome, unshownInputs, cancelRequested, result } = value;
  if (typeof id !== "string" || id === "" || !NEEDED.every((name) => typeof value[name] === "string"))
    return undefined;
  if (!Array.isArray(inputs) || !Array.isArray(answers)) return undefined;
  const usable = inputs.filter(isInput);
  const shown = withoutCopies(usable);
  const unusable = inputs.length - usable.length;
  const changes: Record<string, unknown> = {};
  if (shown.length < inputs.length) changes["inputs"] = shown;
  const isCounted = typeof unshownInputs === "number";
  if (unusable > 0) changes["unshownInputs"] = unusable + (isCounted ? unshownInputs : 0);
  else if (unshownInputs !== undefined && !isCounted) changes["unshownInputs"] = undefined;
  if (typeof cancelRequested !== "boolean") changes["cancelRequested"] = false;
  if (!answers.every(isAnswer)) changes["answers"] = answers.filter(isAnswer);
  if (outcome !== undefined && !isOutcome(outcome)) changes["outcome"] = undefined;
  if (result !== undefined && !isObject(result)) changes["result"] = undefined;
  for (const name of TEXTS) if (!isOptional(value[name])) changes[name] = undefined;
  const task = Object.keys(changes).length === 0 ? value : { ...value, ...changes };
  return task as unknown as TaskDetailView;
}

function withoutCopies(inputs: readonly InputView[]): readonly InputView[] {
  const names = inputs.map((input) => question("", input));
  return inputs.filter((_, index) => names.indexOf(names[index] ?? "") === index);
}

function isInput(value: unknown): value is InputView {
  if (!isObject(value) || !areTexts(value, ["key", "version", "serverName", "askedAt"])) return false;
  if (!isOptional(value["answeredByPolicyAt"]) || !isOptional(value["policyAction"])) return false;
  switch (value["kind"]) {
    case "elicitation-form":
      return areTexts(value, ["message"]) && isObject(value["requestedSchema"]);
    case "elicitation-url":
      return areTexts(value, ["message", "url"]);
    case "sampling":
      return isObject(value["params"]);
    default:
      return value["kind"] === "roots";
  }
}

function isAnswer(value: unknown): value is AnswerView {
  return (
    isObject(value) &&
    areTexts(value, ["key", "action", "answeredAt"]) &&
    ["version", "by", "source", "message"].every((name) => isOptional(value[name]))
  );
}

function isOutcome(value: unknown): value is OutcomeView {
  if (!isObject(value) || !areTexts(value, ["status", "settledAt"])) return false;
  const { error, reason } = value;
  if (!isOptional(reason)) return false;
  return error === undefined || (isObject(error) && areTexts(error, ["message"]));
}

function areTexts(value: Fields, names: readonly string[]): boolean {
  return names.every((name) => typeof value[name] === "string");
}

function isOptional(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}
