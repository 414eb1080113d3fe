/** Owns the delays of one task's polls: by the interval, by what an earlier process left, by push, by the host's own limit. It plans nothing. */
import { intervalMs, jittered } from "../task/policy.js";
import type { TaskRecord } from "../task/record.js";
import { pollsWithin, safetyDelayMs } from "./pushPolicy.js";
import type { EngineOptions } from "./types.js";

/** A stream that is lost comes back soon, mostly: what it told until then is asked for when it is back. */
const REOPEN_GRACE_MS = 2000;

/** The pace of one task. All in milliseconds. */
export interface PollPace {
  /** Since the handle came, also in an earlier process. */
  readonly elapsedMs: number;
  /** Since this process looks at the task. */
  readonly watchedMs: number;
  /** From an answer to the next request: the interval in force, made longer by chance, never shorter. */
  politeMs(): number;
  /** Until the first poll after a restart. */
  storedMs(): number;
  /**
   * From an answer to the next request while every change is pushed. `unproven`: how many such polls there were since
   * the stream was acknowledged, while nothing else has come on it; undefined once something has.
   */
  safetyMs(unproven: number | undefined): number;
  /** Since the last answer; 0 before the first. */
  readonly sinceAnswerMs: number;
  /** Until the next request may go out; undefined before the first answer. */
  remainingMs(): number | undefined;
  /** How much too early a poll would be now: a notice may have made the interval longer since it was planned. */
  readonly tooEarlyMs: number;
  /** Until the next poll once no stream tells of the task any more. */
  lostMs(): number;
  /** Until the host's own limit; undefined where there is none. */
  giveUpInMs(): number | undefined;
  /** A poll ended. */
  answered(): void;
  /** The polls that would have been sent since the last answer, had nothing been pushed. */
  missed(): number;
}

export function createPollPace(
  record: () => TaskRecord,
  options: Pick<EngineOptions, "clock" | "random" | "poll" | "push" | "giveUpAfterMs">,
): PollPace {
  const { clock, poll } = options;
  const startedMono = clock.monotonic();
  const receivedMono = startedMono - Math.max(clock.now() - (record().receivedAtMs ?? clock.now()), 0);
  let answeredMono: number | undefined;

  const elapsedMs = (): number => clock.monotonic() - receivedMono;
  const watchedMs = (): number => clock.monotonic() - startedMono;

  function politeMs(): number {
    return jittered(intervalMs(record(), poll), poll.jitter, options.random());
  }

  function sinceAnswerMs(): number {
    return answeredMono === undefined ? 0 : clock.monotonic() - answeredMono;
  }

  function remainingMs(): number | undefined {
    if (answeredMono === undefined) return undefined;
    return Math.max(answeredMono + politeMs() - clock.monotonic(), 0);
  }

  return {
    get elapsedMs() {
      return elapsedMs();
    },
    get watchedMs() {
      return watchedMs();
    },
    get sinceAnswerMs() {
      return sinceAnswerMs();
    },
    politeMs,
    /** An orderly close says when; otherwise a poll may have gone out just before the end. */
    storedMs() {
      const { failures, notBeforeMs, updatedAtMs } = record();
      const leftMs = notBeforeMs === undefined ? 0 : notBeforeMs - clock.now();
      // Never longer than it was meant to be when it was written: the wall clock may have gone back meanwhile.
      const meantMs = notBeforeMs === undefined ? 0 : notBeforeMs - updatedAtMs;
      const bounded = Math.min(Math.max(leftMs, 0), Math.max(meantMs, 0));
      return notBeforeMs !== undefined && failures === undefined ? bounded : Math.max(bounded, politeMs());
    },
    safetyMs(unproven) {
      const ttlMs = record().snapshot?.ttlMs ?? null;
      return safetyDelayMs({
        politeMs: politeMs(),
        unproven,
        safetyPollMs: options.push.safetyPollMs,
        ttlLeftMs: ttlMs === null ? null : ttlMs - elapsedMs() + sinceAnswerMs(),
      });
    },
    remainingMs,
    get tooEarlyMs() {
      if (answeredMono === undefined) return 0;
      return Math.max(answeredMono + intervalMs(record(), poll) - clock.monotonic(), 0);
    },
    lostMs() {
      const graceMs = Math.min(REOPEN_GRACE_MS, intervalMs(record(), poll));
      return Math.max(remainingMs() ?? politeMs(), graceMs);
    },
    giveUpInMs() {
      return options.giveUpAfterMs === undefined
        ? undefined
        : Math.max(options.giveUpAfterMs - watchedMs(), 0);
    },
    answered() {
      answeredMono = clock.monotonic();
    },
    missed() {
      if (answeredMono === undefined) return 0;
      const longestMs = jittered(intervalMs(record(), poll), poll.jitter, 1);
      return pollsWithin(clock.monotonic() - answeredMono, longestMs);
    },
  };
}
