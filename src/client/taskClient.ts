/** Owns the public client: it composes store, engine and handles, and checks what hosts pass in. It decides nothing about tasks. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { Connection } from "../connection/types.js";
import type { HandedOver } from "../engine/callerWaits.js";
import { createPoller, type Poller } from "../engine/poller.js";
import type { TaskDriver } from "../engine/taskDriver.js";
import type { EngineEvents, TaskInputRequest, Tell } from "../engine/types.js";
import { CallbackError, ClientClosedError, StoreError, WaitTimeoutError } from "../errors.js";
import { linkSignals, raceSignal } from "../internal/abort.js";
import { sleep, type Clock } from "../internal/clock.js";
import { createEmitter, type Emitter, type Unsubscribe } from "../internal/emitter.js";
import { runGuarded } from "../internal/guard.js";
import { createHold, type Hold } from "../internal/hold.js";
import { isObject, whyNotJson, type JsonObject, type JsonValue } from "../internal/json.js";
import type { ToolDescription } from "../protocol/index.js";
import { toKeyValueStore } from "../store/keyValue.js";
import { createTaskStore } from "../store/taskStore.js";
import type { StoreIssue, TaskStore } from "../store/types.js";
import { mergeRecords } from "../task/merge.js";
import { storeTtlMs } from "../task/policy.js";
import { isOver } from "../task/transition.js";
import { checkCall, type CallToolOptions, type CheckedCall, type ToolCallParams } from "./callOptions.js";
import { checkFilter, matches, type TaskFilter } from "./filter.js";
import {
  DEFAULT_CLOSE_MS,
  duration,
  nonEmpty,
  resolveOptions,
  wrong,
  type TaskClientOptions,
} from "./options.js";
import { checkedResultOf } from "./outcome.js";
import { createStatsBook, type TaskClientStats } from "./stats.js";
import { TaskHandle, checkedRespond, type RespondOptions } from "./taskHandle.js";

/** What `callTool` answers: the result, when there was no task (or it ended within `waitMs`), or the task. */
export type ToolCall =
  | { readonly kind: "result"; readonly result: CallToolResult }
  | { readonly kind: "task"; readonly task: TaskHandle };

/**
 * Calls tools of MCP servers and sees their tasks through to the end: across failing networks, server restarts and
 * restarts of this process. One client serves any number of servers, for one scope.
 */
export class TaskClient {
  readonly #clock: Clock;
  readonly #hold: Hold;
  readonly #emitter: Emitter<EngineEvents>;
  readonly #store: TaskStore;
  readonly #poller: Poller;
  readonly #stats = createStatsBook();
  readonly #connections: Connection[] = [];
  readonly #closing = new AbortController();
  /** Whose tasks these are: the option `scope`. */
  readonly scope: string;

