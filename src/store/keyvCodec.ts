/** Owns the coding of keys and values by a Keyv that never sees the store: what would be written, what was read. */
import { StoreError } from "../errors.js";
import { boundedTtl } from "./ttl.js";

/** The calls of a Keyv instance that are used. */
interface Sibling {
  get(key: string): Promise<unknown>;
  set(key: string, value: string, ttl?: number): Promise<unknown>;
}

/** Makes a Keyv with given options over a stand-in for the store. */
export type MakeSibling = (standIn: object) => Sibling;

/** What a value was written as, by the sibling. */
export interface Coded {
  readonly key: string;
  readonly value: unknown;
  readonly ttlOrExpires: number | undefined;
}

/** What was read: `raw` as the store gave it, `text` decoded, or as found where it cannot be decoded. */
export interface Read {
  readonly raw: unknown;
  readonly text: string | undefined;
}

/** What Keyv would write. Nothing is written. */
export async function encode(
  makeSibling: MakeSibling,
  key: string,
  value: string,
  ttlMs: number | undefined,
): Promise<Coded> {
  let coded: Coded | undefined;
  const sibling = makeSibling({
    ...inert,
    async set(storeKey: string, storeValue: unknown, ttlOrExpires?: number) {
      coded = { key: storeKey, value: storeValue, ttlOrExpires };
      return true;
    },
  });
  const answer = await attempt("write", () => sibling.set(key, value, boundedTtl(ttlMs)));
  if (coded === undefined || answer === false) throw new StoreError("Keyv could not encode the value");
  return coded;
}

/** The key as the store has it. */
export async function nameKey(makeSibling: MakeSibling, key: string): Promise<string> {
  let named = key;
  await makeSibling({
    ...inert,
    async get(storeKey: string) {
      named = storeKey;
      return undefined;
    },
  }).get(key);
  return named;
}

/** Reads through `store`, which is asked for one key, and decodes what it gives. */
export async function decode(
  makeSibling: MakeSibling,
  key: string,
  store: { get(storeKey: string): Promise<unknown>; delete(storeKey: string): Promise<unknown> },
): Promise<Read> {
  let raw: unknown;
  let failure: { readonly error: unknown } | undefined;
  let expired = false;
  const sibling = makeSibling({
    ...inert,
    async get(storeKey: string) {
      try {
        raw = await store.get(storeKey);
        return raw;
      } catch (error) {
        failure = { error };
        throw error;
      }
    },
    // Keyv deletes exactly what it finds expired. That it could not be purged changes nothing for the reader.
    async delete(storeKey: string) {
      expired = true;
      await store.delete(storeKey).catch(() => false);
      return true;
    },
    async deleteMany(storeKeys: readonly string[]) {
      expired = true;
      for (const storeKey of storeKeys) await store.delete(storeKey).catch(() => false);
      return storeKeys.map(() => true);
    },
  });
  let value: unknown;
  try {
    value = await sibling.get(key);
  } catch {
    // Either the store failed, which was noted above, or the value cannot be decoded.
  }
  if (failure !== undefined) throw failure.error;
  if (raw == null || expired) return { raw, text: undefined };
  return { raw, text: value == null ? asText(raw) : asText(value) };
}

/** The rest of what Keyv asks of a store. Keyv 6 hands absolute expiries to stores that declare it, Keyv 5 ttls. */
const inert = {
  capabilities: { expires: true },
  async get() {
    return undefined;
  },
  async set() {
    return true;
  },
  async delete() {
    return true;
  },
  async clear() {},
};

/** Values that are not text get one, so that they can be set aside. */
function asText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array)
    return `bytes:${Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return "a value without a text";
  }
}

/** Rejections of the store become StoreError, which never quotes them: adapters put keys into messages. */
export async function attempt<Result>(
  what: "read" | "write" | "delete",
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run();
  } catch (cause) {
    throw cause instanceof StoreError ? cause : new StoreError(`The store failed to ${what}`, { cause });
  }
}
