/**
 * Owns which process on a store looks after a call: who this process is on the roster, who of the others lives, and
 * what may be taken over. It compares no clocks of two machines, and starts and stops no driver.
 */
import type { TasksError } from "../errors.js";
import { sleep, type Clock } from "../internal/clock.js";
import { randomId } from "../internal/ids.js";
import type { Roster, RosterEntry, TaskStore } from "../store/types.js";
import type { TaskRecord } from "../task/record.js";
import { asTasksError } from "./retryTable.js";
import type { Scheduler } from "./scheduler.js";

/** Signs of life per lease: two may be missed. */
const BEATS_PER_LEASE = 3;
/** How many leases a roster that nobody changes stays in the store. */
const ROSTER_LEASES = 20;
/** Claims that are written together, where a store can. */
const CLAIMS_AT_ONCE = 256;
/** No process may claim to be alive for longer without a sign of life, whatever it says. */
const MAX_LEASE_MS = 3_600_000;

/** What becomes of a claim: `ours` with the record as it is stored now, `theirs`, or `gone` from the store. */
export type Claim =
  | { readonly kind: "ours"; readonly record: TaskRecord }
  | { readonly kind: "theirs" }
  | { readonly kind: "gone" };

/** The leases of one client. */
export interface Leases {
  /** Who owns what this process creates; undefined where there are no leases. */
  readonly owner: string | undefined;
  /** Puts this process on the roster, where it is not. Never rejects: what the store refuses is reported. */
  join(): Promise<void>;
  /** Begins to look at the roster and keeps at it. Never rejects: what the store refuses is reported. */
  watch(): Promise<void>;
  /** Whether this process owns the call, also under an earlier name. */
  isOurs(record: TaskRecord): boolean;
  /**
   * Takes the calls that are nobody's or whose owner is gone; answers in their order. Hand over what was just read. A
   * store that refuses does not keep a call from being looked after: then it counts as ours, and that is reported.
   */
  claim(records: readonly TaskRecord[]): Promise<Claim[]>;
  /**
   * Resolves at once, unless this process gave no sign of life for the length of its lease (it was stopped, or the
   * machine slept): then once it is known who owns what by now.
   */
  confirm(): Promise<void>;
  /** Lets go of everything: others may take it at once. Never rejects. */
  leave(): Promise<void>;
}

export interface LeaseOptions {
  readonly clock: Clock;
  readonly store: TaskStore;
  /** Milliseconds without a sign of life until others take over. */
  readonly leaseMs: number;
  readonly instance: string | undefined;
}

export interface LeaseHooks {
  /** Whether this process looks after any call. */
  owning(): boolean;
  /** A process is gone: its calls can be taken. Rejects where that has to be tried again. */
  onFreed(): Promise<void>;
  /** Others may have taken what was ours: resolves when it was claimed anew by `claim`, or let go. */
  onRejoined(claim: (record: TaskRecord) => Promise<Claim>): Promise<void>;
  report(error: TasksError): void;
}

/** For stores that no other process can see, and hosts that want none. */
export const noLeases: Leases = {
  owner: undefined,
  join: async () => undefined,
  watch: async () => undefined,
  isOurs: () => true,
  claim: async (records) => records.map((record) => ({ kind: "ours", record })),
  confirm: async () => undefined,
  leave: async () => undefined,
};

