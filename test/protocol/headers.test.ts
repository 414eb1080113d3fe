/** Header values survive the trip, whatever they hold. */
import { describe, expect, it } from "vitest";
import {
  decodeHeaderValue,
  encodeHeaderValue,
  requestHeaders,
  withEnvelope,
} from "../../src/protocol/index.js";

describe("encodeHeaderValue (F007)", () => {
  it("leaves plain values alone", () => {
    for (const value of [
      "",
      "x",
      "deploy",
      "a b",
      "~!#$%&'()*+,-./:;<=>?@[]^_`{|}",
      "=?utf-8?eA==?=",
      "=?base64?",
    ]) {
      expect(encodeHeaderValue(value)).toBe(value);
    }
  });

  it("wraps what a header cannot carry, as base64 of UTF-8", () => {
    expect(encodeHeaderValue("tâsk")).toBe(`=?base64?${Buffer.from("tâsk").toString("base64")}?=`);
    for (const value of [
      " x",
      "x ",
      "\tx",
      "x\r\ny",
      "a\tb",
      "x\u0000",
      "\u007f",
      "🚆",
      "=?base64?eA==?=",
      "=?BASE64?eA==?=",
    ]) {
      const encoded = encodeHeaderValue(value);
      expect(encoded).toMatch(/^=\?base64\?[A-Za-z0-9+/]+=*\?=$/);
      expect(decodeHeaderValue(encoded)).toBe(value);
    }
  });

  it("never throws, also for halves of pairs and long values", () => {
    expect(encodeHeaderValue("\ud800")).toBe("=?base64?77+9?=");
    const long = "ü".repeat(200_000);
    expect(decodeHeaderValue(encodeHeaderValue(long))).toBe(long);
  });

  it("round-trips a byte-order mark", () => {
    expect(decodeHeaderValue(encodeHeaderValue("\ufeffx"))).toBe("\ufeffx");
  });
});

describe("decodeHeaderValue", () => {
  it("answers what is not validly wrapped as it is", () => {
    for (const value of ["x", "=?base64?***?=", "=?base64?/w==?=", "=?base64?A?=", "x =?base64?eA==?="]) {
      expect(decodeHeaderValue(value)).toBe(value);
    }
  });
});

describe("requestHeaders", () => {
  it("names the tool or the task, and nothing where there is neither", () => {
    expect(requestHeaders("tools/call", { name: "t", taskId: "no" })).toEqual({
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": "tools/call",
      "Mcp-Name": "t",
    });
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      expect(requestHeaders(method, { name: "no", taskId: "ä" })["Mcp-Name"]).toBe("=?base64?w6Q=?=");
    }
    for (const method of ["tools/list", "server/discover", "subscriptions/listen", "constructor"]) {
      expect(requestHeaders(method, { name: "t", taskId: "x" })).not.toHaveProperty("Mcp-Name");
    }
  });
});

describe("withEnvelope (F004)", () => {
  const envelope = { clientInfo: { name: "h", version: "1" }, capabilities: { roots: {} } };

  it("keeps the params and their own _meta, without changing either", () => {
    const params = { a: 1, _meta: { own: 1, both: "params" } };
    const sent = withEnvelope(params, { ...envelope, meta: { both: "meta" } });
    expect(sent).toEqual({
      a: 1,
      _meta: {
        own: 1,
        both: "meta",
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "h", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": { roots: {} },
      },
    });
    expect(params).toEqual({ a: 1, _meta: { own: 1, both: "params" } });
  });

  it("lets no other source set its own keys", () => {
    const forged = { "io.modelcontextprotocol/clientCapabilities": { sampling: {} } };
    const sent = withEnvelope({ _meta: forged }, { ...envelope, meta: forged });
    expect(sent["_meta"]).toMatchObject({ "io.modelcontextprotocol/clientCapabilities": { roots: {} } });
  });
});
