/**
 * Owns what the engine's tests share: a client in virtual time over a scripted server, what it told, and the words of
 * the wire in short. It asserts nothing.
 */
import { onTestFinished } from "vitest";
import {
  TaskClient,
  type CallToolOptions,
  type TaskClientEvents,
  type TaskClientOptions,
  type TaskHandle,
  type ToolCallParams,
} from "../../src/index.js";
import { EVENTS } from "../../src/client/taskClient.js";
import { memoryStore } from "../../src/store/memory.js";
import type { KeyValueStore } from "../../src/store/types.js";
import type { JsonObject } from "../../src/internal/json.js";
import {
  fakeClock,
  scriptedConnection,
  type ConnectionScript,
  type FakeClock,
  type ScriptedConnection,
  type ScriptedConnectionOptions,
} from "../../src/testing/index.js";

export const AT = "2026-08-01T00:00:00Z";

/** The answer to `tools/call`: a task. */
export const handle = (more: JsonObject = {}): JsonObject => ({
  resultType: "task",
  taskId: "task-secret-1",
  status: "working",
  createdAt: AT,
  lastUpdatedAt: AT,
  ttlMs: null,
  pollIntervalMs: 1000,
  ...more,
});

/** The answer to `tasks/get`. */
export const state = (more: JsonObject = {}): JsonObject => ({
  ...handle(),
  resultType: "complete",
  ...more,
});

export const text = (words: string): JsonObject => ({ content: [{ type: "text", text: words }] });
export const done = (words = "done", more: JsonObject = {}): JsonObject =>
  state({ status: "completed", result: text(words), ...more });
export const asks = (inputRequests: JsonObject, more: JsonObject = {}): JsonObject =>
  state({ status: "input_required", inputRequests, ...more });
export const form = (
  message = "Go on?",
  properties: JsonObject = { ok: { type: "boolean" } },
): JsonObject => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: { type: "object", properties } },
});
export const yes: JsonObject = { action: "accept", content: { ok: true } };
export const ack: JsonObject = { resultType: "complete" };

type EventName = keyof TaskClientEvents;

/** Everything that a client told, in order. */
export interface Told {
  readonly all: readonly { readonly name: EventName; readonly event: unknown; readonly atMs: number }[];
  of<Name extends EventName>(name: Name): TaskClientEvents[Name][];
}

export interface Rig {
  readonly clock: FakeClock;
  readonly connection: ScriptedConnection;
  readonly client: TaskClient;
  readonly told: Told;
  /** `clock.monotonic()` of every request of a method. */
  readonly times: (method: string) => number[];
  /** Waits in virtual time. */
  readonly within: <T>(promise: Promise<T>, limitMs?: number) => Promise<T>;
}

export type RigOptions = Omit<TaskClientOptions, "clock"> & {
  readonly clock?: FakeClock;
  readonly connection?: ScriptedConnection | ScriptedConnectionOptions;
};

/** A client that is connected as "srv". Jitter is off; timers of the global `setTimeout` are virtual too. */
export async function rig(script: ConnectionScript, options: RigOptions = {}): Promise<Rig> {
  const { connection: given = {}, clock = virtualClock(), ...clientOptions } = options;
  virtualGlobals(clock);
  const connection = "request" in given ? given : scriptedConnection(script, { clock, ...given });
  const client = makeClient(clock, clientOptions);
  const told = listen(client, clock);
  await client.connect("srv", connection);
  return {
    clock,
    connection,
    client,
    told,
    times: (method) => connection.requestsOf(method).map((request) => request.atMs),
    within: async (promise, limitMs = 3_600_000) => (await clock.runUntil(promise, limitMs)) as never,
  };
}

/** Calls a tool that becomes a task. */
export async function startTask(
  run: Rig,
  options: CallToolOptions = {},
  params: ToolCallParams = { name: "deploy", arguments: { env: "prod" } },
): Promise<TaskHandle> {
  const call = await run.within(run.client.callTool("srv", params, options));
  if (call.kind !== "task") throw new Error("the call did not become a task");
  return call.task;
}

/** A client in virtual time that is closed when the test is over. */
export function makeClient(clock: FakeClock, options: Omit<TaskClientOptions, "clock"> = {}): TaskClient {
  // A memory that nobody else sees needs no leases, as without `store`.
  const own = options.store === undefined ? { store: memoryStore(clock), leaseMs: 0 } : {};
  const client = new TaskClient({ random: () => 0, ...options, ...own, clock });
  onTestFinished(async () => {
    const closed = client.close({ timeoutMs: 1 });
    await clock.advance(2);
    await closed;
  });
  return client;
}

/** Records what a client tells. */
export function listen(client: TaskClient, clock: FakeClock): Told {
  const all: { name: EventName; event: unknown; atMs: number }[] = [];
  for (const name of EVENTS) {
    client.on(name, (event) => all.push({ name, event, atMs: clock.monotonic() }));
  }
  return {
    all,
    of: (name) => all.filter((one) => one.name === name).map((one) => one.event as never),
  };
}

