/** Input requests and responses are checked as stand-alone ones are. */
import { describe, expect, it } from "vitest";
import { InvalidInputResponseError } from "../../src/errors.js";
import type { JsonObject } from "../../src/internal/json.js";
import {
  checkInputResponse,
  inputResponsesObject,
  readInputRequest,
  type InputRequest,
} from "../../src/protocol/index.js";

const ALL = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };
const FORM = { message: "m", requestedSchema: { type: "object", properties: {} } };
const SAMPLING = { messages: [{ role: "user", content: { type: "text", text: "?" } }], maxTokens: 5 };

function read(method: string, params: JsonObject, capabilities: JsonObject = ALL): InputRequest {
  const outcome = readInputRequest(method, params, capabilities);
  if (!outcome.ok) throw new Error(outcome.message);
  return outcome.request;
}

function refusal(method: string, params: JsonObject, capabilities: JsonObject = ALL): string {
  const outcome = readInputRequest(method, params, capabilities);
  return outcome.ok ? "accepted" : outcome.message;
}

/** The field that a form answer is refused for, or the normalised content. */
function fill(properties: JsonObject, content: unknown, more: JsonObject = {}): unknown {
  const request = read("elicitation/create", {
    message: "m",
    requestedSchema: { type: "object", properties, ...more },
  });
  try {
    return checkInputResponse(request, { action: "accept", content })["content"];
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidInputResponseError);
    return (error as InvalidInputResponseError).field;
  }
}

describe("readInputRequest", () => {
  it("reads each kind", () => {
    expect(read("elicitation/create", FORM)).toEqual({ kind: "elicitation-form", ...FORM });
    expect(read("elicitation/create", { ...FORM, mode: "form" })).toMatchObject({ kind: "elicitation-form" });
    const url = { mode: "url", message: "m", url: "https://x.example/?a=1", elicitationId: "e" };
    expect(read("elicitation/create", url)).toEqual({
      kind: "elicitation-url",
      message: "m",
      url: "https://x.example/?a=1",
      elicitationId: "e",
    });
    expect(read("sampling/createMessage", { ...SAMPLING, unknown: 1 })).toEqual({
      kind: "sampling",
      params: { ...SAMPLING, unknown: 1 },
    });
    expect(read("roots/list", {})).toEqual({ kind: "roots" });
  });

  it("F133: refuses what was not declared, each capability and mode by itself", () => {
    const url = { mode: "url", message: "m", url: "https://x.example" };
    expect(refusal("elicitation/create", FORM, {})).toContain("elicitation.form");
    expect(refusal("elicitation/create", FORM, { elicitation: { url: {} } })).toContain("elicitation.form");
    expect(refusal("elicitation/create", FORM, { elicitation: {} })).toBe("accepted");
    expect(refusal("elicitation/create", url, { elicitation: {} })).toContain("elicitation.url");
    expect(refusal("elicitation/create", url, { elicitation: { form: {} } })).toContain("elicitation.url");
    expect(refusal("sampling/createMessage", SAMPLING, { roots: {} })).toContain("sampling");
    expect(refusal("sampling/createMessage", { ...SAMPLING, tools: [] }, { sampling: {} })).toContain(
      "sampling.tools",
    );
    expect(refusal("roots/list", {}, { sampling: {} })).toContain("roots");
  });

  it("F133: refuses unknown methods and modes, and missing fields, naming the field", () => {
    expect(refusal("tools/call", {})).toContain("method");
    expect(refusal("elicitation/create", { ...FORM, mode: "telepathy" })).toContain("params.mode");
    expect(refusal("elicitation/create", { message: "m" })).toContain("params.requestedSchema");
    expect(refusal("elicitation/create", { message: "m", requestedSchema: { type: "array" } })).toContain(
      "params.requestedSchema.type",
    );
    expect(refusal("elicitation/create", { message: "m", requestedSchema: { type: "object" } })).toContain(
      "params.requestedSchema.properties",
    );
    expect(refusal("elicitation/create", { ...FORM, message: 5 })).toContain("params.message");
    expect(refusal("elicitation/create", { mode: "url", message: "m" })).toContain("params.url");
    expect(refusal("sampling/createMessage", { maxTokens: 5 })).toContain("params.messages");
    expect(refusal("sampling/createMessage", { ...SAMPLING, maxTokens: "5" })).toContain("params.maxTokens");
  });

  it("F148: takes plain http(s) URLs only", () => {
    for (const url of [
      "javascript:alert(1)",
      "file:///etc/passwd",
      "data:text/html,x",
      "http://x@evil.example",
      "https://u:p@evil.example",
      "https://good.example\\@evil.example",
      "https://x.example/\n",
      " https://x.example",
      "https://x.example/\u0000",
      "//x.example",
      "x",
      "",
      5,
    ]) {
      expect(refusal("elicitation/create", { mode: "url", message: "m", url }), String(url)).toContain(
        "params.url",
      );
    }
    // Odd hosts are for the prompt to flag: many are honest.
    expect(
      refusal("elicitation/create", { mode: "url", message: "m", url: "https://xn--mnchen-3ya.de/" }),
    ).toBe("accepted");
  });
});

