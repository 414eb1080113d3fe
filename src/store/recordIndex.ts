/**
 * Owns the list of ids of a scope, in stores that cannot iterate: JSON arrays in a fixed number of shards. It may
 * name ids whose record is gone (they are pruned), and must not miss one whose record is there.
 */
import { StoreError } from "../errors.js";
import { keyedMutex } from "../internal/keyedMutex.js";
import { INDEX_SHARDS, type RecordKeys } from "./recordKeys.js";
import type { CountedStore } from "./countedStore.js";

/** The ids of one scope. Reads and writes of a shard are one step within this process, not across processes. */
export interface RecordIndex {
  /** Adds the id where it is missing: the repair of what another process overwrote. */
  add(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** Walks through all ids, shard by shard, and prunes those that `visit` and a second look find without a record. */
  walk(): AsyncIterable<{ readonly id: string; readonly gone: () => void }>;
}

interface RecordIndexOptions {
  readonly store: CountedStore;
  readonly keys: RecordKeys;
  /** Is there an entry for the id, readable or not? */
  readonly exists: (id: string) => Promise<boolean>;
  /** A shard is no list of ids: answers true once it is set aside, false where it has to stay as it is. */
  readonly onUnreadable: (key: string, text: string) => Promise<boolean>;
}

/** The index over `store`. */
export function recordIndex({ store, keys, exists, onUnreadable }: RecordIndexOptions): RecordIndex {
  const locks = keyedMutex();

  return {
    async add(id) {
      const shard = await keys.shardOf(id);
      await change(shard, async (ids) => (ids.includes(id) ? ids : [...ids, id]));
    },
    async remove(id) {
      const shard = await keys.shardOf(id);
      await change(shard, async (ids) => (ids.includes(id) ? ids.filter((other) => other !== id) : ids));
    },
    async *walk() {
      for (let number = 0; number < INDEX_SHARDS; number++) {
        const shard = keys.shard(number);
        const suspects = new Set<string>();
        for (const id of (await locks.run(shard, () => read(shard))) ?? []) {
          yield { id, gone: () => suspects.add(id) };
        }
        if (suspects.size > 0) await prune(shard, suspects);
      }
    },
  };

  function prune(shard: string, suspects: ReadonlySet<string>): Promise<void> {
    return change(shard, async (ids) => {
      const kept: string[] = [];
      // A record may have come meanwhile: whoever creates one writes the index first.
      for (const id of ids) if (!suspects.has(id) || (await exists(id))) kept.push(id);
      return kept.length === ids.length ? ids : kept;
    });
  }

  function change(shard: string, to: (ids: readonly string[]) => Promise<readonly string[]>): Promise<void> {
    return locks.run(shard, async () => {
      const before = await read(shard);
      if (before === undefined)
        throw new StoreError("An index entry cannot be read and must not be overwritten");
      const after = await to(before);
      if (after === before) return;
      if (after.length === 0) await store.delete(shard);
      else await store.set(shard, JSON.stringify(after), undefined);
    });
  }

  /** The ids of a shard; none of a shard that was set aside, undefined of one that has to stay. */
  async function read(shard: string): Promise<readonly string[] | undefined> {
    const text = await store.get(shard);
    if (text === undefined) return [];
    return parse(text) ?? ((await onUnreadable(shard, text)) ? [] : undefined);
  }
}

function parse(text: string): readonly string[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value) && value.every((id) => typeof id === "string")) return value;
  } catch {
    // Not JSON: corrupt, as the caller will see.
  }
  return undefined;
}
