/** Owns what may be asked and what may be answered: input requests and responses, checked as stand-alone ones are. */
import {
  CreateMessageRequestParamsSchema,
  CreateMessageResultWithToolsSchema,
  ListRootsResultSchema,
  SamplingMessageSchema,
  type CreateMessageRequest,
} from "@modelcontextprotocol/sdk/types.js";
import { InvalidInputResponseError } from "../errors.js";
import { isObject, whyNotJson, withoutNulls, type JsonObject } from "../internal/json.js";
import type { ClientCapabilities } from "./envelope.js";
import { checkFormContent } from "./form.js";

/** The kinds of questions. */
export type InputRequestKind = "elicitation-form" | "elicitation-url" | "sampling" | "roots";

/** A question that may be shown. Texts and schemas are the server's, unescaped. */
export type InputRequest =
  | {
      readonly kind: "elicitation-form";
      readonly message: string;
      /** JSON Schema of the form: one object with flat properties. */
      readonly requestedSchema: JsonObject;
    }
  | {
      readonly kind: "elicitation-url";
      readonly message: string;
      /** An http or https URL without user name and password. Never open or fetch it without consent. */
      readonly url: string;
      readonly elicitationId?: string;
    }
  | { readonly kind: "sampling"; readonly params: CreateMessageRequest["params"] }
  | { readonly kind: "roots" };

/** A question, or the reason why it must not be shown (which names the field). */
export type ReadInputRequest =
  { readonly ok: true; readonly request: InputRequest } | { readonly ok: false; readonly message: string };

/**
 * Reads an input request. It is refused when its capability was not declared, when its mode is unknown, when a form
 * has no schema, and when a URL is not plain http(s).
 */
export function readInputRequest(
  method: string,
  params: JsonObject,
  capabilities: ClientCapabilities,
): ReadInputRequest {
  switch (method) {
    case "elicitation/create":
      return readElicitation(params, capabilities);
    case "sampling/createMessage":
      return readSampling(params, capabilities);
    case "roots/list":
      return isObject(capabilities["roots"]) ? { ok: true, request: { kind: "roots" } } : undeclared("roots");
    default:
      return refused("method: not an input request of this revision");
  }
}

/**
 * The response as it is to be sent. Throws `InvalidInputResponseError`, naming the field as a dotted path, when it
 * does not fit the request. The content of a decline or cancel, and of an accepted URL, is left out.
 */
export function checkInputResponse(request: InputRequest, response: unknown): JsonObject {
  if (!isObject(response)) throw new InvalidInputResponseError("response", "expected an object");
  switch (request.kind) {
    case "elicitation-form":
    case "elicitation-url":
      return checkElicitation(request, response);
    case "sampling":
      return checkSampling(request, response);
    case "roots":
      return checkedBy(ListRootsResultSchema, response);
  }
}

function readElicitation(params: JsonObject, capabilities: ClientCapabilities): ReadInputRequest {
  const { message, requestedSchema, elicitationId } = params;
  // Servers whose language has no "absent" write null.
  const mode = params["mode"] ?? "form";
  if (mode !== "form" && mode !== "url") return refused("params.mode: not one of form, url");
  if (!declaresMode(capabilities["elicitation"], mode)) return undeclared(`elicitation.${mode}`);
  if (typeof message !== "string") return refused("params.message: expected a string");
  if (mode === "form") {
    if (!isObject(requestedSchema)) return refused("params.requestedSchema: expected an object");
    if (requestedSchema["type"] !== "object")
      return refused('params.requestedSchema.type: expected "object"');
    if (!isObject(requestedSchema["properties"])) {
      return refused("params.requestedSchema.properties: expected an object");
    }
    return {
      ok: true,
      request: { kind: "elicitation-form", message, requestedSchema: requestedSchema },
    };
  }
  const problem = urlProblem(params["url"]);
  if (problem !== undefined) return refused(`params.url: ${problem}`);
  return {
    ok: true,
    request: {
      kind: "elicitation-url",
      message,
      url: params["url"] as string,
      ...(typeof elicitationId === "string" && { elicitationId }),
    },
  };
}

