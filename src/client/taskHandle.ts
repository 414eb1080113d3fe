/** Owns the handle that hosts hold: reading a task, waiting for it, answering, cancelling. Waiting is per caller, polling is shared. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { WaitTimeoutError } from "../errors.js";
import { settledOf } from "../engine/delivery.js";
import { publicSnapshot, publicStatus } from "../engine/publicSnapshot.js";
import type { TaskDriver } from "../engine/taskDriver.js";
import type { PublicSnapshot, Settled, TaskInputRequest } from "../engine/types.js";
import { linkSignals, raceSignal } from "../internal/abort.js";
import { createAsyncQueue } from "../internal/asyncQueue.js";
import type { Clock } from "../internal/clock.js";
import type { Hold } from "../internal/hold.js";
import type { JsonObject, JsonValue } from "../internal/json.js";
import { answersOf, type InputAnswer } from "../task/answers.js";
import { refuseUnknown } from "../internal/options.js";
import { expiresAtMs } from "../task/policy.js";
import type { TaskRecord } from "../task/record.js";
import { isOver } from "../task/transition.js";
import { duration, mustBeObject, nonEmpty } from "./options.js";
import { checkedResultOf } from "./outcome.js";

/** How long to wait. Ending a wait leaves the task alone. */
export interface WaitOptions {
  /** Rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
  /** Rejects with `WaitTimeoutError`, which carries the handle. Default: no limit. */
  readonly timeoutMs?: number | undefined;
}

/** Of an answer. */
export interface RespondOptions {
  /**
   * Whoever answers, as the host knows them (a user name, an address): kept with the answer and told in `answers`.
   * Up to 256 characters.
   */
  readonly by?: string | undefined;
  /** The `version` of the question that the person saw: an answer to another one is refused. Default: whatever is asked now. */
  readonly version?: string | undefined;
}

/** @internal Checks the options of an answer. Throws `TypeError`. */
export function checkedRespond(options: RespondOptions): RespondOptions {
  mustBeObject("options", options);
  refuseUnknown("options", options, ["by", "version"]);
  const { by, version } = options;
  if (by !== undefined && nonEmpty("by", by).length > 256)
    throw new TypeError("by: expected at most 256 characters");
  if (version !== undefined) nonEmpty("version", version);
  return { by, version };
}

/** @internal What a handle needs of its client. */
export interface HandleContext {
  readonly clock: Clock;
  readonly hold: Hold;
  readonly forget: (driver: TaskDriver) => Promise<void>;
}

/** Snapshots that a reader of `updates()` may be behind; older ones go first, the newest tells most. */
const MAX_UNREAD_UPDATES = 256;

/**
 * One task (or one call that is still on its way to being a task). Not a promise: await `result()` or `settled()`.
 * It prints and serialises without the task id, so that it can be logged.
 */
export class TaskHandle {
  readonly #driver: TaskDriver;
  readonly #context: HandleContext;

  /** @internal */
  constructor(driver: TaskDriver, context: HandleContext) {
    this.#driver = driver;
    this.#context = context;
  }

  /** What a log shows: everything but the task id, the questions and the outcome. */
  toJSON(): { id: string; server: string; tool: string; status: string } {
    return { id: this.id, server: this.server, tool: this.tool, status: this.status };
  }

  /** @internal Node's `util.inspect`, which looks for this registered symbol. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `TaskHandle ${JSON.stringify(this)}`;
  }

  /** The local id: the `callId`, or a random one. Safe to show, also to a model; `client.task(id)` finds it again. */
  get id(): string {
    return this.#driver.id;
  }

  /** The host's name of the server. */
  get server(): string {
    return this.#driver.record.server;
  }

  get tool(): string {
    return this.#driver.record.tool;
  }

  /** The server's task id, a secret; undefined while the call is not a task (yet). */
  get taskId(): string | undefined {
    return this.#driver.record.taskId;
  }