describe("checkInputResponse: actions", () => {
  const form = read("elicitation/create", {
    message: "m",
    requestedSchema: { type: "object", properties: { amount: { type: "integer" } }, required: ["amount"] },
  });
  const url = read("elicitation/create", { mode: "url", message: "m", url: "https://x.example" });

  it("F140: decline and cancel lose their content, which is not checked", () => {
    for (const action of ["decline", "cancel"]) {
      expect(checkInputResponse(form, { action, content: { amount: "half" } })).toEqual({ action });
      expect(checkInputResponse(url, { action, content: 5 })).toEqual({ action });
    }
  });

  it("accepting a URL has no content", () => {
    expect(checkInputResponse(url, { action: "accept", content: { a: 1 } })).toEqual({ action: "accept" });
  });

  it("F133: refuses made-up actions and scalars", () => {
    for (const [response, field] of [
      [{ action: "bogus" }, "action"],
      [{}, "action"],
      ["accept", "response"],
      [null, "response"],
      [[], "response"],
      [{ action: "accept", content: "x" }, "content"],
      [{ action: "accept", content: ["x"] }, "content"],
      [{ action: "accept" }, "content.amount"],
      [{ action: "accept", content: { amount: "5" } }, "content.amount"],
    ] as const) {
      expect(() => checkInputResponse(form, response)).toThrow(expect.objectContaining({ field }));
    }
  });
});

