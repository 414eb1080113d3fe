/**
 * The law between what a person is shown and what is sent: content that `parse` gives passes the check of every
 * answer unchanged, and what that check refuses, `parse` refuses too.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  checkFormContent,
  elicitationForm,
  type ElicitationForm,
  type FormValue,
  type FormValues,
  type JsonObject,
} from "./formSupport.js";

const NAMES = ["a", "b", "__proto__", "constructor", "0"];
const WORDS = [
  "",
  "a",
  "b",
  "low",
  "5",
  "-0",
  " 7 ",
  "1e3",
  "x@y.example",
  "2026-07-28",
  "🚆🚆",
  "https://x.example",
];

const size = fc.integer({ min: 0, max: 3 });
const some = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined, freq: 2 });
const word = fc.constantFrom(...WORDS);
const words = fc.array(word, { minLength: 1, maxLength: 4 });
const titled = words.map((list) => list.map((one) => ({ const: one, title: `T ${one}` })));

/** What forms may have, each with limits that now and then contradict each other. */
const supported: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({
    type: fc.constant("string"),
    minLength: some(size),
    maxLength: some(size),
    format: some(fc.constantFrom("email", "uri", "date", "date-time", "ipv4")),
    pattern: some(fc.constant("(a+)+$")),
    default: some(word),
  }),
  fc.record({
    type: fc.constantFrom("number", "integer"),
    minimum: some(size),
    maximum: some(size),
    exclusiveMinimum: some(size),
    exclusiveMaximum: some(size),
    default: some(fc.oneof(size, fc.constant("5"))),
  }),
  fc.record({ type: fc.constant("boolean"), default: some(fc.boolean()) }),
  fc.record({ type: some(fc.constant("string")), enum: words, enumNames: some(words), default: some(word) }),
  fc.record({ type: some(fc.constant("string")), oneOf: titled, maxLength: some(size) }),
  fc.record({
    type: fc.constant("array"),
    items: fc.oneof(
      words.map((list): JsonObject => ({ type: "string", enum: list })),
      titled.map((anyOf): JsonObject => ({ anyOf })),
      titled.map((oneOf): JsonObject => ({ oneOf, minLength: 1 })),
    ),
    minItems: some(size),
    maxItems: some(size),
    uniqueItems: some(fc.boolean()),
    default: some(words),
  }),
);

/** The same behind what servers put around it. */
const wrapped = supported.chain((schema) =>
  fc.constantFrom<JsonObject>(
    schema,
    schema,
    { allOf: [schema] },
    { allOf: [schema, { maxLength: 2 }] },
    { anyOf: [schema, { type: "null" }] },
    { allOf: [schema], title: "T", enum: ["a", "low"] },
  ),
);

function ownObject<T>(entries: readonly (readonly [string, T])[]): Record<string, T> {
  const made = {};
  for (const [key, value] of entries)
    Object.defineProperty(made, key, { value, enumerable: true, configurable: true, writable: true });
  return made;
}

const schemas: fc.Arbitrary<JsonObject> = fc
  .record({
    fields: fc.uniqueArray(fc.tuple(fc.constantFrom(...NAMES), fc.oneof(wrapped, fc.boolean())), {
      selector: ([name]) => name,
      maxLength: 4,
    }),
    required: fc.subarray(NAMES),
    behind: fc.boolean(),
  })
  .map(({ fields, required, behind }) => {
    const asked = fields.filter(([, schema]) => typeof schema !== "boolean") as [string, JsonObject][];
    const $defs = ownObject(asked);
    const properties = ownObject(
      asked.map(([name, schema]): [string, JsonObject] => [
        name,
        behind ? { $ref: `#/$defs/${name}` } : schema,
      ]),
    );
    const names = new Set(asked.map(([name]) => name));
    return { type: "object", properties, $defs, required: required.filter((name) => names.has(name)) };
  });

const value: fc.Arbitrary<FormValue> = fc.oneof(
  word,
  fc.integer({ min: -2, max: 5 }),
  fc.double(),
  fc.boolean(),
  fc.array(word, { maxLength: 3 }),
  fc.constant(undefined),
);
const values: fc.Arbitrary<FormValues> = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), value), { selector: ([name]) => name, maxLength: 5 })
  .map(ownObject);

function refused(schema: JsonObject, content: unknown): boolean {
  try {
    checkFormContent(schema, content);
    return false;
  } catch {
    return true;
  }
}

/**
 * Without what `parse` alone takes for something else: texts that stand for numbers, and the empty list of a
 * multi-select whose last choice was taken away again.
 */
function asTyped(form: ElicitationForm, given: FormValues): FormValues {
  const kinds = new Map(form.fields.map(({ name, kind }) => [name, kind]));
  return ownObject(
    Object.entries(given).filter(([name, one]) => {
      const kind = kinds.get(name);
      const isNumberText = (kind === "number" || kind === "integer") && typeof one === "string";
      const isNoChoice = kind === "multi-select" && Array.isArray(one) && one.length === 0;
      return one !== undefined && !isNumberText && !isNoChoice;
    }),
  );
}

