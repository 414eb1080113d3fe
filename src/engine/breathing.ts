/**
 * Owns that an open stream keeps no process alive that waits for nothing: where nobody waits, the stream is let go for
 * a moment now and then, and a process that has nothing else to do ends in that moment. It opens nothing.
 */
import type { Scheduler } from "./scheduler.js";
import type { EngineOptions } from "./types.js";

/** The first time soon after the last one who waited has gone, then ever more seldom: the process lives by other things. */
const FIRST_BREATH_MS = 1000;
const LONGEST_MS = 300_000;
/** Long enough for a closed connection to be gone. */
const PAUSE_MS = 100;

/** The breathing of one server's stream. */
export interface Breathing {
  /** A stream is open. */
  opened(): void;
  /** It is closed for good. */
  closed(): void;
  stop(): void;
}

export function createBreathing(context: {
  hold: EngineOptions["hold"];
  scheduler: Scheduler;
  isOpen: () => boolean;
  /** Closes the stream, to be opened again after the pause. */
  letGo: (pauseMs: number) => void;
}): Breathing {
  const { hold, scheduler } = context;
  const key = Symbol("breath");
  let nextMs = FIRST_BREATH_MS;

  function plan(): void {
    if (scheduler.dueIn(key) === undefined) scheduler.schedule(key, nextMs, breathe);
  }

  function breathe(): void {
    // Whoever waits keeps the process alive anyway; when they have gone, it begins anew.
    if (hold.count > 0 || !context.isOpen()) return;
    nextMs = Math.min(nextMs * 2, LONGEST_MS);
    context.letGo(PAUSE_MS);
  }

  const stopListening = hold.onEmpty(() => {
    nextMs = FIRST_BREATH_MS;
    scheduler.cancel(key);
    if (context.isOpen()) plan();
  });

  return {
    opened() {
      if (hold.count === 0) plan();
    },
    closed: () => scheduler.cancel(key),
    stop() {
      scheduler.cancel(key);
      stopListening();
    },
  };
}