describe("checkInputResponse: form content", () => {
  it("takes fitting values as they are", () => {
    const content = { s: "x", n: 1.5, i: -3, b: false, l: ["a"] };
    expect(
      fill(
        {
          s: { type: "string" },
          n: { type: "number" },
          i: { type: "integer" },
          b: { type: "boolean" },
          l: { type: "array", items: { type: "string", enum: ["a", "b"] } },
        },
        content,
      ),
    ).toEqual(content);
  });

  it("F137: converts nothing", () => {
    for (const value of ["42xyz", "42", "1.5", "1e3", "0x10", " 7 ", true, [], {}, NaN, Infinity]) {
      expect(fill({ a: { type: "number" } }, { a: value }), JSON.stringify(value)).toBe("content.a");
      expect(fill({ a: { type: "integer" } }, { a: value }), JSON.stringify(value)).toBe("content.a");
    }
    expect(fill({ a: { type: "integer" } }, { a: 1.5 })).toBe("content.a");
    expect(fill({ a: { type: "number" } }, { a: 1e3 })).toEqual({ a: 1000 });
    expect(fill({ a: { type: "boolean" } }, { a: "true" })).toBe("content.a");
    expect(fill({ a: { type: "string" } }, { a: 5 })).toBe("content.a");
    expect(fill({ a: { type: "array", items: { type: "string" } } }, { a: "x" })).toBe("content.a");
    expect(fill({ a: { type: "array", items: { type: "string" } } }, { a: [1] })).toBe("content.a");
  });

  it("F137: keeps to minimum and maximum", () => {
    const a = { type: "integer", minimum: 1, maximum: 3 };
    expect([0, 1, 3, 4].map((value) => fill({ a }, { a: value }))).toEqual([
      "content.a",
      { a: 1 },
      { a: 3 },
      "content.a",
    ]);
    const open = { type: "number", exclusiveMinimum: 1, exclusiveMaximum: 2 };
    expect([1, 1.5, 2].map((value) => fill({ a: open }, { a: value }))).toEqual([
      "content.a",
      { a: 1.5 },
      "content.a",
    ]);
  });

  it("counts characters, not code units", () => {
    const a = { type: "string", minLength: 2, maxLength: 3 };
    expect(["🚆", "🚆🚆", "🚆🚆🚆", "🚆🚆🚆🚆"].map((value) => fill({ a }, { a: value }))).toEqual([
      "content.a",
      { a: "🚆🚆" },
      { a: "🚆🚆🚆" },
      "content.a",
    ]);
  });

  it("F136: a cleared optional field is left out, a required one blocks the accept", () => {
    const note = { note: { type: "string" } };
    for (const value of ["", null, undefined]) {
      expect(fill(note, { note: value })).toEqual({});
      expect(fill(note, { note: value }, { required: ["note"] })).toBe("content.note");
    }
    expect(fill(note, undefined)).toEqual({});
    expect(fill({ p: { type: "string", enum: ["", "a"] } }, { p: "" }, { required: ["p"] })).toEqual({
      p: "",
    });
    expect(fill({ p: { type: "number" } }, { p: "" })).toEqual({});
  });

  it("never fills in a default, least of all one of the wrong type", () => {
    expect(fill({ a: { type: "integer", default: "5" } }, {})).toEqual({});
    expect(fill({ a: { type: "integer", default: "5" } }, {}, { required: ["a"] })).toBe("content.a");
  });

  it("refuses what was not asked for", () => {
    expect(fill({ a: { type: "string" } }, { a: "x", b: "y" })).toBe("content.b");
    expect(fill({}, JSON.parse('{"__proto__": "x"}'))).toBe("content.__proto__");
    expect(fill({}, { constructor: "x" })).toBe("content.constructor");
  });

  it("F176: fields may be called anything", () => {
    const properties = JSON.parse('{"__proto__": {"type": "string"}}') as JsonObject;
    const content = fill(properties, JSON.parse('{"__proto__": "x"}'));
    expect(JSON.stringify(content)).toBe('{"__proto__":"x"}');
  });

  it("F151: runs no pattern of the server", () => {
    const a = { type: "string", pattern: "(a+)+$" };
    const value = `${"a".repeat(50_000)}!`;
    expect(fill({ a }, { a: value })).toEqual({ a: value });
  });

  const formats: [string, string[], string[]][] = [
    ["email", ["a@b.example", "a+b@b"], ["a", "@b", "a@", "a@b@c", "a b@c", `${"a".repeat(400)}@b`]],
    [
      "uri",
      ["https://x.example/a?b#c", "urn:isbn:1", "mailto:a@b"],
      ["x", "/a", "//x", "https://", "http://a b", "a:\\b"],
    ],
    [
      "date",
      ["2026-07-28", "2024-02-29", "2000-02-29"],
      [
        "2026-02-29",
        "1900-02-29",
        "2026-13-01",
        "2026-00-01",
        "2026-04-31",
        "26-07-28",
        "2026-7-8",
        "2026-07-28T00:00:00Z",
      ],
    ],
    [
      "date-time",
      ["2026-07-28T10:30:00Z", "2026-07-28t10:30:00.123+02:00", "2016-12-31T23:59:60Z"],
      [
        "2026-07-28",
        "2026-07-28T10:30:00",
        "2026-07-28T24:00:00Z",
        "2026-07-28T10:60:00Z",
        "2026-02-30T10:30:00Z",
        "2026-07-28T10:30:00+25:00",
        "2026-07-28X10:30:00Z",
      ],
    ],
  ];
  for (const [format, good, bad] of formats) {
    it(`checks the format ${format}`, () => {
      for (const value of good)
        expect(fill({ a: { type: "string", format } }, { a: value }), value).toEqual({ a: value });
      for (const value of bad)
        expect(fill({ a: { type: "string", format } }, { a: value }), value).toBe("content.a");
    });
  }

  it("ignores formats that forms do not have", () => {
    expect(fill({ a: { type: "string", format: "credit-card" } }, { a: "x" })).toEqual({ a: "x" });
  });
});