  /** working, input_required, completed, failed, cancelled, or lost when nobody can say; unknown words as the server said them. */
  get status(): string {
    return publicStatus(this.#driver.record);
  }

  /** The server's newest text for people; untrusted. */
  get statusMessage(): string | undefined {
    return this.#driver.record.snapshot?.statusMessage;
  }

  get snapshot(): PublicSnapshot {
    return publicSnapshot(this.#driver.record);
  }

  /** What the host gave as `context`. */
  get context(): JsonValue | undefined {
    return this.#driver.record.context;
  }

  /** When the time to live ends, by this machine's clock; undefined where it is unlimited or unknown. */
  get expiresAt(): Date | undefined {
    const atMs = expiresAtMs(this.#driver.record);
    // A hostile time to live is beyond what a Date can be.
    return atMs === undefined ? undefined : new Date(Math.min(atMs, MAX_DATE_MS));
  }

  /** When the call was made, by this machine's clock. */
  get createdAt(): Date {
    return new Date(this.#driver.record.createdAtMs);
  }

  /** True once the host asked for its cancellation, however it ends. */
  get cancelRequested(): boolean {
    return this.#driver.record.cancelRequestedAtMs !== undefined;
  }

  /** How it ended, as far as is known now; undefined while it goes on. `settled()` waits for it. */
  get outcome(): Settled | undefined {
    const { record } = this.#driver;
    return isOver(record) ? settledOf(record) : undefined;
  }

  /** Who answered its questions, what and when, oldest first; kept as long as the call is. */
  get answers(): readonly InputAnswer[] {
    return answersOf(this.#driver.record);
  }

  /** The questions that wait for an answer now. */
  get pendingInputs(): readonly TaskInputRequest[] {
    return this.#driver.openInputs();
  }

  /**
   * The tool's result, `isError: true` included. Rejects with `TaskFailedError`, `TaskCancelledError`,
   * `TaskLostError`, `CallOutcomeUnknownError`, `InvalidResultError` (see `outputSchema` of `callTool`); with `WaitTimeoutError` or the signal's reason when the wait ends
   * first; with `ClientClosedError` when the client closes; with `StoreError` (or `CallOutcomeUnknownError`, before
   * there is a task) when another process removed the record; with what kept a call from being sent. Any number of
   * callers may wait.
   */
  async result(options: WaitOptions = {}): Promise<CallToolResult> {
    return checkedResultOf(await this.#over(options));
  }

  /** How it ended, as a value: `completed`, `failed`, `cancelled` or `lost`. Rejects only when the wait ends first. */
  async settled(options: WaitOptions = {}): Promise<Settled> {
    return settledOf(await this.#over(options));
  }

  /**
   * Every change of status or status message: the current state first, the last one is the end. Any number of
   * readers. A wait is ended by the signal (its reason is thrown) or by leaving the loop.
   */
  updates(options: { readonly signal?: AbortSignal | undefined } = {}): AsyncIterable<PublicSnapshot> {
    const driver = this.#driver;
    const hold = this.#context.hold;
    return {
      [Symbol.asyncIterator]: () => {
        const release = hold.take();
        let last = "";
        const take = (record: TaskRecord): void => {
          const snapshot = publicSnapshot(record);
          const seen = JSON.stringify([snapshot.status, snapshot.statusMessage]);
          if (seen !== last) queue.push(snapshot);
          last = seen;
          if (isOver(record)) queue.end();
        };
        const onAbort = (): void => queue.fail(options.signal?.reason);
        const queue = createAsyncQueue<PublicSnapshot>(MAX_UNREAD_UPDATES, () => {
          unwatch();
          release();
          options.signal?.removeEventListener("abort", onAbort);
        });
        const unwatch = driver.watch(take);
        take(driver.record);
        if (options.signal?.aborted === true) onAbort();
        options.signal?.addEventListener("abort", onAbort, { once: true });
        driver.settled.then(take, (error: unknown) => queue.fail(error));
        return queue[Symbol.asyncIterator]();
      },
    };
  }

  /**
   * Answers a question. Resolves when the answer is stored; it is sent until the server acknowledges it. Rejects with
   * `InvalidInputResponseError` (names the field; nothing was stored), `InputAlreadyAnsweredError`, `StoreError`, and
   * with `TypeError` for a wrong option.
   */
  async respond(key: string, response: JsonObject, options: RespondOptions = {}): Promise<void> {
    await this.#driver.respond(key, response, checkedRespond(options));
  }

  /**
   * Asks the server to cancel; resolves when it acknowledged, or the task is over. The task may still end in any way:
   * the handle goes on to the true end. A second call is harmless. The signal ends the wait, not the request.
   */
  async cancel(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    const release = this.#context.hold.take();
    try {
      await raceSignal(this.#driver.cancel(), options.signal);
    } finally {
      release();
    }
  }

  /** Stops watching and removes the record. What runs at the server goes on unwatched: `cancel()` first to end it. */
  async forget(): Promise<void> {
    await this.#context.forget(this.#driver);
  }

  async #over({ signal, timeoutMs }: WaitOptions): Promise<TaskRecord> {
    const { clock, hold } = this.#context;
    const limitMs = timeoutMs === undefined ? undefined : duration("timeoutMs", timeoutMs);
    const release = hold.take();
    // A watcher keeps a resting driver looking into the store.
    const unwatch = this.#driver.watch(() => undefined);
    const limit = linkSignals(signal);
    const stop =
      limitMs === undefined
        ? undefined
        : clock.setTimer(limitMs, () =>
            limit.abort(new WaitTimeoutError(limitMs, "the task may still be running", this)),
          );
    try {
      const record = await raceSignal(this.#driver.settled, limit.signal);
      await this.#driver.taken();
      return record;
    } finally {
      stop?.();
      limit.release();
      unwatch();
      release();
    }
  }
}

const MAX_DATE_MS = 8.64e15;
