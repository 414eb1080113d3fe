/** Results, forms and sampling requests of servers that write null for what is absent were refused as malformed. */
import { expect, test } from "vitest";
import { readCallAnswer, readInputRequest } from "../../src/protocol/index.js";

const block = { type: "text", text: "done" };
const capabilities = { elicitation: { form: {}, url: {} }, sampling: {} };

test.each([
  { content: [block], isError: null },
  { content: [block], _meta: null },
  { content: [{ ...block, annotations: null, _meta: null }], structuredContent: null, isError: null },
])("a result is one, and handed over as it came: %j", (answer) => {
  expect(readCallAnswer(answer)).toEqual({ kind: "result", result: answer });
});

test.each([
  { content: [block], isError: "no" },
  { content: [{ ...block, text: null }] },
  { content: [null] },
])("but what is needed is not to be null: %j", (answer) => {
  expect(() => readCallAnswer(answer)).toThrow("no tool result");
});

test("a mode that is null is a form, as one that is absent (F133)", () => {
  const params = { mode: null, message: "m", requestedSchema: { type: "object", properties: {} } };
  const read = readInputRequest("elicitation/create", params, capabilities);
  expect(read).toMatchObject({ ok: true, request: { kind: "elicitation-form" } });
  expect(readInputRequest("elicitation/create", params, { elicitation: { url: {} } }).ok).toBe(false);
});

test("a request to the model may have null for what it does not say", () => {
  const params = { messages: [], maxTokens: 5, tools: null, toolChoice: null, systemPrompt: null, own: 1 };
  expect(readInputRequest("sampling/createMessage", params, capabilities)).toEqual({
    ok: true,
    request: { kind: "sampling", params: { messages: [], maxTokens: 5, own: 1 } },
  });
  expect(readInputRequest("sampling/createMessage", { ...params, tools: [] }, capabilities).ok).toBe(false);
});
