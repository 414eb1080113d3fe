/**
 * Owns the records of one scope in a key-value store: what is read is checked, what cannot be read is set aside,
 * what another process wrote is merged and not overwritten. It decides nothing about tasks.
 */
import { StoreError } from "../errors.js";
import type { Clock } from "../internal/clock.js";
import { keyedMutex } from "../internal/keyedMutex.js";
import { asOwnerOf, readRecord, writeRecord, type TaskRecord } from "../task/record.js";
import { countedStore } from "./countedStore.js";
import { recordIndex, type RecordIndex } from "./recordIndex.js";
import { recordKeys, type RecordKeys } from "./recordKeys.js";
import { rosterStore } from "./roster.js";
import { boundedTtl } from "./ttl.js";
import type { KeyValueStore, StoreIssue, TaskStore } from "./types.js";

/** How often a write is tried again because another process wrote the record in between. */
const MAX_RACES = 100;
/** How many entries that stay where they are (of newer versions) are remembered as reported. */
const MAX_REPORTED = 10_000;

export interface TaskStoreOptions {
  /** The principal that the records belong to. */
  readonly scope: string;
  readonly clock: Clock;
  /**
   * What is to be stored, from what is stored and what this process wants to store. `isFirst`: what is stored was
   * certainly there first, since no write of this store replaces what it has not seen.
   */
  readonly merge: (stored: TaskRecord, mine: TaskRecord, isFirst: boolean) => TaskRecord;
  /** How long from now (`nowMs`) a record is to be kept, in milliseconds; undefined for no expiry. */
  readonly ttlMs: (record: TaskRecord, nowMs: number) => number | undefined;
  /** Hears of every unusable entry once. */
  readonly onIssue: (issue: StoreIssue) => void;
}

/** What is at a record's key. */
type Found =
  | { readonly kind: "absent" }
  | { readonly kind: "record"; readonly record: TaskRecord; readonly text: string }
  | { readonly kind: "corrupt"; readonly message: string; readonly text: string }
  | { readonly kind: "newer-version" | "foreign"; readonly message: string };

