/** Owns `lmdbStore`, the entry `mcp-taskrail/lmdb`: a Keyv storage adapter over lmdb. Node only. */
import { EventEmitter } from "node:events";
import { resolve } from "node:path";
import { StoreError } from "../errors.js";
import { systemClock } from "../internal/clock.js";
import { decodeEntry, encodeEntry, keyBytes, keyRanges, type LmdbEntry } from "./lmdbEntry.js";
import { enter, type LmdbEnvironment } from "./lmdbEnvironment.js";
import { lmdbLiveness } from "./lmdbProcess.js";
import type { Liveness } from "./types.js";

/** Rows that are read at once while iterating, so that no read transaction stays open between them. */
const CHUNK_ROWS = 200;

/**
 * A Keyv storage adapter. `ttl` is in milliseconds; undefined, 0 and what is not finite mean no expiry. Values are
 * text, bytes, or what JSON carries. Every method rejects with `StoreError` when lmdb does (disk full, not
 * writable, damaged), and after `disconnect`.
 */
export interface LmdbStore {
  readonly opts: { readonly url: string; readonly dialect: string };
  /** Tells processes that died from those that live: their calls are taken over at once. */
  readonly liveness: Liveness;
  /** What Keyv sets; `clear` without one deletes everything. Absent before, which tells Keyv 6 to name the keys. */
  namespace?: string | undefined;
  get<Value>(key: string): Promise<Value | undefined>;
  getMany<Value>(keys: readonly string[]): Promise<(Value | undefined)[]>;
  /** Resolves when the value is on disk. Sets that are under way at once are committed together. */
  set(key: string, value: unknown, ttl?: number): Promise<boolean>;
  setMany(entries: readonly { key: string; value: unknown; ttl?: number }[]): Promise<void>;
  /** Sets where there is no entry, or only an expired one; answers whether it did. Atomic across processes. */
  setIfAbsent(key: string, value: unknown, ttl?: number): Promise<boolean>;
  /** Sets where the value still is `seen` (text); answers whether it did. Atomic across processes. */
  setIfUnchanged(key: string, seen: unknown, value: unknown, ttl?: number): Promise<boolean>;
  has(key: string): Promise<boolean>;
  hasMany(keys: readonly string[]): Promise<boolean[]>;
  /** True if there was one. */
  delete(key: string): Promise<boolean>;
  /** True if there were all of them. */
  deleteMany(keys: readonly string[]): Promise<boolean>;
  clear(): Promise<void>;
  /** Entries whose key begins with `<namespace>:` (all, without one); expired ones are left out and purged. */
  iterator<Value>(namespace?: string): AsyncGenerator<[key: string, value: Awaited<Value>], void>;
  /** Waits for the writes under way and closes the files, unless another lmdbStore of this process uses them. */
  disconnect(): Promise<void>;
  /** `error`: something failed that nobody waited for (purging an expired entry). */
  on(event: string, listener: (...args: unknown[]) => void): LmdbStore;
}

/**
 * Keeps tasks in the folder `path`, which is made (0700) on the first use, in the files `data.mdb` and `lock.mdb`
 * (0600). Several processes may use one path at the same time, on one machine and a local file system. Needs the
 * package `lmdb`.
 *
 * @throws TypeError where `path` is not a path.
 */
