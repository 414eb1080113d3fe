/** A schema becomes the fields that it means, and what people put in becomes the content that it allows. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { checkInputResponse, elicitationForm, formMessages, isObject } from "./formSupport.js";
import type { ElicitationForm, FormField, FormValue, JsonObject } from "./formSupport.js";

const examples = JSON.parse(
  readFileSync(new URL("../fixtures/schema/examples.json", import.meta.url), "utf8"),
) as Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;

function form(properties: JsonObject, more: JsonObject = {}): ElicitationForm {
  return elicitationForm({ type: "object", properties, ...more });
}

function field(schema: unknown, more: JsonObject = {}): FormField {
  const [only] = form({ a: schema as JsonObject }, more).fields;
  if (only === undefined) throw new Error("no field");
  return only;
}

/** The value that is sent for what was put in, or the message; undefined where it is left out. */
function put(schema: JsonObject, value: FormValue, more: JsonObject = {}): unknown {
  const { content, errors } = form({ a: schema }, more).parse({ a: value });
  return errors === undefined ? content["a"] : `! ${errors["a"]}`;
}

const REQUIRED = { required: ["a"] };
const NUMBER = `! ${formMessages.notANumber}`;
const INTEGER = `! ${formMessages.notAnInteger}`;
const EMPTY = `! ${formMessages.required}`;

describe("the fields", () => {
  it("are in the schema's order, with label, help, limits and default", () => {
    const { fields, acceptable, initialValues, reason } = form(
      {
        name: { type: "string", title: "Your name", description: "In full", minLength: 1, maxLength: 9 },
        amount: { type: "integer", minimum: 1, maximum: 3, default: 2 },
        share: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
        sure: { type: "boolean", default: false },
        when: { type: "string", format: "date" },
      },
      { required: ["name"], additionalProperties: false, $schema: "x", title: "T" },
    );
    expect(fields).toEqual([
      {
        name: "name",
        label: "Your name",
        help: "In full",
        kind: "string",
        required: true,
        limits: { minLength: 1, maxLength: 9 },
      },
      {
        name: "amount",
        label: "amount",
        kind: "integer",
        required: false,
        limits: { minimum: 1, maximum: 3 },
        default: 2,
      },
      {
        name: "share",
        label: "share",
        kind: "number",
        required: false,
        limits: { exclusiveMinimum: 0, exclusiveMaximum: 1 },
      },
      { name: "sure", label: "sure", kind: "boolean", required: false, limits: {}, default: false },
      { name: "when", label: "when", kind: "string", required: false, limits: {}, format: "date" },
    ]);
    expect({ ...initialValues }).toEqual({ amount: 2, sure: false });
    expect({ acceptable, reason }).toEqual({ acceptable: true, reason: undefined });
  });

  it("none: a plain confirmation", () => {
    for (const schema of [{ type: "object", properties: {} }, { type: "object" }]) {
      const { fields, acceptable, parse } = elicitationForm(schema);
      expect({ fields, acceptable, parsed: parse({}) }).toEqual({
        fields: [],
        acceptable: true,
        parsed: { content: {} },
      });
    }
  });

  it("an optional null beside the type or the choices only says that the field is optional", () => {
    expect(field({ type: ["string", "null"], default: null })).toMatchObject({ kind: "string" });
    expect(field({ anyOf: [{ type: "integer", minimum: 2 }, { type: "null" }] })).toMatchObject({
      kind: "integer",
      limits: { minimum: 2 },
    });
    const options = [{ value: "a", label: "a" }];
    expect(field({ type: ["string", "null"], enum: ["a", null] })).toMatchObject({ kind: "select", options });
    expect(field({ oneOf: [{ const: "a" }, { type: "null" }] })).toMatchObject({ kind: "select", options });
    expect(put({ anyOf: [{ type: "integer" }, { type: "null" }] }, "5")).toBe(5);
    expect(put({ anyOf: [{ type: "integer" }, { type: "null" }] }, "")).toBe(undefined);
  });

  it("of the published examples are drawn, and answered", () => {
    const { ElicitRequestFormParams: params, ElicitRequest: requests, ElicitResult: results } = examples;
    const forms = [
      params?.["elicit-multiple-fields"],
      params?.["elicit-single-field"],
      requests?.["elicitation-request"]?.["params"] as JsonObject | undefined,
    ].map((one) => elicitationForm(one?.["requestedSchema"] as JsonObject));
    const [many, single, titled] = forms;
    expect(many?.fields.map(({ name, kind, required }) => [name, kind, required])).toEqual([
      ["name", "string", true],
      ["email", "string", true],
      ["age", "number", false],
    ]);
    const filled = { name: "Ada", email: "ada@b.example", age: " 36 " };
    expect(many?.parse(filled).content).toEqual({ ...filled, age: 36 });
    expect(Object.keys(many?.parse({ age: "17", email: "ada" }).errors ?? {})).toEqual([
      "name",
      "email",
      "age",
    ]);
    for (const [one, name] of [
      [many, "input-multiple-fields"],
      [single, "input-single-field"],
    ] as const) {
      const content = results?.[name]?.["content"] as Record<string, FormValue>;
      expect(one?.parse(content).content).toEqual(content);
    }
    expect(single?.fields.map(({ label, help }) => [label, help])).toEqual([["name", undefined]]);
    expect(titled?.fields.map(({ label, help }) => [label, help])).toEqual([
      ["GitHub Username", "Your GitHub username"],
    ]);
  });
});

