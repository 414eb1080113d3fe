/** Owns how the handler answers: JSON with the headers that every answer has, and refusals with their status codes. */
import { ClientClosedError, StoreError } from "../errors.js";
import type { RefusalBody, RefusalCode } from "./wire.js";

const STATUS: Readonly<Record<RefusalCode, number>> = {
  "bad-request": 400,
  forbidden: 403,
  "not-found": 404,
  "method-not-allowed": 405,
  "already-answered": 409,
  over: 410,
  "too-large": 413,
  "unsupported-media-type": 415,
  "invalid-answer": 422,
  unavailable: 503,
  internal: 500,
};

/** What a refusal says beside its code and message. */
export type RefusalDetail = Omit<RefusalBody["error"], "code" | "message">;

/** Thrown within the handler, never to the host: it becomes the answer. */
export class Refusal extends Error {
  readonly refusalCode: RefusalCode;
  readonly detail: RefusalDetail;

  constructor(code: RefusalCode, message: string, detail: RefusalDetail = {}) {
    super(message);
    this.refusalCode = code;
    this.detail = detail;
  }
}

/** What stands for an error of ours or of the host's. `told`: the host should hear of it. Says nothing of the error's own text. */
export function refusalOf(error: unknown): { refusal: Refusal; told: boolean } {
  if (error instanceof Refusal) return { refusal: error, told: false };
  if (error instanceof ClientClosedError)
    return { refusal: new Refusal("unavailable", "The host is closing"), told: false };
  if (error instanceof StoreError)
    return { refusal: new Refusal("unavailable", "The host's store does not answer"), told: true };
  return { refusal: new Refusal("internal", "The host failed to answer"), told: true };
}

/** The answer that a refusal becomes. */
export function refusalResponse(
  { refusalCode, message, detail }: Refusal,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const body: RefusalBody = { error: { code: refusalCode, message, ...detail } };
  return jsonResponse(STATUS[refusalCode], body, headers);
}

/** JSON that no cache keeps and no browser takes for anything else. */
export function jsonResponse(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...FIXED, ...headers },
  });
}

/** On every answer. */
export const FIXED: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};
