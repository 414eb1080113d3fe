/**
 * Owns the roster of a scope: one entry in which every process that owns calls says that it lives. It compares no
 * clocks and judges nobody; that is the engine's.
 */
import { StoreError } from "../errors.js";
import { isObject } from "../internal/json.js";
import type { CountedStore } from "./countedStore.js";
import { boundedTtl } from "./ttl.js";
import type { Roster, RosterEntry, RosterStore } from "./types.js";

/** How often a change is tried again because another process changed the roster in between. */
const MAX_RACES = 50;

/** The roster at `key` of the store. */
export function rosterStore(store: CountedStore, key: () => Promise<string>): RosterStore {
  return {
    read: async () => parse(await textAt(await key())),
    async change(to, ttlMs) {
      const at = await key();
      for (let races = 0; races < MAX_RACES; races += 1) {
        const text = await textAt(at);
        const before = parse(text);
        const after = to(before);
        if (after === before || (await write(at, text, format(after), boundedTtl(ttlMs)))) return after;
      }
      // Very many processes at once: the next beat tells of this one.
      return parse(await textAt(at));
    },
  };

  /** A roster of those who have another encryption key is nobody's to replace: all of them would look as if they had gone. */
  async function textAt(at: string): Promise<string | undefined> {
    const text = await store.get(at);
    if (text === undefined || parseJson(text) !== undefined) return text;
    const reason = await store.explainUnreadable?.(text);
    if (reason?.kind === "foreign")
      throw new StoreError(`The roster of processes cannot be read: ${reason.message}`);
    return text;
  }

  async function write(
    at: string,
    seen: string | undefined,
    text: string,
    ttlMs: number | undefined,
  ): Promise<boolean> {
    if (seen === undefined && store.setIfAbsent !== undefined) return store.setIfAbsent(at, text, ttlMs);
    if (seen !== undefined && store.setIfUnchanged !== undefined)
      return store.setIfUnchanged(at, seen, text, ttlMs);
    await store.set(at, text, ttlMs);
    return true;
  }
}

function format(roster: Roster): string {
  return JSON.stringify({ v: 1, departures: roster.departures, owners: [...roster.owners] });
}

/** Read as loosely as may be: an entry that is none is left out, and comes back with its process's next beat. */
function parse(text: string | undefined): Roster {
  const owners = new Map<string, RosterEntry>();
  const value = text === undefined ? undefined : parseJson(text);
  if (!isObject(value)) return { owners, departures: "" };
  for (const row of Array.isArray(value["owners"]) ? (value["owners"] as unknown[]) : []) {
    if (!Array.isArray(row)) continue;
    const [owner, entry] = row as unknown[];
    const read = readEntry(entry);
    if (typeof owner === "string" && read !== undefined) owners.set(owner, read);
  }
  const { departures } = value;
  return { owners, departures: typeof departures === "string" ? departures : "" };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readEntry(entry: unknown): RosterEntry | undefined {
  if (!isObject(entry)) return undefined;
  const { beat, leaseMs, instance, mark } = entry;
  if (!isPositive(beat) || !isPositive(leaseMs)) return undefined;
  return {
    beat,
    leaseMs,
    ...(typeof instance === "string" ? { instance } : {}),
    ...(typeof mark === "string" ? { mark } : {}),
  };
}

function isPositive(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}
