/** Owns what a run's evidence says: from the server's log, the store and the worker's trace. */
import { isObject } from "../../src/internal/json.js";
import type { LogEntry } from "../../src/testing/index.js";
import type { Expected } from "./moments.js";
import type { Evidence, Life } from "./run.js";

/** What the run must come to, from what each killed life left in the store. */
export function expectedOf({ lives, moment }: Evidence): Expected {
  const killed = lives.filter(({ killAt }) => killAt !== undefined);
  const left = killed.map(leftBehind);
  if (left.includes("in flight")) return "unknown";
  if (left.every((one) => one === "nothing") && !moment.replay) return "never";
  return "once";
}

/** in flight: the intent is journaled, no answer is. */
function leftBehind({ records }: Life): "nothing" | "in flight" | "known" {
  const [record] = records;
  if (record === undefined) return "nothing";
  // Another process may have been there already, and found that nobody can know.
  if (record.outcome?.status === "lost" && record.outcome.reason === "call-outcome-unknown")
    return "in flight";
  return record.phase === "calling" && record.call?.inFlight === true ? "in flight" : "known";
}

/** The `tools/call` requests that the server ran. */
export function callsOf({ log }: Evidence): LogEntry[] {
  return log.filter(({ method, processed }) => method === "tools/call" && processed);
}

/** The ids of the tasks that the server made in this run. */
export function createdTasks(evidence: Evidence): string[] {
  return callsOf(evidence).flatMap(({ answer, taskId }) =>
    answer === "task" && taskId !== undefined ? [taskId] : [],
  );
}

/** By key: the lives in which it was shown, in order. */
export function askedByLife({ trace }: Evidence): Map<string, number[]> {
  const asked = new Map<string, number[]>();
  for (const entry of trace) {
    if (entry.what === "asked") asked.set(entry.key, [...(asked.get(entry.key) ?? []), entry.life]);
  }
  return asked;
}

/** By key: the lives whose value the server took, once per time that it took one. */
export function appliedAnswers(evidence: Evidence): Map<string, number[]> {
  const applied = new Map<string, number[]>();
  const add = (key: string, responses: unknown): void => {
    const value = isObject(responses) ? responses[key] : undefined;
    applied.set(key, [...(applied.get(key) ?? []), lifeOf(value)]);
  };
  for (const { applied: keys = [], params } of evidence.log) {
    for (const key of keys) add(key, params["inputResponses"]);
  }
  // In the multi round trip the answers travel with the next call.
  for (const { params } of callsOf(evidence)) {
    const responses = params["inputResponses"];
    for (const key of Object.keys(isObject(responses) ? responses : {})) add(key, responses);
  }
  return applied;
}

/** Which life gave an answer: its value says so. */
function lifeOf(value: unknown): number {
  const text = JSON.stringify(value);
  const named = /life-(\d+)/.exec(text)?.[1];
  if (named !== undefined) return Number(named);
  return text.includes("small") ? 1 : 2;
}

/** The table: one line per moment. */
export function summary(all: readonly Evidence[]): string {
  const rows = all.map((found) => {
    const [first] = found.deliveries;
    const answers = [...appliedAnswers(found)].map(([key, lives]) => `${key} by life ${lives.join("+")}`);
    return [
      found.moment.name,
      found.moment.replay ? "replays" : "resumes",
      `${callsOf(found).length}`,
      first === undefined ? "none" : (first.reason ?? first.status),
      `${found.deliveries.length}`,
      answers.join(", "),
    ];
  });
  const head = ["moment of the kill", "then", "calls", "outcome", "delivered", "answers"];
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}