/** The records of `options.scope` in `kv`. Nothing is read before the first call. */
export function createTaskStore(kv: KeyValueStore, options: TaskStoreOptions): TaskStore {
  const { scope, clock, merge, ttlMs, onIssue } = options;
  const store = countedStore(kv);
  // Signs of life are no work on records: they count apart.
  const roster = rosterStore(countedStore(kv), async () => (await opened()).keys.roster);
  const comparesAndSets = store.setIfAbsent !== undefined && store.setIfUnchanged !== undefined;
  const locks = keyedMutex();
  const reported = new Set<string>();
  let layout: Promise<{ keys: RecordKeys; index: RecordIndex | undefined }> | undefined;

  return {
    counts: store.counts,
    roster,
    liveness: kv.liveness,
    comparesAndSets,

    async load(id) {
      const { keys } = await opened();
      const key = await keys.record(id);
      return locks.run(key, () => loadAt(key, id));
    },

    async save(record, isOurs, follower) {
      checkScope(record);
      const { keys } = await opened();
      const key = await keys.record(record.id);
      return locks.run(key, async () => {
        for (let races = 0; races < MAX_RACES; races++) {
          const found = await findOwn(key, record.id);
          const next =
            found.kind === "record"
              ? merge(found.record, asOwnerOf(found.record, record, isOurs, follower), comparesAndSets)
              : record;
          if (await write(key, next, found)) return next;
        }
        throw new StoreError(
          `The record was changed by others ${MAX_RACES} times while it was to be written`,
        );
      });
    },

    async create(record) {
      checkScope(record);
      const { keys } = await opened();
      const key = await keys.record(record.id);
      return locks.run(key, async () => {
        for (let races = 0; races < MAX_RACES; races++) {
          const found = await findOwn(key, record.id);
          if (found.kind === "record") return { created: false, record: found.record };
          if ((await store.get(await keys.setAside(key))) !== undefined) {
            throw new StoreError(
              "An earlier record of this id could not be read and was set aside: what it stood for may have been " +
                "done. Use another id, or remove the record",
            );
          }
          if (await write(key, record, found)) return { created: true, record };
        }
        throw new StoreError("The record came and went while it was to be created");
      });
    },

    async claim(id, owner, mayTake) {
      const { keys } = await opened();
      const key = await keys.record(id);
      return locks.run(key, async () => {
        for (let races = 0; races < MAX_RACES; races++) {
          const found = await findOwn(key, id);
          if (found.kind === "absent") return undefined;
          const { record } = found;
          if (record.owner === owner || !mayTake(record)) return record;
          const claimed = { ...record, owner };
          if (await write(key, claimed, found)) return claimed;
        }
        throw new StoreError(
          `The record was changed by others ${MAX_RACES} times while it was to be claimed`,
        );
      });
    },

    async remove(id) {
      const { keys, index } = await opened();
      const key = await keys.record(id);
      await locks.run(key, async () => {
        const found = await find(key, id);
        if (found.kind === "corrupt") return setAside(key, found.text, found.message);
        if (found.kind === "newer-version" || found.kind === "foreign") throw untouchable(key, found);
        await store.delete(key);
        await store.delete(await keys.setAside(key));
        await index?.remove(id);
      });
    },

    async *all() {
      const { keys, index } = await opened();
      const seen = new Set<string>();
      for await (const record of index === undefined ? iterated(keys) : indexed(keys, index)) {
        // Stores may show an entry twice while they are written to.
        if (seen.has(record.id)) continue;
        seen.add(record.id);
        yield record;
      }
    },
  };

  function opened(): NonNullable<typeof layout> {
    layout ??= (async () => {
      const keys = await recordKeys(scope);
      if (store.entries !== undefined) return { keys, index: undefined };
      const index = recordIndex({
        store,
        keys,
        exists: async (id) => (await store.get(await keys.record(id))) !== undefined,
        async onUnreadable(key, text) {
          const reason = await store.explainUnreadable?.(text);
          if (reason?.kind === "foreign") report(key, reason);
          else await setAside(key, text, reason?.message ?? "an index entry is no list of ids");
          return reason?.kind !== "foreign";
        },
      });
      return { keys, index };
    })();
    return layout;
  }

  async function* iterated(keys: RecordKeys): AsyncIterable<TaskRecord> {
    const all = store.entries?.(keys.prefix) ?? [];
    for await (const [key, value] of all) {
      if (value === null || value === undefined) continue;
      const read = readRecord(value);
      if (read.ok && read.record.scope === scope) {
        const home = await keys.record(read.record.id);
        // The id inside is trusted: where the key is another's or lost, the record's own key has the last word.
        const record = key === home ? read.record : ((await usable(home, read.record.id)) ?? read.record);
        yield record;
      } else if (keys.isRecord(key)) {
        // Read it again by its key, one at a time: it may have been half-written just now.
        const record = await usable(key);
        if (record !== undefined) yield record;
      }
    }
  }

  async function* indexed(keys: RecordKeys, index: RecordIndex): AsyncIterable<TaskRecord> {
    for await (const entry of index.walk()) {
      const { id } = entry;
      const key = await keys.record(id);
      const record = await usable(key, id);
      if (record === undefined) entry.gone();
      else yield record;
    }
  }

  /** Like `loadAt`, but one entry that cannot be set aside does not hide the others. */
  async function usable(key: string, id?: string): Promise<TaskRecord | undefined> {
    return locks.run(key, () => loadAt(key, id, true));
  }

  async function loadAt(
    key: string,
    id: string | undefined,
    lenient = false,
  ): Promise<TaskRecord | undefined> {
    const found = await find(key, id);
    switch (found.kind) {
      case "absent":
        return undefined;
      case "record":
        return found.record;
      case "corrupt":
        try {
          await setAside(key, found.text, found.message);
        } catch (cause) {
          if (!lenient) throw cause;
          report(key, { kind: "corrupt", message: `${found.message}; it could not be set aside`, cause });
        }
        return undefined;
      case "newer-version":
      case "foreign":
        report(key, found);
        return undefined;
    }
  }

  /** What is at the key, for a write: an unreadable entry is moved out of the way, a newer one forbids the write. */
  async function findOwn(key: string, id: string): Promise<Extract<Found, { kind: "absent" | "record" }>> {
    const found = await find(key, id);
    if (found.kind === "absent" || found.kind === "record") return found;
    if (found.kind !== "corrupt") throw untouchable(key, found);
    await setAside(key, found.text, found.message);
    return { kind: "absent" };
  }

  async function find(key: string, id: string | undefined): Promise<Found> {
    const text = await store.get(key);
    if (text === undefined) return { kind: "absent" };
    const read = readRecord(text);
    if (!read.ok) {
      const reason = read.kind === "corrupt" ? await store.explainUnreadable?.(text) : undefined;
      return { kind: reason?.kind ?? read.kind, message: reason?.message ?? read.message, text };
    }
    const { record } = read;
    if (record.scope === scope && (id === undefined || record.id === id))
      return { kind: "record", record, text };
    return { kind: "foreign", message: "the entry holds another scope's or another call's record" };
  }

  async function write(
    key: string,
    record: TaskRecord,
    found: Extract<Found, { kind: "absent" | "record" }>,
  ): Promise<boolean> {
    const { index } = await opened();
    // The index comes first: a record that it misses would be lost to a restart, one that it has too many is pruned.
    await index?.add(record.id);
    const text = writeRecord(record);
    // Restated on every write, since stores differ in what an update without one does to an earlier expiry.
    const ttl = boundedTtl(ttlMs(record, clock.now()));
    if (found.kind === "record" && store.setIfUnchanged !== undefined) {
      return store.setIfUnchanged(key, found.text, text, ttl);
    }
    if (found.kind === "absent" && store.setIfAbsent !== undefined) {
      if (!(await store.setIfAbsent(key, text, ttl))) return false;
    } else await store.set(key, text, ttl);
    // Between the two writes above, somebody may have found no record and pruned the id.
    if (found.kind === "absent") await index?.add(record.id);
    return true;
  }

  /** Moves an unreadable entry to a key of its own, as it is. Called with the key's lock held. */
  async function setAside(key: string, text: string, message: string): Promise<void> {
    const { keys } = await opened();
    let place = await keys.setAside(key);
    const earlier = await store.get(place);
    if (earlier !== undefined && earlier !== text) place = await keys.setAside(key, text);
    if (store.move !== undefined) await store.move(key, place);
    else {
      await store.set(place, text, undefined);
      // Another process may have written a good record meanwhile.
      if ((await store.get(key)) === text) await store.delete(key);
    }
    onIssue({ kind: "corrupt", message: `A stored record cannot be read and was set aside: ${message}` });
  }

  function untouchable(
    key: string,
    found: { kind: "newer-version" | "foreign"; message: string },
  ): StoreError {
    report(key, found);
    return new StoreError(`The stored record must not be overwritten: ${found.message}`);
  }

  function report(key: string, issue: StoreIssue): void {
    const once = `${issue.kind} ${key}`;
    if (reported.has(once)) return;
    if (reported.size < MAX_REPORTED) reported.add(once);
    const { kind, message, cause } = issue;
    onIssue({
      kind,
      message: `A stored record is not used: ${message}`,
      ...(cause === undefined ? {} : { cause }),
    });
  }

  function checkScope(record: TaskRecord): void {
    if (record.scope !== scope) throw new TypeError("record.scope must be the scope of the store");
  }
}
