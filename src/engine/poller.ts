/** Owns which calls are being driven, over which servers: starting, finding, resuming and stopping them. */
import type { Connection } from "../connection/types.js";
import { ClientClosedError, InvalidResponseError, StoreError, type TasksError } from "../errors.js";
import { sleep } from "../internal/clock.js";
import { randomId, sha256 } from "../internal/ids.js";
import { canonicalJson, type JsonValue } from "../internal/json.js";
import { keyedMutex } from "../internal/keyedMutex.js";
import type { TaskRecord } from "../task/record.js";
import { isOver, transition } from "../task/transition.js";
import type { CallerOptions } from "./callFlow.js";
import {
  adoptedRecord,
  checkSameCall,
  newCallRecord,
  type NewCall,
  type RecordContext,
} from "./callRecords.js";
import { createJournal } from "./journal.js";
import { createLeases, noLeases, type Leases } from "./leases.js";
import { createScheduler } from "./scheduler.js";
import { createServerLane } from "./serverLane.js";
import { createSharedTasks } from "./sharedTasks.js";
import { createStoreUse } from "./storeUse.js";
import { createSubscriptionHub } from "./subscriptionHub.js";
import { createTakeOver, foreignError } from "./takeOver.js";
import { createTaskDriver, type DriverServer, type DriverStart, type TaskDriver } from "./taskDriver.js";
import { createToolCatalog, type ToolCatalog } from "./toolCatalog.js";
import type { EngineOptions, PushState, Tell } from "./types.js";

/** Counts since the client was made. */
export interface PollerCounts {
  readonly requests: Readonly<Record<string, number>>;
  readonly live: { readonly calling: number; readonly asking: number; readonly tracking: number };
  /** `push`: how the stream of notices stands; where it is not "open", every task is polled. */
  readonly servers: Readonly<
    Record<string, { up: boolean; inFlight: number; queued: number; push: PushState }>
  >;
  readonly pollsSavedByPush: number;
}

/** The polling runtime: every call that is not over has one driver in it. */
export interface Poller {
  /** Names a server and picks up its stored calls. Rejects with `StoreError`, and then the server is not named. */
  addServer(name: string, connection: Connection): Promise<TaskDriver[]>;
  /** Journals the call and starts sending it; the same `callId` gives the same driver. */
  call(call: NewCall): Promise<TaskDriver>;
  adopt(server: string, taskId: string, context: JsonValue | undefined): Promise<TaskDriver>;
  /** The driver of a stored call, resting where its server is not connected. */
  find(id: string): Promise<TaskDriver | undefined>;
  /** Every stored call, and those that live in memory only. */
  list(): Promise<TaskDriver[]>;
  /** Stops driving the call and removes its record; what runs at the server goes on unwatched. */
  forget(driver: TaskDriver): Promise<void>;
  /** Continues everything that the store holds, also what was given up. Answers what is not over. */
  resume(): Promise<TaskDriver[]>;
  catalog(server: string): ToolCatalog;
  counts(): PollerCounts;
  /** Waits up to `limitMs` for what is under way, then stops. Once: later calls join the first. */
  close(limitMs: number): Promise<void>;
}

