/** Owns how long one request may live: its caller's signal, its deadline, and the end of the connection. */
import { ConnectionError } from "../errors.js";
import { linkSignals, raceSignal } from "../internal/abort.js";
import type { Clock, StopTimer } from "../internal/clock.js";

/** One request's life. */
export interface Lifetime {
  /** Aborts when the request is to stop, with what it is to reject with. */
  readonly signal: AbortSignal;
  /** Settles as the work does, or rejects when the life ends first. */
  race<T>(work: Promise<T>): Promise<T>;
  /** From now on, a timeout leaves open whether the request was executed. */
  markSent(): void;
  /** A sign of life: the deadline starts anew. */
  touch(): void;
  /** Ends the life from outside. */
  abort(reason: unknown): void;
  /**
   * The request is over: timer and listeners go. `answered`: its answer was read, and nothing is left to stop, which
   * matters on the polling path, where aborting costs as much as a tenth of the request.
   */
  end(answered: boolean): void;
}

/** Starts the deadline of a request. */
export function startLifetime(options: {
  clock: Clock;
  /** Infinity: no deadline. */
  timeoutMs: number;
  signal: AbortSignal | undefined;
}): Lifetime {
  const { clock, timeoutMs } = options;
  const link = linkSignals(options.signal);
  let sent = false;
  let stop: StopTimer = arm();

  function arm(): StopTimer {
    if (timeoutMs === Infinity) return () => undefined;
    return clock.setTimer(timeoutMs, () => {
      link.abort(
        new ConnectionError(`No sign of life from the server for ${timeoutMs} ms`, { mayHaveRun: sent }),
      );
    });
  }

  return {
    signal: link.signal,
    race: (work) => raceSignal(work, link.signal),
    markSent: () => void (sent = true),
    touch() {
      stop();
      if (!link.signal.aborted) stop = arm();
    },
    abort: link.abort,
    end(answered) {
      stop();
      link.release();
      if (!answered) link.abort(new Error("The request is over"));
    },
  };
}
