/** Owns what a question is called by what it needs. Pure. */
import { isObject } from "../internal/json.js";
import type { InputBody } from "../approvals/wire.js";

/** What a question needs of the person. `confirmation`: a form without a field. */
export type QuestionKind = InputBody["kind"] | "confirmation";

export function questionKind(input: InputBody): QuestionKind {
  if (input.kind !== "elicitation-form") return input.kind;
  const properties = input.requestedSchema["properties"];
  const empty = properties === undefined || (isObject(properties) && Object.keys(properties).length === 0);
  return empty ? "confirmation" : "elicitation-form";
}
