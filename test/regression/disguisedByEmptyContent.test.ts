/** F001: a handle without its discriminator passed for an empty success where the server's library put empty content around it. */
import { describe, expect, test } from "vitest";
import { InvalidResponseError } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { readCallAnswer } from "../../src/protocol/index.js";

const task = { taskId: "t-secret", status: "working", createdAt: "2026-08-01T00:00:00Z", ttlMs: null };

function refused(answer: JsonObject): InvalidResponseError {
  try {
    readCallAnswer(answer);
  } catch (error) {
    return error as InvalidResponseError;
  }
  throw new Error("the answer was taken for a result");
}

describe("an answer that names a task and says nothing else is no result", () => {
  test.each<[string, JsonObject]>([
    ["empty content", { ...task, content: [] }],
    ["empty content, said to be complete", { ...task, content: [], resultType: "complete" }],
    ["empty content, and no error", { ...task, content: [], isError: false }],
    ["null for content", { ...task, content: null }],
    ["null for structured content", { ...task, structuredContent: null }],
    ["a status of a later revision", { ...task, status: "queued" }],
    ["no status", { taskId: "t-secret", ttlMs: 60_000, pollIntervalMs: 1000 }],
    ["nested, as an older draft had it", { task }],
    ["nested, beside empty content", { task, content: [] }],
  ])("%s", (_what, answer) => {
    const error = refused(answer);
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error.taskId).toBe("t-secret");
    expect(String(error)).not.toContain("t-secret");
  });

  test.each<[string, JsonObject]>([
    ["a text", { ...task, content: [{ type: "text", text: "task t-secret is working" }] }],
    ["structured content", { ...task, structuredContent: { ok: true } }],
    ["no task", { content: [] }],
    ["a task id of another meaning", { taskId: "T-1", content: [] }],
  ])("but it is one with %s", (_what, answer) => {
    expect(readCallAnswer(answer)).toMatchObject({ kind: "result" });
  });
});
