/** Owns how stored calls come to be looked after here: at connect, at resume, and when another process is gone. */
import { StoreError, type TasksError } from "../errors.js";
import { createLimiter } from "../internal/limiter.js";
import type { TaskRecord } from "../task/record.js";
import { isOver } from "../task/transition.js";
import type { DriverServer, DriverStart, TaskDriver } from "./driverTypes.js";
import type { Claim, Leases } from "./leases.js";
import { asTasksError } from "./retryTable.js";

/** Drivers that are claimed anew together. */
const RECLAIMS_AT_ONCE = 256;

/** The taking over of one client's calls. */
export interface TakeOver {
  /**
   * Looks after the given stored calls, where nobody else does, and follows those of others. Answers the drivers of
   * what is not over, and of outcomes that are to be told here. Rejects with `StoreError`.
   */
  pickUp(records: AsyncIterable<TaskRecord>): Promise<TaskDriver[]>;
  /** The connected server that a call belongs to. */
  serverOf(record: TaskRecord): DriverServer | undefined;
  /** A resting driver goes on here where its owner is gone; else its owner is followed. */
  take(driver: TaskDriver): Promise<void>;
  /** A process is gone: what it looked after goes on here, unless others were faster. Rejects where it is to be tried again. */
  takeFreed(): Promise<void>;
  /**
   * Claims anew what is looked after here under an earlier name (this process was taken for dead, or a claim was not
   * stored), and lets go of what others took meanwhile. Never rejects.
   */
  reclaim(): Promise<void>;
}

/** What the taking over needs of the poller. */
export interface TakeOverContext {
  readonly leases: Leases;
  readonly all: () => AsyncIterable<TaskRecord>;
  /** True where outcomes are to be delivered. */
  readonly delivers: boolean;
  readonly isClosed: () => boolean;
  /** True for a record that is being placed, or is to be removed. */
  readonly isBusy: (id: string) => boolean;
  readonly running: () => Iterable<TaskDriver>;
  /** The running driver of a call, as the call stands now. */
  readonly current: (id: string) => Promise<TaskDriver | undefined>;
  readonly driverOf: (record: TaskRecord, start: DriverStart) => TaskDriver;
  /** The connected server of that name. */
  readonly connected: (name: string) => DriverServer | undefined;
  readonly onForeign: (server: string) => void;
  readonly report: (error: TasksError) => void;
}

export function createTakeOver(context: TakeOverContext): TakeOver {
  const { leases, current, driverOf, connected } = context;
  // One after another: what one has read and not yet taken up is nothing for the next to go by.
  const turns = createLimiter(1);
  let freeing: Promise<void> | undefined;

  async function inTurn<T>(run: () => Promise<T>): Promise<T> {
    const release = await turns.acquire();
    try {
      return await run();
    } finally {
      release();
    }
  }

  async function pickUp(records: AsyncIterable<TaskRecord>): Promise<TaskDriver[]> {
    // In the order of the store, whichever is taken first.
    const found = new Map<string, TaskDriver | undefined>();
    const foreign = new Set<string>();
    const wanted: TaskRecord[] = [];
    for await (const record of records) {
      if (record.phase === "delivered" || context.isBusy(record.id)) continue;
      const server = connected(record.server);
      if (server !== undefined && !isOf(server, record)) foreign.add(record.server);
      else {
        found.set(record.id, undefined);
        const driver = await withoutClaim(record, server);
        if (driver === undefined) wanted.push(record);
        else found.set(record.id, driver);
      }
    }
    const claims = await leases.claim(wanted);
    for (const [at, record] of wanted.entries())
      found.set(record.id, await takeUp(record, claims[at] as Claim));
    for (const server of foreign) context.onForeign(server);
    return [...found.values()].filter((driver) => driver !== undefined);
  }

  /** The driver of a call that need not be claimed: it runs here, is only to be followed, or only to be read. */
  async function withoutClaim(
    record: TaskRecord,
    server: DriverServer | undefined,
  ): Promise<TaskDriver | undefined> {
    const running = await current(record.id);
    if (running !== undefined && !running.resting) return attached(running, server);
    if (isOver(record)) {
      return context.delivers ? undefined : attached(running ?? driverOf(record, "resume"), server);
    }
    return server === undefined ? (running ?? driverOf(record, "rest")) : undefined;
  }

  /** What a claim makes of a stored call: it goes on here, or its owner is followed. */
  async function takeUp(record: TaskRecord, claim: Claim): Promise<TaskDriver | undefined> {
    if (claim.kind === "gone" || context.isClosed()) return undefined;
    const server = serverOf(record);
    if (claim.kind === "ours") {
      const running = await current(record.id);
      // Told by another process since it was read.
      if (running === undefined && claim.record.phase === "delivered") return undefined;
      return attached(running ?? driverOf(claim.record, "resume"), server);
    }
    // Its outcome is told there.
    if (isOver(record)) return undefined;
    const resting = (await current(record.id)) ?? driverOf(record, "rest");
    if (resting.resting) resting.rest(server);
    return resting;
  }

  function serverOf(record: TaskRecord): DriverServer | undefined {
    const server = connected(record.server);
    return server !== undefined && isOf(server, record) ? server : undefined;
  }

  /** What may need somebody now. An outcome that nobody is to be told of was shown by who found it. */
  async function* left(records: AsyncIterable<TaskRecord>): AsyncIterable<TaskRecord> {
    for await (const record of records) {
      const isWanted = context.delivers || !isOver(record);
      if (isWanted && serverOf(record) !== undefined) yield record;
    }
  }

  async function lookForFreed(): Promise<void> {
    try {
      await inTurn(() => pickUp(left(context.all())));
    } catch (error) {
      const failure = asTasksError(error, "The calls of a process that is gone cannot be read");
      if (!context.isClosed()) context.report(failure);
      throw failure;
    }
  }

  async function take(driver: TaskDriver): Promise<void> {
    const server = serverOf(driver.record);
    if (server === undefined || isOver(driver.record)) return;
    if (!driver.resting) return driver.attach(server);
    await inTurn(async () => {
      const [claim] = await leases.claim([driver.record]);
      if (claim !== undefined) await takeUp(driver.record, claim);
    });
  }

  return {
    pickUp: (records) => inTurn(() => pickUp(records)),
    serverOf,
    take,
    takeFreed: () => (freeing ??= lookForFreed().finally(() => (freeing = undefined))),
    async reclaim() {
      const stale = [...context.running()].filter((driver) => isStale(driver));
      for (let at = 0; at < stale.length; at += RECLAIMS_AT_ONCE) {
        const some = stale.slice(at, at + RECLAIMS_AT_ONCE);
        // What cannot be read now is tried again after the next look.
        await Promise.all(
          some.map((driver) => (driver.resting ? take(driver) : driver.claimAnew()).catch(() => undefined)),
        );
      }
    },
  };

  function isStale({ record, resting }: TaskDriver): boolean {
    if (!resting) return record.owner !== leases.owner;
    // What rests is another's, unless we had the last word: the other one takes it for over.
    return record.owner !== undefined && leases.isOurs(record);
  }
}

/** What a host hears of calls that a connection may not poll. */
export function foreignError(server: string): StoreError {
  return new StoreError(
    `The server ${JSON.stringify(server)} has stored tasks that belong to another identity of it; ` +
      "they are not polled over this connection (option identity)",
  );
}

function isOf(server: DriverServer, record: TaskRecord): boolean {
  return server.lane.connection.identity === record.identity;
}

function attached(driver: TaskDriver, server: DriverServer | undefined): TaskDriver {
  driver.attach(server);
  return driver;
}
