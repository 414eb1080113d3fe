/** Owns the stretch from the journaled intent to a task or an outcome, and the callers that wait for it. */
import { InvalidResponseError, WaitTimeoutError, type StoreError } from "../errors.js";
import type { Notice } from "../connection/types.js";
import type { StopTimer } from "../internal/clock.js";
import { createDeferred } from "../internal/deferred.js";
import type { CallAnswer, InputRequestEntry, TaskSnapshot } from "../protocol/index.js";
import { isOver } from "../task/transition.js";
import { mayRepeatUnknown, rpcErrorObject, sendCall, type CallEnd } from "./callStep.js";
import type { RecordKeeper } from "./recordKeeper.js";
import type { Scheduler } from "./scheduler.js";
import type { ServerLane } from "./serverLane.js";
import type { UsableInputs } from "./snapshotInputs.js";
import type { ToolCatalog } from "./toolCatalog.js";
import type { EngineOptions, Tell } from "./types.js";

/** A server that only ever asks again is in a circle. */
const MAX_ROUNDS = 100;

/** What a caller in this process gave with its call; nothing of it survives a restart. */
export interface CallerOptions {
  /** How long the caller waits for an answer of the server, in milliseconds; time in which people answer does not count. */
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly onProgress: ((progress: Readonly<Record<string, unknown>>) => void) | undefined;
  /** True when the outcome of an immediate answer is not needed after it was returned. */
  readonly discardImmediate: boolean;
}

/** What callers are handed: the call became a task, or is over. */
export interface HandedOver {
  /** Set when the handle could not be stored. */
  readonly storeError: StoreError | undefined;
  /** Set when the call ended with an error before it was a task. */
  readonly error: unknown;
}

/** The call side of one driver. */
export interface CallFlow {
  /** Resolves once there is a task or an outcome. Rejects with the caller's timeout, or when the client closes. */
  readonly handed: Promise<HandedOver>;
  /** Sends what is to be sent, if anything. */
  advance(lane: ServerLane, catalog: ToolCatalog): void;
  /** True once the caller is gone. */
  readonly left: boolean;
  /** The record is over, by whatever way: callers are handed that. */
  ended(): void;
  /** One more caller waits (the same `callId` again). */
  callerJoined(): void;
  /** A caller is gone; after the last, as `leave`. */
  callerLeft(): void;
  /** Nobody waits any more: keep listening for a while, and let nobody be asked for it. */
  leave(): void;
  /** Resolves when no send is under way. */
  idle(): Promise<void>;
  close(reason: unknown): void;
}