export function lmdbStore(path: string): LmdbStore {
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    throw new TypeError(
      `path must be the path of a folder, but is ${typeof path === "string" ? "no path" : `a ${typeof path}`}`,
    );
  }
  // Absolute, lest a later change of the working directory makes it another folder.
  const folder = resolve(path);
  const events = new EventEmitter();
  let opening: Promise<LmdbEnvironment> | undefined;
  let closed = false;

  const store: LmdbStore = {
    // Keyv 5 offers its iterator only over adapters whose dialect is on its list, where lmdb is not.
    opts: { url: `lmdb://${folder}`, dialect: "sqlite" },
    liveness: lmdbLiveness,

    async get<Value>(key: string) {
      const environment = await opened();
      const found = lookUp(environment.database, key);
      if (found === undefined) return undefined;
      if (!isExpired(found)) return found.value as Value;
      purge(environment, [keyBytes(key)]);
      return undefined;
    },

    getMany: <Value>(keys: readonly string[]) => Promise.all(keys.map((key) => store.get<Value>(key))),

    async set(key, value, ttl) {
      const bytes = keyBytes(key);
      const stored = encodeEntry({ key, value, expiresAtMs: expiry(ttl) }, bytes);
      const { database, write } = await opened();
      return write(() => {
        database.putSync(bytes, stored);
        return true;
      });
    },

    async setMany(entries) {
      await Promise.all(entries.map(({ key, value, ttl }) => store.set(key, value, ttl)));
    },

    setIfAbsent: (key, value, ttl) => setIf(key, value, ttl, (found) => found === undefined),

    setIfUnchanged: (key, seen, value, ttl) => setIf(key, value, ttl, (found) => found?.value === seen),

    async has(key) {
      const { database } = await opened();
      const found = lookUp(database, key);
      return found !== undefined && !isExpired(found);
    },

    hasMany: (keys) => Promise.all(keys.map((key) => store.has(key))),

    async delete(key) {
      const { database, write } = await opened();
      return write(() => {
        const found = lookUp(database, key);
        if (found !== undefined) database.removeSync(keyBytes(key));
        return found !== undefined && !isExpired(found);
      });
    },

    async deleteMany(keys) {
      const deleted = await Promise.all(keys.map((key) => store.delete(key)));
      return deleted.every(Boolean);
    },

    async clear() {
      const { database, write } = await opened();
      const prefix = namespacePrefix(store.namespace);
      await write(() => {
        for (const { bytes } of rows(database, prefix)) database.removeSync(bytes);
      });
    },

    async *iterator<Value>(namespace?: string) {
      const environment = await opened();
      const expired: Buffer[] = [];
      for (const { bytes, entry } of rows(environment.database, namespacePrefix(namespace))) {
        if (isExpired(entry)) expired.push(bytes);
        else yield [entry.key, entry.value as Awaited<Value>];
      }
      purge(environment, expired);
    },

    async disconnect() {
      if (closed) return;
      closed = true;
      if (opening === undefined) return;
      // Where it could not be opened, there is nothing to close.
      const environment = await opening.catch(() => undefined);
      await environment?.leave();
    },

    on(event, listener) {
      events.on(event, listener);
      return store;
    },
  };
  return store;

  async function opened(): Promise<LmdbEnvironment> {
    if (closed) throw new StoreError("The lmdb store is disconnected");
    const mine = (opening ??= enter(folder).catch((error: unknown) => {
      opening = undefined;
      throw error;
    }));
    const environment = await mine;
    if (!environment.isLost()) return environment;
    if (opening === mine) {
      opening = undefined;
      await environment.leave();
    }
    return opened();
  }

  async function setIf(
    key: string,
    value: unknown,
    ttl: number | undefined,
    condition: (found: LmdbEntry | undefined) => boolean,
  ): Promise<boolean> {
    const bytes = keyBytes(key);
    const stored = encodeEntry({ key, value, expiresAtMs: expiry(ttl) }, bytes);
    const { database, write } = await opened();
    return write(() => {
      const found = lookUp(database, key);
      if (!condition(found === undefined || isExpired(found) ? undefined : found)) return false;
      database.putSync(bytes, stored);
      return true;
    });
  }

  /** Removes expired entries, unless they were set again. Readers do not wait for it. */
  function purge({ database, write }: LmdbEnvironment, keys: readonly Buffer[]): void {
    if (keys.length === 0) return;
    write(() => {
      for (const key of keys) {
        const stored = database.get(key);
        if (stored !== undefined && isExpired(decodeEntry(stored, key))) database.removeSync(key);
      }
    }).catch((error: unknown) => {
      if (!closed && events.listenerCount("error") > 0) events.emit("error", error);
    });
  }
}

function namespacePrefix(namespace: string | undefined): string {
  return namespace === undefined || namespace === "" ? "" : `${namespace}:`;
}

function expiry(ttl: number | undefined): number {
  return ttl === undefined || ttl === 0 || !Number.isFinite(ttl) ? Infinity : systemClock.now() + ttl;
}

function isExpired(entry: LmdbEntry): boolean {
  return systemClock.now() > entry.expiresAtMs;
}

function lookUp(database: LmdbEnvironment["database"], key: string): LmdbEntry | undefined {
  const bytes = keyBytes(key);
  // Outside a write, see what other processes have committed by now.
  database.resetReadTxn();
  const stored = database.get(bytes);
  return stored === undefined ? undefined : decodeEntry(stored, bytes);
}

function* rows(
  database: LmdbEnvironment["database"],
  prefix: string,
): Iterable<{ bytes: Buffer; entry: LmdbEntry }> {
  for (const { start, end } of keyRanges(prefix)) {
    let from = start;
    for (let exclusiveStart = false; ; exclusiveStart = true) {
      const chunk = [...database.getRange({ start: from, end, exclusiveStart, limit: CHUNK_ROWS })];
      for (const { key, value } of chunk) {
        const entry = decodeEntry(value, key);
        if (entry.key.startsWith(prefix)) yield { bytes: key, entry };
      }
      const last = chunk.at(-1);
      if (last === undefined || chunk.length < CHUNK_ROWS) break;
      from = last.key;
    }
  }
}
