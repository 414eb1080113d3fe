/** Owns turning what a person put into one field into the value that is sent. It converts whole texts to numbers, nothing else. */
import { isObject } from "../internal/json.js";
import type { FormField, FormLimits, FormMessages } from "./formTypes.js";
import { formatProblem } from "./formats.js";
import { isLeftOut, lengthOf, valueProblem } from "./formValue.js";
import type { Place, Schema } from "./schemaReading.js";

export type Value = string | number | boolean | readonly string[];

/** What came of a field: a value, nothing to send, or a message. */
export type ParsedField =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "left-out" }
  | { readonly kind: "error"; readonly message: string };

/** Where a field stands. */
export interface FieldContext {
  readonly field: FormField;
  /** At the top of the form. Its budget is that of all fields together. */
  readonly place: Place;
  readonly messages: FormMessages;
}

/** As number inputs of browsers write them. */
const NUMBER = /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const INTEGER = /^-?\d+$/;
/** No number that means anything is longer. */
const MAX_NUMBER_TEXT = 1000;

/** Reads what the person put in. Never throws. */
export function parseField(given: unknown, { field, place, messages }: FieldContext): ParsedField {
  if (field.kind === "unsupported") return wrong(messages.unsupported);
  const schema = propertyOf(place.root, field.name);
  const entered = emptied(given, field, schema, place);
  if (entered === undefined) return field.required ? wrong(messages.required) : { kind: "left-out" };
  const converted = convert(entered, field, messages);
  if (converted.kind !== "value") return converted;
  const { value } = converted;
  const problem = limitProblem(value, field, messages);
  if (problem !== undefined) return wrong(problem);
  // The last word has the check that every answer passes: it sees what the field cannot say.
  return valueProblem(value, schema, place) === undefined ? converted : wrong(messages.wrongType);
}

export function propertyOf(root: Schema, name: string): unknown {
  const properties = root["properties"];
  return isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** The value as it counts, undefined where it is no answer. */
function emptied(given: unknown, field: FormField, schema: unknown, place: Place): unknown {
  const { kind, required, limits, default: preset } = field;
  const isNumber = kind === "number" || kind === "integer";
  const isNothing =
    isLeftOut(given, schema, place) ||
    (isNumber && typeof given === "string" && /^[ \t\r\n]*$/.test(given)) ||
    (kind === "multi-select" && Array.isArray(given) && given.length === 0);
  if (!isNothing) return given;
  if (kind !== "multi-select") return undefined;
  // No choice is an answer where the schema says so. And left out, the server may put its default in again, which the
  // person had taken away.
  const counts = required ? limits.minItems === 0 : preset !== undefined;
  return counts && Array.isArray(given) ? given : undefined;
}

function convert(given: unknown, field: FormField, messages: FormMessages): ParsedField {
  switch (field.kind) {
    case "string":
      return typeof given === "string" ? taken(given) : wrong(messages.wrongType);
    case "number":
    case "integer":
      return convertNumber(given, field.kind, messages);
    case "boolean":
      return typeof given === "boolean" ? taken(given) : wrong(messages.wrongType);
    case "select":
      if (typeof given !== "string") return wrong(messages.wrongType);
      return isOption(given, field) ? taken(given) : wrong(messages.notAChoice);
    case "multi-select":
      return convertChoices(given, field, messages);
    case "unsupported":
      return wrong(messages.unsupported);
  }
}

function convertNumber(given: unknown, kind: "number" | "integer", messages: FormMessages): ParsedField {
  const mismatch = kind === "integer" ? messages.notAnInteger : messages.notANumber;
  if (typeof given === "number") {
    const fits = kind === "integer" ? Number.isInteger(given) : Number.isFinite(given);
    return fits ? taken(positiveZero(given)) : wrong(mismatch);
  }
  if (typeof given !== "string") return wrong(messages.wrongType);
  if (given.length > MAX_NUMBER_TEXT) return wrong(mismatch);
  const text = trimmed(given);
  const isWhole = INTEGER.test(text);
  if (kind === "integer" ? !isWhole : !NUMBER.test(text)) return wrong(mismatch);
  const value = Number(text);
  // Another number than the one that was typed must not be sent.
  if (isWhole && !Number.isSafeInteger(value)) {
    return wrong(
      value > 0 ? messages.maximum(Number.MAX_SAFE_INTEGER) : messages.minimum(Number.MIN_SAFE_INTEGER),
    );
  }
  const vanished = value === 0 && /[1-9]/.test(text.split(/[eE]/)[0] ?? "");
  return Number.isFinite(value) && !vanished ? taken(positiveZero(value)) : wrong(mismatch);
}

function convertChoices(given: unknown, field: FormField, messages: FormMessages): ParsedField {
  if (!Array.isArray(given)) return wrong(messages.wrongType);
  const chosen = Array.from(given as readonly unknown[]);
  const known = new Set<unknown>(field.options?.map(({ value }) => value));
  if (!chosen.every((one): one is string => known.has(one))) return wrong(messages.notAChoice);
  return new Set(chosen).size === chosen.length ? taken(chosen) : wrong(messages.choiceTwice);
}

function limitProblem(
  value: Value,
  { kind, limits, format }: FormField,
  messages: FormMessages,
): string | undefined {
  switch (kind) {
    case "string":
    case "multi-select": {
      const size = typeof value === "string" ? lengthOf(value) : (value as readonly string[]).length;
      const { minLength, maxLength, minItems, maxItems } = limits;
      if (minLength !== undefined && size < minLength) return messages.minLength(minLength);
      if (maxLength !== undefined && size > maxLength) return messages.maxLength(maxLength);
      if (minItems !== undefined && size < minItems) return messages.minItems(minItems);
      if (maxItems !== undefined && size > maxItems) return messages.maxItems(maxItems);
      if (format === undefined || typeof value !== "string") return undefined;
      return formatProblem(format, value) === undefined ? undefined : messages.format(format);
    }
    case "number":
    case "integer":
      return rangeProblem(value as number, limits, messages);
    case "boolean":
    case "select":
    case "unsupported":
      return undefined;
  }
}

function rangeProblem(value: number, limits: FormLimits, messages: FormMessages): string | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = limits;
  if (minimum !== undefined && value < minimum) return messages.minimum(minimum);
  if (maximum !== undefined && value > maximum) return messages.maximum(maximum);
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
    return messages.exclusiveMinimum(exclusiveMinimum);
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
    return messages.exclusiveMaximum(exclusiveMaximum);
  return undefined;
}

function isOption(value: string, { options = [] }: FormField): boolean {
  return options.some((option) => option.value === value);
}

/** Only what ASCII calls white space: nothing else is around a number by mistake. For short texts: it takes their square. */
function trimmed(text: string): string {
  return text.replace(/^[ \t\r\n]+/, "").replace(/[ \t\r\n]+$/, "");
}

/** JSON has no negative zero. */
function positiveZero(value: number): number {
  return value === 0 ? 0 : value;
}

function taken(value: Value): ParsedField {
  return { kind: "value", value };
}

function wrong(message: string): ParsedField {
  return { kind: "error", message };
}
