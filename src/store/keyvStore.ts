/**
 * Owns honesty over Keyv: a KeyValueStore that uses a Keyv only to name keys and to code values, and talks to the
 * storage adapter itself. It must not change the host's instance, and never calls `clear`.
 *
 * Why not through the instance: Keyv 5 answers a failed read as "absent" and a failed write as false unless
 * `throwOnErrors` is on, Keyv 6 has no such option, and both pass off an undecodable value as an absent or a
 * failing one. So each operation gets a short-lived sibling (same options) over a stand-in store, which shows
 * what went in and out; failures of the real store are then ours to see.
 */
import { isObject } from "../internal/json.js";
import { StoreError } from "../errors.js";
import { attempt, decode, encode, nameKey, type MakeSibling, type Read } from "./keyvCodec.js";
import { redisConditions } from "./redisConditions.js";
import type { ConditionalAdapter, KeyValueStore } from "./types.js";

/** A storage adapter, as Keyv sees it. */
export interface Adapter {
  get(key: string): unknown;
  set(key: string, value: unknown, ttlOrExpires?: number): unknown;
  delete(key: string): unknown;
  iterator?: unknown;
  on?: unknown;
  capabilities?: unknown;
}

/** What is needed to work with a Keyv's store. */
export interface KeyvParts {
  readonly adapter: Adapter | Map<string, unknown>;
  readonly namespace: string | undefined;
  readonly makeSibling: MakeSibling;
}

/** `parts` is asked for on the first use and then kept; while it rejects, every operation does. */
export function keyvStore(
  source: Adapter | Map<string, unknown>,
  parts: () => Promise<KeyvParts>,
): KeyValueStore {
  const errors = watchErrors(source);
  const conditional = conditionsOf(source);

  const store: KeyValueStore = {
    kind: "mcp-taskrail.key-value-store",
    async get(key) {
      const { adapter, makeSibling } = await use(parts);
      const { text } = await read(adapter, makeSibling, key);
      return text;
    },
    async set(key, value, ttlMs) {
      const { adapter, makeSibling } = await use(parts);
      const coded = await encode(makeSibling, key, value, ttlMs);
      const seen = errors.count;
      const answer = await attempt("write", async () =>
        adapter.set(coded.key, coded.value, coded.ttlOrExpires),
      );
      // Adapters answer true, nothing or themselves; some swallow a failure, emit it and answer nothing.
      if (answer === false || (answer == null && errors.count !== seen)) {
        throw new StoreError("The store did not take the write", { cause: errors.last });
      }
    },
    async delete(key) {
      const { adapter, makeSibling } = await use(parts);
      const storeKey = await nameKey(makeSibling, key);
      const seen = errors.count;
      const answer = await attempt("delete", async () => adapter.delete(storeKey));
      if (answer !== true && errors.count !== seen) {
        throw new StoreError("The store did not take the deletion", { cause: errors.last });
      }
    },
  };
  if (canIterate(source)) store.entries = entries;
  if (source instanceof Map) Object.assign(store, mapConditions());
  else if (conditional !== undefined) Object.assign(store, { setIfAbsent, setIfUnchanged });
  const liveness = livenessOf(source);
  if (liveness !== undefined) store.liveness = liveness;
  return store;

  async function read(adapter: KeyvParts["adapter"], makeSibling: MakeSibling, key: string): Promise<Read> {
    const seen = errors.count;
    const result = await decode(makeSibling, key, {
      get: (storeKey) => attempt("read", async () => adapter.get(storeKey)),
      delete: (storeKey) => attempt("delete", async () => adapter.delete(storeKey)),
    });
    if (result.raw == null && errors.count !== seen) {
      throw new StoreError("The store could not be read", { cause: errors.last });
    }
    return result;
  }

  async function* entries(prefix: string): AsyncIterable<readonly [key: string, value: unknown]> {
    const { adapter, namespace, makeSibling } = await use(parts);
    const seen = errors.count;
    try {
      for await (const row of rows(adapter, namespace)) {
        if (!Array.isArray(row)) continue;
        const [storeKey, raw] = row as readonly unknown[];
        const key = raw == null ? undefined : plainKey(storeKey, namespace, prefix);
        if (key === undefined) continue;
        const { text } = await decode(makeSibling, key === "" ? "?" : key, {
          get: async () => raw,
          // An expired row is purged where it was met. Not through a key that the row did not name.
          delete: async (named) => (key === "" ? false : adapter.delete(named)),
        });
        if (text !== undefined) yield [key, text];
      }
    } catch (cause) {
      throw cause instanceof StoreError ? cause : new StoreError("The store failed to iterate", { cause });
    }
    if (errors.count !== seen) throw new StoreError("The store failed to iterate", { cause: errors.last });
  }

  /** Nothing comes between two steps on a Map, and several clients of one process may share it. */
  function mapConditions(): Pick<Required<KeyValueStore>, "setIfAbsent" | "setIfUnchanged"> {
    async function setIf(
      fits: (text: string | undefined) => boolean,
      [key, value, ttlMs]: readonly [key: string, value: string, ttlMs: number | undefined],
    ): Promise<boolean> {
      const { adapter, makeSibling } = await use(parts);
      const coded = await encode(makeSibling, key, value, ttlMs);
      const { text, raw } = await read(adapter, makeSibling, key);
      const now = adapter.get(coded.key) ?? undefined;
      if (!fits(text) || now !== (text === undefined ? undefined : raw)) return false;
      adapter.set(coded.key, coded.value, coded.ttlOrExpires);
      return true;
    }
    return {
      setIfAbsent: (...entry) => setIf((text) => text === undefined, entry),
      setIfUnchanged: (key, seen, ...rest) => setIf((text) => text === seen, [key, ...rest]),
    };
  }

  async function setIfAbsent(key: string, value: string, ttlMs: number | undefined): Promise<boolean> {
    const { makeSibling } = await use(parts);
    const coded = await encode(makeSibling, key, value, ttlMs);
    return attempt("write", async () =>
      (conditional as ConditionalAdapter).setIfAbsent(coded.key, coded.value, coded.ttlOrExpires),
    );
  }

  async function setIfUnchanged(
    key: string,
    seen: string,
    value: string,
    ttlMs: number | undefined,
  ): Promise<boolean> {
    const { adapter, makeSibling } = await use(parts);
    const { text, raw } = await read(adapter, makeSibling, key);
    if (text !== seen) return false;
    const coded = await encode(makeSibling, key, value, ttlMs);
    return attempt("write", async () =>
      (conditional as ConditionalAdapter).setIfUnchanged(coded.key, raw, coded.value, coded.ttlOrExpires),
    );
  }
}

