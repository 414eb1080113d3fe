/** Owns the counts that hosts read: built from events, so that no part of the engine counts for them. */
import type { EngineEvents } from "../engine/types.js";
import type { PollerCounts } from "../engine/poller.js";

/** Counts since the client was made. */
export interface TaskClientStats extends PollerCounts {
  /** Calls that became tasks. */
  readonly tasksCreated: number;
  readonly settled: { completed: number; failed: number; cancelled: number; lost: number };
  /** `tasks/get` requests. */
  readonly polls: number;
  /**
   * Polls that push certainly made unnecessary: for every stretch in which a task was left to its stream, the polls
   * that its interval (with the longest jitter) would have fitted in, less the one that ended the stretch. The poll
   * that would have found what a notice told is not counted.
   */
  readonly pollsSavedByPush: number;
  readonly retries: number;
  /** Questions put to `onInputRequest`. */
  readonly prompts: number;
  readonly errors: number;
  readonly store: { readonly reads: number; readonly writes: number };
}

/** Counts events, and reads everything together. */
export interface StatsBook {
  count(name: keyof EngineEvents, event: EngineEvents[keyof EngineEvents]): void;
  read(counts: PollerCounts, store: { reads: number; writes: number }): TaskClientStats;
}

export function createStatsBook(): StatsBook {
  const settled = { completed: 0, failed: 0, cancelled: 0, lost: 0 };
  const seen = { created: 0, retry: 0, error: 0, prompts: 0 };
  return {
    count(name, event) {
      switch (name) {
        case "settled":
          settled[(event as EngineEvents["settled"]).status] += 1;
          break;
        case "input":
          seen.prompts += (event as EngineEvents["input"]).handled ? 1 : 0;
          break;
        case "created":
        case "retry":
        case "error":
          seen[name] += 1;
          break;
        default:
          break;
      }
    },
    read: (counts, store) => ({
      ...counts,
      tasksCreated: seen.created,
      settled: { ...settled },
      polls: counts.requests["tasks/get"] ?? 0,
      retries: seen.retry,
      prompts: seen.prompts,
      errors: seen.error,
      store: { reads: store.reads, writes: store.writes },
    }),
  };
}
