/** Owns the opening of a worker's store, for the worker and for who looks at it from outside. */
import KeyvRedis from "@keyv/redis";
import type { KeyValueStore } from "../../src/index.js";
import { toKeyValueStore } from "../../src/store/keyValue.js";
import { lmdbStore } from "../../src/store/lmdb.js";
import { readRecord, type TaskRecord } from "../../src/task/record.js";
import type { StorePlan } from "./plan.js";

export interface OpenStore {
  readonly keyValue: KeyValueStore;
  close(): Promise<void>;
}

export function openStore(plan: StorePlan): OpenStore {
  const adapter = plan.kind === "lmdb" ? lmdbStore(plan.path) : new KeyvRedis(plan.url);
  return { keyValue: toKeyValueStore(adapter), close: async () => void (await adapter.disconnect()) };
}

/** The records as they lie there, whoever else is on the store. Throws for one that cannot be read. */
export async function recordsIn(store: KeyValueStore): Promise<TaskRecord[]> {
  const records: TaskRecord[] = [];
  for await (const [key, value] of store.entries?.("default:") ?? []) {
    // Others than records have a word of their own in the key.
    if (!/^[^:!]+:[^:!]+$/.test(key)) continue;
    const read = readRecord(value);
    if (!read.ok) throw new Error(`a record that cannot be read: ${read.message}`);
    records.push(read.record);
  }
  return records;
}
