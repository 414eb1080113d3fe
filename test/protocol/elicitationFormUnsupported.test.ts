/** F146: what cannot be shown for what it is, is never accepted; and hostile schemas take bounded work. */
import { describe, expect, it } from "vitest";
import { elicitationForm, formMessages, type FormField, type JsonObject } from "./formSupport.js";

const TEXT = { type: "string" };
const LOOP = { loop: { $ref: "#/$defs/loop" }, a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } };

function onlyField(schema: unknown): FormField {
  const form = elicitationForm({ type: "object", properties: { a: schema as JsonObject }, $defs: LOOP });
  expect(form.acceptable).toBe(false);
  expect(form.parse({ a: "x" }).errors).toEqual({ a: formMessages.unsupported });
  expect(form.parse({}).errors).toEqual({ a: formMessages.unsupported });
  const [field] = form.fields;
  if (field === undefined) throw new Error("no field");
  expect(form.reason).toBe(field.reason);
  return field;
}

describe("F146: a field that is of no kind that forms have", () => {
  const table: [unknown, Parameters<typeof formMessages.reason>[0]][] = [
    [{ type: "object", properties: { b: TEXT } }, "nested"],
    [{ type: "array", items: { type: "object", properties: { b: TEXT } } }, "list"],
    [{ type: "array", items: TEXT }, "list"],
    [{ type: "array" }, "list"],
    [{ type: "array", items: true }, "list"],
    [{ type: "array", items: { type: "integer", enum: [1, 2] } }, "choices"],
    [{ type: "array", items: { enum: [1, 2] } }, "choices"],
    [{ type: "array", enum: [["a"]], items: { enum: ["a"] } }, "choices"],
    [{ type: ["string", "integer"] }, "several-types"],
    [{ anyOf: [TEXT, { type: "integer" }] }, "several-types"],
    [{ oneOf: [TEXT, { const: "a" }] }, "several-types"],
    [{ allOf: [TEXT, { type: "integer" }] }, "several-types"],
    [{}, "no-type"],
    [{ title: "What?" }, "no-type"],
    [true, "no-type"],
    [null, "no-type"],
    [[], "no-type"],
    ["string", "no-type"],
    [{ type: "null" }, "kind"],
    [{ type: ["null"] }, "kind"],
    [{ type: "file" }, "kind"],
    [{ type: 5 }, "kind"],
    [{ enum: [] }, "choices"],
    [{ oneOf: [] }, "choices"],
    [{ enum: [null] }, "choices"],
    [{ type: "string", enum: ["a", 1] }, "choices"],
    [{ type: "integer", enum: [1, 2] }, "choices"],
    [{ type: "boolean", const: true }, "choices"],
    [{ const: { a: 1 } }, "choices"],
    [{ enum: ["a"], oneOf: [{ const: "b" }] }, "choices"],
    [{ $ref: "#/$defs/none" }, "reference"],
    [{ $ref: "#/$defs/loop" }, "reference"],
    [{ $ref: "#/$defs/a" }, "reference"],
    [{ $ref: "https://x.example/schema" }, "reference"],
    [{ $ref: "#" }, "reference"],
    [{ $ref: "#/__proto__" }, "reference"],
    [{ $ref: 5 }, "reference"],
    [{ $ref: `#/${"x/".repeat(5000)}` }, "reference"],
    [{ allOf: [TEXT, { $ref: "#/$defs/loop" }] }, "reference"],
    [{ enum: Array.from({ length: 1001 }, (_, at) => `o${at}`) }, "too-large"],
  ];
  it.each(table)("%j: %s", (schema, why) => {
    expect(onlyField(schema)).toMatchObject({
      kind: "unsupported",
      limits: {},
      reason: formMessages.reason(why),
    });
  });

  it("still has its name, title and description, so that the person sees what was asked", () => {
    expect(onlyField({ type: "object", title: "T", description: "D" })).toMatchObject({
      label: "T",
      help: "D",
    });
  });

  it("makes the whole form unacceptable, whatever the others are", () => {
    const form = elicitationForm({ type: "object", properties: { ok: TEXT, a: { type: "object" } } });
    expect(form.fields.map(({ kind }) => kind)).toEqual(["string", "unsupported"]);
    expect(form.acceptable).toBe(false);
    expect(form.parse({ ok: "x" }).content).toBe(undefined);
  });

  it("is not hidden by being optional, and has no default", () => {
    const form = elicitationForm({ type: "object", properties: { a: { type: "object", default: {} } } });
    expect(form.acceptable).toBe(false);
    expect(Object.keys(form.initialValues)).toEqual([]);
  });
});

