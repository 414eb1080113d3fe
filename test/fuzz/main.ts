/** Owns `npm run fuzz -- --inputs N [--seed S] [--target T] [--path P]`: the table of all targets. Exits with 1 on a finding. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { closeShared } from "./publicTargets.js";
import { fuzz, oneSided, shares, targets, type TargetReport } from "./runner.js";
import { startWatchdog } from "./watchdog.js";

function argument(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** What is left after the garbage is gone. */
function heapMb(): number {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
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
const reports: (TargetReport & { grownMb: number })[] = [];
for (const [target, share] of shares(chosen, inputs)) {
  const before = heapMb();
  const report = await fuzz(target, { inputs: share, seed, watchdog, ...(path !== undefined && { path }) });
  reports.push({ ...report, grownMb: heapMb() - before });
}
await closeShared();
await watchdog.stop();

console.log(`Seed ${seed}\n`);
console.log("| target | inputs | accepted | refused | slowest input (ms) | heap growth (MB) | findings |");
console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
for (const { target, inputs: ran, accepted, refused, slowestMs, grownMb, failures } of reports) {
  const cells = [target, ran, accepted, refused, slowestMs.toFixed(1), grownMb.toFixed(1), failures.length];
  console.log(`| ${cells.join(" | ")} |`);
}
const total = reports.reduce((sum, report) => sum + report.inputs, 0);
const failures = reports.flatMap((report) => report.failures);
const lopsided = path === undefined ? reports.filter(oneSided) : [];
const seconds = Math.round((performance.now() - began) / 1000);
console.log(
  `\n${total} inputs in ${seconds} s, ${failures.length} findings, ${stray.length} unhandled rejections.`,
);
for (const { target } of lopsided) console.log(`PROVES NOTHING: ${target} took, or refused, everything.`);
for (const { target, what, input, again } of failures) {
  console.log(`\nFINDING in ${target}:`, what, `\ninput: ${input}\nagain: ${again}`);
}
for (const reason of stray.slice(0, 5)) console.log("UNHANDLED:", reason);
process.exit(failures.length + lopsided.length + stray.length === 0 ? 0 : 1);
