/**
 * Owns how fast the notices of one task are taken: one after the other, a few at once and then no faster than polls
 * could be, the newest for those that came meanwhile. It does not know what they say.
 */
import type { Clock } from "../internal/clock.js";
import type { TaskSnapshot } from "../protocol/index.js";
import type { Scheduler } from "./scheduler.js";

/** The notices of one task. */
export interface NoticeIntake {
  /** `final`: nothing of use can come after it; it is taken without delay, and what comes later is left out. */
  offer(snapshot: TaskSnapshot, final: boolean): void;
  /** Forgets what waits. */
  stop(): void;
}

/** So many wait, and so many are taken without a pause: a state that was overtaken by so many newer ones is nobody's news. */
const BURST = 8;

/** `take` must not reject. `everyMs`: between two, once the burst is used up. */
export function createNoticeIntake(context: {
  take: (snapshot: TaskSnapshot) => Promise<void>;
  everyMs: number;
  clock: Clock;
  scheduler: Scheduler;
}): NoticeIntake {
  const { take, everyMs, clock, scheduler } = context;
  const key = Symbol("notices");
  let waiting: TaskSnapshot[] = [];
  let ended = false;
  let taking = false;
  /** When the burst will be whole again, on the monotonic clock. */
  let restedAt = -Infinity;

  async function run(): Promise<void> {
    if (taking) return;
    taking = true;
    for (let next = due(); next !== undefined; next = due()) await take(next);
    taking = false;
  }

  function due(): TaskSnapshot | undefined {
    const now = clock.monotonic();
    const pauseMs = ended ? 0 : restedAt - now - (BURST - 1) * everyMs;
    if (waiting.length > 0 && pauseMs > 0) {
      scheduler.schedule(key, pauseMs, () => void run());
      return undefined;
    }
    const next = waiting.shift();
    if (next !== undefined) restedAt = Math.max(restedAt, now) + everyMs;
    return next;
  }

  return {
    offer(snapshot, final) {
      if (ended) return;
      ended = final;
      if (waiting.length === BURST) waiting.shift();
      waiting.push(snapshot);
      void run();
    },
    stop() {
      waiting = [];
      scheduler.cancel(key);
    },
  };
}
