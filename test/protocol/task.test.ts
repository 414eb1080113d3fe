/** Tasks are read tolerantly, but never without their identity. */
import { describe, expect, it } from "vitest";
import { InvalidResponseError } from "../../src/errors.js";
import { MAX_INPUT_REQUESTS, readTaskAnswer, readTaskSnapshot } from "../../src/protocol/index.js";

const task = {
  taskId: "task-0001",
  status: "working",
  createdAt: "2026-07-28T10:30:00Z",
  lastUpdatedAt: "2026-07-28T10:30:01Z",
  ttlMs: 60_000,
};

function thrown(run: () => unknown): InvalidResponseError {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidResponseError);
    return error as InvalidResponseError;
  }
  throw new Error("expected an error");
}

describe("readTaskSnapshot", () => {
  it("reads a whole task, without warnings", () => {
    expect(readTaskSnapshot({ ...task, statusMessage: "half", pollIntervalMs: 500 })).toEqual({
      ...task,
      statusMessage: "half",
      pollIntervalMs: 500,
      warnings: [],
    });
  });

  it("F016: keeps unknown keys and _meta, and timestamps as they are", () => {
    const raw = {
      ...task,
      createdAt: "20251125T103000Z",
      lastUpdatedAt: "2025-11-25T10:30:00",
      _meta: { a: 1 },
      one: 1,
      two: [2],
      three: null,
    };
    const snapshot = readTaskSnapshot(raw);
    expect(snapshot).toMatchObject({ createdAt: "20251125T103000Z", lastUpdatedAt: "2025-11-25T10:30:00" });
    expect(snapshot.extra).toEqual({ _meta: { a: 1 }, one: 1, two: [2], three: null });
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
  });

  it("F037, F035: hints that cannot be used are left out with one warning that names the field", () => {
    for (const hint of [NaN, Infinity, "5", null, true, [], {}, 2 ** 53, 0, -1]) {
      const snapshot = readTaskSnapshot({ ...task, pollIntervalMs: hint });
      expect(snapshot).not.toHaveProperty("pollIntervalMs");
      expect(snapshot.warnings).toHaveLength(1);
      expect(snapshot.warnings[0]).toContain("pollIntervalMs");
    }
    for (const ttlMs of [NaN, Infinity, "60000", true, [], 1e18, 0, -1]) {
      const snapshot = readTaskSnapshot({ ...task, ttlMs });
      expect(snapshot).not.toHaveProperty("ttlMs");
      expect(snapshot.warnings).toHaveLength(1);
      expect(snapshot.warnings[0]).toContain("ttlMs");
    }
  });

  it("rounds fractional hints up", () => {
    expect(readTaskSnapshot({ ...task, pollIntervalMs: 0.5, ttlMs: 10.1 })).toMatchObject({
      pollIntervalMs: 1,
      ttlMs: 11,
      warnings: [],
    });
  });

  it("F017: a missing ttlMs is not said, null is unlimited", () => {
    const { ttlMs: _, ...without } = task;
    expect(readTaskSnapshot(without)).toMatchObject({ warnings: [] });
    expect(readTaskSnapshot(without)).not.toHaveProperty("ttlMs");
    expect(readTaskSnapshot({ ...task, ttlMs: null })).toMatchObject({ ttlMs: null, warnings: [] });
  });

  it("keeps an unknown status as text", () => {
    expect(readTaskSnapshot({ ...task, status: "paused" })).toMatchObject({ status: "paused" });
  });

  it("F178: cuts a long status message, never inside a pair", () => {
    expect(readTaskSnapshot({ ...task, statusMessage: "x".repeat(1_000_000) }).statusMessage).toHaveLength(
      8192,
    );
    const { statusMessage } = readTaskSnapshot({ ...task, statusMessage: `x${"🚆".repeat(8192)}` });
    expect(statusMessage).toHaveLength(8191);
  });

  it("leaves out texts that are none", () => {
    const snapshot = readTaskSnapshot({ ...task, statusMessage: 5, createdAt: {}, lastUpdatedAt: null });
    expect(snapshot).not.toHaveProperty("statusMessage");
    expect(snapshot).not.toHaveProperty("createdAt");
    expect(snapshot.warnings.join()).toMatch(/statusMessage.*createdAt/);
  });

  it("F011: whatever else is wrong, the error carries the task id, hidden from logs", () => {
    const error = thrown(() => readTaskSnapshot({ ...task, status: 7 }));
    expect(error.taskId).toBe("task-0001");
    expect(Object.keys(error)).not.toContain("taskId");
    expect(`${error.message}${JSON.stringify(error)}`).not.toContain("task-0001");
  });

  it("refuses what has no usable task id", () => {
    for (const raw of [null, [], "x", {}, { ...task, taskId: "" }, { ...task, taskId: 5 }]) {
      expect(thrown(() => readTaskSnapshot(raw)).taskId).toBeUndefined();
    }
  });
});