async function use(parts: () => Promise<KeyvParts>): Promise<KeyvParts> {
  try {
    return await parts();
  } catch (cause) {
    throw new StoreError("The store could not be opened", { cause });
  }
}

/** The key without the namespace, or undefined for one of another prefix. Empty where the adapter lost it. */
function plainKey(storeKey: unknown, namespace: string | undefined, prefix: string): string | undefined {
  if (typeof storeKey !== "string") return undefined;
  if (storeKey === "") return "";
  // Keyv 5 does not prefix a key that begins with the namespace already; and some adapters strip it themselves.
  if (storeKey.startsWith(prefix)) return storeKey;
  if (namespace === undefined || !storeKey.startsWith(`${namespace}:`)) return undefined;
  const key = storeKey.slice(namespace.length + 1);
  return key.startsWith(prefix) ? key : undefined;
}

function rows(
  adapter: KeyvParts["adapter"],
  namespace: string | undefined,
): AsyncIterable<unknown> | Iterable<unknown> {
  if (adapter instanceof Map) return [...adapter];
  // An adapter that names its keys by a namespace of its own iterates by that one, as Keyv itself does.
  const own = (adapter as { namespace?: unknown }).namespace;
  return (adapter.iterator as (namespace?: string) => AsyncIterable<unknown>).call(
    adapter,
    typeof own === "string" ? own : namespace,
  );
}

function canIterate(source: Adapter | Map<string, unknown>): boolean {
  if (source instanceof Map) return true;
  if (typeof source.iterator !== "function") return false;
  // Keyv 6 puts a bridge over older adapters, which has an empty iterator where theirs is missing. Its adapter over
  // a Map says the same of the Map, but does iterate.
  if ((source as { store?: unknown }).store instanceof Map) return true;
  const { methods } = isObject(source.capabilities) ? source.capabilities : {};
  const iterator = isObject(methods) ? methods["iterator"] : undefined;
  return !isObject(iterator) || iterator["exists"] !== false;
}

function conditionsOf(source: object): ConditionalAdapter | undefined {
  // With absolute expiries it would be another contract than ours.
  if (!isObject(source) || "capabilities" in source) return undefined;
  const offers = ["setIfAbsent", "setIfUnchanged"].every((name) => typeof source[name] === "function");
  return offers ? (source as object as ConditionalAdapter) : redisConditions(source);
}

function livenessOf(source: object): KeyValueStore["liveness"] {
  const { liveness } = source as { liveness?: KeyValueStore["liveness"] };
  return isObject(liveness) && typeof liveness.isGone === "function" ? liveness : undefined;
}

/**
 * Counts the `error` events of an adapter: several emit a failure and then answer as if nothing was stored. It
 * also keeps an event emitter's unheard `error` from ending the process.
 */
export function watchErrors(source: object): { readonly count: number; readonly last: unknown } {
  const seen = { count: 0, last: undefined as unknown };
  if ("on" in source && typeof source.on === "function") {
    (source.on as (event: string, listener: (error: unknown) => void) => unknown).call(
      source,
      "error",
      (error) => {
        seen.count += 1;
        seen.last = error;
      },
    );
  }
  return seen;
}
