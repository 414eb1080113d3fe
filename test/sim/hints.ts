/** Owns the hints of simulated servers: how they change, also into what no client should believe. */
import type { Random } from "./random.js";
import type { ServerTask } from "./serverTask.js";
import type { World } from "./world.js";

/** The hints of one server's tasks. */
export interface Hints {
  /** Called whenever a task changes. */
  readonly change: (task: ServerTask) => void;
}

const HOSTILE_INTERVALS: readonly unknown[] = [0, -5, "soon", 1e18, null, 0.5, 1, 1e9, {}, true];
const HOSTILE_TTLS: readonly unknown[] = [0, -1, "long", 1e18, "", {}, false];
/** Hostile hints are taken back after a while, or a world would be full of polls. */
const HOSTILE_MS = 4000;

export function createHints(world: World, random: Random): Hints {
  function change(task: ServerTask): void {
    const { spec } = task;
    if (world.calm) {
      task.intervalMs = spec.intervalMs;
      return;
    }
    if (world.fault("hintChange")) {
      task.intervalMs = Math.ceil((spec.intervalMs ?? 1000) * random.pick([0.5, 1, 2, 4]));
    }
    if (world.fault("ttlChange") && spec.end !== "never") {
      const lived = world.time.now - task.createdAt;
      task.ttlMs = random.pick([null, lived + 600_000 * world.scenario.pace, lived + 20_000, 1]);
    }
    if (!world.fault("hostileHints")) return;
    const before = { intervalMs: task.intervalMs, ttlMs: task.ttlMs };
    task.intervalMs = random.pick(HOSTILE_INTERVALS);
    if (random.chance(0.5) && spec.end !== "never") task.ttlMs = random.pick(HOSTILE_TTLS);
    world.time.after(HOSTILE_MS, () => {
      task.intervalMs = before.intervalMs;
      task.ttlMs = before.ttlMs;
    });
  }
  return { change };
}