describe("the law", () => {
  const seen = { content: 0, errors: 0, bothRefuse: 0 };

  it("content passes the check of every answer, unchanged, also after its way as JSON", () => {
    fc.assert(
      fc.property(schemas, values, (schema, given) => {
        const { content } = elicitationForm(schema).parse(given);
        if (content === undefined) return void (seen.errors += 1);
        seen.content += 1;
        expect(JSON.stringify(checkFormContent(schema, content))).toBe(JSON.stringify(content));
        expect(checkFormContent(schema, JSON.parse(JSON.stringify(content)))).toEqual({ ...content });
      }),
      { numRuns: 4000 },
    );
    // Neither side of the property is empty.
    expect(seen.content).toBeGreaterThan(300);
    expect(seen.errors).toBeGreaterThan(300);
  });

  it("what the check of every answer refuses, parse refuses", () => {
    fc.assert(
      fc.property(schemas, values, (schema, all) => {
        const form = elicitationForm(schema);
        const given = asTyped(form, all);
        if (!refused(schema, given)) return;
        seen.bothRefuse += 1;
        expect(form.parse(given).errors).toBeDefined();
      }),
      { numRuns: 4000 },
    );
    expect(seen.bothRefuse).toBeGreaterThan(300);
  });

  it("the initial values are answers: none of them is an error", () => {
    fc.assert(
      fc.property(schemas, (schema) => {
        const { fields, initialValues, parse, acceptable } = elicitationForm(schema);
        const { errors = {} } = parse(initialValues);
        for (const { name, required } of fields) {
          if (acceptable && Object.hasOwn(initialValues, name))
            expect(Object.hasOwn(errors, name)).toBe(false);
          if (Object.hasOwn(errors, name) && acceptable) expect(required).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it("a form that is not acceptable never gives content", () => {
    fc.assert(
      fc.property(schemas, values, (schema, given) => {
        const more = {
          ...schema,
          properties: { ...(schema["properties"] as JsonObject), z: { type: "object" } },
        };
        const form = elicitationForm(more);
        expect(form.acceptable).toBe(false);
        expect(form.parse(given).content).toBe(undefined);
      }),
      { numRuns: 500 },
    );
  });
});

describe("the check of every answer", () => {
  const at = (a: JsonObject, content: unknown, more: JsonObject = {}): boolean =>
    refused({ type: "object", properties: { a }, ...more }, { a: content });

  it("sees what stands beside a reference", () => {
    const more = { $defs: { S: { type: "string" }, P: { enum: ["low", "high"] } } };
    expect(at({ $ref: "#/$defs/S", maxLength: 3 }, "four", more)).toBe(true);
    expect(at({ $ref: "#/$defs/S", maxLength: 3 }, "two", more)).toBe(false);
    expect(at({ $ref: "#/$defs/P", enum: ["low"] }, "high", more)).toBe(true);
    expect(at({ $ref: "#/$defs/P", title: "t", default: "x" }, "high", more)).toBe(false);
  });

  it("sees limits without a type", () => {
    expect(at({ maxLength: 3 }, "four")).toBe(true);
    expect(at({ minimum: 3 }, 2)).toBe(true);
    expect(at({ oneOf: [{ const: "four" }], maxLength: 3 }, "four")).toBe(true);
  });

  it("sees every list of choices, not only the first", () => {
    expect(at({ enum: ["a", "b"], oneOf: [{ const: "b" }] }, "a")).toBe(true);
    expect(at({ enum: ["a", "b"], oneOf: [{ const: "b" }] }, "b")).toBe(false);
    expect(at({ const: "a", enum: ["a", "b"] }, "b")).toBe(true);
    expect(at({ oneOf: [{ const: "a" }], anyOf: [{ type: "integer" }] }, "a")).toBe(true);
  });

  it("takes no list with holes", () => {
    const holes: string[] = [];
    holes[1] = "a";
    expect(at({ type: "array", items: { enum: ["a"] } }, holes)).toBe(true);
  });

  it("ends, however often a schema leads to long lists and long texts", () => {
    const long = Array.from({ length: 100_000 }, (_, index) => `o${index}`);
    const branches = (name: string): JsonObject => ({
      anyOf: Array.from({ length: 5000 }, () => ({ $ref: `#/$defs/${name}` })),
    });
    const $defs = {
      long: { enum: long },
      nulls: { anyOf: Array.from({ length: 100_000 }, () => ({ type: "null" })) },
      text: { type: "string", maxLength: 1 },
      far: { $ref: `#/${"x/".repeat(100_000)}` },
    };
    for (const name of Object.keys($defs)) {
      expect(at(branches(name), "x".repeat(100_000), { $defs }), name).toBe(true);
    }
  });
});
