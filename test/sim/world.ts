/** Owns one world: its parts, its clock's steps, and what is counted and told. What may happen is decided by the parts. */
import { createDisk, type Disk } from "./disk.js";
import type { FaultKind, OutcomeKind } from "./faults.js";
import { createNetwork, type Network } from "./network.js";
import { Violation, type Invariant, type Observation, type ProcessView } from "./observation.js";
import { createRandom, type Random } from "./random.js";
import type { Scenario } from "./scenario.js";
import { createServer, type SimServer } from "./server.js";
import { describe } from "./story.js";
import { createTime, type Time } from "./time.js";
import { createTrace, type Trace } from "./trace.js";

export interface World {
  readonly scenario: Scenario;
  readonly time: Time;
  readonly trace: Trace;
  readonly servers: readonly SimServer[];
  readonly network: Network;
  readonly disk: Disk;
  readonly counts: ReadonlyMap<string, number>;
  /** The storm is over: nothing goes wrong any more. */
  calm: boolean;
  /** Every process that was ever started. */
  readonly processes: Set<ProcessView>;
  /** Callers that wait for `callTool`, by process and call. */
  readonly callers: Map<string, ProcessView>;
  /** The first thing that did not hold. */
  readonly violation: Violation | undefined;
  random(name: string): Random;
  /** Whether a fault happens now; counted where it does. Each kind has chance of its own. */
  fault(kind: FaultKind, factor?: number): boolean;
  count(what: FaultKind | OutcomeKind): void;
  observe(observation: Observation): void;
  watch(invariant: Invariant): void;
  /** A process does something that others can see. False: it is dead, perhaps since this very moment. */
  touch(process: ProcessView, what: string): boolean;
  /** Called at every touch; answers true to kill the process there. */
  onTouch: (process: ProcessView, what: string) => boolean;
  fail(violation: Violation): void;
  /** Asks the invariants whether all is well. */
  check(): void;
  finish(): void;
}

export function createWorld(scenario: Scenario): World {
  const time = createTime();
  const trace = createTrace(20_000, () => time.now);
  const counts = new Map<string, number>();
  const invariants: Invariant[] = [];
  const chances = new Map<FaultKind, Random>();
  let violation: Violation | undefined;

  function all(run: (invariant: Invariant) => void): void {
    for (const invariant of invariants) {
      try {
        run(invariant);
      } catch (error) {
        if (!(error instanceof Violation)) throw error;
        world.fail(error);
      }
    }
  }

  const world: World = {
    scenario,
    time,
    trace,
    servers: [],
    network: undefined as never,
    disk: undefined as never,
    counts,
    calm: false,
    processes: new Set(),
    callers: new Map(),
    get violation() {
      return violation;
    },
    random: (name) => createRandom(`${scenario.seed} ${name}`),
    fault(kind, factor = 1) {
      const rate = scenario.faults[kind];
      if (rate === undefined || world.calm) return false;
      let chance = chances.get(kind);
      if (chance === undefined) chances.set(kind, (chance = world.random(`fault ${kind}`)));
      const happens = chance.chance(rate * factor);
      if (happens) world.count(kind);
      return happens;
    },
    count: (what) => void counts.set(what, (counts.get(what) ?? 0) + 1),
    observe(observation) {
      if (observation.kind === "started") world.processes.add(observation.process);
      const line = describe(observation);
      if (line !== undefined) trace.note(line);
      all((invariant) => invariant.see?.(observation));
    },
    watch: (invariant) => void invariants.push(invariant),
    touch(process, what) {
      if (!process.alive) return false;
      return !world.onTouch(process, what);
    },
    onTouch: () => false,
    fail(found) {
      if (violation !== undefined) return;
      violation = found;
      trace.note(`BROKEN ${found.message}`);
    },
    check: () => all((invariant) => invariant.check?.()),
    finish: () => all((invariant) => invariant.finish?.()),
  };
  Object.assign(world, {
    servers: scenario.servers.map((spec) => createServer(world, spec)),
    disk: createDisk(world),
    network: createNetwork(world),
  });
  return world;
}
