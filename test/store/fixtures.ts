/** Owns what the store tests share: records, real stores of every kind, temporary folders. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import KeyvRedis, { createKeyv } from "@keyv/redis";
import { Keyv } from "keyv";
import { afterAll, onTestFinished } from "vitest";
import type { Clock } from "../../src/internal/clock.js";
import { encryptedStore } from "../../src/store/encrypted.js";
import { toKeyValueStore } from "../../src/store/keyValue.js";
import { lmdbStore, type LmdbStore } from "../../src/store/lmdb.js";
import { memoryStore } from "../../src/store/memory.js";
import { createTaskStore, type TaskStoreOptions } from "../../src/store/taskStore.js";
import type { KeyValueStore, StoreIssue, TaskStore } from "../../src/store/types.js";
import { mergeRecords } from "../../src/task/merge.js";
import { hasRedis, startRedis, type RedisServer } from "../helpers/redis.js";

export { record } from "./records.js";

export const KEY = Uint8Array.from({ length: 32 }, (_, at) => at);

/** A clock that stands still until it is set. */
export function manualClock(startMs = 1_700_000_000_000): Clock & { atMs: number } {
  const clock = {
    atMs: startMs,
    now: () => clock.atMs,
    monotonic: () => clock.atMs,
    setTimer: () => () => {},
  };
  return clock;
}

/** A TaskStore with the issues that it reported. */
export function taskStore(
  kv: KeyValueStore,
  options: Partial<TaskStoreOptions> = {},
): TaskStore & { issues: StoreIssue[] } {
  const issues: StoreIssue[] = [];
  const store = createTaskStore(kv, {
    scope: "s",
    clock: manualClock(),
    merge: mergeRecords,
    ttlMs: () => undefined,
    onIssue: (issue) => issues.push(issue),
    ...options,
  });
  return Object.assign(store, { issues });
}

export async function collect<Item>(items: AsyncIterable<Item> | undefined): Promise<Item[]> {
  const all: Item[] = [];
  if (items === undefined) throw new Error("there is nothing to iterate");
  for await (const item of items) all.push(item);
  return all;
}

export async function idsOf(store: TaskStore): Promise<string[]> {
  return (await collect(store.all())).map(({ id }) => id).sort();
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "taskrail-store-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function temporaryLmdb(): Promise<LmdbStore> {
  const store = lmdbStore(join(await temporaryFolder(), "db"));
  onTestFinished(() => store.disconnect());
  return store;
}

/** A complete little adapter of the kind people write: no iterator, no events. */
export class PlainAdapter {
  readonly entries = new Map<string, unknown>();
  async get(key: string): Promise<unknown> {
    return this.entries.get(key);
  }
  async set(key: string, value: unknown): Promise<boolean> {
    this.entries.set(key, value);
    return true;
  }
  async delete(key: string): Promise<boolean> {
    return this.entries.delete(key);
  }
}

let redis: Promise<RedisServer> | undefined;
let databases = 0;
afterAll(async () => (await redis)?.stop());

/** The URL of an empty database of a real Redis, one server per test file. */
async function emptyRedis(): Promise<string> {
  redis ??= startRedis();
  databases += 1;
  return `${(await redis).url}/${databases}`;
}

/** A Keyv over Redis, in the ways that its README shows. */
async function redisKeyv(make: (url: string) => Keyv): Promise<Keyv> {
  const keyv = make(await emptyRedis());
  onTestFinished(() => keyv.disconnect());
  return keyv;
}

/** Every kind of store that `toKeyValueStore` makes, each empty. */
export const STORES: Readonly<Record<string, () => Promise<KeyValueStore>>> = {
  memory: async () => memoryStore(),
  "a Map": async () => toKeyValueStore(new Map()),
  "a Keyv over a Map": async () => toKeyValueStore(new Keyv()),
  "a Keyv without namespace": async () =>
    toKeyValueStore(new Keyv({ store: new Map(), useKeyPrefix: false, namespace: "" })),
  "a Keyv without serialization": async () => {
    const keyv = new Keyv();
    keyv.serialize = undefined;
    keyv.deserialize = undefined;
    return toKeyValueStore(keyv);
  },
  "an adapter without iterator": async () => toKeyValueStore(new PlainAdapter()),
  lmdb: async () => toKeyValueStore(await temporaryLmdb()),
  "a Keyv over lmdb": async () =>
    toKeyValueStore(new Keyv({ store: await temporaryLmdb(), namespace: "mine" })),
  ...(hasRedis && {
    "a Keyv over Redis": async () =>
      toKeyValueStore(await redisKeyv((url) => new Keyv({ store: new KeyvRedis(url) }))),
    "a Keyv over Redis without key prefix": async () =>
      toKeyValueStore(
        await redisKeyv((url) => new Keyv(new KeyvRedis(url), { namespace: "mine", useKeyPrefix: false })),
      ),
    "Redis by createKeyv": async () => toKeyValueStore(await redisKeyv((url) => createKeyv(url))),
    "Redis by createKeyv with a namespace": async () =>
      toKeyValueStore(await redisKeyv((url) => createKeyv(url, { namespace: "mine" }))),
    "a Redis adapter": async () => {
      const adapter = new KeyvRedis(await emptyRedis());
      onTestFinished(() => adapter.disconnect());
      return toKeyValueStore(adapter);
    },
    "encrypted Redis": async () => encryptedStore(await redisKeyv((url) => createKeyv(url)), KEY),
  }),
  "encrypted memory": async () => encryptedStore(memoryStore(), KEY),
  "encrypted lmdb": async () => encryptedStore(await temporaryLmdb(), KEY),
  "an encrypted adapter without iterator": async () => encryptedStore(new PlainAdapter(), KEY),
};
