/** Owns which fields of a form can be asked for in one line of text. Whether a value fits is the library's to say. */
import type { JsonObject } from "mcp-taskrail";
import { printable } from "../printable.js";

/** One field, ready to be asked for. */
export interface Field {
  readonly name: string;
  readonly type: "string" | "number" | "boolean";
  /** Safe to print. */
  readonly question: string;
}

/** The fields of a form, or undefined where one of them is of a kind that one line of text cannot give. */
export function formFields(requestedSchema: JsonObject): Field[] | undefined {
  const properties = (requestedSchema["properties"] ?? {}) as Readonly<Record<string, JsonObject>>;
  const required = (requestedSchema["required"] ?? []) as readonly string[];
  const fields = Object.entries(properties).map(([name, schema]) =>
    fieldOf(name, schema, required.includes(name)),
  );
  return fields.every((field) => field !== undefined) ? fields : undefined;
}

function fieldOf(name: string, schema: JsonObject, isRequired: boolean): Field | undefined {
  const type = schema["type"] === "integer" ? "number" : schema["type"];
  if (type !== "string" && type !== "number" && type !== "boolean") return undefined;
  const title = typeof schema["title"] === "string" ? schema["title"] : name;
  const hint = Array.isArray(schema["enum"])
    ? schema["enum"].join("/")
    : type === "boolean"
      ? "yes/no"
      : type;
  const question = `${printable(title, 40)} (${printable(hint, 60)}${isRequired ? "" : ", optional"}):`;
  return { name, type, question };
}

/** What was typed, as the field's type has it; undefined for nothing. What does not fit is passed on as it is. */
export function readField({ type }: Field, typed: string): string | number | boolean | undefined {
  if (typed === "") return undefined;
  switch (type) {
    case "string":
      return typed;
    case "number":
      return Number.isFinite(Number(typed)) ? Number(typed) : typed;
    case "boolean":
      return typed === "yes" ? true : typed === "no" ? false : typed;
  }
}