describe("the published field schemas", () => {
  const shown = Object.entries(examples).flatMap(([type, byName]) =>
    /^(?:Boolean|String|Number|.*Enum)Schema$/.test(type)
      ? Object.entries(byName).map(([name, schema]) => [`${type}, ${name}`, schema] as const)
      : [],
  );
  it.each(shown)("%s", (_name, schema) => {
    const read = field(schema);
    expect(read).toMatchObject({ label: schema["title"], help: schema["description"] });
    expect(read.default).toEqual(schema["default"]);
    for (const [limit, value] of Object.entries(read.limits)) expect(value).toBe(schema[limit]);
    expect(form({ a: schema }).acceptable).toBe(true);
  });

  it("are of every kind but integer", () => {
    expect(shown.map(([, schema]) => field(schema).kind)).toEqual([
      "boolean",
      "number",
      "string",
      "multi-select",
      "select",
      "multi-select",
      "select",
    ]);
  });
});

describe("F145, F143: every published enum shape is a choice, and its value is sent, never its title", () => {
  const titled = [
    { const: "r", title: "Red" },
    { const: "g", title: "Green" },
  ];
  const shapes: [string, JsonObject, readonly string[]][] = [
    ["untitled", { type: "string", enum: ["r", "g"] }, ["r", "g"]],
    ["titled", { type: "string", oneOf: titled }, ["Red", "Green"]],
    ["titled without a type", { oneOf: titled }, ["Red", "Green"]],
    ["titled by anyOf", { anyOf: titled }, ["Red", "Green"]],
    ["enumNames", { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] }, ["Red", "Green"]],
    ["enumNames that are too short", { type: "string", enum: ["r", "g"], enumNames: ["Red"] }, ["r", "g"]],
    ["enumNames that are too long", { enum: ["r", "g"], enumNames: ["X", "Red", "Green"] }, ["r", "g"]],
    ["enumNames that are no text", { enum: ["r", "g"], enumNames: [5, ""] }, ["r", "g"]],
    ["titles that are missing", { oneOf: [{ const: "r" }, { const: "g", title: "" }] }, ["r", "g"]],
    ["untitled multi-select", { type: "array", items: { type: "string", enum: ["r", "g"] } }, ["r", "g"]],
    ["titled multi-select", { type: "array", items: { anyOf: titled } }, ["Red", "Green"]],
    ["titled multi-select by oneOf", { type: "array", items: { oneOf: titled } }, ["Red", "Green"]],
  ];
  it.each(shapes)("%s", (_name, schema, labels) => {
    const isMany = schema["type"] === "array";
    const wrap = (value: string): string | string[] => (isMany ? [value] : value);
    expect(field(schema)).toMatchObject({
      kind: isMany ? "multi-select" : "select",
      options: [
        { value: "r", label: labels[0] },
        { value: "g", label: labels[1] },
      ],
    });
    expect(put(schema, wrap("g"))).toEqual(wrap("g"));
    for (const value of ["Red", "b", "R", "toString"])
      expect(put(schema, wrap(value))).toBe(`! ${formMessages.notAChoice}`);
    expect(field({ ...schema, default: wrap("g") }).default).toEqual(wrap("g"));
    expect(field({ ...schema, default: wrap("Red") }).default).toBe(undefined);
  });

  it("a multi-select keeps to minItems, maxItems, and each choice once", () => {
    const a = { type: "array", minItems: 1, maxItems: 2, items: { enum: ["r", "g", "b"] } };
    expect(field(a).limits).toEqual({ minItems: 1, maxItems: 2 });
    expect(put(a, ["r", "b"])).toEqual(["r", "b"]);
    expect(put(a, ["r", "g", "b"])).toBe(`! ${formMessages.maxItems(2)}`);
    expect(put({ ...a, minItems: 2 }, ["r"])).toBe(`! ${formMessages.minItems(2)}`);
    expect(put(a, ["r", "r"])).toBe(`! ${formMessages.choiceTwice}`);
    expect(put(a, "r")).toBe(`! ${formMessages.wrongType}`);
    expect(put(a, [5] as unknown as string[])).toBe(`! ${formMessages.notAChoice}`);
  });

  it("F136: a multi-select without a choice", () => {
    const a = { type: "array", items: { enum: ["r", "g"] } };
    expect(put(a, [])).toBe(undefined);
    expect(put({ ...a, minItems: 1 }, [])).toBe(undefined);
    expect(put(a, [], REQUIRED)).toBe(EMPTY);
    expect(put(a, undefined, REQUIRED)).toBe(EMPTY);
    expect(put({ ...a, minItems: 0 }, [], REQUIRED)).toEqual([]);
    expect(form({ a: { ...a, minItems: 0 } }, REQUIRED).initialValues["a"]).toEqual([]);
    expect(form({ a }, REQUIRED).initialValues["a"]).toBe(undefined);
    // Left out, the server might put in again what the person had taken away.
    expect(put({ ...a, default: ["r"] }, [])).toEqual([]);
    expect(put({ ...a, default: ["r"] }, undefined)).toBe(undefined);
    expect(put({ ...a, default: ["r"], minItems: 1 }, [])).toBe(`! ${formMessages.minItems(1)}`);
  });

  it("an empty text may be a choice", () => {
    expect(put({ enum: ["", "a"] }, "", REQUIRED)).toBe("");
    expect(put({ enum: ["b", "a"] }, "", REQUIRED)).toBe(EMPTY);
  });

  it("a value that is listed twice is one choice", () => {
    expect(field({ enum: ["a", "a"] }).options).toEqual([{ value: "a", label: "a" }]);
  });
});

