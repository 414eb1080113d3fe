/** Owns the default store: this process's memory. Nothing survives the process; it needs no keyv. */
import { systemClock, type Clock } from "../internal/clock.js";
import { boundedTtl } from "./ttl.js";
import type { KeyValueStore } from "./types.js";

/** Expired entries are looked for once per so many writes, so that they do not pile up unread. */
const SWEEP_EVERY = 1_000;

interface Entry {
  readonly value: string;
  readonly expiresAtMs: number;
}

/** A fresh, empty store. Expiry is judged by `clock` when an entry is met; there is no timer. */
export function memoryStore(
  clock: Clock = systemClock,
): Required<Omit<KeyValueStore, "move" | "explainUnreadable" | "liveness">> {
  const map = new Map<string, Entry>();
  let writes = 0;

  return {
    kind: "mcp-taskrail.key-value-store",
    async get(key) {
      return live(key)?.value;
    },
    async set(key, value, ttlMs) {
      put(key, value, ttlMs);
    },
    async delete(key) {
      map.delete(key);
    },
    async *entries(prefix) {
      for (const key of [...map.keys()]) {
        const entry = key.startsWith(prefix) ? live(key) : undefined;
        if (entry !== undefined) yield [key, entry.value] as const;
      }
    },
    async setIfAbsent(key, value, ttlMs) {
      if (live(key) !== undefined) return false;
      put(key, value, ttlMs);
      return true;
    },
    async setIfUnchanged(key, seen, value, ttlMs) {
      if (live(key)?.value !== seen) return false;
      put(key, value, ttlMs);
      return true;
    },
  };

  function live(key: string): Entry | undefined {
    const entry = map.get(key);
    if (entry === undefined || clock.now() < entry.expiresAtMs) return entry;
    map.delete(key);
    return undefined;
  }

  function put(key: string, value: string, ttlMs: number | undefined): void {
    map.set(key, { value, expiresAtMs: clock.now() + (boundedTtl(ttlMs) ?? Infinity) });
    writes += 1;
    if (writes % SWEEP_EVERY === 0) for (const each of [...map.keys()]) live(each);
  }
}
