/** Owns the seams of storage: what hosts may hand in, what the engine gets. No code. */
import type { TaskRecord } from "../task/record.js";

/**
 * The part of a Keyv instance that is used (Keyv 5 and 6 fit). Values are our own JSON text.
 */
export interface KeyvLike {
  get(key: string): Promise<unknown>;
  set(key: string, value: string, ttl?: number): Promise<unknown>;
  delete(key: string): Promise<unknown>;
  iterator?: unknown;
}

/** The part of a Keyv storage adapter that is used (any `@keyv/*` adapter fits). */
export interface KeyvAdapterLike {
  get(key: string): unknown;
  set(key: string, value: unknown, ttl?: number): unknown;
  delete(key: string): unknown;
  iterator?: unknown;
}

/** What `TaskClientOptions.store` takes. */
export type StoreInput = KeyvLike | KeyvAdapterLike | Map<string, unknown> | KeyValueStore;

/**
 * A key-value store that never lies: a failed write or an unreachable store rejects, and only a missing entry
 * reads as undefined. Implement it to bring a store that Keyv has no adapter for.
 */
export interface KeyValueStore {
  /** Marks the interface; hosts' objects are told from Keyv's by it. */
  readonly kind: "mcp-taskrail.key-value-store";
  get(key: string): Promise<string | undefined>;
  /** `ttlMs` undefined: no expiry. */
  set(key: string, value: string, ttlMs: number | undefined): Promise<void>;
  delete(key: string): Promise<void>;
  /** All entries whose key starts with `prefix`. Absent where the store cannot iterate. */
  entries?(prefix: string): AsyncIterable<readonly [key: string, value: unknown]>;
}

/** Something in the store that could not be used; reported, never thrown. */
export interface StoreIssue {
  readonly kind: "corrupt" | "newer-version" | "foreign";
  readonly message: string;
  readonly cause?: unknown;
}

/** Records of one scope. All methods reject with `StoreError` when the store does. */
export interface TaskStore {
  /** The record, or undefined where there is none (or an unreadable one, which is set aside and reported). */
  load(id: string): Promise<TaskRecord | undefined>;
  /**
   * Writes the record, after merging what another process wrote meanwhile (see `mergeRecords`), and answers what
   * is stored now. Writes of one record never overtake each other.
   */
  save(record: TaskRecord): Promise<TaskRecord>;
  /** Stores a new record, unless one with its id is there: then nothing is written and that one is answered. */
  create(record: TaskRecord): Promise<{ created: boolean; record: TaskRecord }>;
  remove(id: string): Promise<void>;
  /** Every readable record of the scope. Unreadable ones are set aside, reported and left out. */
  all(): AsyncIterable<TaskRecord>;
  /** Writes and reads so far, for `stats()`. */
  readonly counts: { readonly reads: number; readonly writes: number };
}