  /** Throws `TypeError` that names a wrong option. Nothing is read or sent before `connect` or `resume`. */
  constructor(options: TaskClientOptions = {}) {
    const resolved = resolveOptions(options);
    this.scope = resolved.scope;
    this.#clock = resolved.clock;
    this.#hold = createHold(resolved.clock);
    this.#emitter = createEmitter<EngineEvents>((error, name) => {
      // A throwing error listener would be told of itself for ever.
      if (name !== "error") this.#tellHostError("A listener threw", error);
    });
    const tell: Tell = (name, event) => {
      this.#stats.count(name, event);
      this.#emitter.emit(name, event);
    };
    this.#store = createTaskStore(toKeyValueStore(resolved.store), {
      scope: resolved.scope,
      clock: resolved.clock,
      merge: mergeRecords,
      ttlMs: (record) => storeTtlMs(record, resolved.clock.now(), resolved),
      onIssue: (issue) => tell("error", { error: issueError(issue), server: undefined, id: undefined }),
    });
    this.#poller = createPoller({ ...resolved, store: this.#store, hold: this.#hold }, tell);
  }

  /**
   * Names a server and continues its stored calls over this connection; answers the handles of those that are not
   * over, and of outcomes that nobody took yet. Needs no network. Rejects with `TypeError` (the name is taken) or
   * `StoreError`; then the server is not connected.
   */
  async connect(name: string, connection: Connection): Promise<TaskHandle[]> {
    nonEmpty("name", name);
    const fits = isObject(connection) && typeof connection.request === "function";
    if (!fits || typeof connection.identity !== "string" || connection.identity === "") {
      throw wrong("connection", connection, "a connection: httpConnection(url), or sdkConnection(client)");
    }
    const drivers = await this.#poller.addServer(name, connection);
    users.set(connection, (users.get(connection) ?? 0) + 1);
    this.#connections.push(connection);
    return this.#handles(drivers);
  }

  /**
   * Calls a tool. Answers its result, or the task that the server made of it; a task's handle is stored before it is
   * answered. Rejects with
   * - `RpcError`: the server's JSON-RPC error, the call's own failure;
   * - `ConnectionError`, `EraNotSupportedError`, `MissingCapabilityError`: the call certainly did not run;
   * - `CallOutcomeUnknownError`: it may have run; it is not sent again;
   * - `InvalidResponseError`: the answer is outside the protocol; `InvalidResultError`: it does not fit `outputSchema`;
   * - `WaitTimeoutError` (`timeoutMs`), or the signal's reason: a late answer is still taken;
   * - `StoreError`: without `task`: nothing was sent; with `task`: the handle is not stored, and is tracked in memory;
   * - `CallIdConflictError`, `TypeError`, `ClientClosedError`: nothing was sent;
   * - `TaskFailedError`, `TaskCancelledError`, `TaskLostError`: as `TaskHandle.result`, where the end was waited for
   *   (`waitMs`), or a call was cancelled before it was a task.
   * A result with `isError` is a result.
   */
  async callTool(server: string, params: ToolCallParams, options: CallToolOptions = {}): Promise<ToolCall> {
    nonEmpty("server", server);
    const call = checkCall(params, options);
    call.signal?.throwIfAborted();
    const release = this.#hold.take();
    // The store may be slow, or never answer: that is the caller's time too.
    const placing = linkSignals(call.signal);
    const stopPlacing = this.#clock.setTimer(call.timeoutMs, () =>
      placing.abort(new WaitTimeoutError(call.timeoutMs, "the call was not sent: its intent is not stored")),
    );
    try {
      const waitUntil = this.#clock.monotonic() + call.waitMs;
      const placed = this.#poller.call({
        ...call,
        server,
        signal: placing.signal,
        caller: {
          timeoutMs: call.timeoutMs,
          headers: call.headers,
          onProgress: this.#guarded(call.onProgress),
        },
      });
      const driver = await raceSignal(placed, placing.signal);
      stopPlacing();
      const handed = await this.#handedOver(driver, call, waitUntil);
      return await this.#toolCall(driver, handed, call, waitUntil);
    } finally {
      stopPlacing();
      placing.release();
      release();
    }
  }

  /** The server's tools, cached for its `ttlMs`. Tools with invalid header annotations are left out and reported. */
  async listTools(
    server: string,
    options: { signal?: AbortSignal } = {},
  ): Promise<readonly ToolDescription[]> {
    return this.#poller.catalog(nonEmpty("server", server)).list({ signal: options.signal });
  }

  /** Tracks a task that was created elsewhere. The same task gives the same handle. */
  async adopt(server: string, taskId: string, options: { context?: JsonValue } = {}): Promise<TaskHandle> {
    nonEmpty("server", server);
    if (typeof taskId !== "string" || taskId === "")
      throw new TypeError("taskId: expected a non-empty string");
    const { context } = options;
    const reason = context === undefined ? undefined : whyNotJson(context, "context");
    if (reason !== undefined) throw new TypeError(`context: expected JSON, but ${reason}`);
    return this.#handle(await this.#poller.adopt(server, taskId, context));
  }

  /** What the store holds in this scope, delivered outcomes included while they are kept. */
  async tasks(filter: TaskFilter = {}): Promise<TaskHandle[]> {
    checkFilter(filter);
    const drivers = await this.#poller.list();
    return this.#handles(drivers.filter((driver) => matches(driver, filter)));
  }

  /** The call with this local id, or undefined. */
  async task(id: string): Promise<TaskHandle | undefined> {
    const driver = await this.#poller.find(nonEmpty("id", id));
    return driver === undefined ? undefined : this.#handle(driver);
  }

  /** The questions that wait for an answer, of all servers, also of those that are not connected here. */
  async pendingInputs(filter: TaskFilter = {}): Promise<TaskInputRequest[]> {
    checkFilter(filter);
    const drivers = await this.#poller.list();
    return drivers.filter((driver) => matches(driver, filter)).flatMap((driver) => driver.openInputs());
  }

  /**
   * Answers a question of any call in the store, from any process on it. Resolves when the answer is stored; it is
   * sent by whichever process is connected. Rejects as `TaskHandle.respond`, and with `TypeError` for an unknown id.
   */
  async respond(id: string, key: string, response: JsonObject, options: RespondOptions = {}): Promise<void> {
    const from = checkedRespond(options);
    const driver = await this.#poller.find(nonEmpty("id", id));
    if (driver === undefined) throw new TypeError("id: no call with this id is in the store");
    await driver.respond(key, response, from);
  }

  /** Continues everything in the store, outcomes to deliver and given-up tasks included. Harmless to repeat. */
  async resume(): Promise<TaskHandle[]> {
    return this.#handles(await this.#poller.resume());
  }

  /** Listens; answers the function that stops it. A listener that throws is reported as `error` and stops nobody. */
  on<Name extends keyof EngineEvents>(
    event: Name,
    listener: (event: EngineEvents[Name]) => void,
  ): Unsubscribe {
    if (!EVENTS.includes(event)) throw wrong("event", event, EVENTS.join(", "));
    if (typeof listener !== "function") throw wrong("listener", listener, "a function");
    return this.#emitter.on(event, listener);
  }

  /** Aborts, with `ClientClosedError`, as soon as `close()` is called: whoever serves these tasks to others ends with it. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** @internal Somebody waits for what happens, until the returned function is called. */
  hold(): () => void {
    return this.#hold.take();
  }

  /** Counts since the client was made. */
  stats(): TaskClientStats {
    return this.#stats.read(this.#poller.counts(), this.#store.counts);
  }

  /**
   * Stops watching. Waits up to `timeoutMs` (default 5000) for calls under way and for the store; who still waits for
   * anything is rejected with `ClientClosedError`. Tasks live on at the server and in the store.
   */
  async close(options: { timeoutMs?: number } = {}): Promise<void> {
    const limitMs = duration("timeoutMs", options.timeoutMs ?? DEFAULT_CLOSE_MS);
    if (!this.#closing.signal.aborted) this.#closing.abort(new ClientClosedError());
    await this.#poller.close(limitMs);
    // What it holds open would keep the process alive; another client may still use it.
    for (const connection of this.#connections.splice(0)) {
      const left = (users.get(connection) ?? 1) - 1;
      users.set(connection, left);
      if (left === 0) await connection.release?.().catch(() => undefined);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #handedOver(
    driver: TaskDriver,
    call: CheckedCall,
    waitUntil: number,
  ): Promise<HandedOver | "still-asking"> {
    const asking = call.waitMs === 0 ? undefined : this.#askingLater(driver, waitUntil);
    const unwatch = driver.watch(() => undefined);
    const { timeoutMs, signal } = call;
    const wait = driver.wait({ timeoutMs, signal });
    try {
      return await Promise.race([wait.handed, ...(asking === undefined ? [] : [asking.promise])]);
    } catch (error) {
      if (!(error instanceof WaitTimeoutError) || error === signal?.reason) throw error;
      throw new WaitTimeoutError(timeoutMs, WAITED_FOR_ANSWER, this.#handle(driver));
    } finally {
      wait.release();
      unwatch();
      asking?.stop();
    }
  }

  /** Resolves once `waitMs` has passed while people are asked before there is a task. */
  #askingLater(
    driver: TaskDriver,
    waitUntil: number,
  ): { promise: Promise<"still-asking">; stop: () => void } {
    const stopping = new AbortController();
    const run = async (): Promise<"still-asking"> => {
      await sleep(this.#clock, waitUntil - this.#clock.monotonic(), { signal: stopping.signal });
      stopping.signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        const look = (): void => (driver.record.phase === "asking" ? resolve() : undefined);
        const unwatch = driver.watch(look);
        stopping.signal.addEventListener("abort", unwatch, { once: true });
        look();
      });
      return "still-asking";
    };
    const promise = run();
    promise.catch(() => undefined);
    return { promise, stop: () => stopping.abort() };
  }

  async #toolCall(
    driver: TaskDriver,
    handed: HandedOver | "still-asking",
    call: CheckedCall,
    waitUntil: number,
  ): Promise<ToolCall> {
    const task = this.#handle(driver);
    if (handed === "still-asking") return { kind: "task", task };
    if (handed.storeError !== undefined) {
      throw new StoreError("The store refused the task's handle; the task is tracked in memory only", {
        cause: handed.storeError,
        task,
      });
    }
    if (handed.error !== undefined) throw handed.error;
    const { record } = driver;
    if (record.taskId === undefined) {
      await driver.taken();
      return { kind: "result", result: await checkedResultOf(record) };
    }
    const leftMs = waitUntil - this.#clock.monotonic();
    if (call.waitMs === 0 || (leftMs <= 0 && !isOver(record))) return { kind: "task", task };
    try {
      const result = await task.result({ signal: call.signal, timeoutMs: Math.max(leftMs, 1) });
      return { kind: "result", result };
    } catch (error) {
      if (error instanceof WaitTimeoutError) return { kind: "task", task };
      throw error;
    }
  }

  #handle(driver: TaskDriver): TaskHandle {
    return new TaskHandle(driver, {
      clock: this.#clock,
      hold: this.#hold,
      forget: (forgotten) => this.#poller.forget(forgotten),
    });
  }

  #handles(drivers: readonly TaskDriver[]): TaskHandle[] {
    return drivers.map((driver) => this.#handle(driver));
  }

  /** What is wrong with the host's callback is not to cost it the call. */
  #guarded(onProgress: CheckedCall["onProgress"]): CheckedCall["onProgress"] {
    if (onProgress === undefined) return undefined;
    return (progress) =>
      runGuarded(
        () => onProgress(progress),
        (error) => this.#tellHostError("onProgress threw", error),
      );
  }

  #tellHostError(message: string, cause: unknown): void {
    const error = new CallbackError(message, { cause });
    this.#emitter.emit("error", { error, server: undefined, id: undefined });
  }
}

/** How many open clients use a connection. */
const users = new WeakMap<Connection, number>();

const WAITED_FOR_ANSWER = "the call may still be running, and a task that comes of it is tracked";

/** The names of all events. */
export const EVENTS: readonly (keyof EngineEvents)[] = [
  "created",
  "updated",
  "input",
  "inputWithdrawn",
  "settled",
  "retry",
  "push",
  "serverDown",
  "serverUp",
  "error",
];

function issueError(issue: StoreIssue): StoreError {
  return new StoreError(issue.message, issue.cause === undefined ? {} : { cause: issue.cause });
}