export function createLeases(options: LeaseOptions, scheduler: Scheduler, hooks: LeaseHooks): Leases {
  const { clock, store, leaseMs } = options;
  const beatMs = leaseMs / BEATS_PER_LEASE;
  const key = Symbol("lease");
  const earlier = new Set<string>();
  /** When the beat of another process was first seen, on the monotonic clock. */
  const seen = new Map<string, { beat: number; at: number }>();
  let { instance } = options;
  let me = randomId();
  let joined = false;
  let beats = 0;
  let roster: Roster | undefined;
  let turning: Promise<void> | undefined;
  let watching = false;
  let left = false;
  /** Of the last sign of life. */
  let beatAt = { monotonic: clock.monotonic(), wall: clock.now() };
  let lookedAt = clock.monotonic();
  let neededAt = -Infinity;
  /** What of the roster's departures was followed up; the calls that were there before are picked up by `connect`. */
  let handledDepartures: string | undefined;
  let failing = false;

  /** One look at the roster, with a sign of life where this process has calls to look after. */
  function turn(): Promise<void> {
    return (turning ??= look().finally(() => (turning = undefined)));
  }

  async function look(): Promise<void> {
    if (left) return;
    const wanted = hooks.owning() || clock.monotonic() - neededAt < leaseMs;
    let rejoining = false;
    let name = me;
    const next = await store.roster.change((read) => {
      const now = withoutNamesakes(read);
      rejoining = joined && !now.owners.has(me);
      // Whoever was taken for dead comes back under another name: what is still its own is claimed, not assumed.
      name = rejoining ? randomId() : me;
      return wanted ? withMe(now, name) : without(now, joined ? [me] : [], "nothing");
    }, ROSTER_LEASES * leaseMs);
    if (left) return;
    beats += 1;
    // Who comes back after it left is somebody new: others may have looked for its calls meanwhile.
    if (joined && !wanted) rename(randomId());
    else if (name !== me) rename(name);
    joined = wanted;
    beatAt = { monotonic: clock.monotonic(), wall: clock.now() };
    roster = await withoutDead(next);
    failing = false;
    if (rejoining && wanted) await hooks.onRejoined(claimOne);
    lookForFreed(roster.departures);
  }

  function lookForFreed(departures: string): void {
    if (handledDepartures === undefined) handledDepartures = departures;
    if (handledDepartures === departures) return;
    hooks.onFreed().then(
      () => (handledDepartures = departures),
      // Told by who failed; the next look tries again.
      () => undefined,
    );
  }

  /** A process stands in for the earlier ones of its name: those that are there when it first looks. */
  function withoutNamesakes(now: Roster): Roster {
    if (instance === undefined) return now;
    const namesakes = [...now.owners].filter(([owner, entry]) => owner !== me && entry.instance === instance);
    if (roster === undefined)
      return without(
        now,
        namesakes.map(([owner]) => owner),
      );
    // One that came later stands in for us.
    if (namesakes.length > 0) instance = undefined;
    return now;
  }

  function withMe(now: Roster, name: string): Roster {
    const mark = store.liveness?.mark;
    const entry: RosterEntry = {
      beat: beats + 1,
      leaseMs,
      ...(instance === undefined ? {} : { instance }),
      ...(mark === undefined ? {} : { mark }),
    };
    // A roster that expired, with whoever was on it, must not look like one that nobody left.
    const departures = now.departures === "" ? randomId() : now.departures;
    return { departures, owners: new Map([...now.owners, [name, entry]]) };
  }

  function rename(name: string): void {
    earlier.add(me);
    me = name;
  }

  /** The roster without those who are gone; they are taken off it before anybody takes their calls. */
  async function withoutDead(now: Roster): Promise<Roster> {
    const at = clock.monotonic();
    // Whoever did not look for a while has not seen the others' silence either.
    const paused = at - lookedAt > 2 * beatMs;
    lookedAt = at;
    for (const owner of [...seen.keys()]) if (!now.owners.has(owner)) seen.delete(owner);
    const dead: string[] = [];
    for (const [owner, entry] of now.owners) {
      if (owner === me) continue;
      const known = seen.get(owner);
      if (known?.beat !== entry.beat || paused) seen.set(owner, { beat: entry.beat, at });
      if (isDead(owner, entry, at)) dead.push(owner);
    }
    if (dead.length === 0) return now;
    return store.roster.change(
      (current) =>
        without(
          current,
          // One that has beaten in between is alive.
          dead.filter((owner) => current.owners.get(owner)?.beat === now.owners.get(owner)?.beat),
        ),
      ROSTER_LEASES * leaseMs,
    );
  }

  function isDead(owner: string, entry: RosterEntry, at: number): boolean {
    if (entry.mark !== undefined && store.liveness?.isGone(entry.mark) === true) return true;
    const since = seen.get(owner)?.at ?? at;
    return at - since >= Math.min(entry.leaseMs, MAX_LEASE_MS);
  }

  function keepLooking(): void {
    if (watching) return;
    watching = true;
    plan();
  }

  function plan(): void {
    if (left) return;
    scheduler.schedule(key, beatMs, () => void turn().catch(reportOnce).then(plan));
  }

  function reportOnce(error: unknown): void {
    if (failing) return;
    failing = true;
    hooks.report(asTasksError(error, "The store's roster of processes cannot be kept"));
  }

  function isOurs({ owner }: TaskRecord): boolean {
    return owner === undefined || owner === me || earlier.has(owner);
  }

  function isFree(record: TaskRecord): boolean {
    return isOurs(record) || (record.owner !== undefined && roster?.owners.has(record.owner) === false);
  }

  async function claimOne(record: TaskRecord): Promise<Claim> {
    if (!isFree(record)) return { kind: "theirs" };
    try {
      const stored = await store.claim(record.id, me, isFree);
      if (stored === undefined) return { kind: "gone" };
      return isOurs(stored) ? { kind: "ours", record: stored } : { kind: "theirs" };
    } catch (error) {
      hooks.report(asTasksError(error, "A stored call cannot be claimed"));
      return { kind: "ours", record: { ...record, owner: me } };
    }
  }

  async function join(): Promise<void> {
    neededAt = clock.monotonic();
    keepLooking();
    if (joined || left) return;
    await turn().catch(reportOnce);
    // The look may have begun before this process was needed.
    if (!joined && !failing) await turn().catch(reportOnce);
  }

  return {
    get owner() {
      return me;
    },
    join,
    async watch() {
      if (watching) return;
      try {
        await turn();
      } catch (error) {
        // Then it does not know who is gone: that is looked for as soon as it does.
        handledDepartures = "not known";
        reportOnce(error);
      }
      keepLooking();
    },
    isOurs,
    async claim(records) {
      // Whoever owns a call was on the roster before it did: one that is not known may just be new.
      const isUnsure = roster === undefined || records.some((record) => !isOurs(record) && isFree(record));
      if (isUnsure) await turn().catch(reportOnce);
      if (records.some(isFree)) await join();
      const claims: Claim[] = [];
      for (let at = 0; at < records.length; at += CLAIMS_AT_ONCE) {
        claims.push(...(await Promise.all(records.slice(at, at + CLAIMS_AT_ONCE).map(claimOne))));
      }
      return claims;
    },
    async confirm() {
      const silentMs = Math.max(clock.monotonic() - beatAt.monotonic, Math.abs(clock.now() - beatAt.wall));
      if (!joined || silentMs < leaseMs) return;
      const limit = new AbortController();
      // A store out of reach holds up no polls: nobody else can have taken anything over it.
      await Promise.race([turn().catch(reportOnce), sleep(clock, beatMs, { signal: limit.signal })]);
      limit.abort();
      beatAt = { monotonic: clock.monotonic(), wall: clock.now() };
    },
    async leave() {
      left = true;
      scheduler.cancel(key);
      await turning?.catch(() => undefined);
      if (!joined) return;
      const off = (now: Roster): Roster => without(now, [me]);
      await store.roster.change(off, ROSTER_LEASES * leaseMs).catch(() => undefined);
    },
  };
}

/** The roster without some, who leave calls behind or nothing. */
function without(roster: Roster, owners: readonly string[], leaving: "calls" | "nothing" = "calls"): Roster {
  const gone = owners.filter((owner) => roster.owners.has(owner));
  if (gone.length === 0) return roster;
  const rest = new Map([...roster.owners].filter(([owner]) => !gone.includes(owner)));
  return { owners: rest, departures: leaving === "calls" ? randomId() : roster.departures };
}