/** An empty `elicitation` stands for forms, as in the revisions that knew nothing else. */
function declaresMode(elicitation: unknown, mode: "form" | "url"): boolean {
  if (!isObject(elicitation)) return false;
  if (isObject(elicitation[mode])) return true;
  return mode === "form" && elicitation["form"] === undefined && elicitation["url"] === undefined;
}

function urlProblem(url: unknown): string | undefined {
  if (typeof url !== "string") return "expected a string";
  // What a parser drops or turns silently would make the shown address another than the opened one.
  if (/[\s\\\p{Cc}]/u.test(url)) return "has white space, control characters or backslashes";
  if (!URL.canParse(url)) return "not a URL";
  const { protocol } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") return "neither http nor https";
  const authority = /^https?:\/\/([^/?#]+)/i.exec(url)?.[1];
  if (authority === undefined) return "does not name its host after two slashes";
  // Also an empty one, which the parser drops.
  if (authority.includes("@")) return "has a user name or password";
  return undefined;
}

function readSampling(given: JsonObject, capabilities: ClientCapabilities): ReadInputRequest {
  const { sampling } = capabilities;
  const params: JsonObject = withoutNulls(given);
  if (!isObject(sampling)) return undeclared("sampling");
  if ((params["tools"] !== undefined || params["toolChoice"] !== undefined) && !isObject(sampling["tools"])) {
    return undeclared("sampling.tools");
  }
  const { messages } = params;
  // One by one: the schema as a whole would collect the issues of a million wrong ones.
  const wrongAt = Array.isArray(messages)
    ? messages.findIndex((message) => !SamplingMessageSchema.safeParse(message).success)
    : -1;
  if (wrongAt >= 0) return refused(`params.messages.${wrongAt}: not as the protocol has it`);
  const parsed = CreateMessageRequestParamsSchema.safeParse(params);
  if (!parsed.success) {
    return refused(`${fieldOf("params", parsed.error.issues[0]?.path)}: not as the protocol has it`);
  }
  // As it came: the parsed copy would lack the keys that the schema does not know.
  return { ok: true, request: { kind: "sampling", params: params as CreateMessageRequest["params"] } };
}

function checkElicitation(
  request: Extract<InputRequest, { kind: "elicitation-form" | "elicitation-url" }>,
  response: Readonly<Record<string, unknown>>,
): JsonObject {
  const { action } = response;
  switch (action) {
    case "decline":
    case "cancel":
      return { action };
    case "accept":
      if (request.kind === "elicitation-url") return { action };
      return { action, content: checkFormContent(request.requestedSchema, response["content"]) };
    default:
      throw new InvalidInputResponseError("action", "expected accept, decline or cancel");
  }
}

function checkSampling(
  request: Extract<InputRequest, { kind: "sampling" }>,
  response: Readonly<Record<string, unknown>>,
): JsonObject {
  const checked = checkedBy(CreateMessageResultWithToolsSchema, response);
  const blocks = [response["content"]].flat() as { type?: unknown }[];
  if (request.params.tools === undefined && blocks.some((block) => block.type === "tool_use")) {
    throw new InvalidInputResponseError("content", "uses a tool, but the request offered none");
  }
  return checked;
}

interface SchemaLike {
  safeParse(value: unknown): {
    success: boolean;
    error?: { issues: readonly { path: readonly PropertyKey[] }[] };
  };
}

function checkedBy(schema: SchemaLike, response: Readonly<Record<string, unknown>>): JsonObject {
  const parsed = schema.safeParse(response);
  if (!parsed.success) {
    const field = parsed.error?.issues[0]?.path.map(String).join(".");
    throw new InvalidInputResponseError(field || "response", "not as the protocol has it");
  }
  const reason = whyNotJson(response, "response");
  if (reason !== undefined)
    throw new InvalidInputResponseError("response", `JSON cannot carry it: ${reason}`);
  return response as JsonObject;
}

function fieldOf(root: string, path: readonly PropertyKey[] = []): string {
  return [root, ...path.map(String)].join(".");
}

function undeclared(capability: string): ReadInputRequest {
  return refused(`${capability}: the request did not declare this capability`);
}

function refused(message: string): ReadInputRequest {
  return { ok: false, message };
}
