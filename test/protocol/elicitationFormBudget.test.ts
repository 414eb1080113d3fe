/** The work of a form and of its content is bounded as a whole: what one field uses up, the next one does not have. */
import { describe, expect, it } from "vitest";
import { checkFormContent, elicitationForm, formMessages, type JsonObject } from "./formSupport.js";

/** Generous: without a bound, what is asked for here takes from many seconds to years. */
const GUARD_MS = 30_000;

const times = <T>(count: number, made: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => made(at));
const members = <T>(count: number, made: (at: number) => T): Record<string, T> =>
  Object.fromEntries(times(count, (at) => [`f${at}`, made(at)]));
const TOO_LARGE = "cannot be checked: its schema and the value are too much work";

/** A form whose fields all refer to the same schema, which counts how often one of its parts is looked at. */
function counted(fields: number, schema: (part: JsonObject) => JsonObject, keyword: string) {
  const seen = { looks: 0 };
  const part = Object.defineProperty({}, keyword, {
    get: () => void (seen.looks += 1),
    enumerable: true,
  }) as JsonObject;
  const properties = members(fields, () => ({ $ref: "#/$defs/T" }));
  return { seen, root: { type: "object", properties, $defs: { T: schema(part) } } as JsonObject };
}

describe("one budget for all fields", () => {
  const parts = (part: JsonObject): JsonObject => ({ type: "string", allOf: times(9000, () => part) });

  it("of a form: few are drawn, the others are too large", { timeout: GUARD_MS }, () => {
    const { seen, root } = counted(200, parts, "$ref");
    const { fields, acceptable } = elicitationForm(root);
    expect(fields[0]?.kind).toBe("string");
    expect(fields.at(-1)).toMatchObject({ kind: "unsupported", reason: formMessages.reason("too-large") });
    expect(acceptable).toBe(false);
    expect(seen.looks).toBeGreaterThan(9000);
    expect(seen.looks).toBeLessThan(50_000);
  });

  it("of content: the field that does not fit is named", { timeout: GUARD_MS }, () => {
    const { seen, root } = counted(200, parts, "$ref");
    expect(checkFormContent(root, { f0: "x" })).toEqual({ f0: "x" });
    expect(() =>
      checkFormContent(
        root,
        members(200, () => "x"),
      ),
    ).toThrow(`content.f2: ${TOO_LARGE}`);
    expect(seen.looks).toBeLessThan(50_000);
    // Nor is an empty text left out only because nobody can say whether it is.
    const hops = members(200, () => ({ $ref: "#/$defs/T" }));
    const chosen = { type: "object", properties: hops, $defs: { T: { enum: times(5_100_000, () => "") } } };
    expect(() => checkFormContent(chosen, { f0: "" })).toThrow(`content.f0: ${TOO_LARGE}`);
  });

  it("of what a person entered: it is an error before it is sent", { timeout: GUARD_MS }, () => {
    const items = { $ref: "#/$defs/T" };
    const properties = members(200, () => ({ type: "array", items }));
    const root = { type: "object", properties, $defs: { T: { enum: ["a"], allOf: times(60, () => ({})) } } };
    const form = elicitationForm(root);
    expect(form.acceptable).toBe(true);
    const small = members(200, () => ["a"]);
    expect(form.parse(small).content).toEqual(small);
    expect(checkFormContent(root, small)).toEqual(small);
    // One choice cannot be made twice, but schemas of the same size with many choices can.
    const options = times(100, (at) => `o${at}`);
    const wide = {
      ...root,
      properties: members(50, () => ({ type: "array", items })),
      $defs: { T: { enum: options, allOf: times(60, () => ({})) } },
    };
    const large = members(50, () => options);
    expect(elicitationForm(wide).acceptable).toBe(true);
    expect(elicitationForm(wide).parse(large).content).toBe(undefined);
    expect(() => checkFormContent(wide, large)).toThrow(TOO_LARGE);
  });

  it("and a large honest form fits", () => {
    const options = times(1000, (at) => `o${at}`);
    const listed = members(5, () => ({ type: "array", items: { enum: options }, uniqueItems: true }));
    const texts = Object.fromEntries(times(195, (at) => [`t${at}`, { type: "string", maxLength: 1000 }]));
    const root = { type: "object", properties: { ...listed, ...texts } };
    const given = {
      ...members(5, () => options),
      ...Object.fromEntries(times(195, (at) => [`t${at}`, "é".repeat(1000)])),
    };
    expect(elicitationForm(root).parse(given).content).toEqual(given);
    expect(checkFormContent(root, given)).toEqual(given);
  });
});