describe("F142: local references", () => {
  const $defs = { P: { title: "Priority", enum: ["low", "high"] }, "a/b": { $ref: "#/$defs/P" } };
  const options = [
    { value: "low", label: "low" },
    { value: "high", label: "high" },
  ];

  it.each([
    { $ref: "#/$defs/P" },
    { $ref: "#/$defs/a~1b" },
    { allOf: [{ $ref: "#/$defs/P" }] },
    { anyOf: [{ $ref: "#/$defs/P" }, { type: "null" }] },
  ] as JsonObject[])("a choice behind %j is a choice", (schema) => {
    expect(field(schema, { $defs })).toMatchObject({ kind: "select", options, label: "Priority" });
    expect(put(schema, "high", { $defs })).toBe("high");
    expect(put(schema, "mid", { $defs })).toBe(`! ${formMessages.notAChoice}`);
    const beside = { ...schema, title: "How fast", default: "low" };
    expect(field(beside, { $defs })).toMatchObject({ options, label: "How fast", default: "low" });
  });

  it("in the items of a multi-select", () => {
    const schema = { type: "array", items: { $ref: "#/$defs/P" } };
    expect(field(schema, { $defs })).toMatchObject({ kind: "multi-select", options });
    expect(put(schema, ["low"], { $defs })).toEqual(["low"]);
  });

  it("limits beside a reference hold too, the strictest first", () => {
    const schema = { $ref: "#/$defs/S", maxLength: 3 };
    const more = { $defs: { S: { type: "string", minLength: 2, maxLength: 9 } } };
    expect(field(schema, more).limits).toEqual({ minLength: 2, maxLength: 3 });
    expect(put(schema, "four", more)).toBe(`! ${formMessages.maxLength(3)}`);
  });
});

