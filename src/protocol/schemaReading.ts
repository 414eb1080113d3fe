/**
 * Owns finding one's way in the schemas that servers send with forms: references, alternatives, listed values. All of
 * it takes bounded work, whatever the schema says. It judges no value.
 */
import { isObject } from "../internal/json.js";

export type Schema = Readonly<Record<string, unknown>>;

/** Work that may still be done. Whole numbers only: what fits must not hang on the order in which it is added up. */
export interface Budget {
  left: number;
  /** What is paid for: the lists of a schema are read once, however often references lead to it. */
  readonly read: Map<Schema, Listed>;
}

/** Where one is in a schema. */
export interface Place {
  readonly root: Schema;
  readonly depth: number;
  /** Shared by all that is looked at for one purpose: all fields of a form, all members of its content. */
  readonly budget: Budget;
}

/** The values that a schema lists, with what they are called. */
export interface ChoiceList {
  readonly values: readonly unknown[];
  readonly titleAt: (at: number) => unknown;
  readonly has: (value: unknown) => boolean;
}

/** What a schema lists itself, without what it refers to. */
export interface Listed {
  /** Every list of values that must hold the value, whichever of the legal shapes the schema uses. */
  readonly choices: readonly ChoiceList[];
  /** The lists of schemas of which one must hold; those that only list values are choices. */
  readonly alternatives: readonly (readonly unknown[])[];
  /** Undefined where the schema says nothing of types. */
  readonly types: ReadonlySet<unknown> | undefined;
}

/** More fields nobody reads before accepting. */
export const MAX_FIELDS = 200;
/** References to references to …: more than this is a loop, or meant to look like none. */
const MAX_DEPTH = 16;
/**
 * For a whole form, or the whole content of one: a member of a list and a character cost 1. Branching references could
 * otherwise multiply into years of work.
 */
const BUDGET = 5_000_000;
/** For looking at a schema once. A form may use 25,000. */
const PER_SCHEMA = 200;
/** A pointer may have a member to look up for every other character. */
const PER_POINTER_CHARACTER = 10;
const MAX_POINTER = 1000;

/** At the top of a form's schema, with a fresh budget. Its list of what is required is paid for. */
export function startAt(root: Schema): Place {
  const budget: Budget = { left: BUDGET, read: new Map() };
  spend({ budget }, lengthOfList(root["required"]));
  return { root, depth: 0, budget };
}

const NOTHING: Listed = { choices: [], alternatives: [], types: undefined };

export function deeper(place: Place): Place {
  return { ...place, depth: place.depth + 1 };
}

/** Charges for looking at so many members or characters. */
export function spend({ budget }: Pick<Place, "budget">, size: number): void {
  budget.left -= size;
}

/** True once there was more to look at than the budget allows: what was found since means nothing. */
export function isSpent({ budget }: Place): boolean {
  return budget.left < 0;
}

/**
 * The schema, and every schema that its local references (`#/…`) lead to: all of them hold, since members beside a
 * reference count too. Undefined when a reference leads nowhere, elsewhere, or in a circle, and when the budget is used up.
 */
export function followed(schema: unknown, place: Place): readonly Schema[] | undefined {
  const hops: Schema[] = [];
  let current = schema;
  for (let step = place.depth; step < MAX_DEPTH; step += 1) {
    spend(place, PER_SCHEMA);
    if (isSpent(place) || !isObject(current)) return undefined;
    hops.push(current);
    const reference = current["$ref"];
    if (reference === undefined) return hops;
    if (typeof reference !== "string" || !reference.startsWith("#/")) return undefined;
    if (reference.length > MAX_POINTER) return undefined;
    spend(place, reference.length * PER_POINTER_CHARACTER);
    const pointer = reference.slice(2);
    current = pointed(place.root, pointer);
    if (current !== undefined || !pointer.includes("%")) continue;
    spend(place, reference.length * PER_POINTER_CHARACTER);
    current = pointed(place.root, unescaped(pointer));
  }
  return undefined;
}

/** What the schema lists, paid for the first time only. When that is more than the budget allows: nothing. */
export function listedIn(schema: Schema, place: Place): Listed {
  const { enum: values, oneOf, anyOf, type } = schema;
  const isBare = [values, oneOf, anyOf, type].every((one) => one === undefined);
  if (isBare && !Object.hasOwn(schema, "const")) return NOTHING;
  const known = place.budget.read.get(schema);
  if (known !== undefined) return known;
  for (const list of [values, oneOf, anyOf, type]) spend(place, lengthOfList(list));
  if (isSpent(place)) return NOTHING;
  const listed: Listed = {
    choices: choiceLists(schema),
    alternatives: alternatives(schema),
    types: type === undefined ? undefined : new Set<unknown>(Array.isArray(type) ? type : [type]),
  };
  place.budget.read.set(schema, listed);
  return listed;
}

/** All that must hold besides. */
export function conjunction(schema: Schema): readonly unknown[] {
  return Array.isArray(schema["allOf"]) ? (schema["allOf"] as unknown[]) : [];
}

function choiceLists(schema: Schema): readonly ChoiceList[] {
  const lists: ChoiceList[] = [];
  const { enum: listed, enumNames } = schema;
  if (Array.isArray(listed)) {
    const values: readonly unknown[] = listed;
    // Of another length, nobody knows which name belongs to which value.
    const names = Array.isArray(enumNames) && enumNames.length === values.length ? enumNames : [];
    lists.push(choiceList(values, (at) => (names as readonly unknown[])[at]));
  }
  if (Object.hasOwn(schema, "const")) lists.push(choiceList([schema["const"]], () => schema["title"]));
  for (const options of [schema["oneOf"], schema["anyOf"]]) {
    if (!Array.isArray(options)) continue;
    const some = withoutNull(options);
    if (some.every(isConstant)) {
      const values = some.map((option) => option["const"]);
      lists.push(choiceList(values, (at) => some[at]?.["title"]));
    }
  }
  return lists;
}

function choiceList(values: readonly unknown[], titleAt: ChoiceList["titleAt"]): ChoiceList {
  const known = new Set(values);
  return { values, titleAt, has: (value) => known.has(value) };
}

function alternatives(schema: Schema): readonly (readonly unknown[])[] {
  return [schema["oneOf"], schema["anyOf"]]
    .filter((options) => Array.isArray(options))
    .map(withoutNull)
    .filter((options) => !options.every(isConstant));
}

/** "Or null" is how many servers write optional: nobody ever sends null, what is left out is. */
function withoutNull(options: readonly unknown[]): readonly unknown[] {
  return options.filter(
    (option) => !isObject(option) || !(option["type"] === "null" || option["const"] === null),
  );
}

function lengthOfList(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

function isConstant(option: unknown): option is Schema {
  return isObject(option) && Object.hasOwn(option, "const");
}

/** Pointers in references may be written as in URLs. */
function unescaped(pointer: string): string {
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
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
