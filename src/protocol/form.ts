/**
 * Owns whether the content of a form fits its schema. It runs no pattern of the server (a hostile one could block
 * the process for minutes), fills in no defaults and converts nothing.
 */
import { InvalidInputResponseError } from "../errors.js";
import { isObject, type JsonObject } from "../internal/json.js";
import { formatProblem } from "./formats.js";

type Schema = Readonly<Record<string, unknown>>;
type FormValue = string | number | boolean | readonly string[];

/** References to references to …: more than this is a loop, or meant to look like none. */
const MAX_DEPTH = 16;
/** Schemas looked at for one value. Branching references could otherwise multiply into years of work. */
const MAX_STEPS = 10_000;

/**
 * The content as it is to be sent. Members that are undefined, null or (where the schema does not list it) an empty
 * string count as left out. Throws `InvalidInputResponseError` naming the field, `content.<name>`.
 */
export function checkFormContent(requestedSchema: JsonObject, content: unknown): JsonObject {
  if (content !== undefined && !isObject(content)) {
    throw new InvalidInputResponseError("content", "expected an object");
  }
  const properties = isObject(requestedSchema["properties"]) ? requestedSchema["properties"] : {};
  const given = content ?? {};
  const checked = {};
  for (const [name, value] of Object.entries(given)) {
    const field = `content.${name}`;
    if (!Object.hasOwn(properties, name)) throw new InvalidInputResponseError(field, "was not asked for");
    if (isLeftOut(value, properties[name], requestedSchema)) continue;
    const problem = valueProblem(value, properties[name], startAt(requestedSchema));
    if (problem !== undefined) throw new InvalidInputResponseError(field, problem);
    Object.defineProperty(checked, name, { value, enumerable: true, configurable: true, writable: true });
  }
  const required = requestedSchema["required"];
  for (const name of Array.isArray(required) ? (required as unknown[]) : []) {
    if (typeof name === "string" && !Object.hasOwn(checked, name)) {
      throw new InvalidInputResponseError(`content.${name}`, "is required and must not be empty");
    }
  }
  return checked;
}

interface Place {
  readonly root: Schema;
  readonly depth: number;
  /** Shared by all that is looked at for one value. */
  readonly budget: { steps: number };
}

function startAt(root: Schema): Place {
  return { root, depth: 0, budget: { steps: MAX_STEPS } };
}

/** A cleared text field is no answer, unless the empty string is one of the choices. */
function isLeftOut(value: unknown, schema: unknown, root: Schema): boolean {
  if (value === undefined || value === null) return true;
  if (value !== "") return false;
  const resolved = resolve(schema, startAt(root));
  const listed = resolved === undefined ? undefined : choices(resolved);
  return listed === undefined || !listed.includes("");
}

function valueProblem(value: unknown, schema: unknown, place: Place): string | undefined {
  if (!isFormValue(value)) return "expected a string, a finite number, a boolean or a list of strings";
  return schemaProblem(value, schema, place);
}

function schemaProblem(value: FormValue, unresolved: unknown, place: Place): string | undefined {
  const schema = resolve(unresolved, place);
  if (schema === undefined) return "cannot be checked: its schema cannot be resolved";
  const inner = { ...place, depth: place.depth + 1 };
  const listed = choices(schema);
  if (listed !== undefined) {
    if (!listed.includes(value)) return "is not one of the choices";
  } else {
    const options = alternatives(schema);
    if (options && !options.some((option) => schemaProblem(value, option, inner) === undefined)) {
      return "fits none of the alternatives";
    }
  }
  const all = Array.isArray(schema["allOf"]) ? (schema["allOf"] as unknown[]) : [];
  for (const part of all) {
    const problem = schemaProblem(value, part, inner);
    if (problem !== undefined) return problem;
  }
  return typeProblem(value, schema, inner);
}

function typeProblem(value: FormValue, schema: Schema, place: Place): string | undefined {
  const { type } = schema;
  // Titled choices are legal without a type.
  if (type === undefined) return undefined;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  if (typeof value === "string") {
    return types.includes("string") ? stringProblem(value, schema) : `expected ${named(types)}`;
  }
  if (typeof value === "number") {
    const fits = types.includes("number") || (types.includes("integer") && Number.isInteger(value));
    return fits ? numberProblem(value, schema) : `expected ${named(types)}`;
  }
  if (typeof value === "boolean") return types.includes("boolean") ? undefined : `expected ${named(types)}`;
  return types.includes("array") ? listProblem(value, schema, place) : `expected ${named(types)}`;
}

function stringProblem(value: string, schema: Schema): string | undefined {
  const { minLength, maxLength, format } = schema;
  if (typeof minLength === "number" || typeof maxLength === "number") {
    let length = 0;
    for (const _ of value) length += 1;
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

/** The values that a schema lists, whichever of the legal shapes it uses; titles and enumNames are for display. */
function choices(schema: Schema): readonly unknown[] | undefined {
  if (Array.isArray(schema["enum"])) return schema["enum"] as unknown[];
  if (Object.hasOwn(schema, "const")) return [schema["const"]];
  const options = alternatives(schema);
  if (options?.every((option) => isObject(option) && Object.hasOwn(option, "const"))) {
    return options.map((option) => (option as Schema)["const"]);
  }
  return undefined;
}

function alternatives(schema: Schema): readonly unknown[] | undefined {
  if (Array.isArray(schema["oneOf"])) return schema["oneOf"] as unknown[];
  return Array.isArray(schema["anyOf"]) ? (schema["anyOf"] as unknown[]) : undefined;
}

/** Follows local references (`#/…`); undefined when one leads nowhere, elsewhere, or in a circle. */
function resolve(schema: unknown, { root, depth, budget }: Place): Schema | undefined {
  let current = schema;
  for (let step = depth; step < MAX_DEPTH && budget.steps > 0; step += 1) {
    budget.steps -= 1;
    if (!isObject(current)) return undefined;
    const reference = current["$ref"];
    if (reference === undefined) return current;
    if (typeof reference !== "string" || !reference.startsWith("#/")) return undefined;
    current = pointed(root, reference.slice(2));
  }
  return undefined;
}

function pointed(root: Schema, pointer: string): unknown {
  let current: unknown = root;
  for (const part of pointer.split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isObject(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return current;
}

function isFormValue(value: unknown): value is FormValue {
  if (Array.isArray(value)) return value.every((item) => typeof item === "string");
  if (typeof value === "number") return Number.isFinite(value);
  return typeof value === "string" || typeof value === "boolean";
}

/** Only the words of JSON Schema: a message quotes nothing else of the server's. */
function named(types: readonly unknown[]): string {
  const known = ["string", "number", "integer", "boolean", "array"].filter((type) => types.includes(type));
  return known.length > 0 ? known.join(" or ") : "a type that forms do not have";
}
