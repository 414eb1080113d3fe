/** Reading stored records: what is broken is named, never thrown, and never quoted. */
import { describe, expect, test } from "vitest";
import { RECORD_VERSION, readRecord, writeRecord, type TaskRecord } from "../../src/task/record.js";
import { PHASES, question, record } from "./records.js";

const text = (change: Record<string, unknown>): string =>
  JSON.stringify({ ...record("tracking"), ...change });

describe("readRecord", () => {
  test.each(PHASES)("reads what was written: %s", (phase) => {
    const written = record(phase, { context: { chat: [1, null, "x"] } });
    expect(readRecord(writeRecord(written))).toEqual({ ok: true, record: written });
  });

  test("F107: what is no record is corrupt: named, not thrown", () => {
    const broken = [
      undefined,
      null,
      7,
      {},
      "",
      "\0\0\0\0",
      writeRecord(record("tracking")).slice(0, -20),
      "[]",
      "null",
      '"text"',
      "{}",
      text({ v: "1" }),
      text({ v: 0 }),
      text({ v: -1 }),
      text({ v: 0.5 }),
      text({ phase: "done" }),
      text({ id: "" }),
      text({ taskId: 7 }),
      text({ questions: {} }),
      text({ questions: [{ key: "k" }] }),
      text({ outcome: { status: "completed" } }),
      text({ receivedAtMs: "yesterday" }),
    ];
    for (const value of broken) expect(readRecord(value)).toMatchObject({ ok: false, kind: "corrupt" });
  });

  test("F118: a newer version is left alone", () => {
    expect(readRecord(text({ v: RECORD_VERSION + 1, phase: "some new one" }))).toMatchObject({
      ok: false,
      kind: "newer-version",
    });
  });

  test("a version that is no number ends in an answer, not in a loop", () => {
    for (const v of ["1e999", "-1e999", "NaN"]) {
      expect(readRecord(`{"v":${v}}`).ok).toBe(false);
    }
  });

  test("messages quote nothing of the text", () => {
    const values = [text({ taskId: 7, context: "secret" }), '{"v":1,"id":"secret', text({ phase: "secret" })];
    for (const value of values) {
      const read = readRecord(value);
      expect(read.ok ? "" : read.message).not.toContain("secret");
    }
  });

  test("F176: keys such as __proto__ survive as what they are, and change nothing else", () => {
    const raw = text({ context: "C", snapshot: "S" })
      .replace('"C"', '{"__proto__":{"polluted":true},"constructor":1}')
      .replace('"S"', '{"taskId":"t","status":"working","ttlMs":null,"__proto__":{"polluted":true}}');
    const read = readRecord(raw);
    expect(read.ok).toBe(true);
    const kept = (read as { record: TaskRecord }).record;
    expect(Object.keys(kept.context as object)).toEqual(["__proto__", "constructor"]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect((kept.snapshot as { polluted?: unknown }).polluted).toBeUndefined();
    const asked = record("tracking", { questions: [question("__proto__"), question("constructor")] });
    expect(readRecord(writeRecord(asked))).toEqual({ ok: true, record: asked });
  });

  test("long and odd ids go through unchanged", () => {
    for (const taskId of ["x".repeat(10_240), "tâsk", " x", "x\r\ny", "\ud800", "a:b", "../x"]) {
      const read = readRecord(writeRecord(record("tracking", { taskId })));
      expect(read).toMatchObject({ ok: true, record: { taskId } });
    }
  });

  test("members of later releases within one version are dropped, those of the server's snapshot are kept", () => {
    const read = readRecord(
      text({ later: 1, snapshot: { taskId: "t", status: "working", ttlMs: null, color: "red" } }),
    );
    expect(read).toMatchObject({ ok: true, record: { snapshot: { color: "red" } } });
    expect((read as { record: object }).record).not.toHaveProperty("later");
  });
});
