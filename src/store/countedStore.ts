/** Owns the counting of reads and writes, and that every failure of a store is a StoreError. */
import { StoreError } from "../errors.js";
import type { KeyValueStore } from "./types.js";

/** A KeyValueStore that is counted. */
export interface CountedStore extends KeyValueStore {
  readonly counts: { reads: number; writes: number };
}

/** Counts operations of `store`, failed ones too. Iterating counts as one read. */
export function countedStore(store: KeyValueStore): CountedStore {
  const counts = { reads: 0, writes: 0 };
  // Bound, since they are offered on exactly where the store has them.
  const entries = store.entries?.bind(store);
  const setIfAbsent = store.setIfAbsent?.bind(store);
  const setIfUnchanged = store.setIfUnchanged?.bind(store);
  const move = store.move?.bind(store);
  const explainUnreadable = store.explainUnreadable?.bind(store);
  const counted: CountedStore = {
    kind: store.kind,
    counts,
    get: (key) => run("reads", () => store.get(key)),
    set: (key, value, ttlMs) => run("writes", () => store.set(key, value, ttlMs)),
    delete: (key) => run("writes", () => store.delete(key)),
  };
  if (entries !== undefined) {
    counted.entries = async function* (prefix) {
      counts.reads += 1;
      try {
        yield* entries(prefix);
      } catch (cause) {
        throw asStoreError(cause);
      }
    };
  }
  if (setIfAbsent !== undefined) {
    counted.setIfAbsent = (...args) => run("writes", () => setIfAbsent(...args));
  }
  if (setIfUnchanged !== undefined) {
    counted.setIfUnchanged = (...args) => run("writes", () => setIfUnchanged(...args));
  }
  if (store.liveness !== undefined) counted.liveness = store.liveness;
  if (move !== undefined) counted.move = (...args) => run("writes", () => move(...args));
  if (explainUnreadable !== undefined) counted.explainUnreadable = explainUnreadable;
  return counted;

  async function run<Result>(what: "reads" | "writes", operation: () => Promise<Result>): Promise<Result> {
    counts[what] += 1;
    try {
      return await operation();
    } catch (cause) {
      throw asStoreError(cause);
    }
  }
}

function asStoreError(cause: unknown): StoreError {
  return cause instanceof StoreError ? cause : new StoreError("The store failed", { cause });
}
