/** Owns what the demo proves: what must have been seen, and the words for it. Pure. */
import type { LogEntry } from "mcp-taskrail/testing";
import { printable } from "../printable.js";
import { CALLS } from "./protocol.js";

/** What was seen from outside. */
export interface Facts {
  /** The server's own log of requests. */
  readonly log: readonly LogEntry[];
  /** Rules of the protocol that requests broke, polling too soon included. */
  readonly violations: readonly string[];
  /** The tasks that the second worker found in the store. */
  readonly resumed: readonly string[];
  readonly restarts: number;
  readonly prompts: number;
  readonly approved: boolean;
  readonly results: ReadonlyMap<string, string>;
  readonly trouble: readonly string[];
  readonly isDone: boolean;
}

/** The closing lines. */
export function summary(facts: Facts): string[] {
  const { log, results, restarts, prompts, violations } = facts;
  const proved = (fact: string, meaning: string): string => `  ${fact.padEnd(17)} ${meaning}`;
  return [
    "",
    "Results",
    ...CALLS.map(({ name }) => `  ${name.padEnd(17)} ${printable(results.get(name) ?? "none", 60)}`),
    "",
    "What this proved (calls and polls as the server counted them)",
    proved(
      `calls sent: ${count(log, "tools/call")}`,
      "both workers made the same three; none was sent twice",
    ),
    proved(`prompts shown: ${prompts}`, `tasks/update sent: ${count(log, "tasks/update")}`),
    proved(
      `polls: ${count(log, "tasks/get")}`,
      `rules of the protocol broken, pace included: ${violations.length}`,
    ),
    proved(`restarts: ${restarts}`, `by SIGKILL; ${facts.resumed.length} tasks resumed from lmdb`),
  ];
}

/** What is not as it must be; empty when all is well. */
export function failures(facts: Facts): string[] {
  const { log } = facts;
  const expected: Readonly<Record<string, string>> = {
    report: "report of 14 steps",
    deploy: facts.approved ? "deployed to prod" : "not deployed to prod",
    crawl: "read 24 pages",
  };
  return [
    ...CALLS.flatMap(({ name }) =>
      facts.results.get(name) === expected[name] ? [] : [`the result of ${name} is not "${expected[name]}"`],
    ),
    ...unless(count(log, "tools/call") === CALLS.length, "a tool was not called exactly once"),
    ...unless(count(log, "tasks/update") === 1, "the answer was not sent exactly once"),
    ...unless(facts.prompts === 1, "the person was not asked exactly once"),
    ...unless(facts.restarts === 1, "the worker was not restarted exactly once"),
    ...unless(facts.resumed.length === CALLS.length, "not every task was found in the store"),
    ...unless(facts.violations.length === 0, `the server complains: ${facts.violations.join(", ")}`),
    ...unless(facts.trouble.length === 0, "the worker reported errors"),
    ...unless(facts.isDone, "the worker did not finish"),
  ];
}

function count(log: readonly LogEntry[], method: string): number {
  return log.filter((entry) => entry.method === method).length;
}

function unless(holds: boolean, complaint: string): string[] {
  return holds ? [] : [complaint];
}
