/** Owns `npm run fuzz -- --inputs N [--seed S] [--target T] [--path P]`: the table of all targets. Exits with 1 on a finding. */
import { MAX_GROWTH_MB } from "./heap.js";
import { fuzz, keepsTooMuch, oneSided, shares, targets, type TargetReport } from "./runner.js";
import { startWatchdog } from "./watchdog.js";

function argument(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

const only = argument("--target");
const path = argument("--path");
const seed = Number(argument("--seed") ?? Date.now() % 1_000_000);
const inputs = Number(argument("--inputs") ?? 100_000);
const chosen = targets.filter(({ name }) => only === undefined || name === only);
if (chosen.length === 0)
  throw new Error(`no target ${String(only)}: ${targets.map(({ name }) => name).join("; ")}`);

const stray: unknown[] = [];
process.on("unhandledRejection", (reason) => stray.push(reason));
const watchdog = startWatchdog();
const began = performance.now();
const reports: TargetReport[] = [];
for (const [target, share] of shares(chosen, inputs))
  reports.push(await fuzz(target, { inputs: share, seed, watchdog, ...(path !== undefined && { path }) }));
await watchdog.stop();

const total = reports.reduce((sum, report) => sum + report.inputs, 0);
const failures = reports.flatMap((report) => report.failures);
const lopsided = path === undefined ? reports.filter(oneSided) : [];
const seconds = Math.round((performance.now() - began) / 1000);
const kept = reports.filter(keepsTooMuch);
const isComplete = only === undefined && path === undefined;
console.log(
  `\`npm run fuzz -- --inputs ${inputs} --seed ${seed}\`${isComplete ? "" : " (a part)"}: ${grouped(total)} inputs, ${seconds} s, ` +
    `${failures.length} findings, ${stray.length} unhandled rejections.\n`,
);
console.log(tableOf(reports));
for (const { target } of lopsided) console.log(`\nPROVES NOTHING: ${target} took, or refused, everything.`);
for (const { target, grownMb } of kept)
  console.log(`\nKEEPS TOO MUCH: ${target} left ${grownMb.toFixed(1)} MB, more than ${MAX_GROWTH_MB}.`);
for (const { target, what, input, again } of failures) {
  console.log(`\nFINDING in ${target}:`, what, `\ninput: ${input}\nagain: ${again}`);
}
for (const reason of stray.slice(0, 5)) console.log("UNHANDLED:", reason);
process.exit(failures.length + lopsided.length + kept.length + stray.length === 0 ? 0 : 1);

/** Markdown as the formatter has it, to be pasted. */
function tableOf(all: readonly TargetReport[]): string {
  const head = [
    "target",
    "inputs",
    "accepted",
    "refused",
    "slowest input (ms)",
    "heap growth (MB)",
    "findings",
  ];
  const rows = all.map(({ target, inputs: ran, accepted, refused, slowestMs, grownMb, failures: found }) =>
    [target, ran, accepted, refused, slowestMs.toFixed(1), grownMb.toFixed(1), found.length].map(String),
  );
  const widths = head.map((title, at) =>
    Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0), title.length),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join(" | ")} |`;
  const rule = widths.map((width, at) => (at === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

function grouped(count: number): string {
  return count.toLocaleString("en-US");
}
