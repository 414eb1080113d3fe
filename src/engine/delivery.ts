/** Owns the outbox of outcomes: `onSettled` until it resolves. */
import { CallbackError } from "../errors.js";
import { answersOf } from "../task/answers.js";
import type { TaskRecord } from "../task/record.js";
import { oneShot } from "./oneShot.js";
import type { EngineOptions, Settled, Tell } from "./types.js";

/** Calls the host's handler until it resolves, or the signal aborts. Answers false when it was aborted. */
export async function deliver(
  record: TaskRecord,
  options: Pick<EngineOptions, "onSettled" | "retry"> & {
    signal: AbortSignal;
    tell: Tell;
    /** The handler has resolved; what is left is to write that down. */
    onTaken: () => void;
  },
): Promise<boolean> {
  const { onSettled, signal } = options;
  if (onSettled === undefined) return false;
  const settled = settledOf(record);
  let taken = false;
  try {
    const attempt = async (): Promise<void> => {
      await onSettled(settled);
      taken = true;
      options.onTaken();
    };

    await oneShot(attempt, {
      signal,
      ...options.retry,
      again: (error) => {
        // Not the handler's: the client was closed while it ran.
        if (signal.aborted && error === signal.reason) return false;
        options.tell("error", {
          error: new CallbackError("onSettled failed; the outcome is kept and delivered again", {
            cause: error,
          }),
          server: record.server,
          id: record.id,
        });
        return !signal.aborted;
      },
    });
    return true;
  } catch {
    // Aborted at the very end.
    if (taken) return true;
    // Told above, each time. The record stays settled, and the next process delivers it.
    return false;
  }
}

/** A settled record as hosts see it. */
export function settledOf(record: TaskRecord): Settled {
  if (record.outcome === undefined) throw new TypeError("settledOf takes a record with an outcome");
  return {
    ...record.outcome,
    id: record.id,
    server: record.server,
    tool: record.tool,
    context: record.context,
    answers: answersOf(record),
    cancelRequested: record.cancelRequestedAtMs !== undefined,
    settledAt: new Date(record.settledAtMs ?? 0),
  };
}

/** What everybody is told: without the answers' contents, which are for `onSettled` and not for logs. */
export function toldOf(record: TaskRecord): Settled {
  const settled = settledOf(record);
  const answers = settled.answers.map(({ response: _response, ...answer }) => answer);
  return { ...settled, answers };
}
