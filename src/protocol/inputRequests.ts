/** Owns the map of input requests as the wire has it, as entries: its keys are the server's, `__proto__` included. */
import { isObject, isTooDeep, type JsonObject } from "../internal/json.js";

/** One open question: its key, and the request as it came. */
export type InputRequestEntry = readonly [
  key: string,
  request: { readonly method: string; readonly params: JsonObject },
];

/** More open questions than this at one time are not read; the others come up once these are answered. */
export const MAX_INPUT_REQUESTS = 256;

/** The usable entries, and a sentence for each kind of unusable one. Names no key: it is the server's text. */
export function readInputRequests(raw: Readonly<Record<string, unknown>>): {
  entries: readonly InputRequestEntry[];
  issues: readonly string[];
} {
  const issues = new Set<string>();
  const entries: InputRequestEntry[] = [];
  for (const [key, request] of Object.entries(raw)) {
    if (entries.length === MAX_INPUT_REQUESTS) {
      issues.add(`more than ${MAX_INPUT_REQUESTS} entries; the others were ignored`);
      break;
    }
    const entry = readEntry(request);
    if (typeof entry === "string") issues.add(entry);
    else entries.push([key, entry]);
  }
  return { entries, issues: [...issues] };
}

/**
 * The wire's object of answers. Every key becomes an own property, whatever it is, so that JSON carries it; later
 * entries of one key win.
 */
export function inputResponsesObject(entries: readonly (readonly [string, JsonObject])[]): JsonObject {
  const responses = {};
  for (const [key, value] of entries) {
    // Not an assignment: that would set the prototype for the key __proto__.
    Object.defineProperty(responses, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return responses;
}

function readEntry(request: unknown): InputRequestEntry[1] | string {
  if (!isObject(request)) return "an entry that is not an object was ignored";
  if (isTooDeep(request)) return "an entry that is nested too deep was ignored";
  const { method, params } = request;
  if (typeof method !== "string") return "an entry without a method was ignored";
  // roots/list has no params.
  if (params === undefined || params === null) return { method, params: {} };
  return isObject(params)
    ? { method, params: params as JsonObject }
    : "an entry without usable params was ignored";
}