describe("F146: a form that asks for more than its fields say", () => {
  it.each([
    { allOf: [{ required: ["a"] }] },
    { anyOf: [] },
    { oneOf: [{}] },
    { not: {} },
    { if: {}, then: {} },
    { $ref: "#/$defs/x" },
    { dependentRequired: { a: ["b"] } },
    { dependentSchemas: {} },
    { patternProperties: { "^a": { const: 1 } } },
    { propertyNames: { maxLength: 0 } },
    { minProperties: 1 },
    { maxProperties: 0 },
    { const: {} },
    { enum: [{}] },
  ] as JsonObject[])("%j", (more) => {
    const form = elicitationForm({ type: "object", properties: { a: TEXT }, ...more });
    expect(form).toMatchObject({ acceptable: false, reason: formMessages.reason("conditions") });
    expect(form.parse({ a: "x" }).errors).toEqual({ "": formMessages.unsupported });
  });

  it.each([
    { additionalProperties: false },
    { additionalProperties: true },
    { $schema: "x", $id: "y", $defs: {}, title: "t", description: "d", $comment: "c" },
    { required: "a" },
    { required: [5, null] },
  ] as JsonObject[])("but not by %j", (more) => {
    const form = elicitationForm({ type: "object", properties: { a: TEXT }, ...more });
    expect(form.acceptable).toBe(true);
    expect(form.parse({ a: "x" }).content).toEqual({ a: "x" });
  });

  it("a required name without a property is drawn as what it is", () => {
    const form = elicitationForm({
      type: "object",
      properties: { a: TEXT },
      required: ["b", "__proto__", "a"],
    });
    expect(form.fields.map(({ name, kind }) => [name, kind])).toEqual([
      ["a", "string"],
      ["b", "unsupported"],
      ["__proto__", "unsupported"],
    ]);
    expect(form).toMatchObject({ acceptable: false, reason: formMessages.reason("not-asked") });
    expect(Object.keys(form.parse({ a: "x" }).errors ?? {})).toEqual(["b", "__proto__"]);
  });

  it.each([
    undefined,
    null,
    5,
    "x",
    [],
    true,
    () => 1,
    { type: "array" },
    { type: 5 },
    { properties: [] },
  ] as unknown[])("no schema of a form: %s", (schema) => {
    const form = elicitationForm(schema as JsonObject);
    expect(form).toMatchObject({ acceptable: false, reason: formMessages.reason("schema"), fields: [] });
    expect(form.parse({}).errors).toEqual({ "": formMessages.unsupported });
  });

  it.each([undefined, null, 5, "x", []] as unknown[])("no values: %j", (values) => {
    const form = elicitationForm({ type: "object", properties: { a: TEXT } });
    expect(form.parse(values as never).content).toEqual({});
  });
});

