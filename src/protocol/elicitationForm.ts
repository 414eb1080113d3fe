/**
 * Owns a form as a whole: its fields, whether it may be accepted, and the content that is sent. It draws nothing, and
 * lets nothing be accepted that it could not show.
 */
import { isObject, type JsonObject } from "../internal/json.js";
import { readField, unsupported } from "./formField.js";
import { formMessages } from "./formMessages.js";
import { parseField, type FieldContext, type Value } from "./formParsing.js";
import type {
  ElicitationForm,
  FormField,
  FormMessages,
  FormValues,
  ParsedForm,
  UnsupportedReason,
} from "./formTypes.js";
import { isSpent, MAX_FIELDS, spend, startAt, type Place, type Schema } from "./schemaReading.js";

/** Choices of all fields together. */
const MAX_OPTIONS = 5000;
/** Checking a default reads it several times. */
const PER_DEFAULT = 10;

/** Members at the top of the schema that forms do not have and that make some answers invalid. */
const CONDITIONS = [
  "$ref",
  "$dynamicRef",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "const",
  "enum",
  "dependencies",
  "dependentRequired",
  "dependentSchemas",
  "patternProperties",
  "propertyNames",
  "minProperties",
  "maxProperties",
];

/**
 * Reads the schema of an elicitation (`request.requestedSchema`) into fields that any UI can draw, and a `parse` for
 * what the person put in. No fields: a plain confirmation. Never throws, whatever the schema is.
 *
 * A form with anything that cannot be shown for what it is has `acceptable: false`, `parse` gives it errors only: offer
 * decline and dismiss, and show `reason`. At most 200 fields are drawn. Long texts are cut.
 * `messages` replaces texts, for other languages.
 */
export function elicitationForm(
  requestedSchema: JsonObject,
  options: { readonly messages?: Partial<FormMessages> } = {},
): ElicitationForm {
  const messages = { ...formMessages, ...options.messages };
  const root: Schema = isObject(requestedSchema) ? requestedSchema : {};
  const { fields, problem } = readFields(startAt(root), messages);
  const whole = isObject(requestedSchema) ? (wholeProblem(root) ?? problem) : "schema";
  const reason =
    whole === undefined ? fields.find(({ kind }) => kind === "unsupported")?.reason : messages.reason(whole);
  const initialValues = bare<Value>();
  for (const field of fields) {
    const { name, kind, required, limits, default: preset } = field;
    if (preset !== undefined) initialValues[name] = preset;
    // Nothing is ticked, and that is an answer.
    else if (kind === "multi-select" && required && limits.minItems === 0) initialValues[name] = [];
  }
  return {
    fields,
    acceptable: reason === undefined,
    ...(reason !== undefined && { reason }),
    initialValues,
    parse: (values) => parse(values, { fields, root, messages, isWhole: whole === undefined }),
  };
}

function wholeProblem(root: Schema): UnsupportedReason | undefined {
  const { type, properties } = root;
  if (type !== undefined && type !== "object") return "schema";
  if (properties !== undefined && !isObject(properties)) return "schema";
  return CONDITIONS.some((keyword) => root[keyword] !== undefined) ? "conditions" : undefined;
}

function readFields(
  place: Place,
  messages: Required<FormMessages>,
): { fields: readonly FormField[]; problem?: UnsupportedReason } {
  const { root } = place;
  const properties = isObject(root["properties"]) ? root["properties"] : {};
  const listed = Array.isArray(root["required"]) ? (root["required"] as readonly unknown[]) : [];
  const required = new Set(listed.filter((name) => typeof name === "string"));
  const names = Object.keys(properties);
  const notAsked = [...required].filter((name) => !Object.hasOwn(properties, name));
  const reasonText = (why: UnsupportedReason): string => messages.reason(why);
  const fields: FormField[] = [];
  let options = 0;
  for (const name of names.slice(0, MAX_FIELDS)) {
    const { field, preset } = readField({
      name,
      schema: properties[name],
      required: required.has(name),
      place,
      reasonText,
    });
    options += field.options?.length ?? 0;
    const hasTooMany = field.options !== undefined && options > MAX_OPTIONS;
    const whole = hasTooMany ? field : withDefault(preset, { field, place, messages });
    const isTooLarge = hasTooMany || (isSpent(place) && field.kind !== "unsupported");
    fields.push(isTooLarge ? unsupported(field, reasonText("too-large")) : whole);
  }
  for (const name of notAsked.slice(0, MAX_FIELDS - fields.length)) {
    fields.push(unsupported({ name, required: true }, reasonText("not-asked")));
  }
  return { fields, ...(names.length + notAsked.length > MAX_FIELDS && { problem: "too-large" }) };
}

/** A default that would not be taken as an answer is none: it is not turned into one. */
function withDefault(preset: unknown, context: FieldContext): FormField {
  const { field, place } = context;
  if (preset === undefined || field.kind === "unsupported") return field;
  // Numbers may be typed as text; a default may not.
  if (typeof preset === "string" && field.kind !== "string" && field.kind !== "select") return field;
  if (typeof preset === "string" || Array.isArray(preset)) spend(place, preset.length * PER_DEFAULT);
  if (isSpent(place)) return field;
  const parsed = parseField(preset, context);
  const isNothing = parsed.kind !== "value" || (Array.isArray(preset) && preset.length === 0);
  return isNothing ? field : { ...field, default: parsed.value };
}

interface Drawn {
  readonly fields: readonly FormField[];
  readonly root: Schema;
  readonly messages: FormMessages;
  readonly isWhole: boolean;
}

function parse(values: FormValues, { fields, root, messages, isWhole }: Drawn): ParsedForm {
  const given: Readonly<Record<string, unknown>> = isObject(values) ? values : {};
  const content = bare<Value>();
  const errors = bare<string>();
  // The same budget for the same work as the check of every answer has: what fits here fits there.
  const place = startAt(root);
  const known = new Set<string>();
  for (const field of fields) {
    known.add(field.name);
    const value = Object.hasOwn(given, field.name) ? given[field.name] : undefined;
    const parsed = parseField(value, { field, place, messages });
    if (parsed.kind === "value") content[field.name] = parsed.value;
    else if (parsed.kind === "error") errors[field.name] = parsed.message;
  }
  // What was put into a field that there is not is not dropped in silence.
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && !known.has(name)) errors[name] = messages.unsupported;
  }
  if (!isWhole) errors[""] = messages.unsupported;
  return Object.keys(errors).length > 0 ? { errors } : { content };
}

/** Without a prototype, so that every name is its own: `__proto__` too. */
function bare<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>;
}
