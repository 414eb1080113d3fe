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

/** What an adapter may offer beyond Keyv's contract (lmdbStore does): writes that depend on what is there. */
export interface ConditionalAdapter {
  setIfAbsent(key: string, value: unknown, ttlMs?: number): Promise<boolean>;
  setIfUnchanged(key: string, seen: unknown, value: unknown, ttlMs?: number): Promise<boolean>;
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
  /** The stored text. What is there but cannot be decoded is answered as it was found, never as undefined. */
  get(key: string): Promise<string | undefined>;
  /** `ttlMs` undefined: no expiry. Replaces both the value and the expiry of an earlier write. */
  set(key: string, value: string, ttlMs: number | undefined): Promise<void>;
  delete(key: string): Promise<void>;
  /** All entries whose key starts with `prefix`. Absent where the store cannot iterate. */
  entries?(prefix: string): AsyncIterable<readonly [key: string, value: unknown]>;
  /** Stores only where no entry is, atomically across processes; answers whether it did. */
  setIfAbsent?(key: string, value: string, ttlMs: number | undefined): Promise<boolean>;
  /** Stores only where the entry still is `seen`, atomically across processes; answers whether it did. */
  setIfUnchanged?(key: string, seen: string, value: string, ttlMs: number | undefined): Promise<boolean>;
  /** Tells dead processes on this store from others, where it can. */
  liveness?: Liveness;
  /** Moves an entry, readable or not, without an expiry. Only for stores whose `set` changes the text (encryption). */
  move?(from: string, to: string): Promise<void>;
  /** Says why a text that `get` answered is no record, where the store knows (it could not be decrypted). */
  explainUnreadable?(text: string): Promise<UnreadableReason | undefined>;
}

/** How a store that is used on one machine only tells a dead process. */
export interface Liveness {
  /** What this process is known by, to others on the store. No secret. */
  readonly mark: string;
  /** True only where the process of that mark has certainly ended. Undefined marks and foreign ones are not known. */
  isGone(mark: string): boolean;
}

/** Why a store could not decode a value: `corrupt` is set aside, `foreign` is left where it is. */
export interface UnreadableReason {
  readonly kind: "corrupt" | "foreign";
  readonly message: string;
}

/** Something in the store that could not be used; reported, never thrown. */
export interface StoreIssue {
  /**
   * corrupt: it was set aside under another key, as it was. newer-version, foreign (another record's or another
   * encryption key's): it stays where it is and is never overwritten.
   */
  readonly kind: "corrupt" | "newer-version" | "foreign";
  readonly message: string;
  readonly cause?: unknown;
}

/** What one process says of itself. */
export interface RosterEntry {
  /** Grows with every sign of life. */
  readonly beat: number;
  /** After so long without one, its calls are others' to take. In milliseconds. */
  readonly leaseMs: number;
  /** The host's name for the process, where it gave one: a later process of that name stands in for this one. */
  readonly instance?: string;
  /** What the store can tell a dead process by. */
  readonly mark?: string;
}

/** The living, by owner. */
export interface Roster {
  readonly owners: ReadonlyMap<string, RosterEntry>;
  /**
   * Another text after every process that left calls behind: somebody else is to look for them. Empty where there is
   * no roster (any more).
   */
  readonly departures: string;
}

/** The roster of one scope. Both reject with `StoreError`. */
export interface RosterStore {
  /** Empty where there is no entry, or one that cannot be read: then everybody writes itself in again. */
  read(): Promise<Roster>;
  /**
   * Stores what `to` makes of the roster, unless that is what it was given, and answers what is stored now. Where the
   * store can compare and set, no change of another process is lost (`to` runs once more where one came in between);
   * elsewhere one may be, until that process's next beat.
   */
  change(to: (roster: Roster) => Roster, ttlMs: number): Promise<Roster>;
}

/** Records of one scope. All methods reject with `StoreError` when the store does. */
export interface TaskStore {
  /** The record, or undefined where there is none (or an unreadable one, which is set aside and reported). */
  load(id: string): Promise<TaskRecord | undefined>;
  /**
   * Writes the record, after merging what another process wrote meanwhile (see `mergeRecords`), and answers what
   * is stored now. Writes of one record never overtake each other. Rejects where the id holds an entry that this
   * release may not overwrite (of a newer version, of another encryption key). `isOurs`: whether the writer owns what
   * is stored, under whatever name; then it is no other process that wrote it. `follower`: the writer's name, where it
   * is not in charge and has the record from the store; then it is another's, whatever owner it names.
   */
  save(record: TaskRecord, isOurs?: (stored: TaskRecord) => boolean, follower?: string): Promise<TaskRecord>;
  /**
   * Stores a new record, unless one with its id is there: then nothing is written and that one is answered.
   * Rejects where the id's earlier record cannot be read: what it stood for may have been done already.
   */
  create(record: TaskRecord): Promise<{ created: boolean; record: TaskRecord }>;
  /** Removes the record, and what was set aside of it before. An unreadable record is set aside instead. */
  remove(id: string): Promise<void>;
  /**
   * Makes `owner` the record's owner where `mayTake` allows it, in one step with reading it where the store can
   * compare and set. Answers the record as it is stored now, or undefined where there is none.
   */
  claim(id: string, owner: string, mayTake: (record: TaskRecord) => boolean): Promise<TaskRecord | undefined>;
  /** Who lives on this store, in this scope. */
  readonly roster: RosterStore;
  readonly liveness: Liveness | undefined;
  /** True where no write replaces what it has not seen: what is stored was there first. */
  readonly comparesAndSets: boolean;
  /** Every readable record of the scope, once. Unreadable ones are set aside, reported and left out. */
  all(): AsyncIterable<TaskRecord>;
  /** Writes (deletions too) and reads so far, for `stats()`. */
  readonly counts: { readonly reads: number; readonly writes: number };
}
