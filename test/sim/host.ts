/** Owns one host over its lives: which process runs, what it calls, when it dies and comes back. */
import { startProcess, type HostProcess } from "./hostProcess.js";
import type { People } from "./people.js";
import type { CallSpec, HostSpec } from "./scenario.js";
import { startCall } from "./toolCall.js";
import type { World } from "./world.js";

export interface Host {
  readonly spec: HostSpec;
  readonly process: HostProcess | undefined;
  /** It has made all calls that it will make. */
  readonly isThrough: boolean;
  /** The calls of this scope that were ever begun, by whichever host. */
  start(): void;
  /** From now on it lives, and nothing is done to it. */
  calm(): void;
  /** A call that another host began: asked for again by its id. */
  replay(spec: CallSpec): void;
}

export function createHost(world: World, spec: HostSpec, people: People): Host {
  const { time, scenario } = world;
  const random = world.random(`host ${spec.index}`);
  const cancels = world.random(`cancels of host ${spec.index}`);
  const lingers = world.random(`lingers of host ${spec.index}`);
  const own = scenario.calls.filter((call) => call.host === spec.index);
  const begun = new Set<CallSpec>();
  let process: HostProcess | undefined;
  let life = 0;
  let wallOffsetMs = 0;
  /** At how many touches more the process dies. */
  let touchesLeft = Infinity;

  function start(): void {
    process = startProcess(world, spec, { life, people, wallOffsetMs });
    life += 1;
    touchesLeft = world.fault("crashAtAwait", 3) ? random.int(1, 150) : Infinity;
    const { view } = process;
    planTrouble(process);
    // What a host calls by another server's name stays with that server: a case for the hosts' own tests.
    if (isSwapped(process)) return;
    // An agent loop that begins anew asks for everything again.
    for (const call of begun) if (call.hasId) time.after(random.int(0, 3000), () => ask(call), view);
    for (const call of own) {
      if (!begun.has(call)) time.after(Math.max(call.startMs - time.now, 0), () => ask(call), view);
    }
  }

  function ask(call: CallSpec): void {
    if (process === undefined) return;
    if (!process.connected.has(`srv${call.server}`)) {
      time.after(1000, () => ask(call), process.view);
      return;
    }
    begun.add(call);
    startCall(world, process, call);
  }

  function planTrouble(mine: HostProcess): void {
    const { view } = mine;
    const { stormMs } = scenario;
    const sometime = (run: () => void): void => {
      const unlessCalm = (): void => (world.calm ? undefined : run());
      time.after(random.int(0, stormMs), unlessCalm, view);
    };
    if (world.fault("crash", 3)) sometime(() => crash(mine));
    if (world.fault("restart", 3)) sometime(() => restart(mine));
    for (const [kind, sign] of [
      ["clockForth", 1],
      ["clockBack", -1],
    ] as const) {
      if (!world.fault(kind, 3)) continue;
      sometime(() => {
        view.wallOffsetMs = wallOffsetMs += sign * random.pick([5000, 600_000, 86_400_000, 400 * 86_400_000]);
        world.trace.note(`${view.name} has a wall clock that is ${view.wallOffsetMs} off`);
      });
    }
    if (world.fault("cancelElsewhere", 3)) sometime(() => void cancelAny(mine).catch(() => undefined));
    if (world.fault("sleep", 3)) {
      sometime(() => {
        const sleepMs = random.int(1000, 600_000);
        view.sleepsUntil = time.now + sleepMs;
        // Some monotonic clocks go on while the machine sleeps, others do not.
        if (random.chance(0.5)) view.missedMs += sleepMs;
        world.observe({ kind: "slept", process: view });
      });
    }
  }

  /** Somebody looks at the list of calls, whoever made them, and stops one: before it is a task, or long after. */
  async function cancelAny({ client, view }: HostProcess): Promise<void> {
    const running = (await client.tasks()).filter(({ outcome }) => outcome === undefined);
    if (running.length === 0 || !view.alive) return;
    const handle = cancels.pick(running);
    const { n } = handle.context as { n: number };
    world.observe({ kind: "left", process: view, n, how: "cancel" });
    await handle.cancel();
  }

  function crash(mine: HostProcess): void {
    if (process !== mine || world.calm) return;
    process = undefined;
    mine.kill();
    if (spec.leavesForGood) return;
    time.after(
      random.int(0, random.pick([3000, 30_000, 120_000])) * random.pick([1, 1, scenario.pace]),
      () => {
        if (process === undefined) start();
      },
    );
  }

  function restart(mine: HostProcess): void {
    if (process !== mine || world.calm) return;
    void mine.close(random.pick([1, 100, 5000])).then(() => {
      // Whatever it is that still keeps it, it has the time to show itself.
      time.after(lingers.int(0, 3000), () => crash(mine));
    });
  }

  world.onTouch = chained(world.onTouch, (view) => {
    if (process?.view !== view || world.calm) return false;
    touchesLeft -= 1;
    if (touchesLeft > 0) return false;
    crash(process);
    return true;
  });

  return {
    spec,
    get process() {
      return process;
    },
    get isThrough() {
      // One that left for good calls nothing any more.
      return process === undefined || own.every((call) => begun.has(call));
    },
    start() {
      time.after(spec.startMs, () => {
        if (process === undefined) start();
      });
    },
    calm() {
      if (process !== undefined && (isSwapped(process) || process.view.closing)) {
        process.kill();
        process = undefined;
      }
      if (process === undefined) start();
      const mine = process as unknown as HostProcess;
      if (!scenario.store.cas) keepResuming(mine);
    },
    replay: (call) => {
      if (process !== undefined && !isSwapped(process)) time.after(0, () => ask(call), process.view);
    },
  };

  /** Without leases, or where one process may overwrite that another lives: what a dead process left behind is taken up by whoever is told to look. */
  function keepResuming(mine: HostProcess): void {
    void mine.client.resume().catch(() => undefined);
    time.after(60_000, () => keepResuming(mine), mine.view);
  }
}

function isSwapped({ view }: HostProcess): boolean {
  return [...view.names].some(([name, at]) => name !== `srv${at}`);
}

function chained(first: World["onTouch"], second: World["onTouch"]): World["onTouch"] {
  return (process, what) => first(process, what) || second(process, what);
}
