/**
 * Owns finding one's way in the schemas that servers send with forms: references, alternatives, listed values. All of
 * it takes bounded work, whatever the schema says. It judges no value.
 */
import { isObject } from "../internal/json.js";

export type Schema = Readonly<Record<string, unknown>>;

/** Where one is in a schema. */
export interface Place {
  readonly root: Schema;
  readonly depth: number;
  /** Shared by all that is looked at for one purpose. */
  readonly budget: { steps: number };
}

/** The values that a schema lists, with what they are called. */
export interface ChoiceList {
  readonly values: readonly unknown[];
  readonly titleAt: (at: number) => unknown;
}

/** References to references to …: more than this is a loop, or meant to look like none. */
const MAX_DEPTH = 16;
/** Schemas looked at for one value. Branching references could otherwise multiply into years of work. */
const MAX_STEPS = 10_000;
/** Long lists and texts are dear: so many of their members cost as much as one schema. */
const PER_STEP = 1000;
const MAX_POINTER = 1000;

export function startAt(root: Schema, steps: number = MAX_STEPS): Place {
  return { root, depth: 0, budget: { steps } };
}

export function deeper(place: Place): Place {
  return { ...place, depth: place.depth + 1 };
}

/** Charges for looking at so many members or characters. */
export function spend(budget: Place["budget"], size: number): void {
  budget.steps -= size / PER_STEP;
}

/**
 * The schema, and every schema that its local references (`#/…`) lead to: all of them hold, since members beside a
 * reference count too. Undefined when a reference leads nowhere, elsewhere, or in a circle, and when the budget is used up.
 */
export function followed(schema: unknown, { root, depth, budget }: Place): readonly Schema[] | undefined {
  const hops: Schema[] = [];
  let current = schema;
  for (let step = depth; step < MAX_DEPTH && budget.steps > 0; step += 1) {
    budget.steps -= 1;
    if (!isObject(current)) return undefined;
    spend(budget, listedIn(current));
    hops.push(current);
    const reference = current["$ref"];
    if (reference === undefined) return hops;
    if (typeof reference !== "string" || !reference.startsWith("#/")) return undefined;
    if (reference.length > MAX_POINTER) return undefined;
    current = pointed(root, reference.slice(2));
  }
  return undefined;
}

/** Every list of values that must hold the value, whichever of the legal shapes the schema uses. */
export function choiceLists(schema: Schema): readonly ChoiceList[] {
  const lists: ChoiceList[] = [];
  const { enum: listed, enumNames } = schema;
  if (Array.isArray(listed)) {
    const values: readonly unknown[] = listed;
    // Of another length, nobody knows which name belongs to which value.
    const names = Array.isArray(enumNames) && enumNames.length === values.length ? enumNames : [];
    lists.push({ values, titleAt: (at) => (names as readonly unknown[])[at] });
  }
  if (Object.hasOwn(schema, "const"))
    lists.push({ values: [schema["const"]], titleAt: () => schema["title"] });
  for (const options of [schema["oneOf"], schema["anyOf"]]) {
    if (!Array.isArray(options)) continue;
    const some = withoutNull(options);
    if (some.every(isConstant)) {
      lists.push({ values: some.map((option) => option["const"]), titleAt: (at) => some[at]?.["title"] });
    }
  }
  return lists;
}

/** The lists of schemas of which one must hold; those that only list values are `choiceLists`. */
export function alternatives(schema: Schema): readonly (readonly unknown[])[] {
  return [schema["oneOf"], schema["anyOf"]]
    .filter((options) => Array.isArray(options))
    .map(withoutNull)
    .filter((options) => !options.every(isConstant));
}

/** All that must hold besides. */
export function conjunction(schema: Schema): readonly unknown[] {
  return Array.isArray(schema["allOf"]) ? (schema["allOf"] as unknown[]) : [];
}

/** "Or null" is how many servers write optional: nobody ever sends null, what is left out is. */
function withoutNull(options: readonly unknown[]): readonly unknown[] {
  return options.filter(
    (option) => !isObject(option) || !(option["type"] === "null" || option["const"] === null),
  );
}

/** How much there is to look through in a schema, without what it refers to. */
function listedIn(schema: Schema): number {
  const { enum: values, oneOf, anyOf } = schema;
  return [values, oneOf, anyOf].reduce<number>(
    (sum, list) => sum + (Array.isArray(list) ? list.length : 0),
    0,
  );
}

function isConstant(option: unknown): option is Schema {
  return isObject(option) && Object.hasOwn(option, "const");
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