/** One process's way to a store: while it is stopped, nothing of that process reaches it. Afterwards it does. */
export function stoppable(store: KeyValueStore): {
  readonly store: KeyValueStore;
  stop(): void;
  goOn(): void;
} {
  let stopped: Promise<void> | undefined;
  let wake = (): void => undefined;
  const setIfAbsent = store.setIfAbsent?.bind(store);
  const setIfUnchanged = store.setIfUnchanged?.bind(store);
  return {
    store: {
      kind: store.kind,
      get: async (...args) => (await stopped, store.get(...args)),
      set: async (...args) => (await stopped, store.set(...args)),
      delete: async (...args) => (await stopped, store.delete(...args)),
      entries: (prefix) => store.entries!(prefix),
      ...(setIfAbsent === undefined
        ? {}
        : { setIfAbsent: async (...args) => (await stopped, setIfAbsent(...args)) }),
      ...(setIfUnchanged === undefined
        ? {}
        : { setIfUnchanged: async (...args) => (await stopped, setIfUnchanged(...args)) }),
    },
    stop() {
      stopped = new Promise((resolve) => (wake = resolve));
    },
    goOn() {
      stopped = undefined;
      wake();
    },
  };
}

/** A store whose writes are refused while `refuses` says so, and which says what it holds. */
export function testStore(clock: FakeClock): KeyValueStore & {
  refuses: (value: string) => boolean;
  /** How long writes take from now on. */
  slowMs: number;
  readonly writes: readonly string[];
  /** All keys and values now, as text; without the roster, which names no call. */
  dump(): Promise<string>;
} {
  const inner = memoryStore(clock);
  const writes: string[] = [];
  const guarded = {
    kind: inner.kind,
    refuses: (_value: string): boolean => false,
    slowMs: 0,
    writes,
    get: (key: string) => inner.get(key),
    entries: (prefix: string) => inner.entries(prefix),
    delete: (key: string) => inner.delete(key),
    async set(key: string, value: string, ttlMs: number | undefined) {
      await admit(key, value);
      await inner.set(key, value, ttlMs);
    },
    async setIfAbsent(key: string, value: string, ttlMs: number | undefined) {
      await admit(key, value);
      return inner.setIfAbsent(key, value, ttlMs);
    },
    async setIfUnchanged(key: string, seen: string, value: string, ttlMs: number | undefined) {
      await admit(key, value);
      return inner.setIfUnchanged(key, seen, value, ttlMs);
    },
    async dump() {
      const lines: string[] = [];
      for await (const [key, value] of inner.entries(""))
        if (!isRoster(key)) lines.push(`${key} ${String(value)}`);
      return lines.join("\n");
    },
  };
  async function admit(key: string, value: string): Promise<void> {
    if (guarded.slowMs > 0) await new Promise<void>((resolve) => clock.setTimer(guarded.slowMs, resolve));
    if (guarded.refuses(value)) throw new Error("the disk is full");
    // Signs of life of the process are no writes of a call.
    if (!isRoster(key)) writes.push(value);
  }
  return guarded;
}

function isRoster(key: string): boolean {
  return key.endsWith("!roster");
}

/** Operations of WebCrypto under way: they end on another thread, at no moment that virtual time knows. */
let cryptoUnderWay = 0;
for (const method of ["digest", "encrypt", "decrypt", "importKey"] as const) {
  const real = crypto.subtle[method].bind(crypto.subtle) as (...args: unknown[]) => Promise<unknown>;
  Object.defineProperty(crypto.subtle, method, {
    configurable: true,
    value: (...args: unknown[]) => {
      cryptoUnderWay += 1;
      return real(...args).finally(() => (cryptoUnderWay -= 1));
    },
  });
}

/** Virtual time that goes on only when nothing is left to run, on other threads too. */
export function virtualClock(): FakeClock {
  return fakeClock({
    async settle() {
      for (let quiet = 0; quiet < 2; quiet = cryptoUnderWay === 0 ? quiet + 1 : 0) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  });
}

/** p-retry waits on the global `setTimeout` and measures with `performance.now`: they follow the virtual clock. */
export function virtualGlobals(clock: FakeClock): void {
  const real = {
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    now: performance.now.bind(performance),
  };
  const stops = new Map<unknown, () => void>();
  const setVirtual = (run: () => void, delayMs = 0): unknown => {
    // The clock itself gives real work a moment in this way.
    if (delayMs <= 1) return real.setTimeout(run, delayMs);
    const timer = { unref: () => timer };
    stops.set(timer, clock.setTimer(delayMs, run));
    return timer;
  };
  const clearVirtual = (timer: unknown): void => {
    const stop = stops.get(timer);
    if (stop === undefined) real.clearTimeout(timer as NodeJS.Timeout);
    else stop();
  };
  globalThis.setTimeout = setVirtual as typeof setTimeout;
  globalThis.clearTimeout = clearVirtual;
  performance.now = () => clock.monotonic();
  onTestFinished(() => {
    globalThis.setTimeout = real.setTimeout;
    globalThis.clearTimeout = real.clearTimeout;
    performance.now = real.now;
  });
}

/** The distances between instants. */
export function gaps(times: readonly number[]): number[] {
  return times.slice(1).map((time, i) => time - (times[i] as number));
}
