/** Owns the questions that the built-in tools put, and the check of their answers. No state. */
import { isObject, type JsonObject } from "../internal/json.js";
import type { TestInputRequest, TaskStep } from "./types.js";

/** A form with the given properties, all of them required unless `required` says otherwise. */
export function form(
  message: string,
  properties: JsonObject,
  required?: readonly string[],
): TestInputRequest {
  return {
    method: "elicitation/create",
    params: {
      mode: "form",
      message,
      requestedSchema: { type: "object", properties, required: required ?? Object.keys(properties) },
    },
  };
}

/** A page that the user must visit. */
export function visit(message: string, url: string): TestInputRequest {
  return { method: "elicitation/create", params: { mode: "url", message, url, elicitationId: "visit-1" } };
}

/** A completion by the client's model. */
export function sampling(text: string): TestInputRequest {
  return {
    method: "sampling/createMessage",
    params: { messages: [{ role: "user", content: { type: "text", text } }], maxTokens: 100 },
  };
}

/** The client's roots. */
export const roots: TestInputRequest = { method: "roots/list", params: {} };

/** The capabilities that a client must declare to be asked this, as `requiredCapabilities` shows them. */
export function capabilityFor(request: TestInputRequest): JsonObject {
  switch (request.method) {
    case "elicitation/create":
      return { elicitation: request.params?.["mode"] === "url" ? { url: {} } : { form: {} } };
    case "sampling/createMessage":
      return { sampling: {} };
    case "roots/list":
      return { roots: {} };
    default:
      return {};
  }
}

/** True when the declared capabilities cover the request. An empty `elicitation` stands for forms. */
export function isDeclared(
  request: TestInputRequest,
  capabilities: Readonly<Record<string, unknown>>,
): boolean {
  switch (request.method) {
    case "elicitation/create": {
      const elicitation = capabilities["elicitation"];
      if (!isObject(elicitation)) return false;
      if (request.params?.["mode"] === "url") return isObject(elicitation["url"]);
      return isObject(elicitation["form"]) || Object.keys(elicitation).length === 0;
    }
    case "sampling/createMessage":
      return isObject(capabilities["sampling"]);
    case "roots/list":
      return isObject(capabilities["roots"]);
    default:
      return true;
  }
}

/** Every question that the steps may put. */
export function questionsOf(steps: readonly TaskStep[]): TestInputRequest[] {
  return steps.flatMap((step) => (step.kind === "ask" ? Object.values(step.requests) : []));
}

/** What is wrong with an answer to the request, or undefined. It never quotes the answer. */
export function whyNotAnswer(request: TestInputRequest, response: unknown): string | undefined {
  if (!isObject(response)) return "is not an object";
  switch (request.method) {
    case "elicitation/create":
      return whyNotElicitation(request, response);
    case "sampling/createMessage":
      if (typeof response["role"] !== "string") return "has no role";
      if (typeof response["model"] !== "string") return "has no model";
      return response["content"] === undefined ? "has no content" : undefined;
    case "roots/list": {
      const list = response["roots"];
      if (!Array.isArray(list)) return "has no roots";
      return list.every((root) => isObject(root) && typeof root["uri"] === "string")
        ? undefined
        : "has a root without uri";
    }
    default:
      return undefined;
  }
}

function whyNotElicitation(request: TestInputRequest, response: Record<string, unknown>): string | undefined {
  const { action, content } = response;
  if (action !== "accept" && action !== "decline" && action !== "cancel") return "has no known action";
  if (request.params?.["mode"] === "url") return content === undefined ? undefined : "has content for a url";
  if (action !== "accept") return content === undefined ? undefined : "has content without accept";
  if (!isObject(content)) return "has no content";
  const schema = request.params?.["requestedSchema"];
  if (!isObject(schema)) return undefined;
  const required = Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : [];
  const missing = required.find(
    (name): name is string => typeof name === "string" && !Object.hasOwn(content, name),
  );
  if (missing !== undefined) return `lacks the field ${missing}`;
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  for (const [name, value] of Object.entries(content)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (isObject(property) && !fitsType(property["type"], value)) return `has the wrong type in ${name}`;
  }
  return undefined;
}

function fitsType(type: unknown, value: unknown): boolean {
  switch (type) {
    case "string":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "number":
      return typeof value === "number";
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    default:
      return true;
  }
}
