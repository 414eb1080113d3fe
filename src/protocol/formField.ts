/**
 * Owns reading one property of a form's schema into a field that can be drawn. What it cannot read for certain is
 * `unsupported`: a wrong guess would put another question to the person than the server's.
 */
import { isObject } from "../internal/json.js";
import type { FormField, FormFieldKind, FormLimits, FormOption, UnsupportedReason } from "./formTypes.js";
import {
  conjunction,
  deeper,
  followed,
  isSpent,
  listedIn,
  spend,
  type ChoiceList,
  type Place,
  type Schema,
} from "./schemaReading.js";
import { asksForSecret } from "./secretWords.js";

/** What is read of texts; more is cut, and ends with "…". */
const MAX_LABEL = 500;
const MAX_HELP = 5000;
/** What is searched of the help for words that ask for a secret: in some scripts that is dear. */
const MAX_SEARCHED = 2000;
/** A longer pattern tells nobody anything. */
const MAX_PATTERN = 200;
/** Choices of one field. */
const MAX_OPTIONS = 1000;
/** For making one, or looking it up in another list. */
const PER_OPTION = 5;

const FORMATS = ["email", "uri", "date", "date-time"] as const;
const LIMITS: Readonly<Record<FormFieldKind, readonly (keyof FormLimits)[]>> = {
  string: ["minLength", "maxLength"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  integer: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  boolean: [],
  select: [],
  "multi-select": ["minItems", "maxItems"],
  unsupported: [],
};

interface Shape {
  readonly kind: FormFieldKind;
  readonly options?: readonly FormOption[];
}

/** What a field is read from. */
export interface FieldSource {
  readonly name: string;
  readonly schema: unknown;
  readonly required: boolean;
  readonly place: Place;
  readonly reasonText: (why: UnsupportedReason) => string;
}

/** A field without its default: whether that fits is for the parser to say. */
export interface ReadField {
  readonly field: FormField;
  /** What the schema has as default. */
  readonly preset: unknown;
}

/** Reads a property; the texts of the reasons come from the caller. */
export function readField({ name, schema, required, place, reasonText }: FieldSource): ReadField {
  const gathered = new Set<Schema>();
  const why = gather(schema, place, gathered);
  const parts = [...gathered];
  const title = textOf(parts, "title", MAX_LABEL);
  const description = textOf(parts, "description", MAX_HELP);
  const base = {
    name,
    label: title === "" ? cut(name, MAX_LABEL) : title,
    ...(description !== "" && { help: description }),
    required,
  };
  const read = why ?? shapeOf(parts, place);
  const shape = isSpent(place) ? "too-large" : read;
  if (typeof shape === "string") return { field: unsupported(base, reasonText(shape)), preset: undefined };
  const { kind } = shape;
  const isTyped = kind === "string" || kind === "number" || kind === "integer";
  const isSecret =
    isTyped &&
    (parts.some((part) => part["format"] === "password") ||
      asksForSecret({ name: cut(name, MAX_LABEL), title, description: cut(description, MAX_SEARCHED) }));
  const field = {
    ...base,
    ...shape,
    limits: limitsOf(parts, kind),
    ...(kind === "string" && textLimits(parts)),
    ...(isSecret && { warning: "secret" as const }),
  };
  return { field, preset: parts.find((part) => Object.hasOwn(part, "default"))?.["default"] };
}

/** What is known of a field besides what it is. */
type FieldBase = Pick<FormField, "name" | "required"> & Partial<Pick<FormField, "label" | "help">>;

/** A field that only says that, and why, it cannot be drawn. */
export function unsupported({ name, label, help, required }: FieldBase, reason: string): FormField {
  return {
    name,
    label: label ?? cut(name, MAX_LABEL),
    ...(help !== undefined && { help }),
    kind: "unsupported",
    required,
    limits: {},
    reason,
  };
}

function textLimits(parts: readonly Schema[]): Partial<Pick<FormField, "format" | "pattern">> {
  const format = FORMATS.find((one) => parts.some((part) => part["format"] === one));
  const pattern = parts.map((part) => part["pattern"]).find((one) => typeof one === "string");
  return {
    ...(format !== undefined && { format }),
    ...(typeof pattern === "string" && pattern.length <= MAX_PATTERN && { pattern }),
  };
}

/** Collects all schemas that hold for the value, each once, or says why that cannot be done. */
function gather(schema: unknown, place: Place, parts: Set<Schema>): UnsupportedReason | undefined {
  const hops = followed(schema, place);
  if (hops === undefined) return isObject(schema) ? "reference" : "no-type";
  const inner = deeper(place);
  // The field's own words first, for they say more of it than those of what it shares with others.
  for (const hop of hops) parts.add(hop);
  for (const hop of hops) {
    for (const part of conjunction(hop)) {
      const why = gather(part, inner, parts);
      if (why !== undefined) return why;
    }
    for (const options of listedIn(hop, place).alternatives) {
      if (options.length !== 1) return "several-types";
      const why = gather(options[0], inner, parts);
      if (why !== undefined) return why;
    }
  }
  return undefined;
}

function shapeOf(parts: readonly Schema[], place: Place): Shape | UnsupportedReason {
  const type = typeOf(parts, place);
  if (type === "array") {
    const items = itemParts(parts, place);
    if (typeof items === "string") return items;
    const choices = choicesOf(items, place);
    if (choices.length === 0) return "list";
    const itemType = typeOf(items, place);
    const options = itemType === undefined || itemType === "string" ? optionsOf(choices, place) : "choices";
    // A list that is itself one of listed lists.
    if (choicesOf(parts, place).length > 0) return "choices";
    return typeof options === "string" ? options : { kind: "multi-select", options };
  }
  const choices = choicesOf(parts, place);
  if (choices.length > 0) {
    if (type !== undefined && type !== "string") return "choices";
    const options = optionsOf(choices, place);
    return typeof options === "string" ? options : { kind: "select", options };
  }
  switch (type) {
    case undefined:
      return "no-type";
    case "string":
    case "number":
    case "integer":
    case "boolean":
      return { kind: type };
    case "several":
      return "several-types";
    case "object":
      return "nested";
    default:
      return "kind";
  }
}

/** The one type of all parts; null beside it only says that the field is optional. */
function typeOf(parts: readonly Schema[], place: Place): string | undefined {
  const found = new Set<unknown>();
  for (const part of parts) {
    const { types } = listedIn(part, place);
    if (types === undefined) continue;
    // No more than two words are looked at: a third is one too many in any case.
    if (types.size > 2) return "several";
    const words = [...types].filter((word) => word !== "null" || !Array.isArray(part["type"]));
    if (words.length > 1) return "several";
    found.add(words[0] ?? "null");
  }
  if (found.size > 1) return "several";
  if (found.size === 0) return undefined;
  const [type] = found;
  return typeof type === "string" ? type : "unknown";
}

function itemParts(parts: readonly Schema[], place: Place): readonly Schema[] | UnsupportedReason {
  const items = new Set<Schema>();
  for (const part of parts) {
    if (part["items"] === undefined) continue;
    const why = gather(part["items"], deeper(place), items);
    if (why !== undefined) return why === "no-type" ? "list" : why;
  }
  return [...items];
}

function choicesOf(parts: readonly Schema[], place: Place): readonly ChoiceList[] {
  return parts.flatMap((part) => listedIn(part, place).choices);
}

/** What all lists have in common, in the order and with the titles of the first. */
function optionsOf(
  [first, ...others]: readonly ChoiceList[],
  place: Place,
): readonly FormOption[] | UnsupportedReason {
  if (first === undefined || first.values.length === 0) return "choices";
  if (first.values.length > MAX_OPTIONS) return "too-large";
  spend(place, first.values.length * (1 + others.length) * PER_OPTION);
  if (isSpent(place)) return "too-large";
  const options = new Map<string, FormOption>();
  for (const [at, value] of first.values.entries()) {
    // Null among choices only says that the field is optional.
    if (value === null) continue;
    if (typeof value !== "string") return "choices";
    if (options.has(value) || !others.every((list) => list.has(value))) continue;
    const title = first.titleAt(at);
    const label = typeof title === "string" && title !== "" ? title : value;
    options.set(value, { value, label: cut(label, MAX_LABEL) });
  }
  return options.size === 0 ? "choices" : [...options.values()];
}

/** The strictest of what the parts say. */
function limitsOf(parts: readonly Schema[], kind: FormFieldKind): FormLimits {
  const limits: { -readonly [Key in keyof FormLimits]: number } = {};
  for (const key of LIMITS[kind]) {
    const isCount = kind === "string" || kind === "multi-select";
    const said = parts
      .map((part) => part[key])
      .filter((value) => typeof value === "number" && Number.isFinite(value) && (!isCount || value >= 0));
    if (said.length === 0) continue;
    const numbers = said as number[];
    limits[key] = /^min|Min/.test(key)
      ? numbers.reduce((a, b) => Math.max(a, b))
      : numbers.reduce((a, b) => Math.min(a, b));
  }
  return limits;
}

function textOf(parts: readonly Schema[], key: "title" | "description", limit: number): string {
  const text = parts.map((part) => part[key]).find((value) => typeof value === "string" && value !== "");
  return typeof text === "string" ? cut(text, limit) : "";
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // Not in the middle of a surrogate pair.
  const end = /[\ud800-\udbff]/.test(text.charAt(limit - 1)) ? limit - 1 : limit;
  return `${text.slice(0, end)}…`;
}
