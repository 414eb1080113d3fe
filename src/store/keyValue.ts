/** Owns the reading of the option `store`: which of the accepted kinds it is, and the KeyValueStore over it. */
import type { Keyv as KeyvClass } from "keyv";
import { systemClock } from "../internal/clock.js";
import { isObject } from "../internal/json.js";
import { answersLikeKeyv, hasMethods, isKeyv, siblings, storeOf, type Keyv } from "./keyvInstance.js";
import { keyvStore, type Adapter, type KeyvParts } from "./keyvStore.js";
import { watchedKeyv } from "./keyvWatched.js";
import { memoryStore } from "./memory.js";
import type { KeyValueStore, StoreInput } from "./types.js";

/** The namespace that Keyv gives an adapter by default; data stays readable for a plain `new Keyv(adapter)`. */
const DEFAULT_NAMESPACE = "keyv";

/**
 * The KeyValueStore over what a host gave as `store`; undefined stands for a fresh memory store. Nothing is opened
 * or read here. A Map or an adapter is coded by Keyv, which is imported on the first use. Of a ready Keyv the
 * store, namespace, serialization, compression and hooks are used; its default `ttl` is not, and the instance
 * itself stays as it is.
 *
 * @throws TypeError where it is none of these.
 */
export function toKeyValueStore(input: StoreInput | undefined): KeyValueStore {
  if (input === undefined) return memoryStore();
  if (isKeyValueStore(input)) return input;
  if (input instanceof Map) return overAdapter(input);
  if (!hasMethods(input)) throw notAStore(input);
  if (isKeyv(input)) return overKeyv(input);
  return overAdapter(input);
}

function overAdapter(given: Adapter | Map<string, unknown>): KeyValueStore {
  return keyvStore(
    given,
    once(async () => {
      const Keyv = await importKeyv();
      // As Keyv does it: some adapters put their own prefix before keys.
      if (!(given instanceof Map)) (given as { namespace?: unknown }).namespace = DEFAULT_NAMESPACE;
      return {
        adapter: takesExpiry(given) ? withExpiry(given) : given,
        namespace: DEFAULT_NAMESPACE,
        makeSibling: (standIn) =>
          new Keyv({ store: standIn, namespace: DEFAULT_NAMESPACE, throwOnErrors: true }),
      };
    }),
  );
}

/** Browser bundles leave Keyv out (package.json), since its default serializer needs Node's buffer. */
async function importKeyv(): Promise<typeof KeyvClass> {
  const { Keyv: imported }: { Keyv?: typeof KeyvClass } = await import("keyv");
  if (imported === undefined) {
    throw new TypeError(
      "store: in a browser, give a ready Keyv or a KeyValueStore instead of a Map or an adapter",
    );
  }
  return imported;
}

function overKeyv(keyv: Keyv): KeyValueStore {
  const adapter = storeOf(keyv);
  const makeSibling = siblings(keyv);
  if (adapter === undefined || !answersLikeKeyv(makeSibling)) return watchedKeyv(keyv);
  const parts: KeyvParts = {
    adapter,
    namespace: keyv.useKeyPrefix !== false && typeof keyv.namespace === "string" ? keyv.namespace : undefined,
    makeSibling,
  };
  return keyvStore(adapter, async () => parts);
}

/** Adapters of Keyv 6 take the instant of expiry where those of Keyv 5 take a time to live. */
function takesExpiry(adapter: Adapter | Map<string, unknown>): adapter is Adapter {
  const capabilities = (adapter as { capabilities?: unknown }).capabilities;
  return isObject(capabilities) && capabilities["expires"] === true;
}

function withExpiry(adapter: Adapter): Adapter {
  const iterator = adapter.iterator;
  return {
    get: (key) => adapter.get(key),
    set: (key, value, ttl) =>
      adapter.set(key, value, ttl === undefined ? undefined : systemClock.now() + ttl),
    delete: (key) => adapter.delete(key),
    ...(typeof iterator === "function"
      ? {
          iterator: (namespace?: string): unknown =>
            (iterator as (ns?: string) => unknown).call(adapter, namespace),
        }
      : {}),
  };
}

function isKeyValueStore(input: object): input is KeyValueStore {
  return isObject(input) && input["kind"] === "mcp-taskrail.key-value-store";
}

function once<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined;
  return () => {
    // A rejection is not kept: the next use tries again.
    result ??= run().catch((error: unknown) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}

/** Names the kind of what was given, never the value: connection strings hold passwords. */
function notAStore(input: unknown): TypeError {
  let given: string;
  if (input === null) given = "null";
  else if (Array.isArray(input)) given = "an array";
  else if (input instanceof Promise) given = "a promise (await it first)";
  else if (typeof input === "object") {
    const missing = ["get", "set", "delete"].filter(
      (name) => typeof (input as Record<string, unknown>)[name] !== "function",
    );
    given = `an object without ${missing.join(", ")}`;
  } else given = `a ${typeof input}`;
  return new TypeError(
    `store must be a Keyv, a Keyv storage adapter, a Map or a KeyValueStore, but is ${given}`,
  );
}
