/** Owns what must be true after a crash, whoever saw the call through: the promises, from the evidence alone. */
import { appliedAnswers, askedByLife, callsOf, createdTasks, expectedOf } from "../kill/evidence.js";
import type { Expected } from "../kill/moments.js";
import type { Evidence } from "../kill/run.js";
import type { Crash } from "./crash.js";

/** What a crash came to, and what is wrong with that: a line per broken promise, none where all held. */
export interface Verdict {
  readonly came: Expected;
  readonly wrong: readonly string[];
}

/** Judges it. */
export function judge({ evidence, reached, spec }: Crash): Verdict {
  const came = reached ? cameTo(evidence) : "once";
  const checks = [
    lives(evidence, reached || spec.point === undefined),
    calls(evidence, came),
    deliveries(evidence, came),
    questions(evidence, came),
    records(evidence, came),
  ];
  return { came, wrong: checks.flat() };
}

/**
 * What was left behind decides, unless others were faster than we could look: a standing process may be in the midst of
 * the next round already, and so may a host of another run, which has a crash of its own before it.
 */
function cameTo(evidence: Evidence): Expected {
  const expected = expectedOf(evidence);
  const others = callsOf(evidence).filter(({ headers }) => headers["x-life"] !== `${evidence.callId}/1`);
  const [first] = evidence.deliveries;
  if (first === undefined || others.length === 0) return expected;
  const isUnknown = first.status === "lost" && first.reason === "call-outcome-unknown";
  if (expected === "unknown" && !isUnknown) return "once";
  return expected === "once" && isUnknown && hasStrangers(evidence) ? "unknown" : expected;
}

/** Whether a host of another run saw to the call for a while. */
function hasStrangers({ callId, log }: Evidence): boolean {
  return log.some(
    ({ headers }) =>
      !/^standing\//.test(headers["x-life"] ?? "") && !headers["x-life"]?.startsWith(`${callId}/`),
  );
}

/** Each process ends as it must: killed at its point, or by itself and in silence (F118). */
function lives({ lives: all, trace }: Evidence, reached: boolean): string[] {
  const wrong: string[] = [];
  for (const { life, killAt, ended } of all) {
    if (killAt !== undefined && reached) {
      if (ended.signal !== "SIGKILL") wrong.push(`life ${life} was not killed`);
    } else if (ended.code !== 0 || ended.stderr !== "") {
      wrong.push(`life ${life} ended with ${ended.code ?? ended.signal}: ${ended.stderr.slice(0, 500)}`);
    }
  }
  for (const entry of trace) {
    if (entry.what === "error" || entry.what === "unhandled") {
      wrong.push(`life ${entry.life} reports: ${entry.message}`);
    }
  }
  return wrong;
}

/** Promises 2 and 3: executed once; at most once where nobody can know; a round that was answered is not called again. */
function calls(evidence: Evidence, came: Expected): string[] {
  const wrong: string[] = [];
  const all = callsOf(evidence);
  const { calls: wanted } = evidence.scenario;
  if (came === "never" && all.length > 0) wrong.push(`never journaled, but called ${all.length} times`);
  if (came === "once" && all.length !== wanted) wrong.push(`called ${all.length} times, not ${wanted}`);
  if (came === "unknown") {
    if (all.length > wanted) wrong.push(`called ${all.length} times, more than ${wanted}`);
    // Whoever goes on with a later round does so by a state that is known; the same round again is caught below.
    const last = evidence.lives.at(-1)?.life;
    const again = all.filter(({ headers }) => headers["x-life"] === `${evidence.callId}/${last}`);
    if (again.length > 0 && evidence.scenario.calls === 1) {
      wrong.push("called again by a process that cannot know");
    }
  }
  const states = all.map(({ params }) => JSON.stringify(params["requestState"] ?? null));
  if (new Set(states).size !== all.length) wrong.push("the same round was called twice");
  return wrong;
}

/** Promise 10: delivered at least once by somebody, always the same, and what the server's truth was. */
function deliveries({ deliveries: all, scenario, lives: processes }: Evidence, came: Expected): string[] {
  if (came === "never") return all.length === 0 ? [] : ["delivered, but never called"];
  const [first, ...again] = all;
  if (first === undefined) return ["not delivered"];
  const wrong: string[] = [];
  const shown = (one: typeof first): string => JSON.stringify({ ...one, life: 0 });
  if (again.some((other) => shown(other) !== shown(first))) wrong.push("delivered with two outcomes");
  if (came === "unknown") {
    if (first.status !== "lost" || first.reason !== "call-outcome-unknown") {
      wrong.push(`nobody can know, but it was delivered as ${first.status}`);
    }
  } else if (first.status !== scenario.status || !contains(first, scenario.outcome)) {
    wrong.push(`delivered as ${shown(first)}`);
  }
  const phases = processes.at(-1)?.records.map(({ phase }) => phase);
  if (phases?.join() !== "delivered") wrong.push(`stored as ${phases?.join() || "nothing"}`);
  return wrong;
}

/** Promise 7: shown once per process, by one of those that live, answered once at the server (F131). */
function questions(evidence: Evidence, came: Expected): string[] {
  const wrong: string[] = [];
  const killed = evidence.lives.filter(({ ended }) => ended.signal === "SIGKILL").map(({ life }) => life);
  const asked = askedByLife(evidence);
  for (const [key, lives] of asked) {
    if (new Set(lives).size !== lives.length) wrong.push(`${key} was shown twice by one process`);
    const living = lives.filter((life) => !killed.includes(life));
    if (living.length > 1) wrong.push(`${key} was shown by processes ${living.join(" and ")}`);
  }
  if (evidence.log.some(({ conflicting = [] }) => conflicting.length > 0)) {
    wrong.push("the server got two different answers");
  }
  const applied = appliedAnswers(evidence);
  for (const [key, lives] of applied) {
    if (lives.length !== 1) wrong.push(`${key} was answered ${lives.length} times`);
    const [answerer] = lives;
    const shownBy = asked.get(key) ?? [];
    // Who said "small" or "large" is known by halves only; of the standing ones, not when they were asked.
    const fits = shownBy.some((life) => life > 100)
      ? answerer !== undefined && shownBy.includes(answerer)
      : answerer === shownBy.at(-1);
    if (key !== "size" && !fits && !hasStrangers(evidence))
      wrong.push(`${key} was answered by ${answerer}, shown by ${shownBy.join()}`);
  }
  if (came === "once" && [...applied.keys()].sort().join() !== [...evidence.scenario.keys].sort().join()) {
    wrong.push(`answered: ${[...applied.keys()].join() || "nothing"}`);
  }
  return wrong;
}

/** Promise 1: the handle of every task that the server made is in the store (F113). */
function records(evidence: Evidence, came: Expected): string[] {
  const known = evidence.lives.at(-1)?.records.flatMap(({ taskId }) => taskId ?? []) ?? [];
  const wanted = came === "once" ? createdTasks(evidence) : [];
  return known.join() === wanted.join() ? [] : ["the store does not know the task that the server made"];
}

function contains(value: unknown, part: unknown): boolean {
  if (typeof part !== "object" || part === null) return value === part;
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(part).every(([name, inner]) =>
    contains((value as Readonly<Record<string, unknown>>)[name], inner),
  );
}
