/** Owns calls as the approvals handler writes them, and what whoever draws one relies on. */
import fc from "fast-check";
import { isObject } from "../../src/internal/json.js";
import { must } from "./guard.js";
import type { Value } from "./hostile.js";

export const INSTANT = "2026-08-01T00:00:00.000Z";
const asked = { version: "v", serverName: "CI", askedAt: INSTANT };
export const INPUTS: Value[] = [
  { ...asked, key: "a", kind: "elicitation-form", message: "Go on?", requestedSchema: { type: "object" } },
  {
    ...asked,
    key: "b",
    kind: "elicitation-url",
    message: "There",
    url: "https://ci.example/",
    refused: true,
  },
  {
    ...asked,
    key: "c",
    kind: "sampling",
    params: { messages: [] },
    answeredByPolicyAt: INSTANT,
    policyAction: "cancel",
  },
  { ...asked, key: "__proto__", kind: "roots" },
];
const OUTCOMES: Value[] = [
  { status: "completed", settledAt: INSTANT, isError: true },
  { status: "failed", settledAt: INSTANT, error: { code: -1, message: "no" } },
  { status: "lost", settledAt: INSTANT, reason: "expired" },
];

/** A call as the handler writes it. */
export const view: fc.Arbitrary<Value> = fc
  .tuple(
    fc.constantFrom("1", "2", "__proto__"),
    fc.subarray(INPUTS),
    fc.option(fc.constantFrom(...OUTCOMES)),
    fc.boolean(),
  )
  .map(([id, inputs, outcome, more]): Value => ({
    id,
    server: "ci",
    tool: "deploy",
    status: "working",
    createdAt: INSTANT,
    cancelRequested: more,
    inputs,
    answers: more
      ? [{ key: "z", version: "v", action: "accept", answeredAt: INSTANT, by: "ann", source: "handler" }]
      : [],
    ...(more
      ? { unshownInputs: 2, statusMessage: "half", expiresAt: INSTANT, context: { user: ["ann"] } }
      : {}),
    ...(outcome === null ? {} : { outcome, result: { content: [] } }),
  }));

function isText(value: unknown): boolean {
  return typeof value === "string";
}

/** What whoever draws it relies on. */
export function fits(value: unknown): void {
  must(isObject(value), "no call");
  const { id, server, tool, status, createdAt, inputs, answers, outcome, unshownInputs, cancelRequested } =
    value;
  must([id, server, tool, status, createdAt].every(isText) && id !== "", "a call without its texts");
  must(typeof cancelRequested === "boolean", "cancelRequested is no boolean");
  must(unshownInputs === undefined || typeof unshownInputs === "number", "unshownInputs is no number");
  must(Array.isArray(inputs) && Array.isArray(answers), "a call without lists");
  const names = (inputs as Record<string, unknown>[]).map(
    ({ key, version, kind, message, url, requestedSchema, params, ...one }) => {
      must([key, version, one["serverName"], one["askedAt"]].every(isText), "a question without its texts");
      must(
        kind === "roots" || (kind === "sampling" ? isObject(params) : isText(message)),
        "a question of no kind",
      );
      must(kind !== "elicitation-form" || isObject(requestedSchema), "a form without a schema");
      must(kind !== "elicitation-url" || isText(url), "an address that is none");
      return JSON.stringify([key, version]);
    },
  );
  must(new Set(names).size === names.length, "a question is shown twice");
  for (const one of answers as Record<string, unknown>[])
    must([one["key"], one["action"], one["answeredAt"]].every(isText), "an answer without its texts");
  if (outcome === undefined) return;
  must(
    isObject(outcome) && isText(outcome["status"]) && isText(outcome["settledAt"]),
    "an outcome without its texts",
  );
  const { error } = outcome;
  must(error === undefined || (isObject(error) && isText(error["message"])), "an error without its text");
}
