/** Owns what must be true of a soak run, and its numbers. From the evidence alone. */
import type { LogEntry } from "../../src/testing/index.js";
import { callOf, type Delivered, type Sample } from "./plan.js";
import type { SoakEvidence } from "./run.js";

/** A run in numbers, and what is wrong with it: none where all held. */
export interface SoakVerdict {
  readonly outcomes: Readonly<Record<string, number>>;
  readonly deliveredTwice: number;
  /** Rejected at once, certainly not executed. */
  readonly notRun: number;
  /** While about the same number of tasks is live. */
  readonly steady: readonly Sample[];
  /** By which the heap grew in the second half of that, by a straight line through the samples. In bytes. */
  readonly growthBytes: number;
  readonly wrong: readonly string[];
}

/** A process must be called a leak's if its heap grows by more than this, or a tenth, in the second half. */
const GROWTH_BYTES = 3 * 1024 * 1024;
/** What code that ran for the first time, caches and lmdb keep for good. */
const KEPT_BYTES = 12 * 1024 * 1024;
/** Around a server's death, what the log says may not be what the client has read. */
const NEAR_KILL_MS = 6000;
const MOST_SHOWN = 20;

/** Judges it. `curves`: whether it was long enough for a slope. */
export function judge(evidence: SoakEvidence, { curves }: { readonly curves: boolean }): SoakVerdict {
  const { plan, samples, end } = evidence;
  const wrong: string[] = [];
  const byCall = new Map<number, Delivered[]>();
  for (const one of evidence.deliveries) byCall.set(one.number, [...(byCall.get(one.number) ?? []), one]);
  const rejected = new Map(evidence.rejected.map(({ number, code }) => [number, code]));
  const outcomes: Record<string, number> = {};
  let notRun = 0;
  for (let number = 0; number < plan.tasks; number += 1) {
    const delivered = byCall.get(number) ?? [];
    const [first] = delivered;
    const ran = runsOf(evidence.calls.get(number) ?? []);
    if (first === undefined) {
      if (rejected.has(number) && ran.length === 0) notRun += 1;
      else wrong.push(`call ${number}: never delivered (${rejected.get(number) ?? "not rejected"})`);
      continue;
    }
    const name = first.reason ?? first.status;
    outcomes[name] = (outcomes[name] ?? 0) + 1;
    for (const line of wrongOf(evidence, number, delivered)) wrong.push(`call ${number}: ${line}`);
  }
  if (evidence.conflicts > 0) wrong.push(`${evidence.conflicts} questions got two different answers`);
  for (const [rule, count] of Object.entries(evidence.violations)) {
    wrong.push(`rule of the wire broken ${count} times: ${rule}`);
  }
  if (end === undefined) wrong.push(`the host did not come to its end: ${evidence.stderr.slice(-2000)}`);
  else wrong.push(...ends(end));
  const steady = samples.filter(
    ({ atMs }) => atMs > plan.maxLifeMs && atMs < plan.arrivalMs && atMs > plan.arrivalMs * 0.1,
  );
  const half = steady.slice(Math.floor(steady.length / 2));
  const growthBytes = slope(half) * ((half.at(-1)?.atMs ?? 0) - (half[0]?.atMs ?? 0));
  const mean = half.reduce((sum, { heapBytes }) => sum + heapBytes, 0) / Math.max(half.length, 1);
  if (curves && growthBytes > GROWTH_BYTES && growthBytes > mean / 10) {
    wrong.push(`the heap grew by ${Math.round(growthBytes / 1024)} KiB while the load was steady`);
  }
  const shown =
    wrong.length > MOST_SHOWN ? [...wrong.slice(0, MOST_SHOWN), `… ${wrong.length} in all`] : wrong;
  return {
    outcomes,
    deliveredTwice: [...byCall.values()].filter(({ length }) => length > 1).length,
    notRun,
    steady,
    growthBytes,
    wrong: shown,
  };
}

function ends(end: NonNullable<SoakEvidence["end"]>): string[] {
  const wrong: string[] = [];
  for (const warning of end.warnings) wrong.push(`the process was warned: ${warning}`);
  if (end.listenersAfter > 0) wrong.push(`${end.listenersAfter} listeners stayed on the host's signal`);
  if (end.timersAfter > end.timersBefore) {
    wrong.push(`${end.timersAfter - end.timersBefore} timers stayed after close()`);
  }
  if (end.repeatedQuestions > 0) wrong.push(`${end.repeatedQuestions} questions were shown twice`);
  if (end.heapAfterBytes - end.heapBeforeBytes > KEPT_BYTES) {
    wrong.push(`the heap is larger by ${Math.round((end.heapAfterBytes - end.heapBeforeBytes) / 1024)} KiB`);
  }
  return wrong;
}

function wrongOf(evidence: SoakEvidence, number: number, delivered: readonly Delivered[]): string[] {
  const { expected, tool } = callOf(evidence.plan, number);
  const wrong: string[] = [];
  const entries = evidence.calls.get(number) ?? [];
  const ran = runsOf(entries);
  const rounds = new Set(ran.map(({ params }) => JSON.stringify(params["requestState"] ?? null)));
  if (rounds.size !== ran.length) wrong.push("executed twice");
  if (ran.length > (tool === "round_trip" ? 3 : 1)) wrong.push(`executed ${ran.length} times`);
  const [first, ...again] = delivered;
  if (first === undefined) return wrong;
  if (again.some((other) => JSON.stringify(other) !== JSON.stringify(first))) {
    wrong.push("delivered with two outcomes");
  }
  if (first.status === "lost" && first.reason === "call-outcome-unknown") {
    if (!mayBeUnknown(evidence, entries)) wrong.push("its outcome was known, but is said to be unknown");
    return wrong;
  }
  const fits =
    first.status === expected.status &&
    // Where the handle came late, the server's time is over before ours: then it is "unknown" that it is gone.
    (first.reason === expected.reason || (expected.reason === "expired" && first.reason === "unknown")) &&
    expected.contains.every((text) => first.outcome.includes(text));
  if (!fits) wrong.push(`${tool} was delivered as ${JSON.stringify(first).slice(0, 300)}`);
  return wrong;
}

/** A fault hit the call, or its server died about then. */
function mayBeUnknown({ kills }: SoakEvidence, entries: readonly LogEntry[]): boolean {
  const last = entries.at(-1);
  if (last === undefined || last.answer.startsWith("fault:")) return true;
  // A round was asked for, and the request of the next one reached nobody: a server that was down logs nothing.
  if (last.answer === "input_required") return true;
  return kills.some((atMs) => Math.abs(atMs - last.atMs) < NEAR_KILL_MS);
}

function runsOf(entries: readonly LogEntry[]): LogEntry[] {
  return entries.filter(({ processed }) => processed);
}

/** Least squares, in bytes per millisecond. */
function slope(samples: readonly Sample[]): number {
  const count = samples.length;
  if (count < 3) return 0;
  const meanX = samples.reduce((sum, { atMs }) => sum + atMs, 0) / count;
  const meanY = samples.reduce((sum, { heapBytes }) => sum + heapBytes, 0) / count;
  const over = samples.reduce((sum, { atMs, heapBytes }) => sum + (atMs - meanX) * (heapBytes - meanY), 0);
  const under = samples.reduce((sum, { atMs }) => sum + (atMs - meanX) ** 2, 0);
  return under === 0 ? 0 : over / under;
}
