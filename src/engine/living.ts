/** Owns who of the others on the roster lives. It compares no clocks of two machines, and writes nothing. */
import type { Clock } from "../internal/clock.js";
import { randomId } from "../internal/ids.js";
import type { Liveness, Roster, RosterEntry } from "../store/types.js";

/** No process may claim to be alive for longer without a sign of life, whatever it says. */
const MAX_LEASE_MS = 3_600_000;

/** What one process knows of the others. */
export interface Living {
  /** Those on the roster, but `me`, that are gone by what was seen up to now. */
  dead(roster: Roster, me: string): string[];
}

export function createLiving(options: {
  readonly clock: Clock;
  readonly liveness: Liveness | undefined;
  /** Milliseconds between two looks. */
  readonly beatMs: number;
}): Living {
  const { clock, liveness, beatMs } = options;
  /** When the beat of another process was first seen, on the monotonic clock. */
  const seen = new Map<string, { beat: number; at: number }>();
  let lookedAt = clock.monotonic();

  function isDead(owner: string, entry: RosterEntry, at: number): boolean {
    if (entry.mark !== undefined && liveness?.isGone(entry.mark) === true) return true;
    const since = seen.get(owner)?.at ?? at;
    return at - since >= Math.min(entry.leaseMs, MAX_LEASE_MS);
  }

  return {
    dead(roster, me) {
      const at = clock.monotonic();
      // Whoever did not look for a while has not seen the others' silence either.
      const paused = at - lookedAt > 2 * beatMs;
      lookedAt = at;
      for (const owner of [...seen.keys()]) if (!roster.owners.has(owner)) seen.delete(owner);
      const dead: string[] = [];
      for (const [owner, entry] of roster.owners) {
        if (owner === me) continue;
        const known = seen.get(owner);
        if (known?.beat !== entry.beat || paused) seen.set(owner, { beat: entry.beat, at });
        if (isDead(owner, entry, at)) dead.push(owner);
      }
      return dead;
    },
  };
}

/** The roster without some, who leave calls behind or nothing. */
export function without(
  roster: Roster,
  owners: readonly string[],
  leaving: "calls" | "nothing" = "calls",
): Roster {
  const gone = owners.filter((owner) => roster.owners.has(owner));
  if (gone.length === 0) return roster;
  const rest = new Map([...roster.owners].filter(([owner]) => !gone.includes(owner)));
  return { owners: rest, departures: leaving === "calls" ? randomId() : roster.departures };
}