describe("what is charged", () => {
  const T = { $ref: "#/$defs/T" };
  it.each<[string, JsonObject, unknown]>([
    ["type lists", { type: ["string", ...times(120_000, () => "null")], allOf: [] }, "x"],
    ["long enums", { enum: times(1000, (at) => `v${at}`) }, "v1"],
    ["titled choices", { oneOf: times(1000, (at) => ({ const: `v${at}` })) }, "v1"],
  ])("%s are read once, however many references lead there", { timeout: GUARD_MS }, (_, shared, value) => {
    const properties = { a: { type: "string", allOf: times(9000, () => T) } };
    const root = { type: "object", properties, $defs: { T: shared } };
    expect(elicitationForm(root).parse({ a: value as string }).content).toEqual({ a: value });
    expect(checkFormContent(root, { a: value })).toEqual({ a: value });
  });

  it.each<[string, JsonObject, unknown]>([
    ["pointers", { allOf: times(9000, () => ({ $ref: `#/${"a/".repeat(400)}b` })) }, "x"],
    ["lengths", { type: "string", allOf: times(9000, () => ({ maxLength: 1e6 })) }, "x".repeat(100_000)],
    ["formats", { allOf: times(9000, () => ({ format: "uri" })) }, `https://x.example/${"é".repeat(10_000)}`],
    [
      "lists in sets",
      { type: "array", allOf: times(9000, () => ({ uniqueItems: true })) },
      times(5000, String),
    ],
  ])("%s are paid for each time", { timeout: GUARD_MS }, (_, shared, value) => {
    let deep: JsonObject = { b: {} };
    for (let level = 0; level < 400; level += 1) deep = { a: deep };
    const root = { ...deep, type: "object", properties: { f: T }, $defs: { T: shared } };
    expect(() => checkFormContent(root, { f: value })).toThrow(`content.f: ${TOO_LARGE}`);
  });

  it("defaults that many fields share", { timeout: GUARD_MS }, () => {
    const shared = { type: "array", items: { enum: ["a"] }, default: times(200_000, () => "a") };
    const { fields } = elicitationForm({
      type: "object",
      properties: members(200, () => T),
      $defs: { T: shared },
    });
    expect(fields[0]?.kind).toBe("multi-select");
    expect(fields.at(-1)?.reason).toBe(formMessages.reason("too-large"));
  });

  it("required names, also in content", { timeout: GUARD_MS }, () => {
    const root = {
      type: "object",
      properties: { a: { type: "string" } },
      required: times(5_100_000, () => "a"),
    };
    expect(elicitationForm(root).acceptable).toBe(false);
    expect(() => checkFormContent(root, { a: "x" })).toThrow(`content.a: ${TOO_LARGE}`);
  });
});

it("content has at most 200 fields, as many as are drawn", () => {
  const root = { type: "object", properties: members(300, () => ({ type: "string" })) };
  const of = (count: number): Record<string, string> => members(count, () => "x");
  expect(checkFormContent(root, of(200))).toEqual(of(200));
  expect(() => checkFormContent(root, of(201))).toThrow("content: expected at most 200 fields");
});

it("white space around what is no number takes no square of time", { timeout: GUARD_MS }, () => {
  const form = elicitationForm({ type: "object", properties: { n: { type: "number" } } });
  const parse = (n: string): unknown => form.parse({ n }).errors ?? form.parse({ n }).content;
  expect(parse(`x${" ".repeat(900_000)}y`)).toEqual({ n: formMessages.notANumber });
  expect(parse(" ".repeat(900_000))).toEqual({});
  expect(parse(" 7\n")).toEqual({ n: 7 });
});

it("a secret is found behind runs of accents", { timeout: GUARD_MS }, () => {
  const description = `a${"\u0301\u0323".repeat(700)} your password`;
  const properties = members(200, () => ({ $ref: "#/$defs/T" }));
  const form = elicitationForm({ type: "object", properties, $defs: { T: { type: "string", description } } });
  expect(form.fields.every(({ warning }) => warning === "secret")).toBe(true);
});
