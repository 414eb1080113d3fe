/** Owns the small words that tools are written with: results, typed arguments, schemas. No state. */
import { isObject, type JsonObject, type JsonValue } from "../internal/json.js";

/** A tool result with one text, and structured content where given. */
export function text(words: string, structured?: JsonObject, isError = false): JsonObject {
  return {
    content: [{ type: "text", text: words }],
    ...(structured === undefined ? {} : { structuredContent: structured }),
    ...(isError ? { isError: true } : {}),
  };
}

/** The argument, or the fallback where it is absent or of another type. */
export function numberArg(args: JsonObject, name: string, fallback: number): number {
  const value = args[name];
  return typeof value === "number" ? value : fallback;
}

export function stringArg(args: JsonObject, name: string, fallback: string): string {
  const value = args[name];
  return typeof value === "string" ? value : fallback;
}

export function numbersArg(args: JsonObject, name: string): number[] | undefined {
  const value = args[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === "number") : undefined;
}

export function jsonArg(args: JsonObject, name: string): JsonValue | undefined {
  return args[name];
}

/** An object schema; no property is required unless named. */
export function schema(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", properties, required };
}

/** True when the answer is an accept whose field is true. */
export function accepted(answer: JsonObject | undefined, field: string): boolean {
  const content = answer?.["content"];
  return answer?.["action"] === "accept" && isObject(content) && content[field] === true;
}

export const ms: JsonObject = { type: "number", description: "milliseconds" };
export const number: JsonObject = { type: "number" };
export const string: JsonObject = { type: "string" };
export const boolean: JsonObject = { type: "boolean" };
