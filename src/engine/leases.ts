/**
 * Owns which process on a store looks after a call: who this process is on the roster, and what may be taken over. It
 * starts and stops no driver.
 */
import { StoreError, type TasksError } from "../errors.js";
import { sleep, type Clock } from "../internal/clock.js";
import { randomId } from "../internal/ids.js";
import type { Roster, RosterEntry, TaskStore } from "../store/types.js";
import type { TaskRecord } from "../task/record.js";
import { createLiving, without } from "./living.js";
import { asTasksError } from "./retryTable.js";
import type { Scheduler } from "./scheduler.js";

/** Signs of life per lease: two may be missed. */
const BEATS_PER_LEASE = 3;
/**
 * How long a roster that nobody changes stays in the store: long enough that no jump of a wall clock makes it expire
 * under those who are on it, since then all their calls would look free.
 */
const ROSTER_KEPT_MS = 30 * 24 * 3_600_000;
/** Claims that are written together, where a store can. */
const CLAIMS_AT_ONCE = 256;
/** After so many leases a process looks for calls that nobody looks after, though nobody is known to have left any. */
const SWEEP_LEASES = 20;

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
  /** After every look: claims anew what is looked after here and stored under another name than `owner`, or lets it go. */
  onLooked(): Promise<void>;
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
  const living = createLiving({ clock, liveness: store.liveness, beatMs });
  const earlier = new Set<string>();
  let { instance } = options;
  let predecessors: readonly string[] = [];
  let me = randomId();
  let joined = false;
  let beats = 0;
  let roster: Roster | undefined;
  let turning: Promise<void> | undefined;
  /** Tells a look that was given up, since the store did not answer, from the one that came after it. */
  let looks = 0;
  /** True while the look is under way that takes this process off the roster. */
  let leaving = false;
  /** What this process took to itself since it was last on nobody's roster by its own will. */
  let owes = false;
  /** Until it is known what is left of what was ours. */
  let rejoined: Promise<void> | undefined;
  let following = false;
  /** Takings under way: thousands of calls take longer than a lease. */
  let claiming = 0;
  let watching = false;
  let left = false;
  /** Of the last sign of life. */
  let beatAt = instant();
  let neededAt = -Infinity;
  /** What of the roster's departures was followed up; the calls that were there before are picked up by `connect`. */
  let handledDepartures: string | undefined;
  let sweptAt = clock.monotonic();
  let failing = false;

  /** One look at the roster, with a sign of life where this process has calls to look after. */
  function turn(): Promise<void> {
    return (turning ??= limited(look()).finally(() => (turning = undefined)));
  }

  /** A look that begins from now on: one that is under way may have read the roster before. */
  async function turnAnew(): Promise<void> {
    await turning?.catch(() => undefined);
    await turn();
  }

  /** A store that never answers ends no signs of life for good. */
  async function limited(looking: Promise<void>): Promise<void> {
    const limit = new AbortController();
    const { signal } = limit;
    const late = (async () => {
      // In parts: a process that was stopped meanwhile still has time to hear the answer.
      for (let beat = 0; beat < BEATS_PER_LEASE; beat += 1) await sleep(clock, beatMs, { signal });
      throw new StoreError("The store did not answer for the length of a lease");
    })();
    try {
      await Promise.race([looking, late]);
    } finally {
      limit.abort();
      leaving = false;
    }
  }

  function isNeeded(): boolean {
    return hooks.owning() || claiming > 0 || clock.monotonic() - neededAt < leaseMs;
  }

  async function look(): Promise<void> {
    if (left) return;
    const number = (looks += 1);
    const isPast = (): boolean => left || number !== looks;
    const wanted = isNeeded();
    leaving = joined && !wanted;
    const began = instant();
    beats += 1;
    let rejoining = false;
    let name = me;
    const to = (read: Roster): Roster => {
      if (isPast()) return read;
      const now = withoutNamesakes(read);
      rejoining = joined && !now.owners.has(me);
      // Whoever was taken for dead comes back under another name: what is still its own is claimed, not assumed.
      name = rejoining ? randomId() : me;
      return wanted ? withMe(now, name) : without(now, joined ? [me] : [], "nothing");
    };
    let next: Roster;
    try {
      next = await store.roster.change(to, ROSTER_KEPT_MS);
    } catch (error) {
      // A store that takes no writes keeps no call from being looked after: what can be read is known all the same.
      const read = await store.roster.read();
      if (!isPast()) roster = await withoutDead(withoutNamesakes(read));
      throw error;
    }
    if (isPast()) return;
    if (joined && !wanted) {
      owes = isNeeded();
      // Who comes back after it left is somebody new: others may have looked for its calls meanwhile. The old name is
      // only kept where something came under it: a process may leave and come back for years.
      if (owes) earlier.add(me);
      me = randomId();
    } else if (name !== me) {
      earlier.add(me);
      me = name;
    }
    joined = wanted;
    beatAt = began;
    failing = false;
    const known = await withoutDead(next);
    if (isPast()) return;
    roster = known;
    followUp(rejoining && wanted);
    lookForFreed(roster.departures);
  }

  function followUp(isBack: boolean): void {
    const looked = atMost(leaseMs, hooks.onLooked());
    if (!isBack) return;
    rejoined = looked;
    void looked.then(() => {
      if (rejoined === looked) rejoined = undefined;
    });
  }

  async function atMost(limitMs: number, work: Promise<void>): Promise<void> {
    const limit = new AbortController();
    const waited = sleep(clock, limitMs, { signal: limit.signal }).catch(() => undefined);
    await Promise.race([work, waited]);
    limit.abort();
  }

  function lookForFreed(departures: string): void {
    if (handledDepartures === undefined) handledDepartures = departures;
    // A process that the store never took on its roster leaves no trace there.
    const isDue = clock.monotonic() - sweptAt >= SWEEP_LEASES * leaseMs;
    // What is under way may have passed by what was left behind since: the look after its end sees to that.
    if ((handledDepartures === departures && !isDue) || following) return;
    following = true;
    sweptAt = clock.monotonic();
    void hooks
      .onFreed()
      .then(
        () => (handledDepartures = departures),
        // Told by who failed; the next look tries again.
        () => undefined,
      )
      .finally(() => (following = false));
  }

  /** A process stands in for the earlier ones of its name: those that are there when it first looks. */
  function withoutNamesakes(now: Roster): Roster {
    if (instance !== undefined) {
      const owners = [...now.owners].filter(([owner, entry]) => owner !== me && entry.instance === instance);
      const namesakes = owners.map(([owner]) => owner);
      if (roster === undefined) predecessors = namesakes;
      // One that came later stands in for us.
      else if (!namesakes.every((owner) => predecessors.includes(owner))) instance = undefined;
    }
    // At every look, for a store that did not take the first one's write.
    return without(now, predecessors);
  }

  function withMe(now: Roster, name: string): Roster {
    const mark = store.liveness?.mark;
    const entry: RosterEntry = {
      beat: beats,
      leaseMs,
      ...(instance === undefined ? {} : { instance }),
      ...(mark === undefined ? {} : { mark }),
    };
    // A roster that expired, with whoever was on it, must not look like one that nobody left.
    const departures = now.departures === "" ? randomId() : now.departures;
    return { departures, owners: new Map([...now.owners, [name, entry]]) };
  }

  function instant(): { monotonic: number; wall: number } {
    return { monotonic: clock.monotonic(), wall: clock.now() };
  }

  /** The roster without those who are gone; they are taken off it before anybody takes their calls. */
  async function withoutDead(now: Roster): Promise<Roster> {
    const dead = living.dead(now, me);
    if (dead.length === 0) return now;
    const to = (current: Roster): Roster =>
      without(
        current,
        // One that has beaten in between is alive.
        dead.filter((owner) => current.owners.get(owner)?.beat === now.owners.get(owner)?.beat),
      );
    try {
      return await store.roster.change(to, ROSTER_KEPT_MS);
    } catch (error) {
      reportOnce(error);
      return to(now);
    }
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
    let read = record;
    while (!left && isFree(read)) {
      const { owner } = read;
      let stored: TaskRecord | undefined;
      try {
        // Not from any other: who is not on the roster that we know may have come since.
        stored = await store.claim(read.id, me, (found) => isOurs(found) || found.owner === owner);
      } catch (error) {
        hooks.report(asTasksError(error, "A stored call cannot be claimed"));
        return { kind: "ours", record: read };
      }
      if (stored === undefined) return { kind: "gone" };
      if (isOurs(stored)) return { kind: "ours", record: stored };
      read = stored;
      await turnAnew().catch(reportOnce);
    }
    return { kind: "theirs" };
  }

  async function join(): Promise<void> {
    neededAt = clock.monotonic();
    owes = true;
    keepLooking();
    if (left) return;
    // Not under a name that is just being taken off the roster, or that others took for dead.
    if (joined && !leaving) return confirm();
    await turn().catch(reportOnce);
    // The look may have begun before this process was needed.
    if (!joined && !failing) await turn().catch(reportOnce);
  }

  function silentMs(): number {
    return Math.max(clock.monotonic() - beatAt.monotonic, Math.abs(clock.now() - beatAt.wall));
  }

  async function confirm(): Promise<void> {
    if (joined && silentMs() >= leaseMs) {
      // A store out of reach holds up no polls: nobody else can have taken anything over it.
      await atMost(beatMs, turnAnew().catch(reportOnce));
      if (silentMs() >= leaseMs) beatAt = instant();
    }
    if (rejoined !== undefined) await atMost(beatMs, rejoined);
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
      if (isUnsure) await turnAnew().catch(reportOnce);
      if (!records.some(isFree)) return records.map(() => ({ kind: "theirs" }));
      await join();
      claiming += 1;
      try {
        const claims: Claim[] = [];
        for (let at = 0; at < records.length; at += CLAIMS_AT_ONCE) {
          claims.push(...(await Promise.all(records.slice(at, at + CLAIMS_AT_ONCE).map(claimOne))));
        }
        return claims;
      } finally {
        claiming -= 1;
        // Until they are taken up.
        neededAt = clock.monotonic();
      }
    },
    confirm,
    async leave() {
      left = true;
      scheduler.cancel(key);
      await turning?.catch(() => undefined);
      if (!joined && !owes) return;
      // Also where it never came onto the roster: somebody is to look for what it leaves behind.
      const off = (now: Roster): Roster => ({ ...without(now, [me]), departures: randomId() });
      await store.roster.change(off, ROSTER_KEPT_MS).catch(() => undefined);
    },
  };
}
