/**
 * The soak run: `npm run soak -- [--tasks 10000] [--minutes 10] [--seed 1] [--out docs/soak.svg]`.
 * Prints a summary in Markdown and writes the picture; ends with 1 where a criterion fails.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { judge } from "./judge.js";
import { picture } from "./picture.js";
import { soak } from "./run.js";
import { summary } from "./summary.js";

const { values } = parseArgs({
  options: {
    tasks: { type: "string", default: "10000" },
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    out: { type: "string" },
  },
});
const tasks = Number(values.tasks);
const runMs = Number(values.minutes) * 60_000;
if (!(tasks > 0 && runMs > 0)) throw new TypeError("--tasks and --minutes: positive numbers");
// A tenth of the tasks is live at a time, and the last ones end with the run.
const meanLifeMs = runMs / 12;
const arrivalMs = runMs - 1.8 * meanLifeMs;
const evidence = await soak({
  seed: Number(values.seed),
  tasks,
  arrivalMs,
  minLifeMs: meanLifeMs * 0.4,
  maxLifeMs: meanLifeMs * 1.6,
  sampleMs: Math.max(1000, runMs / 120),
  servers: ["north", "east", "south", "west"],
  pollIntervalMs: Math.max(500, meanLifeMs / 12),
  chaos: { everyMs: runMs / 300, restartEveryMs: runMs / 8, downMs: runMs / 400 },
  limitMs: runMs * 2 + 60_000,
  onSample: ({ atMs, live, heapBytes, delivered, delay }) =>
    console.error(
      `${Math.round(atMs / 1000)} s: ${live} live, ${delivered} delivered, ` +
        `${(heapBytes / 1024 / 1024).toFixed(1)} MiB, p99 ${delay.p99.toFixed(0)} ms`,
    ),
});
const verdict = judge(evidence, { curves: true });
console.log(summary(evidence, verdict));
if (values.out !== undefined) {
  const caption = `${tasks} tasks with chaos in ${values.minutes} min, in one host process`;
  writeFileSync(values.out, picture(evidence.samples, caption));
}
process.exitCode = verdict.wrong.length > 0 ? 1 : 0;
