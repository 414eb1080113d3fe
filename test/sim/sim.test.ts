/** The simulation itself: the same seed goes the same way everywhere, its invariants can fail, and failures are made smaller. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test, vi } from "vitest";
import { bundle, replaced } from "./bundle.js";
import { FAULT_KINDS } from "./faults.js";
import { LEASE_MUTANTS, MUTANTS } from "./mutantList.js";
import { createPool, type Pool } from "./pool.js";
import { commandOf, shrink } from "./shrink.js";
import { scenarioOf } from "./scenario.js";
import type { RunAnswer } from "./worker.js";

vi.setConfig({ testTimeout: 120_000 });

const pools: Pool[] = [];
afterAll(() => pools.forEach((pool) => pool.close()));

function poolOver(program: string): Pool {
  const pool = createPool(program, 1);
  pools.push(pool);
  return pool;
}

async function poolOfMutant(name: string): Promise<Pool> {
  const mutant = MUTANTS.find((one) => one.name === name);
  if (mutant === undefined) throw new Error(`no mutant ${name}`);
  return poolOver(await bundle(`test-${MUTANTS.indexOf(mutant)}`, mutant.edits));
}

async function firstFailure(pool: Pool, seeds: number): Promise<RunAnswer> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const answer = await pool.run({ seed, omit: {}, lines: 50 });
    if (answer.violation !== undefined) return answer;
  }
  throw new Error(`nothing broke in ${seeds} seeds`);
}

test("a seed gives the same trace in two processes, whatever ran there before", async () => {
  const program = await bundle("test-sound");
  const [first, second] = [poolOver(program), poolOver(program)];
  const hashes = new Set<string>();
  await first.run({ seed: 12, omit: {}, lines: 1 });
  for (const seed of [7, 21, 22]) {
    const a = await first.run({ seed, omit: {}, lines: 20_000, always: true });
    const b = await second.run({ seed, omit: {}, lines: 20_000, always: true });
    expect(a.trace.length).toBeGreaterThan(20);
    expect(b.trace).toEqual(a.trace);
    expect(b.hash).toBe(a.hash);
    expect(b.steps).toBe(a.steps);
    hashes.add(a.hash);
  }
  // And other seeds are other worlds.
  expect(hashes.size).toBe(3);
});

test.each([
  ["tell the handle before it is stored", "P1"],
  ["decline what nobody answers", "P9 nothing is decided for the user"],
])("the bug '%s' breaks '%s'", async (mutant, invariant) => {
  const answer = await firstFailure(await poolOfMutant(mutant), 40);
  expect(answer.violation?.invariant).toContain(invariant);
});

test("a failure is made smaller, and its command runs it again", async () => {
  const pool = await poolOfMutant("poll at half the interval");
  const failed = await firstFailure(pool, 10);
  expect(failed.violation?.invariant).toBe("P5 polls keep the server's interval");
  // Most of the kinds have gone already: the rest shows how it is done, in less time.
  const begin = { without: FAULT_KINDS.slice(8) };
  const { omit, answer } = await shrink(failed, begin, (request) => pool.run(request));
  expect(answer.violation?.invariant).toBe(failed.violation?.invariant);
  const small = scenarioOf(failed.seed, omit);
  expect(small.calls).toHaveLength(1);
  expect(commandOf(failed.seed, omit)).toContain(`--seed ${failed.seed} --calls `);
  const again = await pool.run({ seed: failed.seed, omit, lines: 1 });
  expect(again.hash).toBe(answer.hash);
});

test.each([...MUTANTS, ...LEASE_MUTANTS])("the planted bug '$name' fits the source", ({ edits }) => {
  for (const edit of edits) {
    const path = fileURLToPath(new URL(`../../${edit.file}`, import.meta.url));
    expect(replaced(readFileSync(path, "utf8"), edit)).toContain(edit.replace);
  }
});
