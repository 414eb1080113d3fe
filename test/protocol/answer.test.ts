/** A handle never passes for a result, nor anything else for a handle. */
import { describe, expect, it } from "vitest";
import { InvalidResponseError } from "../../src/errors.js";
import type { JsonObject } from "../../src/internal/json.js";
import { readCallAnswer, readCompleteAnswer } from "../../src/protocol/index.js";

const handle = {
  taskId: "task-0001",
  status: "working",
  createdAt: "2026-07-28T10:30:00Z",
  lastUpdatedAt: "2026-07-28T10:30:00Z",
  ttlMs: null,
};

function refused(run: () => unknown): InvalidResponseError {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect((error as Error).message).not.toContain("task-0001");
    return error as InvalidResponseError;
  }
  throw new Error("expected an error");
}

describe("readCallAnswer", () => {
  it("F001a: resultType task is a task, flat or nested, also when it has ended already", () => {
    for (const raw of [
      { resultType: "task", ...handle },
      { resultType: "task", task: handle },
    ]) {
      expect(readCallAnswer(raw)).toMatchObject({ kind: "task", snapshot: { taskId: "task-0001" } });
    }
    const done = { resultType: "task", ...handle, status: "completed", result: { content: [] } };
    expect(readCallAnswer(done)).toMatchObject({
      snapshot: { status: "completed", result: { content: [] } },
    });
  });

  it("F001b: a handle that does not say so is an error with its task id, never an empty success", () => {
    for (const raw of [handle, { task: handle }, { ...handle, resultType: "complete" }]) {
      expect(refused(() => readCallAnswer(raw)).taskId).toBe("task-0001");
    }
  });

  it("F001c: a result is answered as it came, absent resultType and unknown keys included", () => {
    const result = {
      content: [{ type: "text", text: "x", more: 1 }],
      isError: true,
      extra: { a: 1 },
      taskId: "own",
    };
    expect(readCallAnswer(result)).toEqual({ kind: "result", result });
    expect(readCallAnswer({ ...result, resultType: "complete" })).toMatchObject({ kind: "result" });
    expect(readCallAnswer({ structuredContent: [1], taskId: "own", status: "working" })).toEqual({
      kind: "result",
      result: { structuredContent: [1], taskId: "own", status: "working", content: [] },
    });
    expect(readCallAnswer({})).toEqual({ kind: "result", result: { content: [] } });
  });

  it("refuses results that are none", () => {
    for (const raw of [
      { content: "x" },
      { content: null },
      { content: [{ type: "text" }] },
      { content: [{ type: "hologram" }] },
      { content: [], isError: "yes" },
    ]) {
      refused(() => readCallAnswer(raw));
    }
  });

  it("refuses unknown result types, with the task id of what they name (F011)", () => {
    for (const resultType of ["later", "", null, 5]) {
      expect(refused(() => readCallAnswer({ ...handle, resultType })).taskId).toBe("task-0001");
    }
    expect(refused(() => readCallAnswer({ resultType: "later", content: [] })).taskId).toBeUndefined();
  });

  it("reads a question, with the exact request state or none", () => {
    const inputRequests = { a: { method: "roots/list" } };
    expect(readCallAnswer({ resultType: "input_required", inputRequests, requestState: " s " })).toEqual({
      kind: "input_required",
      inputRequests: [["a", { method: "roots/list", params: {} }]],
      requestState: " s ",
    });
    const stateless = readCallAnswer({ resultType: "input_required", inputRequests });
    expect(stateless).not.toHaveProperty("requestState");
    expect(readCallAnswer({ resultType: "input_required", requestState: "" })).toEqual({
      kind: "input_required",
      inputRequests: [],
      requestState: "",
    });
  });

  it("refuses questions that cannot be answered", () => {
    for (const more of [
      {},
      { inputRequests: {} },
      { inputRequests: [] },
      { inputRequests: { a: {} } },
      { requestState: 5 },
      { inputRequests: null },
    ]) {
      refused(() => readCallAnswer({ resultType: "input_required", ...more }));
    }
  });
});

describe("readCompleteAnswer", () => {
  it("F014: a handle in answer to anything but tools/call is refused", () => {
    for (const what of ["tools/list", "resources/read", "tasks/update"]) {
      const error = refused(() => readCompleteAnswer({ resultType: "task", ...handle }, what));
      expect(error.message).toContain(what);
      expect(error.taskId).toBe("task-0001");
    }
    refused(() => readCompleteAnswer({ resultType: "input_required" }, "tools/list"));
    refused(() => readCompleteAnswer(null as unknown as JsonObject, "tools/list"));
  });

  it("F031: acknowledgements may carry a task", () => {
    for (const ack of [
      {},
      { resultType: "complete", status: "completed" },
      { resultType: "complete", task: handle },
      { ...handle },
    ]) {
      expect(readCompleteAnswer(ack, "tasks/cancel")).toBe(ack);
    }
  });
});
