/**
 * Owns that the intent to call is stored before the call, or not at all: a write that failed and yet was done is taken
 * back, since nobody would look after it.
 */
import { canonicalJson, type JsonValue } from "../internal/json.js";
import type { TaskStore } from "../store/types.js";
import type { TaskRecord } from "../task/record.js";
import { oneShot } from "./oneShot.js";
import type { EngineOptions } from "./types.js";

/** The journal of one client. */
export interface Journal {
  /** Stores a new record, as `TaskStore.create`. Rejects with `StoreError`: then the call is not to be sent. */
  place(record: TaskRecord): Promise<{ created: boolean; record: TaskRecord }>;
  /** Takes back what an earlier `place` of this id may have left. Rejects with `StoreError` while nobody can know. */
  clear(id: string): Promise<void>;
}

export function createJournal(
  store: TaskStore,
  options: Pick<EngineOptions, "retry"> & { readonly closing: AbortSignal },
): Journal {
  /** Records of which nobody knows whether they were stored. */
  const doubts = new Map<string, TaskRecord>();

  async function clear(id: string): Promise<void> {
    const doubtful = doubts.get(id);
    if (doubtful === undefined) return;
    const stored = await store.load(id);
    // What another process has made of the id since is its own.
    if (stored !== undefined && isSame(stored, doubtful)) await store.remove(id);
    if (doubts.get(id) === doubtful) doubts.delete(id);
  }

  async function clearLater(id: string): Promise<void> {
    const again = (): boolean => !options.closing.aborted;
    // A process that ends before finds it as a call of unknown fate, which is all that can be known then.
    await oneShot(() => clear(id), { ...options.retry, signal: options.closing, again }).catch(
      () => undefined,
    );
  }

  return {
    async place(record) {
      try {
        return await store.create(record);
      } catch (error) {
        doubts.set(record.id, record);
        void clearLater(record.id);
        throw error;
      }
    },
    clear,
  };
}

/** Reading a record may order its members anew. */
function isSame(a: TaskRecord, b: TaskRecord): boolean {
  const [one, other] = [a, b].map((record) => canonicalJson(JSON.parse(JSON.stringify(record)) as JsonValue));
  return one === other;
}
