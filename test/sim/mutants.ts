/**
 * Owns the command `npm run sim:mutants`: plants each bug into a copy of the product and runs the simulation over it until
 * an invariant breaks. Exits non-zero where one is not caught, or does not fit the source any more.
 */
import { parseArgs } from "node:util";
import { bundle } from "./bundle.js";
import { LEASE_MUTANTS, MUTANTS, type Mutant } from "./mutantList.js";
import { createPool } from "./pool.js";
import type { RunAnswer } from "./worker.js";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "2000" },
    workers: { type: "string", default: "2" },
    /** Part of a name. */
    only: { type: "string" },
    /** Goes on with the n-th of the list. */
    first: { type: "string", default: "0" },
  },
});

/** What became of a mutant. */
interface Caught {
  readonly mutant: Mutant;
  readonly by: string | undefined;
  readonly seeds: number;
}

const sound = createPool(await bundle("sound"), 1);
const all = [...MUTANTS, ...LEASE_MUTANTS];
const chosen = all.filter(({ name }) => values.only === undefined || name.includes(values.only));
const rows: Caught[] = [];
for (const [at, mutant] of chosen.entries()) {
  if (at < Number(values.first)) continue;
  const row = await hunt(mutant, `mutant-${at}`);
  rows.push(row);
  console.error(`${row.by === undefined ? "SURVIVES" : "caught"}: ${mutant.name} (${row.seeds} seeds)`);
}
console.log("| mutant | promise | caught by | seeds |\n| --- | ---: | --- | ---: |");
for (const { mutant, by, seeds } of rows) {
  console.log(`| ${mutant.name} | ${mutant.promise} | ${by ?? "**nothing**"} | ${seeds} |`);
}
const survivors = rows.filter(({ by }) => by === undefined);
console.log(`mutants: ${rows.length - survivors.length} of ${rows.length} caught`);
process.exitCode = survivors.length === 0 ? 0 : 1;
sound.close();

async function breaksAnyway(seed: number): Promise<boolean> {
  return (await sound.run({ seed, omit: {}, lines: 1 })).violation !== undefined;
}

async function hunt(mutant: Mutant, program: string): Promise<Caught> {
  let file: string;
  try {
    file = await bundle(program, mutant.edits);
  } catch (error) {
    console.error(`${mutant.name}: ${(error as Error).message}`);
    return { mutant, by: undefined, seeds: 0 };
  }
  const pool = createPool(file, Number(values.workers));
  const limit = Number(values.seeds);
  let next = 1;
  const found: RunAnswer[] = [];
  const lane = async (): Promise<void> => {
    while (next <= limit && found.length === 0) {
      const seed = next;
      next += 1;
      const answer = await pool.run({ seed, omit: {}, lines: 1 });
      // What breaks without the bug is no proof that the bug is caught.
      if (answer.violation !== undefined && !(await breaksAnyway(seed))) found.push(answer);
    }
  };
  await Promise.all(Array.from({ length: pool.size }, lane));
  pool.close();
  const [first] = found.sort((a, b) => a.seed - b.seed);
  return { mutant, by: first?.violation?.invariant, seeds: first?.seed ?? limit };
}
