/**
 * Owns what of a server's own words a page gets: texts without the task id. It touches
 * values only, never the names of members, and nothing that is the host's.
 */
import type { JsonObject, JsonValue } from "../internal/json.js";
import { scrub } from "../internal/scrub.js";

/** Longer texts are cut. */
const MAX_TEXT_CHARS = 131_072;
const CUT_MARK = "… [cut]";

/** Words of the protocol: no server can have one of them taken out of its own messages by calling its task so. */
const WORDS = new Set(
  (
    "working input_required completed failed cancelled text image audio resource resource_link user assistant " +
    "tool_use tool_result auto required none string number integer boolean object array null email uri date date-time"
  ).split(" "),
);

/** A text without the task id. Ids of fewer than 4 characters stay: they are in every other word. */
export function shownText(text: string, taskId: string | undefined): string {
  return WORDS.has(text) ? text : scrub(text, [taskId]);
}

/** The same, cut after 131 072 characters. */
export function shortText(text: string, taskId: string | undefined): string {
  const shown = shownText(text, taskId);
  return shown.length > MAX_TEXT_CHARS ? `${shown.slice(0, MAX_TEXT_CHARS)}${CUT_MARK}` : shown;
}

/** A value in whose texts the task id is not; the names of its members stay. */
export function shownValue<Value extends JsonValue>(value: Value, taskId: string | undefined): Value {
  return mapped(value, (text) => shownText(text, taskId)) as Value;
}

function mapped(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => mapped(item, change));
  return Object.fromEntries(
    Object.entries(value as JsonObject).flatMap(([name, member]) =>
      member === undefined ? [] : [[name, mapped(member, change)]],
    ),
  );
}

/** Members of a schema that hold values and names. */
const FOR_ANSWERS = new Set(["const", "enum", "default", "required", "$ref"]);
/** Members of a schema whose own members are names, with a schema each. */
const OF_NAMES = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);

/** The schema of a form. Its names and values stay, since the answer must fit them; all its other texts are for people. */
export function shownSchema(schema: JsonObject, taskId: string | undefined): JsonObject {
  return withoutId(schema, taskId, false) as JsonObject;
}

function withoutId(value: JsonValue, taskId: string | undefined, areNames: boolean): JsonValue {
  if (typeof value === "string") return shownText(value, taskId);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => withoutId(item, taskId, false));
  return Object.fromEntries(
    Object.entries(value as JsonObject).flatMap(([name, member]): [string, JsonValue][] => {
      if (member === undefined) return [];
      if (areNames) return [[name, withoutId(member, taskId, false)]];
      if (FOR_ANSWERS.has(name)) return [[name, member]];
      const shown = withoutId(member, taskId, OF_NAMES.has(name));
      // Changed, it would refuse the right answers. The host looks at the answer by the real one.
      if (name === "pattern" && shown !== member) return [];
      return [[name, shown]];
    }),
  );
}