describe("hostile schemas are bounded", () => {
  const many = (count: number, schema: unknown): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, schema])) as JsonObject;

  it("10,000 properties: 200 are drawn, none is accepted", () => {
    const form = elicitationForm({ type: "object", properties: many(10_000, TEXT) });
    expect(form.fields).toHaveLength(200);
    expect(form).toMatchObject({ acceptable: false, reason: formMessages.reason("too-large") });
    expect(form.parse({ f0: "x" }).content).toBe(undefined);
    expect(elicitationForm({ type: "object", properties: many(200, TEXT) }).acceptable).toBe(true);
  });

  it("10,000 required names that are not asked for", () => {
    const required = Array.from({ length: 10_000 }, (_, at) => `r${at}`);
    const form = elicitationForm({ type: "object", properties: { a: TEXT }, required });
    expect(form.fields).toHaveLength(200);
    expect(form.acceptable).toBe(false);
  });

  it("choices without end: 1,000 of a field, 5,000 of a form", () => {
    const list = { enum: Array.from({ length: 1000 }, (_, at) => `o${at}`) };
    const form = elicitationForm({ type: "object", properties: many(6, list) });
    expect(form.fields.map(({ kind }) => kind)).toEqual([...Array<string>(5).fill("select"), "unsupported"]);
    expect(form.acceptable).toBe(false);
  });

  it("texts of a megabyte are cut, not in the middle of a character", () => {
    const text = `a${"🚆".repeat(500_000)}`;
    const properties = {
      [text]: { ...TEXT, description: text },
      b: { enum: ["x"], title: text },
      c: { oneOf: [{ const: "x", title: text }] },
      d: { type: "object", description: text },
    };
    const { fields } = elicitationForm({ type: "object", properties, required: [`${text}!`] });
    const texts = fields.flatMap((one) => [
      one.label,
      one.help ?? "",
      ...(one.options ?? []).map((o) => o.label),
    ]);
    for (const one of texts) {
      expect(one.length).toBeLessThanOrEqual(5001);
      expect(one).not.toMatch(/\p{Surrogate}/u);
    }
    expect(fields[0]?.label.endsWith("🚆…")).toBe(true);
    expect(fields[0]?.name).toBe(text);
  });

  it("references that branch, circle, and lead to long lists, all at once", () => {
    const long = Array.from({ length: 200_000 }, (_, at) => `o${at}`);
    const $defs = {
      branch: { allOf: Array.from({ length: 50 }, () => ({ $ref: "#/$defs/branch" })) },
      any: { anyOf: Array.from({ length: 50 }, () => ({ $ref: "#/$defs/any" })) },
      nulls: { anyOf: Array.from({ length: 200_000 }, () => ({ type: "null" })) },
      consts: { oneOf: long.map((one) => ({ const: one })) },
      long: { enum: long },
      manyLong: { allOf: Array.from({ length: 500 }, () => ({ $ref: "#/$defs/long" })) },
    };
    const names = Object.keys($defs);
    const properties = Object.fromEntries(
      Array.from({ length: 200 }, (_, at) => [
        `f${at}`,
        { $ref: `#/$defs/${names[at % names.length]}`, default: "o1" },
      ]),
    );
    const form = elicitationForm({ type: "object", properties, $defs });
    expect(form.fields).toHaveLength(200);
    expect(form.fields.every(({ kind }) => kind === "unsupported")).toBe(true);
    expect(form.parse({ f0: "o1" }).content).toBe(undefined);
  });

  it("schemas that contain themselves", () => {
    const schema: Record<string, unknown> = { type: "object" };
    const part: Record<string, unknown> = { allOf: [] };
    (part["allOf"] as unknown[]).push(part);
    schema["properties"] = { a: schema, b: part, c: { type: "array", items: part } };
    const form = elicitationForm(schema as JsonObject);
    expect(form.fields.map(({ kind }) => kind)).toEqual(["unsupported", "unsupported", "unsupported"]);
  });

  it("limits that are none", () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"a":{"type":"string","minLength":-1,"maxLength":"5"},"n":{"type":"number","minimum":1e999,"maximum":null}}}',
    ) as JsonObject;
    const { fields, parse } = elicitationForm(schema);
    expect(fields.map(({ limits }) => limits)).toEqual([{}, {}]);
    // Nothing is as large as infinity: the check that every answer passes has the last word.
    expect(parse({ a: "x", n: "5" }).errors).toEqual({ n: formMessages.wrongType });
  });
});
