/**
 * Owns the command: `npm run sim -- --seeds N [--from S] [--workers K]` runs N worlds; `--seed S` runs one again, with
 * `--trace [LINES]` to see it whole, and `--calls`, `--hosts`, `--without` to leave parts of it out.
 */
import { parseArgs } from "node:util";
import { bundle } from "./bundle.js";
import { FAULT_KINDS, OUTCOME_KINDS, type FaultKind } from "./faults.js";
import { createPool, type Pool } from "./pool.js";
import { addTo, emptyTotals, failureText, missingIn, summaryOf, tableOf, type Totals } from "./report.js";
import type { Omission } from "./scenario.js";
import { shrink } from "./shrink.js";

/** Where so many seeds never bring something about, the simulation is wrong. */
const ENOUGH_SEEDS = 1500;
/** After so many failures the rest would only cost time. */
const MAX_FAILURES = 25;
const MAX_SHOWN = 3;

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "200" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    workers: { type: "string", default: "2" },
    without: { type: "string" },
    calls: { type: "string" },
    hosts: { type: "string" },
    trace: { type: "boolean", default: false },
    lines: { type: "string" },
    quick: { type: "boolean", default: false },
  },
});

const omit: Omission = {
  ...(values.without !== undefined && { without: values.without.split(",") as FaultKind[] }),
  ...(values.calls !== undefined && { calls: numbers(values.calls) }),
  ...(values.hosts !== undefined && { hosts: numbers(values.hosts) }),
};

const isOne = values.seed !== undefined;
const pool = createPool(await bundle("main"), isOne ? 1 : Number(values.workers), { stacks: isOne });
try {
  process.exitCode = isOne ? await one(Number(values.seed)) : await many();
} finally {
  pool.close();
}

async function one(seed: number): Promise<number> {
  const lines = Number(values.lines ?? (values.trace ? 20_000 : 80));
  const answer = await pool.run({ seed, omit, lines, always: values.trace });
  console.log(answer.trace.join("\n"));
  console.log(answer.violation?.detail ?? "no promise broken");
  console.log(`seed ${seed}: ${answer.steps} steps, ${answer.virtualMs} virtual ms, trace ${answer.hash}`);
  return answer.violation === undefined ? 0 : 1;
}

async function many(): Promise<number> {
  const begun = performance.now();
  const totals = await runAll(pool, { from: Number(values.from), seeds: Number(values.seeds) });
  const seconds = (performance.now() - begun) / 1000;
  if (!values.quick) {
    console.log(tableOf("fault", FAULT_KINDS, totals));
    console.log(`\n${tableOf("outcome", OUTCOME_KINDS, totals)}\n`);
  }
  await showFailures(totals);
  const missing = totals.seeds >= ENOUGH_SEEDS ? missingIn(totals) : [];
  if (missing.length > 0) console.log(`never happened: ${missing.join(", ")}`);
  console.log(summaryOf(totals, seconds));
  return totals.failures.length + missing.length === 0 ? 0 : 1;
}

async function runAll(workers: Pool, { from, seeds }: { from: number; seeds: number }): Promise<Totals> {
  const totals = emptyTotals();
  let next = from;
  const lane = async (): Promise<void> => {
    while (next < from + seeds && totals.failures.length < MAX_FAILURES) {
      const seed = next;
      next += 1;
      addTo(totals, await workers.run({ seed, omit, lines: 80 }));
    }
  };
  await Promise.all(Array.from({ length: workers.size }, lane));
  return totals;
}

async function showFailures({ failures }: Totals): Promise<void> {
  const byName = new Map<string, typeof failures>();
  for (const failure of failures) {
    const name = failure.violation?.invariant ?? "";
    byName.set(name, [...(byName.get(name) ?? []), failure]);
  }
  for (const [name, all] of byName) {
    console.log(
      `${all.length} x ${name}: seeds ${all
        .map(({ seed }) => seed)
        .sort((a, b) => a - b)
        .join(", ")}`,
    );
  }
  if (values.quick) return;
  for (const [first] of [...byName.values()].slice(0, MAX_SHOWN)) {
    if (first === undefined) continue;
    const shrunk = await shrink(first, omit, (request) => pool.run(request));
    console.log(`\n${failureText(first, shrunk, Number(values.lines ?? 60))}\n`);
  }
}

function numbers(list: string): number[] {
  return list.split(",").map(Number);
}