describe("F136: what is empty", () => {
  it.each([
    { type: "string" },
    { type: "string", format: "email" },
    { type: "string", minLength: 2 },
    { type: "number" },
    { type: "integer" },
    { type: "boolean" },
    { enum: ["a"] },
  ] as JsonObject[])("is left out of %j where it is optional, an error where it is required", (schema) => {
    for (const value of ["", undefined, null as unknown as undefined]) {
      expect(put(schema, value)).toBe(undefined);
      expect(put(schema, value, REQUIRED)).toBe(EMPTY);
    }
    expect(Object.keys(form({ a: schema }).parse({ a: "" }).content ?? { a: 1 })).toEqual([]);
  });

  it("a boolean that nobody touched is no answer; a touched one is", () => {
    expect(form({ a: { type: "boolean" } }, REQUIRED).initialValues).toEqual({});
    expect(put({ type: "boolean" }, undefined, REQUIRED)).toBe(EMPTY);
    expect(put({ type: "boolean" }, false, REQUIRED)).toBe(false);
    expect(put({ type: "boolean" }, false)).toBe(false);
    expect(put({ type: "boolean" }, true)).toBe(true);
    for (const value of ["true", 1, ["true"]])
      expect(put({ type: "boolean" }, value)).toBe(`! ${formMessages.wrongType}`);
  });
});

describe("F137: numbers are whole texts", () => {
  // What is put in, what a number field makes of it, what an integer field does.
  const table: [FormValue, unknown, unknown][] = [
    ["42xyz", NUMBER, INTEGER],
    ["1.5", 1.5, INTEGER],
    ["", undefined, undefined],
    ["  ", undefined, undefined],
    ["1e3", 1000, INTEGER],
    ["1E-2", 0.01, INTEGER],
    ["0x10", NUMBER, INTEGER],
    ["0b1", NUMBER, INTEGER],
    [" 7 ", 7, 7],
    ["\t7\n", 7, 7],
    ["7\u00a0", NUMBER, INTEGER],
    ["1 000", NUMBER, INTEGER],
    ["1,5", NUMBER, INTEGER],
    ["1_000", NUMBER, INTEGER],
    ["007", 7, 7],
    ["-0", 0, 0],
    ["-12", -12, -12],
    ["- 1", NUMBER, INTEGER],
    ["−1", NUMBER, INTEGER],
    ["+5", NUMBER, INTEGER],
    [".5", 0.5, INTEGER],
    ["-.5", -0.5, INTEGER],
    ["5.", NUMBER, INTEGER],
    [".", NUMBER, INTEGER],
    ["-", NUMBER, INTEGER],
    ["e5", NUMBER, INTEGER],
    ["1e", NUMBER, INTEGER],
    ["1.0", 1, INTEGER],
    ["1e999", NUMBER, INTEGER],
    ["1e-999", NUMBER, INTEGER],
    ["0e-999", 0, INTEGER],
    ["Infinity", NUMBER, INTEGER],
    ["-Infinity", NUMBER, INTEGER],
    ["NaN", NUMBER, INTEGER],
    ["٣", NUMBER, INTEGER],
    ["３", NUMBER, INTEGER],
    ["²", NUMBER, INTEGER],
    ["null", NUMBER, INTEGER],
    ["9".repeat(2000), NUMBER, INTEGER],
    [7, 7, 7],
    [-0, 0, 0],
    [1.5, 1.5, INTEGER],
    [NaN, NUMBER, INTEGER],
    [Infinity, NUMBER, INTEGER],
  ];
  it.each(table)("%j", (given, number, integer) => {
    expect(put({ type: "number" }, given)).toBe(number);
    expect(put({ type: "integer" }, given)).toBe(integer);
  });

  it("a number that would be another one after conversion is refused", () => {
    expect(put({ type: "integer" }, "9007199254740991")).toBe(2 ** 53 - 1);
    for (const type of ["integer", "number"]) {
      expect(put({ type }, "9007199254740993")).toBe(`! ${formMessages.maximum(2 ** 53 - 1)}`);
      expect(put({ type }, "-9007199254740993")).toBe(`! ${formMessages.minimum(-(2 ** 53 - 1))}`);
    }
  });

  it("keeps to the limits", () => {
    const a = { type: "integer", minimum: 1, maximum: 3 };
    expect(["0", "1", "3", "4"].map((value) => put(a, value))).toEqual([
      `! ${formMessages.minimum(1)}`,
      1,
      3,
      `! ${formMessages.maximum(3)}`,
    ]);
    const open = { type: "number", exclusiveMinimum: 1, exclusiveMaximum: 2 };
    expect(["1", "1.5", "2"].map((value) => put(open, value))).toEqual([
      `! ${formMessages.exclusiveMinimum(1)}`,
      1.5,
      `! ${formMessages.exclusiveMaximum(2)}`,
    ]);
  });

  it("nothing else is converted", () => {
    expect(put({ type: "number" }, true)).toBe(`! ${formMessages.wrongType}`);
    expect(put({ type: "number" }, ["7"])).toBe(`! ${formMessages.wrongType}`);
    expect(put({ type: "string" }, 7)).toBe(`! ${formMessages.wrongType}`);
    expect(put({ enum: ["7"] }, 7)).toBe(`! ${formMessages.wrongType}`);
  });
});

