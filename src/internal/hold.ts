/** Owns keeping a process alive while somebody waits: timers elsewhere let it exit. */
import { MAX_TIMER_MS, type Clock, type StopTimer } from "./clock.js";

/** Counts who waits. */
export interface Hold {
  /** Keeps the process alive until the returned function is called (once or more). */
  take(): () => void;
  readonly count: number;
  /** Calls back whenever the last one who waited is gone, until the returned function is called. */
  onEmpty(run: () => void): () => void;
}

export function createHold(clock: Clock): Hold {
  let count = 0;
  let stop: StopTimer | undefined;
  const listeners = new Set<() => void>();
  const arm = (): void => {
    stop = clock.setTimer(MAX_TIMER_MS, arm, { keepAlive: true });
  };
  return {
    get count() {
      return count;
    },
    take() {
      count += 1;
      if (count === 1) arm();
      let released = false;
      return () => {
        if (released) return;
        released = true;
        count -= 1;
        if (count > 0) return;
        stop?.();
        for (const run of [...listeners]) run();
      };
    },
    onEmpty(run) {
      listeners.add(run);
      return () => void listeners.delete(run);
    },
  };
}
