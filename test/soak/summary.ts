/** Owns the summary of a soak run, in Markdown. */
import type { SoakVerdict } from "./judge.js";
import type { Sample } from "./plan.js";
import type { SoakEvidence } from "./run.js";

/** The numbers, and what is wrong. */
export function summary(evidence: SoakEvidence, verdict: SoakVerdict): string {
  const { samples, end, plan } = evidence;
  const { steady } = verdict;
  const rows: (readonly [string, string])[] = [
    ["tasks called", `${plan.tasks}`],
    ["faults, server kills", `${evidence.faults}, ${evidence.kills.length / 2}`],
    ["outcomes", named(verdict.outcomes)],
    ["rejected at once, certainly not executed", `${verdict.notRun}`],
    ["delivered more than once", `${verdict.deliveredTwice}`],
    ["questions shown, shown twice", `${end?.asked ?? "?"}, ${end?.repeatedQuestions ?? "?"}`],
    ["live tasks while steady (min, mean, max)", spread(steady, ({ live }) => live)],
    ["heap after GC while steady, MiB (min, mean, max)", spread(steady, ({ heapBytes }) => heapBytes / MIB)],
    [
      "heap growth over the second half of that, by a straight line",
      `${(verdict.growthBytes / MIB).toFixed(2)} MiB`,
    ],
    [
      "heap after GC before the first call, after close()",
      end === undefined
        ? "?"
        : `${(end.heapBeforeBytes / MIB).toFixed(1)}, ${(end.heapAfterBytes / MIB).toFixed(1)} MiB`,
    ],
    ["event-loop delay p50, ms (min, mean, max of samples)", spread(samples, ({ delay }) => delay.p50)],
    ["event-loop delay p99, ms (min, mean, max of samples)", spread(samples, ({ delay }) => delay.p99)],
    ["event-loop delay, worst, ms", Math.max(...samples.map(({ delay }) => delay.max)).toFixed(0)],
    [
      "listeners on the host's one signal (most, at the end)",
      `${Math.max(...samples.map(({ listeners }) => listeners))}, ${end?.listenersAfter ?? "?"}`,
    ],
    [
      "timers that keep the process alive (before, after)",
      `${end?.timersBefore ?? "?"}, ${end?.timersAfter ?? "?"}`,
    ],
    ["process warnings", `${end?.warnings.length ?? "?"}`],
    ["requests, store writes", `${samples.at(-1)?.requests ?? 0}, ${samples.at(-1)?.storeWrites ?? 0}`],
    ["polls saved by push", `${JSON.stringify(end?.stats["pollsSavedByPush"] ?? "?")}`],
    ["error events", named(end?.errors ?? {})],
    ["rules of the wire broken", named(evidence.violations)],
  ];
  return [
    "| soak | |",
    "| --- | --- |",
    ...rows.map(([name, value]) => `| ${name} | ${value} |`),
    "",
    "Wrong:",
    "",
    ...(verdict.wrong.length === 0 ? ["Nothing."] : verdict.wrong.map((line) => `- ${line}`)),
    "",
  ].join("\n");
}

const MIB = 1024 * 1024;

function named(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  return parts.length === 0 ? "none" : parts.join(", ");
}

function spread(samples: readonly Sample[], of: (sample: Sample) => number): string {
  if (samples.length === 0) return "none";
  const values = samples.map(of);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return [Math.min(...values), mean, Math.max(...values)].map((value) => Number(value.toFixed(1))).join(", ");
}
