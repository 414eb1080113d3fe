/**
 * Owns the roster of a scope: one entry in which every process that owns calls says that it lives. It compares no
 * clocks and judges nobody; that is the engine's.
 */
import { isObject } from "../internal/json.js";
import type { CountedStore } from "./countedStore.js";
import { boundedTtl } from "./ttl.js";

/** How often a change is tried again because another process changed the roster in between. */
const MAX_RACES = 50;

/** What one process says of itself. */
export interface RosterEntry {
  /** Grows with every sign of life. */
  readonly beat: number;
  /** After so long without one, its calls are others' to take. In milliseconds. */
  readonly leaseMs: number;
  /** The host's name for the process, where it gave one: a later process of that name stands in for this one. */
  readonly instance?: string;
  /** What the store can tell a dead process by. */
  readonly mark?: string;
  /** Calls that others changed something of: to be looked up in the store. */
  readonly nudges?: readonly string[];
}

/** The living, by owner. */
export type Roster = Readonly<Record<string, RosterEntry>>;

/** The roster of one scope. Both reject with `StoreError`. */
export interface RosterStore {
  /** None where there is no entry, or one that cannot be read: then everybody writes itself in again. */
  read(): Promise<Roster>;
  /**
   * Stores what `to` makes of the roster, and answers what is stored now. Where the store can compare and set, no
   * change of another process is lost; elsewhere one may be, until that process's next beat.
   */
  change(to: (roster: Roster) => Roster, ttlMs: number): Promise<Roster>;
}

/** The roster at `key` of the store. */
export function rosterStore(store: CountedStore, key: () => Promise<string>): RosterStore {
  return {
    read: async () => parse(await store.get(await key())),
    async change(to, ttlMs) {
      const at = await key();
      for (let races = 0; ; races += 1) {
        const text = await store.get(at);
        const roster = to(parse(text));
        if (await write(at, text, JSON.stringify(roster), ttlMs)) return roster;
        // Many processes at once: the next beat tells of this one.
        if (races === MAX_RACES) return parse(await store.get(at));
      }
    },
  };

  async function write(at: string, seen: string | undefined, text: string, ttlMs: number): Promise<boolean> {
    const ttl = boundedTtl(ttlMs);
    if (seen === text) return true;
    if (store.setIfAbsent === undefined || store.setIfUnchanged === undefined) {
      await store.set(at, text, ttl);
      return true;
    }
    return seen === undefined ? store.setIfAbsent(at, text, ttl) : store.setIfUnchanged(at, seen, text, ttl);
  }
}

/** Entries of others are read as loosely as they may be; what is none is left out. */
function parse(text: string | undefined): Roster {
  if (text === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {};
  }
  if (!isObject(value)) return {};
  const entries = Object.entries(value).flatMap(([owner, entry]) => {
    const read = readEntry(entry);
    return read === undefined ? [] : [[owner, read] as const];
  });
  // Not by assignment: an owner of the name __proto__ is an owner like any other.
  return Object.fromEntries(entries);
}

function readEntry(entry: unknown): RosterEntry | undefined {
  if (!isObject(entry)) return undefined;
  const { beat, leaseMs, instance, mark, nudges } = entry;
  if (!isPositive(beat) || !isPositive(leaseMs)) return undefined;
  const ids = Array.isArray(nudges) ? nudges.filter((id) => typeof id === "string") : [];
  return {
    beat,
    leaseMs,
    ...(typeof instance === "string" ? { instance } : {}),
    ...(typeof mark === "string" ? { mark } : {}),
    ...(ids.length > 0 ? { nudges: ids } : {}),
  };
}

function isPositive(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}