export function createCallFlow(context: {
  keeper: RecordKeeper;
  options: EngineOptions;
  scheduler: Scheduler;
  tell: Tell;
  caller: CallerOptions | undefined;
  closing: AbortSignal;
  readInputs: (entries: readonly InputRequestEntry[]) => Promise<UsableInputs>;
  /** Called with a fresh task, which is stored. */
  onTask: () => void;
  /** The call left no trace at the server: its record was removed. */
  onVanished: (error: unknown) => void;
}): CallFlow {
  const { keeper, options, caller, closing } = context;
  const handed = createDeferred<HandedOver>();
  const abandon = new AbortController();
  let running: Promise<void> | undefined;
  let fresh = caller !== undefined;
  let left = false;
  let callers = 0;
  let vanished = false;
  let rounds = 0;
  /** What callers get instead of an outcome, when the call ended with an error of its own. */
  let endError: unknown;
  let stopTimeout: StopTimer = () => undefined;

  function advance(lane: ServerLane, catalog: ToolCatalog): void {
    if (running !== undefined || closing.aborted || !wantsSending()) return;
    running = run(lane, catalog).finally(() => {
      running = undefined;
      // A round may have been answered while the last one was still being put away.
      if (wantsSending() && !closing.aborted) advance(lane, catalog);
    });
  }

  function wantsSending(): boolean {
    const { record } = keeper;
    if (vanished) return false;
    if (record.phase === "calling") return true;
    return record.phase === "asking" && record.questions.every((question) => question.state !== "open");
  }

  async function run(lane: ServerLane, catalog: ToolCatalog): Promise<void> {
    try {
      if (!(await maySend(catalog))) return;
      await pauseBetweenEmptyRounds();
      startTimeout();
      const end = await sendCall({
        keeper,
        lane,
        catalog,
        options,
        tell: context.tell,
        closing,
        abandon: abandon.signal,
        limitMs: caller?.timeoutMs,
        timeoutMs: (caller?.timeoutMs ?? options.requestTimeoutMs) + options.lateAnswerMs,
        headers: caller?.headers,
        onNotice,
      });
      stopTimeout();
      await take(end);
    } catch (error) {
      // The store refused in a moment where nothing may be told unstored, or the client closes.
      handed.reject(error);
    } finally {
      stopTimeout();
    }
  }

  /** A send that an earlier process started: nobody knows whether it ran. */
  async function maySend(catalog: ToolCatalog): Promise<boolean> {
    const orphaned = !fresh && keeper.record.phase === "calling" && keeper.record.call?.inFlight === true;
    fresh = false;
    if (!orphaned || rounds > 0) return true;
    if (await mayRepeatUnknown({ keeper, catalog, closing })) return true;
    if (!closing.aborted) await keeper.apply({ type: "callLost" });
    return false;
  }

  /** A server may ask for nothing but patience (a state without requests): it gets some. */
  async function pauseBetweenEmptyRounds(): Promise<void> {
    const { record } = keeper;
    if (record.phase !== "asking" || record.questions.length > 0) return;
    const gate = createDeferred<void>();
    context.scheduler.schedule(`round:${record.id}`, options.poll.defaultIntervalMs, () => gate.resolve());
    const onClose = (): void => gate.reject(closing.reason);
    closing.addEventListener("abort", onClose, { once: true });
    await gate.promise.finally(() => closing.removeEventListener("abort", onClose));
  }

  function startTimeout(): void {
    stopTimeout();
    if (caller === undefined || left) return;
    stopTimeout = options.clock.setTimer(caller.timeoutMs, () => {
      const what = "the call may still be running, and a task that comes of it is tracked";
      const timeout = new WaitTimeoutError(caller.timeoutMs, what);
      // Nothing is under way: stop trying, and say what the last attempt met.
      if (keeper.record.call?.inFlight !== true) return abandon.abort(timeout);
      left = true;
      handed.reject(timeout);
    });
  }

  function onNotice(notice: Notice): void {
    if (notice.method !== "notifications/progress") return;
    startTimeout();
    caller?.onProgress?.(notice.params);
  }

  async function take(end: CallEnd): Promise<void> {
    switch (end.kind) {
      case "answered":
        return takeAnswer(end.answer);
      case "failed":
        endError = end.error;
        await keeper.apply({ type: "callFailed", error: rpcErrorObject(end.error) }, immediateMode());
        return;
      case "unknown":
        endError = end.error;
        await keeper.apply({ type: "callLost" }, immediateMode());
        return;
      case "not-run":
        vanished = true;
        await keeper.drop();
        handed.resolve({ storeError: undefined, error: end.error });
        context.onVanished(end.error);
        return;
      case "closed":
        return;
    }
  }

  async function takeAnswer(answer: CallAnswer): Promise<void> {
    switch (answer.kind) {
      case "result":
        await keeper.apply({ type: "callCompleted", result: answer.result }, immediateMode());
        return;
      case "input_required":
        return takeRound(answer);
      case "task":
        return takeHandle(answer.snapshot);
    }
  }

  async function takeHandle(seed: TaskSnapshot): Promise<void> {
    const inputs = await context.readInputs(seed.inputRequests ?? []);
    const snapshot = seed.inputRequests === undefined ? seed : { ...seed, inputRequests: inputs.entries };
    for (const warning of seed.warnings) {
      const { id, server } = keeper.record;
      context.tell("error", { error: new InvalidResponseError(warning), server, id });
    }
    const kept = await keeper.apply({ type: "handleReceived", snapshot, digests: inputs.digests });
    handed.resolve({ storeError: kept.storeError, error: undefined });
    context.onTask();
  }

  async function takeRound(answer: Extract<CallAnswer, { kind: "input_required" }>): Promise<void> {
    rounds += 1;
    if (rounds > MAX_ROUNDS) {
      endError = new InvalidResponseError(`The server asked ${MAX_ROUNDS} times without an end`);
      await keeper.apply({ type: "callLost" });
      return;
    }
    const { entries, digests } = await context.readInputs(answer.inputRequests);
    if (entries.length < answer.inputRequests.length) {
      // It cannot be answered, and there is no task that could wait for somebody who can.
      endError = new InvalidResponseError("tools/call: the server asks for an input that cannot be shown");
      await keeper.apply({ type: "callAbandoned" }, immediateMode());
      return;
    }
    await keeper.apply({
      type: "callAsked",
      inputRequests: entries,
      digests,
      requestState: answer.requestState,
    });
  }

  function immediateMode(): "discard" | "keep" {
    return caller?.discardImmediate === true && !left ? "discard" : "keep";
  }

  function leave(): void {
    if (left || handed.settled) return;
    left = true;
    stopTimeout();
    const { id, phase, call } = keeper.record;
    if (phase === "asking") void keeper.apply({ type: "callAbandoned" }).catch(() => undefined);
    else if (call?.inFlight !== true) abandon.abort(new DOMException("The caller left", "AbortError"));
    else {
      context.scheduler.schedule(`late:${id}`, options.lateAnswerMs, () =>
        abandon.abort(new DOMException("The answer came too late", "AbortError")),
      );
    }
  }

  return {
    handed: handed.promise,
    get left() {
      return left;
    },
    advance,
    ended: () => handed.resolve({ storeError: undefined, error: endError }),
    callerJoined() {
      callers += 1;
    },
    callerLeft() {
      callers -= 1;
      if (callers <= 0) leave();
    },
    leave,
    async idle() {
      while (running !== undefined) await running;
    },
    close(reason) {
      stopTimeout();
      if (!isOver(keeper.record)) handed.reject(reason);
    },
  };
}
