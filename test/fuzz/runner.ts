/** Owns running the targets: seeds, counts, the slowest input, what stays on the heap, shrinking, and the command that runs a failing input again. */
import fc from "fast-check";
import { byteTargets } from "./byteTargets.js";
import { bytesOf, chunksOf, planOf, shrunk, type BytePlan } from "./bytes.js";
import { clientTargets } from "./clientTargets.js";
import { formTargets } from "./formTarget.js";
import {
  prototypesUntouched,
  type ByteTarget,
  type StructureTarget,
  type Target,
  type Verdict,
} from "./guard.js";
import { grownMb, heapMb, MAX_GROWTH_MB } from "./heap.js";
import { answerTargets } from "./answerTargets.js";
import { approvalsTargets } from "./approvalsTargets.js";
import { pageTargets } from "./pageTargets.js";
import { parserTargets } from "./parserTargets.js";
import { publicTargets } from "./publicTargets.js";
import { closeShared } from "./sharedClient.js";
import type { Watchdog } from "./watchdog.js";

/** Every target. */
export const targets: readonly Target[] = [
  ...parserTargets,
  ...formTargets,
  ...byteTargets,
  ...clientTargets,
  ...publicTargets,
  ...answerTargets,
  ...approvalsTargets,
  ...pageTargets,
];

/** Something that must not be, and how to see it again. */
export interface Failure {
  readonly target: string;
  readonly what: unknown;
  /** The smallest input that fails. */
  readonly input: string;
  readonly again: string;
}

/** What came of one target. */
export interface TargetReport {
  readonly target: string;
  readonly inputs: number;
  readonly accepted: number;
  readonly refused: number;
  readonly slowestMs: number;
  /** What is left on the heap once its garbage, and the client that its inputs shared, are gone. */
  readonly grownMb: number;
  readonly failures: readonly Failure[];
}

/** Inputs per seed: a run of fast-check, whose failing input is named by seed and path. */
const BATCH = 500;

/** Runs `inputs` inputs of one target. */
export async function fuzz(
  target: Target,
  options: { inputs: number; seed: number; watchdog: Watchdog; path?: string },
): Promise<TargetReport> {
  const counts = { accepted: 0, refused: 0, slowestMs: 0 };
  const failures: Failure[] = [];
  let inputs = 0;
  const before = heapMb();
  for (let batch = 0; inputs < options.inputs && failures.length === 0; batch += 1) {
    const size = Math.min(BATCH, options.inputs - inputs);
    const seed = (options.seed + batch * 7919) | 0;
    options.watchdog.begin(again(target.name, seed));
    const failure =
      target.kind === "bytes"
        ? await bytesBatch(target, { ...options, size, seed }, counts)
        : await structureBatch(target, { ...options, size, seed }, counts);
    if (failure !== undefined) failures.push(failure);
    inputs += size;
  }
  options.watchdog.end();
  await closeShared();
  return { target: target.name, inputs, ...counts, grownMb: await grownMb(before), failures };
}

interface Batch {
  readonly size: number;
  readonly seed: number;
  readonly watchdog: Watchdog;
  readonly path?: string;
}

type Counts = { accepted: number; refused: number; slowestMs: number };

async function counted(
  run: () => Verdict | Promise<Verdict>,
  counts: Counts,
  watchdog: Watchdog,
): Promise<void> {
  watchdog.tick();
  const began = performance.now();
  const verdict = run();
  counts[typeof verdict === "string" ? verdict : await verdict] += 1;
  counts.slowestMs = Math.max(counts.slowestMs, performance.now() - began);
  prototypesUntouched();
}

async function structureBatch(
  target: StructureTarget,
  { size, seed, watchdog, path }: Batch,
  counts: Counts,
): Promise<Failure | undefined> {
  const property = fc.asyncProperty(target.arbitrary, (input) =>
    counted(() => target.run(input as never), counts, watchdog),
  );
  const details = await fc.check(property, {
    seed,
    numRuns: size,
    ...(path !== undefined && { path, endOnFailure: true }),
  });
  if (!details.failed) return undefined;
  return {
    target: target.name,
    what: details.errorInstance,
    input: shown(details.counterexample),
    again: again(target.name, seed, details.counterexamplePath ?? undefined),
  };
}

async function bytesBatch(
  target: ByteTarget,
  { size, seed, watchdog }: Batch,
  counts: Counts,
): Promise<Failure | undefined> {
  const run = (plan: BytePlan): Promise<void> => {
    const bytes = bytesOf(plan, target.bases);
    return counted(() => target.run(bytes, chunksOf(bytes, plan), plan), counts, watchdog);
  };
  for (let at = 0; at < size; at += 1) {
    const plan = planOf(seed + at, target.bases.length);
    try {
      await run(plan);
    } catch (what) {
      const smallest = await shrunk(plan, async (candidate) =>
        run(candidate).then(
          () => false,
          () => true,
        ),
      );
      const bytes = bytesOf(smallest, target.bases);
      return {
        target: target.name,
        what,
        input: `${JSON.stringify(bytes.toString("latin1"))} in chunks of ${chunksOf(bytes, smallest)
          .map(({ length }) => length)
          .join(", ")}`,
        again: again(target.name, seed + at),
      };
    }
  }
  return undefined;
}

function again(target: string, seed: number, path?: string): string {
  return `npm run fuzz -- --target ${JSON.stringify(target)} --seed ${seed} --inputs ${BATCH}${path === undefined ? "" : ` --path ${path}`}`;
}

function shown(value: unknown): string {
  try {
    return fc.stringify(value).slice(0, 4000);
  } catch {
    return "(too deep to be shown)";
  }
}

/** Shares `total` out by weight; everybody gets some. */
export function shares(chosen: readonly Target[], total: number): Map<Target, number> {
  const sum = chosen.reduce((all, { weight }) => all + weight, 0);
  return new Map(chosen.map((target) => [target, Math.max(20, Math.ceil((total * target.weight) / sum))]));
}

/** A target that takes or refuses everything proves nothing. */
export function oneSided({ accepted, refused }: TargetReport): boolean {
  return accepted === 0 || refused === 0;
}

/** A target that leaves more behind would leave without bound. */
export function keepsTooMuch(report: TargetReport): boolean {
  return report.grownMb > MAX_GROWTH_MB;
}
