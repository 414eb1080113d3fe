/**
 * Owns whether one value fits the schema of its field. It runs no pattern of the server (a hostile one could block
 * the process for minutes) and converts nothing.
 */
import { formatProblem } from "./formats.js";
import {
  alternatives,
  choiceLists,
  conjunction,
  deeper,
  followed,
  spend,
  startAt,
  type Place,
  type Schema,
} from "./schemaReading.js";

type Value = string | number | boolean | readonly string[];

/** A cleared text field is no answer, unless the empty string is one of the choices. */
export function isLeftOut(value: unknown, schema: unknown, root: Schema): boolean {
  if (value === undefined || value === null) return true;
  if (value !== "") return false;
  const hops = followed(schema, startAt(root)) ?? [];
  const listed = hops.flatMap((hop) => choiceLists(hop));
  return listed.length === 0 || !listed.every(({ values }) => values.includes(""));
}

/** What is wrong with the value, or undefined. It quotes nothing of the server's. */
export function valueProblem(value: unknown, schema: unknown, root: Schema): string | undefined {
  if (!isValue(value)) return "expected a string, a finite number, a boolean or a list of strings";
  return schemaProblem(value, schema, startAt(root));
}

/** The length in characters, as people and JSON Schema count. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
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
  if (typeof value === "string") spend(place.budget, value.length);
  for (const { values } of choiceLists(schema)) {
    if (!values.includes(value)) return "is not one of the choices";
  }
  for (const options of alternatives(schema)) {
    if (!options.some((option) => schemaProblem(value, option, place) === undefined))
      return "fits none of the alternatives";
  }
  for (const part of conjunction(schema)) {
    const problem = schemaProblem(value, part, place);
    if (problem !== undefined) return problem;
  }
  return typeProblem(value, schema, place);
}

function typeProblem(value: Value, schema: Schema, place: Place): string | undefined {
  const { type } = schema;
  // Titled choices are legal without a type; limits hold without one, too.
  const types: readonly unknown[] | undefined =
    type === undefined ? undefined : Array.isArray(type) ? type : [type];
  if (types !== undefined && !wordsFor(value).some((word) => types.includes(word)))
    return `expected ${named(types)}`;
  if (typeof value === "string") return stringProblem(value, schema);
  if (typeof value === "number") return numberProblem(value, schema);
  return typeof value === "boolean" ? undefined : listProblem(value, schema, place);
}

function wordsFor(value: Value): readonly string[] {
  if (typeof value === "number") return Number.isInteger(value) ? ["number", "integer"] : ["number"];
  return [typeof value === "object" ? "array" : typeof value];
}

function stringProblem(value: string, schema: Schema): string | undefined {
  const { minLength, maxLength, format } = schema;
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
  if (uniqueItems === true && new Set(value).size < value.length) return "expected no choice twice";
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
function named(types: readonly unknown[]): string {
  const known = ["string", "number", "integer", "boolean", "array"].filter((type) => types.includes(type));
  return known.length > 0 ? known.join(" or ") : "a type that forms do not have";
}
