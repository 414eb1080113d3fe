/** Servers that write null for what is absent lost their calls: `error: null` beside a result, `requestState: null`. */
import { expect, test } from "vitest";
import { readMessage } from "../../src/connection/rpc.js";
import { readCallAnswer } from "../../src/protocol/index.js";

test("an error that is null beside a result is none", () => {
  const message = { jsonrpc: "2.0", id: "1", error: null, result: { content: [] } };
  expect(readMessage(message, "1")).toEqual({ kind: "result", result: { content: [] } });
  expect(() => readMessage({ jsonrpc: "2.0", id: "1", error: null }, "1")).toThrow("neither an error nor");
});

test("a request state or input requests that are null are absent", () => {
  const roots = { method: "roots/list" };
  const asked = { resultType: "input_required", requestState: null, inputRequests: { roots } };
  expect(readCallAnswer(asked)).toEqual({
    kind: "input_required",
    inputRequests: [["roots", { method: "roots/list", params: {} }]],
  });
  const waiting = { resultType: "input_required", requestState: "s", inputRequests: null };
  expect(readCallAnswer(waiting)).toEqual({ kind: "input_required", inputRequests: [], requestState: "s" });
  expect(() => readCallAnswer({ ...asked, requestState: 1 })).toThrow("requestState");
});
