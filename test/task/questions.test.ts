/** What becomes of questions as snapshots come in. */
import { describe, expect, test } from "vitest";
import type { InputRequestEntry } from "../../src/protocol/index.js";
import { MAX_OPEN_QUESTIONS, reconcileQuestions, unsentKeys } from "../../src/task/questions.js";
import type { Question } from "../../src/task/record.js";
import { NOW, question } from "./records.js";

const GRACE_MS = 10_000;
const entry = (key: string): InputRequestEntry => [key, { method: "roots/list", params: {} }];

function reconcile(
  kept: readonly Question[],
  keys: readonly string[],
  nowMs = NOW,
  digest = (key: string) => `digest-${key}`,
) {
  return reconcileQuestions(kept, keys.map(entry), {
    digests: new Map(keys.map((key) => [key, digest(key)])),
    nowMs,
    policy: { answerGraceMs: GRACE_MS },
  });
}

describe("reconcileQuestions", () => {
  test("a new key opens a question; the same one in later snapshots is the same object", () => {
    const first = reconcile([], ["a"]).questions;
    expect(first).toMatchObject([{ key: "a", state: "open", askedAtMs: NOW, digest: "digest-a" }]);
    const again = reconcile(first, ["a", "b"], NOW + 1000).questions;
    expect(again[0]).toBe(first[0]);
    expect(again[1]).toMatchObject({ key: "b", askedAtMs: NOW + 1000 });
  });

  test("an open question whose request changed is asked anew; the person must see what is really asked", () => {
    const { questions } = reconcile([question("a")], ["a"], NOW, () => "changed");
    expect(questions).toMatchObject([{ key: "a", state: "open", digest: "changed", askedAtMs: NOW }]);
  });

  test("an unanswered key that disappears is forgotten; an answered one leaves its key, and nothing of the answer", () => {
    const given = question("b", { state: "acked", response: { roots: [] }, answeredAtMs: NOW - 5 });
    const { questions } = reconcile([question("a"), given], []);
    expect(questions).toEqual([
      {
        key: "b",
        method: "roots/list",
        digest: "digest-b",
        askedAtMs: NOW - 500,
        state: "closed",
        answeredAtMs: NOW - 5,
      },
    ]);
  });

  test("a closed key stays as it is, whatever the server shows", () => {
    const kept = question("a", { state: "closed" });
    expect(reconcile([kept], ["a"], NOW + 1e9, () => "changed")).toEqual({ questions: [kept], notices: [] });
  });

  test("a refused key waits for another answer, to what the server asks under it now", () => {
    const kept = question("a", { state: "refused", response: { roots: [] }, answeredAtMs: NOW });
    expect(reconcile([kept], ["a"], NOW + 1e9)).toEqual({ questions: [kept], notices: [] });
    const changed = reconcile([kept], ["a"], NOW + 1, () => "changed").questions;
    expect(changed).toMatchObject([{ state: "open", digest: "changed", askedAtMs: NOW + 1 }]);
  });

  test("an answer whose request changed before it was sent is not sent, and that is reported", () => {
    const kept = question("a", { state: "answered", response: { roots: [] } });
    const { questions, notices } = reconcile([kept], ["a"], NOW, () => "changed");
    // The person sees what is really asked.
    expect(questions).toMatchObject([{ state: "open", digest: "changed" }]);
    expect(questions[0]).not.toHaveProperty("response");
    expect(notices).toEqual([{ key: "a", what: "changed-after-answer" }]);
  });

  test("F127: an acknowledgement proves nothing: sent once more after the grace time, then reported once", () => {
    let kept: readonly Question[] = [
      question("a", { state: "acked", response: { roots: [] }, ackedAtMs: NOW }),
    ];
    expect(reconcile(kept, ["a"], NOW + GRACE_MS - 1).questions).toEqual(kept);
    kept = reconcile(kept, ["a"], NOW + GRACE_MS).questions;
    expect(kept).toMatchObject([{ state: "answered", resent: 1 }]);
    expect(unsentKeys(kept)).toEqual(["a"]);
    kept = [{ ...kept[0]!, state: "acked", ackedAtMs: NOW + GRACE_MS }];
    const late = reconcile(kept, ["a"], NOW + 3 * GRACE_MS);
    expect(late).toMatchObject({
      questions: [{ state: "acked", reported: true }],
      notices: [{ what: "not-taken" }],
    });
    expect(reconcile(late.questions, ["a"], NOW + 9 * GRACE_MS).notices).toEqual([]);
  });

  test("an acknowledged answer is never sent to another request under its key", () => {
    const kept = question("a", { state: "acked", response: { roots: [] }, ackedAtMs: NOW });
    const late = reconcile([kept], ["a"], NOW + 5 * GRACE_MS, () => "changed");
    expect(late).toMatchObject({
      questions: [{ state: "acked" }],
      notices: [{ what: "changed-after-answer" }],
    });
    expect(reconcile(late.questions, ["a"], NOW + 9 * GRACE_MS, () => "changed").notices).toEqual([]);
  });

  test("a wall clock that went back only makes us wait longer", () => {
    const kept = [question("a", { state: "acked", ackedAtMs: NOW })];
    expect(reconcile(kept, ["a"], NOW - 1e9).questions).toEqual(kept);
  });

  test("F178: more open questions than anybody can answer are left for later", () => {
    const keys = Array.from({ length: MAX_OPEN_QUESTIONS }, (_, i) => `k${i}`);
    const { questions, notices } = reconcile([], [...keys, "one more", "and more"]);
    expect(questions).toHaveLength(MAX_OPEN_QUESTIONS);
    expect(notices).toEqual([{ key: "one more", what: "too-many" }]);
    const answered = questions.map((one, i) => (i === 0 ? { ...one, state: "acked" as const } : one));
    const next = reconcile(answered, [...keys.slice(1), "one more"]).questions;
    expect(next.at(-1)).toMatchObject({ key: "one more", state: "open" });
  });

  test("a key that a snapshot shows twice is one question", () => {
    expect(reconcile([], ["a", "a"]).questions).toHaveLength(1);
  });
});
