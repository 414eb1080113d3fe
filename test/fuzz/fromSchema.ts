/** Owns honest values: what the published JSON Schemas allow, as arbitraries. It knows the keywords that those schemas use. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { isObject } from "../../src/internal/json.js";
import { objectOf, type Value } from "./hostile.js";

type Schema = Readonly<Record<string, unknown>>;

const read = (name: string): Schema =>
  JSON.parse(
    readFileSync(new URL(`../fixtures/schema/${name}.schema.json`, import.meta.url), "utf8"),
  ) as Schema;
const schemas = {
  mcp: read("mcp.2026-07-28")["$defs"] as Readonly<Record<string, Schema>>,
  tasks: read("tasks-extension.2026-07-28")["$defs"] as Readonly<Record<string, Schema>>,
};
const MAX_DEPTH = 6;

/** What the definition allows. */
export function honest(schema: keyof typeof schemas, name: string): fc.Arbitrary<Value> {
  const defs = schemas[schema];
  const root = defs[name];
  if (root === undefined) throw new Error(`there is no definition ${name}`);
  return build(root, defs, 0);
}

function build(schema: unknown, defs: Readonly<Record<string, Schema>>, depth: number): fc.Arbitrary<Value> {
  if (!isObject(schema) || depth > MAX_DEPTH) return fc.constant<Value>("deep enough");
  const { $ref, anyOf, oneOf, allOf, enum: listed, type } = schema;
  if (typeof $ref === "string") return build(defs[$ref.split("/").at(-1) ?? ""], defs, depth + 1);
  if ("const" in schema) return fc.constant(schema["const"] as Value);
  if (Array.isArray(listed)) return fc.constantFrom(...(listed as Value[]));
  const choices = Array.isArray(anyOf) ? anyOf : oneOf;
  if (Array.isArray(choices)) return fc.oneof(...choices.map((one) => build(one, defs, depth + 1)));
  if (Array.isArray(allOf)) {
    return fc
      .tuple(...allOf.map((part) => build(part, defs, depth + 1)))
      .map((parts) => objectOf(parts.flatMap((part) => (isObject(part) ? Object.entries(part) : []))));
  }
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return fc.oneof(...types.map((one) => typed(one, schema, defs, depth)));
}

function typed(
  type: unknown,
  schema: Schema,
  defs: Readonly<Record<string, Schema>>,
  depth: number,
): fc.Arbitrary<Value> {
  switch (type) {
    case "string":
      return schema["format"] === "uri" ? fc.constant("https://example.com/a") : fc.string({ maxLength: 12 });
    case "integer":
      return fc.oneof(fc.integer({ min: 1, max: 100_000 }), fc.integer());
    case "number":
      return fc.oneof(fc.integer({ min: 0, max: 100 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(build(schema["items"], defs, depth + 1), { maxLength: 3 });
    default:
      return members(schema, defs, depth);
  }
}

function members(schema: Schema, defs: Readonly<Record<string, Schema>>, depth: number): fc.Arbitrary<Value> {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = new Set(Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : []);
  const known = Object.entries(properties).map(([name, member]) => {
    const value = build(member, defs, depth + 1).map((made) => [[name, made] as const]);
    return required.has(name) ? value : fc.option(value, { nil: [], freq: 2 });
  });
  const { additionalProperties } = schema;
  const more = isObject(additionalProperties)
    ? fc.array(fc.tuple(fc.string({ maxLength: 6 }), build(additionalProperties, defs, depth + 1)), {
        maxLength: 2,
      })
    : fc.constant([]);
  return fc.tuple(fc.tuple(...known), more).map(([own, extra]) => objectOf([...own.flat(), ...extra]));
}
