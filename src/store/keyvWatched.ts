/** Owns the fallback for a Keyv that cannot be made again: the instance itself, distrusted. */
import { StoreError } from "../errors.js";
import { storeOf, type Keyv } from "./keyvInstance.js";
import { watchErrors } from "./keyvStore.js";
import { boundedTtl } from "./ttl.js";
import type { KeyValueStore } from "./types.js";

/**
 * Over the instance itself, with its `error` events
 * and its boolean answers watched. Errors cannot be told apart by operation, so one of another operation makes
 * this one reject too: rather an error too many than an entry that seems absent.
 */
export function watchedKeyv(keyv: Keyv): KeyValueStore {
  const errors = watchErrors(keyv);
  const adapter = storeOf(keyv);
  const store: KeyValueStore = {
    kind: "mcp-taskrail.key-value-store",
    async get(key) {
      const value = await watched(
        "could not be read",
        () => keyv.get(key),
        (answer) => answer != null,
      );
      if (value == null) {
        // Keyv 5 swallows a failed read without an event: see whether its store can be read at all.
        await watched("could not be read", async () => adapter?.get(key));
        return undefined;
      }
      return typeof value === "string" ? value : JSON.stringify(value);
    },
    async set(key, value, ttlMs) {
      // 0 stands for no expiry, and keeps Keyv from taking its default.
      await watched(
        "did not take the write",
        () => keyv.set(key, value, boundedTtl(ttlMs) ?? 0),
        (answer) => answer === true,
      );
    },
    async delete(key) {
      await watched(
        "did not take the deletion",
        () => keyv.delete(key),
        (answer) => answer === true,
        true,
      );
    },
  };
  const iterate = keyv.iterator;
  if (typeof iterate === "function") {
    store.entries = async function* (prefix) {
      for await (const row of (iterate as (namespace: unknown) => AsyncIterable<unknown>).call(
        keyv,
        keyv.namespace,
      )) {
        if (!Array.isArray(row)) continue;
        const [key, value] = row as readonly unknown[];
        if (typeof key === "string" && (key === "" || key.startsWith(prefix))) yield [key, value];
      }
    };
  }
  return store;

  async function watched(
    failure: string,
    run: () => Promise<unknown>,
    good: (answer: unknown) => boolean = () => false,
    falseIsFine = false,
  ): Promise<unknown> {
    const seen = errors.count;
    let answer: unknown;
    try {
      answer = await run();
    } catch (cause) {
      throw new StoreError(`The store ${failure}`, { cause });
    }
    if (good(answer)) return answer;
    if ((answer === false && !falseIsFine) || errors.count !== seen) {
      throw new StoreError(`The store ${failure}`, { cause: errors.last });
    }
    return answer;
  }
}
