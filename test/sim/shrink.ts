/** Owns making a failure smaller: what can be left out while the same promise stays broken is left out. */
import { FAULT_KINDS, type FaultKind } from "./faults.js";
import { scenarioOf, type Omission } from "./scenario.js";
import type { RunAnswer, RunRequest } from "./worker.js";

/** What hangs takes long to run: then it is to be good enough. */
const MAX_RUNS = 100;

/** A failure with nothing in it that it does not need. */
export interface Shrunk {
  readonly omit: Omission;
  readonly answer: RunAnswer;
  readonly runs: number;
}

/** Runs smaller and smaller worlds; each of them fails by the same invariant. */
export async function shrink(
  failed: RunAnswer,
  begin: Omission,
  run: (request: RunRequest) => Promise<RunAnswer>,
): Promise<Shrunk> {
  const { seed } = failed;
  const invariant = failed.violation?.invariant;
  let best: { omit: Omission; answer: RunAnswer } = { omit: begin, answer: failed };
  let runs = 0;

  async function accept(omit: Omission): Promise<boolean> {
    if (runs >= MAX_RUNS) return false;
    runs += 1;
    const answer = await run({ seed, omit, lines: 20_000 });
    if (answer.violation?.invariant !== invariant) return false;
    best = { omit, answer };
    return true;
  }

  for (let changed = true; changed;) {
    changed = false;
    const now = scenarioOf(seed, best.omit);
    for (const { n } of now.calls) {
      const calls = scenarioOf(seed, best.omit).calls.map((call) => call.n);
      if (calls.length > 1 && (await accept({ ...best.omit, calls: calls.filter((other) => other !== n) })))
        changed = true;
    }
    for (const { index } of now.hosts) {
      const hosts = scenarioOf(seed, best.omit).hosts.map((host) => host.index);
      if (
        hosts.length > 1 &&
        (await accept({ ...best.omit, hosts: hosts.filter((other) => other !== index) }))
      )
        changed = true;
    }
    for (const group of groupsOf(FAULT_KINDS.filter((kind) => now.faults[kind] !== undefined))) {
      const without = [...(best.omit.without ?? []), ...group];
      if (await accept({ ...best.omit, without })) changed = true;
    }
  }
  return { ...best, runs };
}

/** Halves first: most faults have nothing to do with it. */
function groupsOf(kinds: readonly FaultKind[]): FaultKind[][] {
  const groups: FaultKind[][] = [];
  for (let size = Math.ceil(kinds.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < kinds.length; at += size) groups.push(kinds.slice(at, at + size));
  }
  return groups;
}

/** The command that runs exactly this again. */
export function commandOf(seed: number, { without, calls, hosts }: Omission): string {
  const parts = [`npm run sim -- --seed ${seed}`];
  if (calls !== undefined) parts.push(`--calls ${calls.join(",")}`);
  if (hosts !== undefined) parts.push(`--hosts ${hosts.join(",")}`);
  if (without !== undefined && without.length > 0) parts.push(`--without ${without.join(",")}`);
  return parts.join(" ");
}