describe("payloads by status", () => {
  it("reads the result of completed, isError included, and the error of failed (F029)", () => {
    const result = { content: [], isError: true };
    expect(readTaskSnapshot({ ...task, status: "completed", result })).toMatchObject({ result });
    const error = { code: -32000, message: "m", data: { a: 1 } };
    expect(readTaskSnapshot({ ...task, status: "failed", error })).toMatchObject({ error });
  });

  it("leaves a missing payload out, with a warning", () => {
    for (const [status, field, values] of [
      ["completed", "result", [undefined, null, [], "x"]],
      ["failed", "error", [undefined, null, {}, { code: "1", message: "m" }]],
    ] as const) {
      for (const value of values) {
        const snapshot = readTaskSnapshot({ ...task, status, [field]: value });
        expect(snapshot).not.toHaveProperty(field);
        expect(snapshot.warnings).toHaveLength(1);
        expect(snapshot.warnings[0]).toContain(field);
      }
    }
  });

  it("reads no payload of another status", () => {
    const snapshot = readTaskSnapshot({
      ...task,
      result: {},
      error: { code: 1, message: "" },
      inputRequests: {},
    });
    for (const field of ["result", "error", "inputRequests"]) expect(snapshot).not.toHaveProperty(field);
  });
});

describe("inputRequests", () => {
  const ask = { method: "elicitation/create", params: { message: "?" } };
  const asking = (inputRequests: unknown): ReturnType<typeof readTaskSnapshot> =>
    readTaskSnapshot({ ...task, status: "input_required", inputRequests });

  it("F176: become entries, whatever their keys", () => {
    const raw: unknown = JSON.parse(
      `{"__proto__": ${JSON.stringify(ask)}, "constructor": ${JSON.stringify(ask)}, "a": {"method": "roots/list"}}`,
    );
    expect(asking(raw).inputRequests).toEqual([
      ["__proto__", ask],
      ["constructor", ask],
      ["a", { method: "roots/list", params: {} }],
    ]);
    expect(({} as Record<string, unknown>)["method"]).toBeUndefined();
  });

  it("F178: are limited", () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, ask]));
    const snapshot = asking(many);
    expect(snapshot.inputRequests).toHaveLength(MAX_INPUT_REQUESTS);
    expect(snapshot.warnings).toHaveLength(1);
  });

  it("are left out with a warning when unusable, and without one when not said", () => {
    expect(asking(undefined)).toMatchObject({ warnings: [] });
    expect(asking(undefined)).not.toHaveProperty("inputRequests");
    expect(asking([]).warnings).toHaveLength(1);
    const some = asking({ a: ask, b: null, c: {}, d: { method: "x", params: [] } });
    expect(some.inputRequests).toEqual([["a", ask]]);
    expect(some.warnings).toHaveLength(3);
  });
});

describe("readTaskAnswer", () => {
  it("takes resultType complete, task or none, flat or nested", () => {
    for (const resultType of [undefined, "complete", "task"]) {
      expect(readTaskAnswer({ ...task, resultType }, "task-0001")).toMatchObject({ taskId: "task-0001" });
      expect(readTaskAnswer({ resultType, task }, "task-0001")).toMatchObject({ status: "working" });
    }
    expect(
      readTaskAnswer({ task: { ...task, status: "completed" }, result: { content: [] } }, "task-0001"),
    ).toMatchObject({ result: { content: [] } });
  });

  it("refuses other result types, and the state of another task without naming either", () => {
    thrown(() => readTaskAnswer({ ...task, resultType: "input_required" }, "task-0001"));
    const { message } = thrown(() => readTaskAnswer(task, "task-0002"));
    expect(message).not.toMatch(/task-000/);
  });
});