describe("F146: defaults are shown, and none is coerced", () => {
  const kept: [JsonObject, unknown][] = [
    [{ type: "string", default: "x" }, "x"],
    [{ type: "integer", default: 5 }, 5],
    [{ type: "number", default: 0 }, 0],
    [{ type: "boolean", default: false }, false],
    [{ type: "boolean", default: true }, true],
  ];
  it.each(kept)("%j", (schema, value) => {
    const { fields, initialValues, parse } = form({ a: schema });
    expect(fields[0]?.default).toBe(value);
    expect(initialValues["a"]).toBe(value);
    expect(parse(initialValues).content).toEqual({ a: value });
    // Nobody is taken to have said what was never shown.
    expect(parse({}).content).toEqual({});
  });

  it.each([
    { type: "integer", default: "5" },
    { type: "integer", default: 5.5 },
    { type: "integer", default: 9, maximum: 3 },
    { type: "number", default: "1.5" },
    { type: "boolean", default: "true" },
    { type: "boolean", default: 1 },
    { type: "string", default: 5 },
    { type: "string", default: "" },
    { type: "string", default: null },
    { type: "string", default: "long", maxLength: 3 },
    { type: "string", default: "x", format: "email" },
    { enum: ["a"], default: "b" },
    { enum: ["a"], default: ["a"] },
    { type: "array", items: { enum: ["a"] }, default: "a" },
    { type: "array", items: { enum: ["a"] }, default: ["a", "b"] },
    { type: "array", items: { enum: ["a"] }, default: ["a", "a"] },
  ] as JsonObject[])("%j has none", (schema) => {
    expect(field(schema).default).toBe(undefined);
    expect(Object.keys(form({ a: schema }).initialValues)).toEqual([]);
  });
});

