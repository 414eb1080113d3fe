/** Owns what is printed: tables in Markdown, and failures so that they can be run again. */
import { FAULT_KINDS, OUTCOME_KINDS } from "./faults.js";
import { commandOf, type Shrunk } from "./shrink.js";
import type { RunAnswer } from "./worker.js";

/** What a run of many seeds came to. */
export interface Totals {
  seeds: number;
  steps: number;
  virtualMs: number;
  readonly counts: Map<string, number>;
  readonly failures: RunAnswer[];
}

export function emptyTotals(): Totals {
  return { seeds: 0, steps: 0, virtualMs: 0, counts: new Map(), failures: [] };
}

export function addTo(totals: Totals, answer: RunAnswer): void {
  totals.seeds += 1;
  totals.steps += answer.steps;
  totals.virtualMs += answer.virtualMs;
  for (const [what, count] of Object.entries(answer.counts)) {
    totals.counts.set(what, (totals.counts.get(what) ?? 0) + count);
  }
  if (answer.violation !== undefined) totals.failures.push(answer);
}

/** Kinds of faults and outcomes that never happened. */
export function missingIn({ counts }: Totals): string[] {
  return [...FAULT_KINDS, ...OUTCOME_KINDS].filter((kind) => !counts.has(kind));
}

/** How often everything happened. */
export function tableOf(title: string, kinds: readonly string[], { counts }: Totals): string {
  const rows = kinds.map((kind) => `| ${kind} | ${counts.get(kind) ?? 0} |`);
  return [`| ${title} | times |`, "| --- | ---: |", ...rows].join("\n");
}

/** A failure as it was found, and as small as it could be made. */
export function failureText(found: RunAnswer, shrunk: Shrunk, lines: number): string {
  const { answer, omit } = shrunk;
  return [
    `## Seed ${found.seed}: ${found.violation?.detail ?? ""}`,
    "",
    `Whole: \`${commandOf(found.seed, {})}\``,
    `Smaller (${shrunk.runs} runs): \`${commandOf(found.seed, omit)}\``,
    "",
    "```",
    ...answer.trace.slice(-lines),
    "```",
  ].join("\n");
}

/** One line that says it all. */
export function summaryOf(totals: Totals, seconds: number): string {
  const hours = Math.round(totals.virtualMs / 3_600_000);
  const rate = Math.round(totals.steps / Math.max(seconds, 0.001));
  const verdict =
    totals.failures.length === 0 ? "no promise broken" : `${totals.failures.length} seeds FAILED`;
  return `sim: ${totals.seeds} seeds, ${totals.steps} steps (${rate} per second), ${hours} virtual hours in ${seconds.toFixed(1)} s: ${verdict}`;
}