export function createPoller(given: EngineOptions, tell: Tell): Poller {
  const closingNow = new AbortController();
  const use = createStoreUse(given.store, closingNow.signal);
  const options: EngineOptions = { ...given, store: use.store };
  const { store, clock, scope } = options;
  const scheduler = createScheduler(clock);
  const drivers = new Map<string, TaskDriver>();
  /** Out of the map, but with a call under way. */
  const lingering = new Set<TaskDriver>();
  const servers = new Map<string, DriverServer | "connecting">();
  const ids = keyedMutex();
  const requests = new Map<string, number>();
  let closed = false;
  let closing: Promise<void> | undefined;
  const journal = createJournal(store, { retry: options.retry, closing: closingNow.signal });
  const leases = makeLeases();
  const takeOver = createTakeOver({
    leases,
    all: () => store.all(),
    delivers: options.onSettled !== undefined,
    isClosed: () => closed,
    isBusy: (id) => journal.isBusy(id),
    running: () => drivers.values(),
    current,
    driverOf,
    connected: connectedServer,
    onForeign: reportForeign,
    report: reportError,
  });

  function makeLeases(): Leases {
    const { leaseMs, instance } = options;
    if (leaseMs === undefined) return noLeases;
    return createLeases({ clock, store, leaseMs, instance }, scheduler, {
      owning: () => [...drivers.values()].some((driver) => !driver.resting),
      async onFreed() {
        const isConnecting = [...servers.values()].includes("connecting");
        await takeOver.takeFreed();
        // Its calls were read before this, and passed by: the next look tries again.
        if (isConnecting) throw new StoreError("A server is only being connected");
      },
      onLooked: () => takeOver.reclaim(),
      report: reportError,
    });
  }

  function reportError(error: TasksError): void {
    tell("error", { error, server: undefined, id: undefined });
  }

  function connectedServer(name: string): DriverServer | undefined {
    const server = servers.get(name);
    return server === "connecting" ? undefined : server;
  }

  function serverOf(name: string): DriverServer {
    if (closed) throw new ClientClosedError();
    const server = servers.get(name);
    if (server === undefined || server === "connecting") {
      const known = [...servers.keys()].map((other) => JSON.stringify(other)).join(", ") || "none";
      throw new TypeError(`server: ${JSON.stringify(name)} is not connected (connected: ${known})`);
    }
    return server;
  }

  function connect(name: string, connection: Connection): DriverServer {
    const count = (method: string): void => void requests.set(method, (requests.get(method) ?? 0) + 1);
    const lane = createServerLane(name, connection, options, { tell, count });
    const catalog = createToolCatalog(lane, options, (tool, reason) =>
      tell("error", {
        error: new InvalidResponseError(`The tool ${JSON.stringify(tool)} was left out: ${reason}`),
        server: name,
        id: undefined,
      }),
    );
    const push = createSubscriptionHub(lane, options, { scheduler, tell, count });
    return { lane, catalog, shared: createSharedTasks(clock), push };
  }

  /** A request of it may still be under way: another process took the call over, or removed it. */
  function letGo(driver: TaskDriver): void {
    if (!driver.isSending) return;
    lingering.add(driver);
    void driver.drain().finally(() => lingering.delete(driver));
  }

  /** The driver of a record: the one that runs, or a new one. */
  function driverOf(record: TaskRecord, start: DriverStart, caller?: CallerOptions): TaskDriver {
    const running = drivers.get(record.id);
    if (running !== undefined) return running;
    const driver = createTaskDriver(record, options, {
      start,
      near: takeOver.serverOf(record),
      scheduler,
      leases,
      tell,
      caller,
      takeBack: (unsent) => journal.takeBack(unsent),
      onFound(found) {
        if (drivers.get(found.id) === found) drivers.delete(found.id);
        letGo(found);
        // What cannot be claimed now is found by the next look at what was left behind.
        void takeOver.pickUp(eachOf([found.record])).catch(() => undefined);
      },
      onDone: (done) => {
        if (drivers.get(done.id) === done) drivers.delete(done.id);
        letGo(done);
      },
    });
    // What is read after the end can be looked at; nobody waits for it to move.
    if (closed) driver.stop(new ClientClosedError());
    // A record that is over needs nobody to look after it; whoever holds the driver can still read it.
    else if (!isOver(record) || start === "resume") drivers.set(record.id, driver);
    return driver;
  }

  /** The running driver of a call, as the call stands now: what only follows another process is read again. */
  async function current(id: string): Promise<TaskDriver | undefined> {
    await drivers.get(id)?.catchUp();
    return drivers.get(id);
  }

  function reportForeign(server: string): void {
    tell("error", { error: foreignError(server), server, id: undefined });
  }

  async function existing(id: string, call: NewCall, digest: string): Promise<TaskDriver | undefined> {
    const running = await current(id);
    const record = running?.record ?? (await store.load(id));
    if (record === undefined) return undefined;
    checkSameCall(record, call, digest, serverOf(call.server).lane);
    const driver = running ?? driverOf(record, "rest");
    await takeOver.take(driver);
    return driver;
  }

  async function call(wanted: NewCall): Promise<TaskDriver> {
    const server = serverOf(wanted.server);
    const id = wanted.callId ?? randomId();
    const digest = await sha256(canonicalJson([wanted.tool, wanted.arguments]));
    return ids.run(id, async () => {
      await journal.clear(id);
      const before = wanted.callId === undefined ? undefined : await existing(id, wanted, digest);
      if (before !== undefined) return before;
      wanted.signal?.throwIfAborted();
      await leases.join();
      const record = newCallRecord(wanted, { id, digest }, begins(server));
      return journal.whilePlacing(id, () => placeCall(record, wanted, server));
    });
  }

  async function placeCall(record: TaskRecord, wanted: NewCall, server: DriverServer): Promise<TaskDriver> {
    const { created, record: stored } = await journal.place(record);
    if (!created) {
      // Another process journaled the same call a moment ago: it is that process's to send.
      checkSameCall(stored, wanted, record.callDigest ?? "", server.lane);
      return driverOf(stored, "rest");
    }
    if (closed || wanted.signal?.aborted === true) {
      // While the journal was written: nothing was sent, and nothing stays behind.
      await store.remove(record.id).catch((error: unknown) => {
        journal.takeBack(record);
        throw error;
      });
      throw closed ? new ClientClosedError() : wanted.signal?.reason;
    }
    const discardImmediate = wanted.callId === undefined && options.onSettled === undefined;
    const driver = driverOf(record, "call", { ...wanted.caller, discardImmediate });
    driver.attach(server);
    return driver;
  }

  function begins({ lane }: DriverServer): RecordContext {
    return { lane, scope, owner: leases.owner, nowMs: clock.now() };
  }

  async function adopt(name: string, taskId: string, context: JsonValue | undefined): Promise<TaskDriver> {
    const server = serverOf(name);
    const { identity } = server.lane.connection;
    for (const driver of drivers.values()) {
      if (driver.record.taskId !== taskId || driver.record.identity !== identity) continue;
      if (driver.resting) await driver.catchUp();
      await takeOver.take(driver);
      return driver;
    }
    const id = `adopted-${(await sha256(canonicalJson([identity, taskId]))).slice(0, 22)}`;
    return ids.run(id, async () => {
      await leases.join();
      const record = adoptedRecord({ id, taskId, context }, begins(server));
      const { created, record: stored } = await store.create(record);
      if (closed) throw new ClientClosedError();
      if (isOver(stored)) return driverOf(stored, "rest");
      const driver = created ? driverOf(stored, "adopt") : ((await current(id)) ?? driverOf(stored, "rest"));
      if (created) driver.attach(server);
      else await takeOver.take(driver);
      return driver;
    });
  }

  async function revived(record: TaskRecord): Promise<TaskRecord> {
    const nowMs = clock.now();
    const moved = transition(
      record,
      { type: "revived" },
      { nowMs, poll: options.poll, answers: { answerGraceMs: options.answerGraceMs } },
    );
    if (!moved.save) return record;
    // Whoever owned it takes it for over, and would not look at it again.
    await leases.join();
    const owner = leases.owner ?? record.owner;
    const saved = await store.save({ ...moved.record, ...(owner === undefined ? {} : { owner }) });
    // The driver that gave up may still be telling so: another one goes on.
    const running = drivers.get(record.id);
    if (running !== undefined && isOver(running.record)) drivers.delete(record.id);
    return saved;
  }

  async function* revivedAll(): AsyncIterable<TaskRecord> {
    for await (const record of store.all()) yield await revived(record);
  }

  return {
    async addServer(name, connection) {
      if (closed) throw new ClientClosedError();
      if (servers.has(name))
        throw new TypeError(`name: the server ${JSON.stringify(name)} is connected already`);
      servers.set(name, "connecting");
      const server = connect(name, connection);
      try {
        // Before the calls are read: who leaves some behind after this is noticed.
        await leases.watch();
        // Read to the end first: a store that fails half way must not leave half a server behind.
        const records: TaskRecord[] = [];
        for await (const record of store.all()) if (record.server === name) records.push(record);
        for (const driver of [...drivers.values()]) if (driver.record.server === name) await driver.catchUp();
        if (closed) throw new ClientClosedError();
        servers.set(name, server);
        return await takeOver.pickUp(eachOf(records));
      } catch (error) {
        if (servers.get(name) === "connecting") servers.delete(name);
        throw error;
      }
    },
    call,
    adopt,
    async find(id) {
      const running = await current(id);
      if (running !== undefined) return running;
      const record = await store.load(id);
      if (record === undefined || !journal.isBusy(id)) return record && driverOf(record, "rest");
      // Being placed: as it is stored, it looks like a call that was left behind.
      await ids.run(id, async () => undefined);
      return current(id);
    },
    async list() {
      const found = new Map<string, TaskDriver>();
      for await (const record of store.all()) {
        // Not placed yet, or to be taken back.
        if (journal.isBusy(record.id) && !drivers.has(record.id)) continue;
        const driver = driverOf(record, "rest");
        found.set(record.id, driver);
        const isKnown = JSON.stringify(record) === JSON.stringify(driver.record);
        if (driver.resting && !isKnown) await driver.catchUp();
      }
      for (const { id } of [...drivers.values()]) {
        // Not in the store: in memory only, or no more.
        const driver = found.has(id) ? undefined : await current(id);
        if (driver !== undefined) found.set(id, driver);
      }
      return [...found.values()];
    },
    async forget(driver) {
      // An older handle's driver may have had its day; the one that runs goes too.
      const both = new Set([driver, drivers.get(driver.id) ?? driver]);
      drivers.delete(driver.id);
      for (const each of both)
        each.stop(new DOMException("The call was forgotten by the host", "AbortError"));
      await ids.run(driver.id, async () => {
        for (const each of both) await each.remove();
      });
    },
    async resume() {
      if (closed) throw new ClientClosedError();
      return takeOver.pickUp(revivedAll());
    },
    catalog: (name) => serverOf(name).catalog,
    counts() {
      const live = { calling: 0, asking: 0, tracking: 0 };
      for (const { record } of drivers.values())
        if (!isOver(record)) live[record.phase as keyof typeof live] += 1;
      const connected = [...servers].flatMap(([name, server]) =>
        server === "connecting" ? [] : [[name, server] as const],
      );
      const lanes = connected.map(
        ([
          name,
          {
            lane: { up, inFlight, queued },
            push,
          },
        ]) => [name, { up, inFlight, queued, push: push.state }],
      );
      return {
        requests: Object.fromEntries(requests),
        live,
        servers: Object.fromEntries(lanes) as PollerCounts["servers"],
        pollsSavedByPush: connected.reduce((sum, [, { push }]) => sum + push.savedPolls, 0),
      };
    },
    close: (limitMs) => (closing ??= close(limitMs)),
  };

  async function close(limitMs: number): Promise<void> {
    closed = true;
    closingNow.abort(new ClientClosedError());
    const limit = new AbortController();
    const waited = sleep(clock, limitMs, { signal: limit.signal, keepAlive: true }).catch(() => undefined);
    await Promise.race([Promise.all([...drivers.values()].map((driver) => driver.drain())), waited]);
    const reason = new ClientClosedError();
    for (const driver of [...drivers.values(), ...lingering]) driver.stop(reason);
    drivers.clear();
    // A store that hangs does not hold up who closes.
    await Promise.race([leases.leave().then(() => use.idle()), waited]);
    limit.abort();
    scheduler.stop();
    for (const server of servers.values()) {
      if (server === "connecting") continue;
      server.push.stop();
      server.lane.stop();
    }
  }
}

async function* eachOf(records: readonly TaskRecord[]): AsyncIterable<TaskRecord> {
  yield* records;
}
