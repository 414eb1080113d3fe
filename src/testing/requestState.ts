/** Owns the opaque, signed `requestState` of the multi round trip before a task, and the check of what comes back. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { canonicalJson, isObject, type JsonObject, type JsonValue } from "../internal/json.js";
import { whyNotAnswer } from "./requests.js";
import type { TestInputRequest } from "./types.js";

/** What the server remembers of a round, in the client's hands. */
export interface SealedState {
  readonly state: JsonValue;
  readonly requests: Readonly<Record<string, TestInputRequest>>;
  /** Of tool, arguments and principal: the state belongs to this call only. */
  readonly call: string;
}

export function sealState(
  secret: string,
  round: {
    readonly params: JsonObject;
    readonly principal: string | null;
    readonly requests: SealedState["requests"];
    readonly state: JsonValue;
  },
): string {
  const sealed: SealedState = {
    state: round.state,
    requests: round.requests,
    call: callText(secret, round.params, round.principal),
  };
  const body = Buffer.from(JSON.stringify(sealed)).toString("base64url");
  return `${body}.${sign(secret, body)}`;
}

/** Opens the state of a repeated call, or says what the client did wrong. */
export function openState(
  secret: string,
  params: JsonObject,
  principal: string | null,
): { readonly state: SealedState | undefined } | { readonly broken: string } {
  const { requestState, inputResponses } = params;
  if (inputResponses !== undefined && !areResponses(inputResponses)) {
    return { broken: "inputResponses must be an object of objects" };
  }
  if (requestState === undefined) return { state: undefined };
  const sealed = typeof requestState === "string" ? unseal(secret, requestState) : undefined;
  if (sealed === undefined) return { broken: "requestState is not what the server gave" };
  if (sealed.call !== callText(secret, params, principal))
    return { broken: "requestState is of another call" };
  for (const [key, request] of Object.entries(sealed.requests)) {
    const response =
      isObject(inputResponses) && Object.hasOwn(inputResponses, key) ? inputResponses[key] : undefined;
    const why = whyNotAnswer(request, response);
    if (why !== undefined) return { broken: `An answer ${why}` };
  }
  return { state: sealed };
}

function unseal(secret: string, text: string): SealedState | undefined {
  const [body = "", signature = ""] = text.split(".");
  const expected = Buffer.from(sign(secret, body));
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  return JSON.parse(Buffer.from(body, "base64url").toString("utf8")) as SealedState;
}

function callText(secret: string, params: JsonObject, principal: string | null): string {
  return sign(secret, canonicalJson([params["name"] ?? null, params["arguments"] ?? {}, principal]));
}

function sign(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("base64url");
}

function areResponses(value: unknown): value is Record<string, JsonObject> {
  return isObject(value) && Object.values(value).every(isObject);
}