describe("texts", () => {
  it("counts characters, not code units", () => {
    const a = { type: "string", minLength: 2, maxLength: 3 };
    expect(["🚆", "🚆🚆", "🚆🚆🚆", "🚆🚆🚆🚆"].map((value) => put(a, value))).toEqual([
      `! ${formMessages.minLength(2)}`,
      "🚆🚆",
      "🚆🚆🚆",
      `! ${formMessages.maxLength(3)}`,
    ]);
  });

  it.each([
    ["email", "a@b.example", "a"],
    ["uri", "https://x.example/a?b#c", "/a"],
    ["date", "2024-02-29", "2026-02-29"],
    ["date-time", "2026-07-28T10:30:00Z", "2026-07-28T10:30"],
  ])("format %s", (format, good, bad) => {
    const a = { type: "string", format };
    expect(field(a).format).toBe(format);
    expect(put(a, good)).toBe(good);
    expect(put(a, bad)).toBe(`! ${formMessages.format(format)}`);
  });

  it("formats that forms do not have are not shown, nor checked", () => {
    expect(field({ type: "string", format: "ipv4" }).format).toBe(undefined);
    expect(put({ type: "string", format: "ipv4" }, "x")).toBe("x");
  });

  it("F151: no pattern of the server is run, but it can be told of", () => {
    const a = { type: "string", pattern: "(a+)+$" };
    expect(field(a).pattern).toBe("(a+)+$");
    const value = `${"a".repeat(50_000)}!`;
    expect(put(a, value)).toBe(value);
    expect(put({ type: "string", pattern: "(" }, "x")).toBe("x");
    expect(field({ type: "string", pattern: "x".repeat(5000) }).pattern).toBe(undefined);
  });

  it("of the form can be in another language", () => {
    const { parse, fields } = elicitationForm(
      { type: "object", properties: { a: { type: "string", maxLength: 1 }, b: 5 }, required: ["a"] },
      {
        messages: {
          required: "Bitte ausfüllen.",
          maxLength: (limit) => `Höchstens ${limit} Zeichen.`,
          unsupported: "Hier nicht.",
          reason: (why) => `Grund: ${why}`,
        },
      },
    );
    expect(parse({}).errors).toEqual({ a: "Bitte ausfüllen.", b: "Hier nicht." });
    expect(parse({ a: "zu lang" }).errors?.["a"]).toBe("Höchstens 1 Zeichen.");
    expect(fields[1]?.reason).toBe("Grund: no-type");
  });

  it("have a singular", () => {
    expect([formMessages.minLength(1), formMessages.minItems(2)]).toEqual([
      "Please enter at least 1 character.",
      "Please choose at least 2 options.",
    ]);
  });
});

describe("F140: decline and cancel need nothing", () => {
  it("whatever the form has, and however little of it was filled in", () => {
    const requestedSchema = { type: "object", properties: { a: { type: "object" } }, required: ["a"] };
    expect(elicitationForm(requestedSchema).acceptable).toBe(false);
    for (const action of ["decline", "cancel"]) {
      const request = { kind: "elicitation-form", message: "m", requestedSchema } as const;
      expect(checkInputResponse(request, { action, content: { a: "half" } })).toEqual({ action });
    }
  });
});

describe("F176: fields may be called anything", () => {
  it("and keep their names in fields, initial values, errors and content", () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string","default":"x"},"constructor":{"type":"string"},"toString":{"type":"integer"},"":{"type":"string"}},"required":["__proto__","constructor"]}',
    ) as JsonObject;
    const { fields, initialValues, parse } = elicitationForm(schema);
    expect(fields.map(({ name }) => name)).toEqual(["__proto__", "constructor", "toString", ""]);
    expect(JSON.stringify(initialValues)).toBe('{"__proto__":"x"}');
    expect(Object.keys(parse({}).errors ?? {})).toEqual(["__proto__", "constructor"]);
    expect("toString" in (parse({}).errors ?? {})).toBe(false);
    const { content } = parse(
      JSON.parse('{"__proto__":"y","constructor":"z","":"e"}') as JsonObject as never,
    );
    expect(JSON.stringify(content)).toBe('{"__proto__":"y","constructor":"z","":"e"}');
    expect(({} as Record<string, unknown>)["x"]).toBe(undefined);
    expect(isObject(content)).toBe(true);
  });

  it("what is put into a field that there is not is not dropped in silence", () => {
    expect(form({}).parse({ b: "x" }).errors).toEqual({ b: formMessages.unsupported });
    expect(form({}).parse({ b: undefined }).content).toEqual({});
  });
});
