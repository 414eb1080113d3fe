/** Owns what is known of a ready Keyv instance, of versions 4 to 6, and the making of others like it. It changes none. */
import { isObject } from "../internal/json.js";
import type { MakeSibling } from "./keyvCodec.js";
import { watchErrors, type Adapter } from "./keyvStore.js";
import type { KeyvLike } from "./types.js";

/** A ready Keyv: the members that are looked at, all of them optional but the methods. */
export interface Keyv extends KeyvLike {
  readonly store?: unknown;
  readonly opts?: unknown;
  readonly namespace?: unknown;
  readonly serialize?: unknown;
  readonly deserialize?: unknown;
  readonly serialization?: unknown;
  readonly compression?: unknown;
  readonly encryption?: unknown;
  readonly checkExpired?: unknown;
  readonly useKeyPrefix?: unknown;
  readonly sanitize?: unknown;
  readonly hooks?: unknown;
}

/** Told from an adapter by what only the instance has: version 5's option, version 6's codec, version 4's store. */
export function isKeyv(input: object): input is Keyv {
  if ("throwOnErrors" in input && "serialize" in input) return true;
  if ("hooks" in input && "stats" in input) return true;
  const opts = (input as { opts?: unknown }).opts;
  return isObject(opts) && "serialize" in opts && (opts["store"] instanceof Map || hasMethods(opts["store"]));
}

/** The methods that every Keyv and every adapter has. */
export function hasMethods(input: unknown): input is Adapter {
  return isObject(input) && ["get", "set", "delete"].every((name) => typeof input[name] === "function");
}

/** The adapter of a Keyv; Keyv 4 had it in its options only. */
export function storeOf(keyv: Keyv): Adapter | Map<string, unknown> | undefined {
  for (const candidate of [keyv.store, isObject(keyv.opts) ? keyv.opts["store"] : undefined]) {
    if (candidate instanceof Map) return candidate as Map<string, unknown>;
    if (isObject(candidate) && hasMethods(candidate)) return candidate;
  }
  return undefined;
}

/** Makes Keyvs like the given one, by its own constructor, over another store. */
export function siblings(keyv: Keyv): MakeSibling {
  const Constructor = keyv.constructor as new (
    options: object,
  ) => Keyv & { hooks?: unknown; sanitize?: unknown };
  const options = {
    ...(isObject(keyv.opts) ? keyv.opts : {}),
    namespace: keyv.namespace,
    serialize: keyv.serialize,
    deserialize: keyv.deserialize,
    serialization: keyv.serialization ?? false,
    compression: keyv.compression,
    encryption: keyv.encryption,
    checkExpired: keyv.checkExpired,
    useKeyPrefix: keyv.useKeyPrefix,
    // A default time to live is meant for caches: it would drop tasks that still run.
    ttl: undefined,
    stats: false,
    throwOnErrors: true,
  };
  return (standIn) => {
    const sibling = new Constructor({ ...options, store: standIn });
    watchErrors(sibling);
    if (isHookManager(keyv.hooks)) sibling.hooks = keyv.hooks;
    else if (keyv.hooks instanceof Map) copyHooks(keyv.hooks, sibling);
    if (isObject(keyv.sanitize) && keyv.sanitize["enabled"] === true) sibling.sanitize = keyv.sanitize;
    return sibling;
  };
}

/** False where the constructor makes something else: a subclass with arguments of its own, an imitation. */
export function answersLikeKeyv(makeSibling: MakeSibling): boolean {
  try {
    const sibling: unknown = makeSibling({
      capabilities: { expires: true },
      get: async () => undefined,
      set: async () => true,
      delete: async () => true,
      clear: async () => undefined,
    });
    return isObject(sibling) && hasMethods(sibling) && isKeyv(sibling);
  } catch {
    return false;
  }
}

function isHookManager(hooks: unknown): boolean {
  return isObject(hooks) && !(hooks instanceof Map) && typeof hooks["trigger"] === "function";
}

function copyHooks(hooks: ReadonlyMap<unknown, unknown>, sibling: object): void {
  if (!("onHook" in sibling) || typeof sibling.onHook !== "function") return;
  for (const [event, handlers] of hooks) {
    if (!Array.isArray(handlers)) continue;
    for (const handler of handlers as readonly unknown[]) {
      (sibling.onHook as (hook: unknown, handler?: unknown) => void).call(
        sibling,
        isObject(handler) ? handler : event,
        isObject(handler) ? undefined : handler,
      );
    }
  }
}
