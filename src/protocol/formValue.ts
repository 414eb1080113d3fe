/**
 * Owns whether one value fits the schema of its field. It runs no pattern of the server (a hostile one could block
 * the process for minutes) and converts nothing.
 */
import { formatProblem } from "./formats.js";
import {
  conjunction,
  deeper,
  followed,
  isSpent,
  listedIn,
  spend,
  type Place,
  type Schema,
} from "./schemaReading.js";

type Value = string | number | boolean | readonly string[];

/** What does not fit the budget is not taken for right. */
const TOO_LARGE = "cannot be checked: its schema and the value are too much work";
/** Counting and formats read a text several times. */
const PER_CHARACTER = 5;
/** A list is put into a set to find what it has twice. */
const PER_ITEM = 5;

/**
 * A cleared text field is no answer, unless the empty string is one of the choices. Where the budget does not last to
 * say so it counts as an answer, which `valueProblem` refuses.
 */
export function isLeftOut(value: unknown, schema: unknown, place: Place): boolean {
  if (value === undefined || value === null) return true;
  if (value !== "") return false;
  const hops = followed(schema, place) ?? [];
  const choices = hops.flatMap((hop) => listedIn(hop, place).choices);
  if (isSpent(place)) return false;
  return choices.length === 0 || !choices.every((list) => list.has(""));
}

/** What is wrong with the value, or undefined. It quotes nothing of the server's. */
export function valueProblem(value: unknown, schema: unknown, place: Place): string | undefined {
  if (!isValue(value)) return "expected a string, a finite number, a boolean or a list of strings";
  const problem = schemaProblem(value, schema, place);
  return isSpent(place) ? TOO_LARGE : problem;
}

/** The length in characters, as people and JSON Schema count. */
export function lengthOf(text: string): number {
  let length = text.length;
  for (let at = 1; at < text.length; at += 1) {
    // Two halves of one character.
    const isPair = (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
    if (isPair) length -= 1;
  }
  return length;
}

function schemaProblem(value: Value, unresolved: unknown, place: Place): string | undefined {
  const hops = followed(unresolved, place);
  if (hops === undefined) return "cannot be checked: its schema cannot be resolved";
  const inner = deeper(place);
  for (const hop of hops) {
    const problem = hopProblem(value, hop, inner);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function hopProblem(value: Value, schema: Schema, place: Place): string | undefined {
  const { choices, alternatives, types } = listedIn(schema, place);
  if (choices.some((list) => !list.has(value))) return "is not one of the choices";
  for (const options of alternatives) {
    if (!fitsOne(value, options, place)) return "fits none of the alternatives";
  }
  for (const part of conjunction(schema)) {
    const problem = schemaProblem(value, part, place);
    if (problem !== undefined) return problem;
  }
  // Titled choices are legal without a type; limits hold without one, too.
  if (types !== undefined && !wordsFor(value).some((word) => types.has(word)))
    return `expected ${named(types)}`;
  return limitProblem(value, schema, place);
}

function fitsOne(value: Value, options: readonly unknown[], place: Place): boolean {
  for (const option of options) {
    if (isSpent(place)) return false;
    if (schemaProblem(value, option, place) === undefined) return true;
  }
  return false;
}

function limitProblem(value: Value, schema: Schema, place: Place): string | undefined {
  if (typeof value === "string") return stringProblem(value, schema, place);
  if (typeof value === "number") return numberProblem(value, schema);
  return typeof value === "boolean" ? undefined : listProblem(value, schema, place);
}

function wordsFor(value: Value): readonly string[] {
  if (typeof value === "number") return Number.isInteger(value) ? ["number", "integer"] : ["number"];
  return [typeof value === "object" ? "array" : typeof value];
}

function stringProblem(value: string, schema: Schema, place: Place): string | undefined {
  const { minLength, maxLength, format } = schema;
  if (minLength === undefined && maxLength === undefined && format === undefined) return undefined;
  spend(place, value.length * PER_CHARACTER);
  if (isSpent(place)) return TOO_LARGE;
  if (typeof minLength === "number" || typeof maxLength === "number") {
    const length = lengthOf(value);
    if (typeof minLength === "number" && length < minLength)
      return `expected at least ${minLength} characters`;
    if (typeof maxLength === "number" && length > maxLength)
      return `expected at most ${maxLength} characters`;
  }
  return typeof format === "string" ? formatProblem(format, value) : undefined;
}

function numberProblem(value: number, schema: Schema): string | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (typeof minimum === "number" && value < minimum) return `expected at least ${minimum}`;
  if (typeof maximum === "number" && value > maximum) return `expected at most ${maximum}`;
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum)
    return `expected more than ${exclusiveMinimum}`;
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum)
    return `expected less than ${exclusiveMaximum}`;
  return undefined;
}

function listProblem(value: readonly string[], schema: Schema, place: Place): string | undefined {
  const { minItems, maxItems, items, uniqueItems } = schema;
  if (typeof minItems === "number" && value.length < minItems) return `expected at least ${minItems} choices`;
  if (typeof maxItems === "number" && value.length > maxItems) return `expected at most ${maxItems} choices`;
  if (uniqueItems === true) {
    spend(place, value.length * PER_ITEM);
    if (isSpent(place)) return TOO_LARGE;
    if (new Set(value).size < value.length) return "expected no choice twice";
  }
  if (items === undefined) return undefined;
  for (const item of value) {
    const problem = schemaProblem(item, items, place);
    if (problem !== undefined) return `one item ${problem}`;
  }
  return undefined;
}

function isValue(value: unknown): value is Value {
  // A list with holes is no list of strings; `every` alone would pass over them.
  if (Array.isArray(value))
    return !value.includes(undefined) && value.every((item) => typeof item === "string");
  if (typeof value === "number") return Number.isFinite(value);
  return typeof value === "string" || typeof value === "boolean";
}

/** Only the words of JSON Schema: a message quotes nothing else of the server's. */
function named(types: ReadonlySet<unknown>): string {
  const known = ["string", "number", "integer", "boolean", "array"].filter((type) => types.has(type));
  return known.length > 0 ? known.join(" or ") : "a type that forms do not have";
}
