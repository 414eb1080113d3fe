/** Tool pages: what is dropped, what is mirrored, what is kept. And what discovery tells. */
import { describe, expect, it } from "vitest";
import { InvalidResponseError } from "../../src/errors.js";
import type { JsonObject } from "../../src/internal/json.js";
import { mirroredHeaders, readDescription, readToolsPage } from "../../src/protocol/index.js";

const tool = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  name: "t",
  inputSchema: { type: "object", properties, ...more },
});
const mark = (type: string, name: unknown = "X"): JsonObject =>
  ({ type, "x-mcp-header": name }) as JsonObject;

describe("readToolsPage", () => {
  it("keeps what it does not know, and reads cursor and ttl", () => {
    const listed = { ...tool({}), title: "T", execution: { taskSupport: "optional" }, _meta: { a: 1 } };
    expect(readToolsPage({ tools: [listed], nextCursor: "c", ttlMs: 5 })).toEqual({
      tools: [listed],
      nextCursor: "c",
      ttlMs: 5,
      dropped: [],
    });
    expect(readToolsPage({ tools: [], nextCursor: null, ttlMs: "5" })).toEqual({
      tools: [],
      ttlMs: null,
      dropped: [],
    });
  });

  it("keeps only hints that are booleans: they decide whether a call is repeated", () => {
    const annotations = { idempotentHint: "yes", readOnlyHint: true, destructiveHint: 1, title: "A", own: 5 };
    const [read] = readToolsPage({ tools: [{ ...tool({}), annotations }] }).tools;
    expect(read?.annotations).toEqual({ readOnlyHint: true, title: "A", own: 5 });
    const [odd] = readToolsPage({ tools: [{ ...tool({}), annotations: "x" }] }).tools;
    expect(odd).not.toHaveProperty("annotations");
  });

  it("drops tools without a name or a schema, and keeps the others", () => {
    const page = readToolsPage({
      tools: [null, {}, { name: "" }, { name: "a" }, { name: "b", inputSchema: [] }, tool({})],
    });
    expect(page.tools.map(({ name }) => name)).toEqual(["t"]);
    expect(page.dropped.map(({ name }) => name)).toEqual(["", "", "", "a", "b"]);
  });

  it("refuses a page that is none", () => {
    for (const raw of [{}, { tools: {} }, { resultType: "task", taskId: "task-0001" }]) {
      expect(() => readToolsPage(raw)).toThrow(InvalidResponseError);
    }
  });
});

describe("x-mcp-header annotations", () => {
  const invalid: [string, JsonObject][] = [
    ["empty", tool({ a: mark("string", "") })],
    ["not a token", tool({ a: mark("string", "a b") })],
    ["with a line break", tool({ a: mark("string", "a\r\nb") })],
    ["no text", tool({ a: mark("string", 5) })],
    ["twice, ignoring case", tool({ a: mark("string", "x"), b: mark("string", "X") })],
    ["on a number", tool({ a: mark("number") })],
    ["on an object", tool({ a: mark("object") })],
    ["on an array", tool({ a: mark("array") })],
    ["without a type", tool({ a: { "x-mcp-header": "X" } })],
    ["on the root", tool({}, { "x-mcp-header": "X" })],
    ["below items", tool({ a: { type: "array", items: mark("string") } })],
    ["below items' properties", tool({ a: { type: "array", items: { properties: { b: mark("string") } } } })],
    ["below oneOf", tool({}, { oneOf: [{ properties: { a: mark("string") } }] })],
    ["below anyOf of a property", tool({ a: { anyOf: [mark("string")] } })],
    ["below allOf", tool({ a: { allOf: [mark("string")] } })],
    ["below if", tool({}, { if: { properties: { a: mark("string") } } })],
    ["below $defs", tool({ a: { $ref: "#/$defs/A" } }, { $defs: { A: mark("string") } })],
    ["below additionalProperties", tool({}, { additionalProperties: mark("string") })],
    ["below patternProperties", tool({}, { patternProperties: { a: mark("string") } })],
    ["below not", tool({ a: { type: "string", not: mark("string") } })],
  ];
  for (const [name, listed] of invalid) {
    it(`${name}: the tool is dropped, with the reason, and mirrors nothing`, () => {
      const page = readToolsPage({ tools: [listed] });
      expect(page.tools).toEqual([]);
      expect(page.dropped[0]?.reason).toContain("x-mcp-header");
      expect(mirroredHeaders(listed as never, { a: "v" })).toEqual({});
    });
  }

  it("are no annotations where they are data or names", () => {
    for (const listed of [
      tool({ "x-mcp-header": { type: "string" } }),
      tool({
        a: { type: "object", default: mark("object"), examples: [mark("array")], enum: [mark("number")] },
      }),
      tool({ a: { const: mark("object") } }),
      tool({}, { $defs: { "x-mcp-header": { type: "object" } } }),
    ]) {
      expect(readToolsPage({ tools: [listed] }).dropped).toEqual([]);
    }
  });

  it("in a schema nested without end do not end the process", () => {
    let schema: JsonObject = { type: "string" };
    for (let i = 0; i < 5_000; i += 1) schema = { type: "object", properties: { a: schema } };
    expect(readToolsPage({ tools: [{ name: "deep", inputSchema: schema }] }).dropped).toHaveLength(1);
  });
});

describe("mirroredHeaders", () => {
  const [listed] = readToolsPage({
    tools: [
      tool({
        s: mark("string", "S"),
        i: mark("integer", "I"),
        b: mark("boolean", "B"),
        o: { type: "object", properties: { deep: mark("string", "Deep"), __proto: { type: "string" } } },
        constructor: mark("string", "C"),
      }),
    ],
  }).tools;
  const mirror = (args: JsonObject): Record<string, string> => mirroredHeaders(listed as never, args);

  it("writes strings as they are, integers in decimal, booleans as true and false", () => {
    expect(mirror({ s: "x", i: -7, b: false, o: { deep: "y" } })).toEqual({
      "Mcp-Param-S": "x",
      "Mcp-Param-I": "-7",
      "Mcp-Param-B": "false",
      "Mcp-Param-Deep": "y",
    });
    expect(mirror({ i: 1e21, s: "ü" })).toEqual({
      "Mcp-Param-I": "1000000000000000000000",
      "Mcp-Param-S": "=?base64?w7w=?=",
    });
  });

  it("gives no header for null, absent, inherited or structured values", () => {
    expect(mirror({ s: null, i: 1.5, b: [], o: "x" })).toEqual({});
    expect(mirror({ o: { deep: null } })).toEqual({});
    expect(mirror({})).toEqual({});
  });
});

describe("readDescription", () => {
  it("takes what is missing or odd for not said", () => {
    for (const raw of [
      {},
      { supportedVersions: "2026-07-28", capabilities: [], instructions: 5, ttlMs: -1, _meta: null },
      {
        supportedVersions: [5],
        capabilities: { extensions: [] },
        _meta: { "io.modelcontextprotocol/serverInfo": 5 },
      },
    ]) {
      expect(readDescription(raw)).toMatchObject({
        name: undefined,
        supportedVersions: [],
        tasks: false,
        instructions: undefined,
        ttlMs: null,
      });
    }
  });

  it("reads serverInfo where earlier drafts had it", () => {
    expect(readDescription({ serverInfo: { name: "s", title: "S", version: "1" } })).toMatchObject({
      name: "s",
      title: "S",
      version: "1",
    });
  });

  it("refuses a task", () => {
    expect(() => readDescription({ resultType: "task", taskId: "task-0001" })).toThrow(InvalidResponseError);
  });
});
