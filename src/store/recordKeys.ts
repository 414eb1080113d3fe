/** Owns the layout of one scope's keys: records, index shards, what was set aside. No I/O but digests. */
import { digest, keyPart } from "./keys.js";

/** How many shards the index of a scope has, in stores that cannot iterate. */
export const INDEX_SHARDS = 64;

/** The keys of one scope. */
export interface RecordKeys {
  /** What all keys of the scope, and only these, start with. */
  readonly prefix: string;
  record(id: string): Promise<string>;
  /** True for a key that `record` made, of whatever id; false for index, set-aside and other scopes' keys. */
  isRecord(key: string): boolean;
  /** Where an unreadable entry goes that was at `key`. With its text, a key of its own for the second of them. */
  setAside(key: string, text?: string): Promise<string>;
  /** Where the processes that own records say that they live. */
  readonly roster: string;
  shard(number: number): string;
  shardOf(id: string): Promise<string>;
}

/** The keys of `scope`. */
export async function recordKeys(scope: string): Promise<RecordKeys> {
  // The colon ends the scope: encoded parts have none, so no scope is a prefix of another.
  const prefix = `${await keyPart(scope)}:`;
  const shard = (number: number): string => `${prefix}!index:${String(number).padStart(2, "0")}`;
  return {
    prefix,
    roster: `${prefix}!roster`,
    record: async (id) => prefix + (await keyPart(id)),
    isRecord: (key) => key.startsWith(prefix) && /^[^:!]+$/.test(key.slice(prefix.length)),
    async setAside(key, text) {
      const place = `${prefix}!corrupt:${key.slice(prefix.length)}`;
      return text === undefined ? place : `${place}.${(await digest(text)).slice(0, 16)}`;
    },
    shard,
    shardOf: async (id) => shard(Number.parseInt((await digest(id)).slice(0, 8), 16) % INDEX_SHARDS),
  };
}
