/**
 * Owns the writes of one lmdb environment: what is asked for while a commit is under way, or in one turn of the
 * event loop, shares the next transaction, in order. (lmdb's own batching makes promises of its own whose
 * rejection nobody can hear, so that a full disk would end the process.)
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { RootDatabase } from "lmdb";
import { StoreError } from "../errors.js";

/** Runs writes inside transactions. */
export interface LmdbWriter {
  /**
   * Runs `operation` (synchronous reads and writes) in a transaction with its neighbours, and resolves with what it
   * answers once the transaction is on disk. Rejects with StoreError, and then nothing of it is stored.
   */
  readonly write: <Result>(operation: () => Result) => Promise<Result>;
  /** Resolves when nothing is left to write. */
  idle(): Promise<void>;
}

interface Queued {
  readonly operation: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Ran = { readonly result: unknown } | { readonly error: unknown };

/** The writer of `database`. */
export function lmdbWriter(database: RootDatabase<Buffer, Buffer>): LmdbWriter {
  let queue: Queued[] = [];
  let running: Promise<void> | undefined;

  return {
    write: <Result>(operation: () => Result) =>
      new Promise<Result>((resolve, reject) => {
        queue.push({ operation, resolve: resolve as (result: unknown) => void, reject });
        running ??= drain();
      }),
    idle: async () => running,
  };

  async function drain(): Promise<void> {
    await nextTurn();
    while (queue.length > 0) {
      const batch = queue;
      queue = [];
      await commit(batch);
    }
    running = undefined;
  }

  async function commit(batch: readonly Queued[]): Promise<void> {
    let ran: readonly Ran[];
    try {
      ran = await database.transaction(() => batch.map(({ operation }) => run(operation)));
    } catch (error) {
      const cause = await reasonOf(error);
      for (const { reject } of batch) reject(new StoreError("lmdb did not take the write", { cause }));
      return;
    }
    batch.forEach(({ resolve, reject }, at) => {
      const outcome = ran[at];
      if (outcome !== undefined && "result" in outcome) resolve(outcome.result);
      else reject(new StoreError("lmdb did not take the write", { cause: outcome?.error }));
    });
  }
}

/** One operation that throws is not to reject its neighbours. */
function run(operation: () => unknown): Ran {
  try {
    return { result: operation() };
  } catch (error) {
    return { error };
  }
}

/** lmdb rejects with "commit failed" and gives the reason in a promise, which would be an unheard rejection. */
async function reasonOf(error: unknown): Promise<unknown> {
  const reason: unknown = (error as { commitError?: unknown } | null)?.commitError;
  if (!(reason instanceof Promise)) return error;
  const settled = reason.then(
    () => error,
    (cause: unknown) => cause,
  );
  return Promise.race([settled, nextTurn(error)]);
}
