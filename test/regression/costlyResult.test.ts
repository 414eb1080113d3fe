/** A result of many wrong content blocks kept the process busy for a minute and took gigabytes: every issue was kept. */
import { expect, test } from "vitest";
import { readCallAnswer } from "../../src/protocol/index.js";
import { readInputRequest } from "../../src/protocol/index.js";

test.each([1, { type: 1 }, { type: "text" }])(
  "a result of 200 000 blocks %j names the first one",
  (block) => {
    const raw = { content: Array<never>(200_000).fill(block as never) };
    expect(() => readCallAnswer(raw)).toThrow("content.0 is not as expected");
  },
  5000,
);

test("so does a sampling request of 200 000 wrong messages", () => {
  const params = { maxTokens: 1, messages: Array<never>(200_000).fill({ role: "user" } as never) };
  const read = readInputRequest("sampling/createMessage", params, { sampling: {} });
  expect(read).toMatchObject({ ok: false, message: expect.stringContaining("params.messages.0") as string });
}, 5000);

test("blocks behind right ones are checked too, and right ones pass as they came", () => {
  const text = { type: "text", text: "a", more: 1 };
  expect(() => readCallAnswer({ content: [text, { type: "text" }] })).toThrow("content.1");
  expect(readCallAnswer({ content: [text] })).toEqual({ kind: "result", result: { content: [text] } });
  expect(() => readCallAnswer({ content: "text" })).toThrow("content is not as expected");
});
