/**
 * Owns that the intent to call is stored before the call, or not at all: a write that failed and yet was done is taken
 * back, since nobody would look after it.
 */
import { canonicalJson, type JsonValue } from "../internal/json.js";
import type { TaskStore } from "../store/types.js";
import type { TaskRecord } from "../task/record.js";
import { isOver } from "../task/transition.js";
import { oneShot } from "./oneShot.js";
import type { EngineOptions } from "./types.js";

/** The journal of one client. */
export interface Journal {
  /** Stores a new record, as `TaskStore.create`. Rejects with `StoreError`: then the call is not to be sent. */
  place(record: TaskRecord): Promise<{ created: boolean; record: TaskRecord }>;
  /** A call that did not run, whose record the store would not remove: it is removed as soon as that can be done. */
  takeBack(record: TaskRecord): void;
  /** Takes back what is still to be taken back of this id. Rejects with `StoreError` while nobody can know. */
  clear(id: string): Promise<void>;
  /** While `run` runs, the id is busy. One at a time for an id: the caller's to see to. */
  whilePlacing<T>(id: string, run: () => Promise<T>): Promise<T>;
  /** True while a record of this id is being placed or taken back: it is nobody's to look after. */
  isBusy(id: string): boolean;
}

export function createJournal(
  store: TaskStore,
  options: Pick<EngineOptions, "retry"> & { readonly closing: AbortSignal },
): Journal {
  /** What must not stay stored, by id: whether a stored record is it. */
  const doubts = new Map<string, (stored: TaskRecord) => boolean>();
  const placing = new Set<string>();

  async function clear(id: string): Promise<void> {
    const isIt = doubts.get(id);
    if (isIt === undefined) return;
    const stored = await store.load(id);
    // What another process has made of the id since is its own.
    if (stored !== undefined && isIt(stored)) await store.remove(id);
    if (doubts.get(id) === isIt) doubts.delete(id);
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
        doubts.set(record.id, (stored) => isSame(stored, record));
        void clearLater(record.id);
        throw error;
      }
    },
    takeBack({ id, createdAtMs }) {
      doubts.set(
        id,
        (stored) => stored.createdAtMs === createdAtMs && stored.taskId === undefined && !isOver(stored),
      );
      void clearLater(id);
    },
    clear,
    async whilePlacing(id, run) {
      placing.add(id);
      try {
        return await run();
      } finally {
        placing.delete(id);
      }
    },
    isBusy: (id) => placing.has(id) || doubts.has(id),
  };
}

/** Reading a record may order its members anew. */
function isSame(a: TaskRecord, b: TaskRecord): boolean {
  const [one, other] = [a, b].map((record) => canonicalJson(JSON.parse(JSON.stringify(record)) as JsonValue));
  return one === other;
}
