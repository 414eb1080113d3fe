/** Owns the run of one scenario from its first step to its end. It prints nothing. */
import { drain, takeGlobals } from "./globals.js";
import { createHost, type Host } from "./host.js";
import { allInvariants } from "./invariants/all.js";
import { checkClosed, checkIdle, isAllOver, isIdle, unfinished } from "./invariants/liveness.js";
import { Violation } from "./observation.js";
import { createPeople, type People } from "./people.js";
import type { Scenario } from "./scenario.js";
import { calmDown, planStorm } from "./storm.js";
import { createWorld, type World } from "./world.js";

export interface RunResult {
  readonly seed: number;
  readonly steps: number;
  readonly virtualMs: number;
  readonly hash: string;
  readonly counts: ReadonlyMap<string, number>;
  readonly violation: { readonly invariant: string; readonly detail: string } | undefined;
  readonly trace: readonly string[];
}

/** How long everything may take once nothing goes wrong any more. */
const CALM_MS = 4 * 3_600_000;
/** How long a request may wait for a late answer: both limits together, and a little. */
const LATE_MS = 420_000;
const DESK_EVERY_MS = 20_000;
/** More steps than any world needs. */
const MAX_STEPS = 200_000;

export async function runScenario(scenario: Scenario): Promise<RunResult> {
  const world = createWorld(scenario);
  const giveBack = takeGlobals(world.time, world.random("platform"));
  const onUnhandled = (error: unknown): void => {
    const stack = error instanceof Error ? error.message : String(error);
    world.fail(new Violation("P0 no promise is left alone", `unhandled rejection: ${stack}`));
  };
  process.on("unhandledRejection", onUnhandled);
  let steps = 0;

  async function stepsUntil(untilMs: number, isOver: () => boolean): Promise<void> {
    for (let last = false; !last && world.violation === undefined && !isOver();) {
      last = !world.time.step(untilMs);
      await drain();
      steps += 1;
      world.check();
      if (steps > MAX_STEPS) world.fail(new Violation("P11 no busy loop", `more than ${MAX_STEPS} steps`));
    }
  }

  try {
    for (const invariant of allInvariants(world)) world.watch(invariant);
    const people = createPeople(world);
    const hosts = scenario.hosts.map((spec) => createHost(world, spec, people));
    people.others = () => hosts.flatMap(({ process }) => process ?? []);
    for (const host of hosts) host.start();
    planStorm(world, hosts);
    await stepsUntil(scenario.stormMs, () => false);
    calmDown(world, hosts);
    await becomeCalm(world, { hosts, people }, stepsUntil);
    await end(world, hosts, stepsUntil);
  } finally {
    process.off("unhandledRejection", onUnhandled);
    giveBack();
  }
  const { violation } = world;
  return {
    seed: scenario.seed,
    steps,
    virtualMs: world.time.now,
    hash: world.trace.hash(),
    counts: world.counts,
    violation:
      violation === undefined ? undefined : { invariant: violation.invariant, detail: violation.message },
    trace: world.trace.last(20_000),
  };
}

type StepsUntil = (untilMs: number, isOver: () => boolean) => Promise<void>;

/** From the end of the storm to the end of the last task. */
async function becomeCalm(
  world: World,
  parts: { hosts: readonly Host[]; people: People },
  stepsUntil: StepsUntil,
): Promise<void> {
  const { hosts, people } = parts;
  const limit = world.time.now + CALM_MS + 100 * 10_000 * world.scenario.pace;
  const desks = new Map(
    hosts.flatMap(({ process: one }) => (one === undefined ? [] : [[one.view.scope, one]])),
  );
  const isDone = (): boolean => hosts.every(({ isThrough }) => isThrough) && isAllOver(world);
  while (world.violation === undefined && !isDone()) {
    if (world.time.now >= limit) {
      world.fail(new Violation("P10 every task reaches its end", unfinished(world)));
      return;
    }
    // One desk per scope is enough: another would only answer twice.
    for (const desk of desks.values()) if (desk.view.sleepsUntil <= world.time.now) people.clearDesk(desk);
    await stepsUntil(world.time.now + DESK_EVERY_MS, () => false);
  }
}

/** Everybody closes; nothing may be left behind. */
async function end(world: World, hosts: readonly Host[], stepsUntil: StepsUntil): Promise<void> {
  if (world.violation !== undefined) return;
  const processes = hosts.flatMap(({ process: one }) => one ?? []);
  // What follows up on an outcome has its time: a delivery's write, a late answer that is waited for. Who only followed
  // another process looks again.
  const limit = world.time.now + LATE_MS;
  do {
    for (const one of processes) world.time.after(0, () => void one.client.tasks(), one.view);
    await stepsUntil(world.time.now + 5000, () => false);
  } while (world.time.now < limit && world.violation === undefined && !processes.every(isIdle));
  for (const one of processes) checkIdle(world, one);
  let closed = 0;
  for (const one of processes) {
    world.time.after(0, () => void one.close(5000).then(() => (closed += 1)), one.view);
  }
  await stepsUntil(world.time.now + 20_000, () => closed === processes.length);
  if (world.violation !== undefined) return;
  await stepsUntil(world.time.now + 1000, () => false);
  if (closed < processes.length) world.fail(new Violation("P11 no hang", "close() does not resolve"));
  for (const one of processes) checkClosed(world, one);
  world.finish();
}