describe("F145, F143: every legal enum shape takes its values and nothing else", () => {
  const titled = [
    { const: "r", title: "Red" },
    { const: "g", title: "Green" },
  ];
  const shapes: [string, JsonObject][] = [
    ["untitled", { type: "string", enum: ["r", "g"] }],
    ["titled", { type: "string", oneOf: titled }],
    ["titled without a type", { oneOf: titled }],
    ["titled by anyOf", { anyOf: titled }],
    ["legacy enumNames", { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] }],
    ["legacy enumNames that are too short", { type: "string", enum: ["r", "g"], enumNames: ["Red"] }],
    ["untitled multi-select", { type: "array", items: { type: "string", enum: ["r", "g"] } }],
    ["titled multi-select", { type: "array", items: { anyOf: titled } }],
    ["titled multi-select by oneOf", { type: "array", items: { oneOf: titled } }],
  ];
  for (const [name, schema] of shapes) {
    it(name, () => {
      const wrap = (value: string): unknown => (schema["type"] === "array" ? [value] : value);
      for (const value of ["r", "g"])
        expect(fill({ a: schema }, { a: wrap(value) })).toEqual({ a: wrap(value) });
      for (const value of ["Red", "b", "R", "toString"])
        expect(fill({ a: schema }, { a: wrap(value) })).toBe("content.a");
    });
  }

  it("keeps to minItems, maxItems and uniqueItems", () => {
    const a = {
      type: "array",
      minItems: 1,
      maxItems: 2,
      uniqueItems: true,
      items: { enum: ["r", "g", "b"] },
    };
    expect(fill({ a }, { a: ["r", "b"] })).toEqual({ a: ["r", "b"] });
    for (const value of [[], ["r", "g", "b"], ["r", "r"]])
      expect(fill({ a }, { a: value })).toBe("content.a");
  });

  it("F142: resolves local references", () => {
    const more = { $defs: { P: { enum: ["low", "high"] }, "a/b": { $ref: "#/$defs/P" } } };
    for (const $ref of ["#/$defs/P", "#/$defs/a~1b"]) {
      expect(fill({ p: { $ref } }, { p: "low" }, more)).toEqual({ p: "low" });
      expect(fill({ p: { $ref } }, { p: "mid" }, more)).toBe("content.p");
      expect(fill({ p: { allOf: [{ $ref }], default: "low" } }, { p: "mid" }, more)).toBe("content.p");
      expect(fill({ p: { anyOf: [{ $ref }, { type: "null" }] } }, { p: "high" }, more)).toEqual({
        p: "high",
      });
    }
  });

  it("F142: accepts nothing under references that lead nowhere, elsewhere or in a circle", () => {
    const more = { $defs: { loop: { $ref: "#/$defs/loop" } } };
    for (const $ref of ["#/$defs/none", "https://x.example/schema", "#/$defs/loop", "#", "#/__proto__", 5]) {
      expect(fill({ p: { $ref } }, { p: "x" }, more), String($ref)).toBe("content.p");
    }
  });

  it("does not get lost in references that branch", () => {
    const branch = { anyOf: Array.from({ length: 50 }, () => ({ $ref: "#/$defs/b" })) };
    expect(fill({ p: { $ref: "#/$defs/b" } }, { p: "x" }, { $defs: { b: branch } })).toBe("content.p");
  });

  it("refuses types that forms do not have", () => {
    for (const type of ["object", "null", 5]) expect(fill({ p: { type } }, { p: "x" })).toBe("content.p");
  });
});

describe("checkInputResponse: sampling and roots", () => {
  const text = { role: "assistant", model: "m", content: { type: "text", text: "x" } };
  const use = { ...text, content: [{ type: "tool_use", id: "1", name: "t", input: {} }] };

  it("takes what the SDK's schemas take, as it is", () => {
    const plain = read("sampling/createMessage", SAMPLING);
    expect(checkInputResponse(plain, { ...text, more: 1 })).toEqual({ ...text, more: 1 });
    const tools = read("sampling/createMessage", {
      ...SAMPLING,
      tools: [{ name: "t", inputSchema: { type: "object" } }],
    });
    expect(checkInputResponse(tools, use)).toEqual(use);
    const roots = { roots: [{ uri: "file:///a", name: "a" }] };
    expect(checkInputResponse(read("roots/list", {}), roots)).toEqual(roots);
  });

  it("names the field of what does not fit", () => {
    const plain = read("sampling/createMessage", SAMPLING);
    for (const [response, field] of [
      [{ ...text, model: 5 }, "model"],
      [{ ...text, role: "system" }, "role"],
      [{ role: "assistant", model: "m" }, "content"],
      [use, "content"],
      [{ ...text, more: 1n }, "response"],
    ] as const) {
      expect(() => checkInputResponse(plain, response)).toThrow(expect.objectContaining({ field }));
    }
    const roots = read("roots/list", {});
    expect(() => checkInputResponse(roots, {})).toThrow(expect.objectContaining({ field: "roots" }));
    expect(() => checkInputResponse(roots, { roots: [{ uri: "https://x" }] })).toThrow(
      expect.objectContaining({ field: "roots.0.uri" }),
    );
  });
});

describe("inputResponsesObject (F176)", () => {
  it("makes own properties of all keys, which survive JSON", () => {
    const responses = inputResponsesObject([
      ["__proto__", { action: "accept" }],
      ["constructor", { action: "decline" }],
      ["a", { action: "cancel" }],
    ]);
    expect(JSON.stringify(responses)).toBe(
      '{"__proto__":{"action":"accept"},"constructor":{"action":"decline"},"a":{"action":"cancel"}}',
    );
    expect(Object.getPrototypeOf(responses)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)["action"]).toBeUndefined();
  });
});
