/** Owns the stretch from the journaled intent to a task or an outcome. Who waits for it is for `callerWaits.ts`. */
import { InvalidResponseError, TaskCancelledError } from "../errors.js";
import type { Notice } from "../connection/types.js";
import { createDeferred } from "../internal/deferred.js";
import type { CallAnswer, InputRequestEntry, TaskSnapshot } from "../protocol/index.js";
import { isLostCall, isOver } from "../task/transition.js";
import { createCallerWaits, type CallerLimits, type CallerWait } from "./callerWaits.js";
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

/** The call side of one driver. */
export interface CallFlow {
  /** Waits until there is a task or an outcome. */
  wait(limits: CallerLimits): CallerWait;
  /** Sends what is to be sent, if anything. */
  advance(lane: ServerLane, catalog: ToolCatalog): void;
  /** True while a round of sending is under way, up to what its answer makes of the record. */
  readonly isSending: boolean;
  /** Resolves when a call that is being given up unsent is gone; undefined where none is. */
  readonly givingUp: Promise<void> | undefined;
  /** True while the callers are gone that waited. */
  readonly left: boolean;
  /** The record is over, by whatever way: callers are handed that. */
  ended(): void;
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
  /** False where another process drives the call: then it is not this one's to give up. */
  isInCharge: () => boolean;
  /** Resolves once it is known whether this process still looks after the call. */
  confirm: () => Promise<void>;
  /** Makes the call this process's own. */
  own: () => void;
  /** A round of sending is over, and the call is a task by now, stored. */
  onTask: () => void;
  /** The call left no trace at the server: its record was removed. */
  onVanished: (error: unknown) => void;
}): CallFlow {
  const { keeper, options, caller, closing } = context;
  const abandon = new AbortController();
  const lateKey = Symbol("late");
  const roundKey = Symbol("round");
  const waits = createCallerWaits({
    clock: options.clock,
    timeOf() {
      if (keeper.record.phase === "asking") return "people";
      return running !== undefined && keeper.record.call?.inFlight !== true ? "between-attempts" : "server";
    },
    stopTrying: (timeout) => abandon.abort(timeout),
    onAbandoned: leave,
  });
  let running: Promise<void> | undefined;
  let fresh = caller !== undefined;
  /** True once nobody wants the call any more: it is not sent again, and nobody is asked for it. */
  let abandoned = false;
  let vanished = false;
  let rounds = 0;
  /** What callers get instead of an outcome, when the call ended with an error of its own. */
  let endError: unknown;

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
    if (vanished || !context.isInCharge()) return false;
    if (record.phase === "calling") return true;
    return record.phase === "asking" && record.questions.every((question) => question.state !== "open");
  }

  async function run(lane: ServerLane, catalog: ToolCatalog): Promise<void> {
    try {
      await sendRound(lane, catalog);
    } catch (error) {
      // The store refused in a moment where nothing may be told unstored, or the client closes.
      waits.reject(error);
    }
    const { record } = keeper;
    if (record.taskId === undefined || isOver(record)) return;
    // Also where another process sent the same call, and its handle came first.
    waits.resolve({ storeError: undefined, error: undefined });
    context.onTask();
  }

  async function sendRound(lane: ServerLane, catalog: ToolCatalog): Promise<void> {
    if (!(await maySend(catalog))) return;
    await pauseBetweenEmptyRounds();
    // Given up or settled meanwhile.
    if (!wantsSending()) return;
    waits.restart();
    const end = await sendCall({
      keeper,
      lane,
      catalog,
      options,
      tell: context.tell,
      closing,
      abandon: abandon.signal,
      isUnwanted,
      isInCharge: context.isInCharge,
      confirm: context.confirm,
      limitMs: caller?.timeoutMs,
      timeoutMs: (caller?.timeoutMs ?? options.requestTimeoutMs) + options.lateAnswerMs,
      headers: caller?.headers,
      onNotice,
    });
    // Not where another process's handle came first.
    if (keeper.record.taskId === undefined) await take(end);
  }

  function isUnwanted(): boolean {
    return abandoned || keeper.record.cancelRequestedAtMs !== undefined;
  }

  /** A send that an earlier process started: nobody knows whether it ran. */
  async function maySend(catalog: ToolCatalog): Promise<boolean> {
    const orphaned = !fresh && keeper.record.phase === "calling" && keeper.record.call?.inFlight === true;
    fresh = false;
    if (keeper.record.call?.inFlight !== true && isUnwanted()) {
      await keeper.apply({ type: "callAbandoned" });
      return false;
    }
    if (!orphaned || rounds > 0) return true;
    if (!isUnwanted() && (await mayRepeatUnknown({ keeper, catalog, closing }))) return true;
    if (!closing.aborted) await keeper.apply({ type: "callLost" });
    return false;
  }

  /** A server may ask for nothing but patience (a state without requests): it gets some. */
  async function pauseBetweenEmptyRounds(): Promise<void> {
    const { record } = keeper;
    if (record.phase !== "asking" || record.questions.length > 0) return;
    const gate = createDeferred<void>();
    context.scheduler.schedule(roundKey, options.poll.defaultIntervalMs, () => gate.resolve());
    const onClose = (): void => gate.reject(closing.reason);
    closing.addEventListener("abort", onClose, { once: true });
    await gate.promise.finally(() => closing.removeEventListener("abort", onClose));
  }

  function onNotice(notice: Notice): void {
    if (notice.method !== "notifications/progress") return;
    waits.restart();
    caller?.onProgress?.(notice.params);
  }

  async function take(end: CallEnd): Promise<void> {
    // Told as lost by another process, which is through with it: what came after all is ours to tell.
    if (isLostCall(keeper.record) && (end.kind === "answered" || end.kind === "failed")) context.own();
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
        waits.resolve({ storeError: undefined, error: end.error });
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
    waits.resolve({ storeError: kept.storeError, error: undefined });
  }

  async function takeRound(answer: Extract<CallAnswer, { kind: "input_required" }>): Promise<void> {
    rounds += 1;
    if (rounds > MAX_ROUNDS) {
      endError = new InvalidResponseError(`The server asked ${MAX_ROUNDS} times without an end`);
      await keeper.apply({ type: "callLost" });
      return;
    }
    if (isUnwanted()) return void (await keeper.apply({ type: "callAbandoned" }));
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
    return caller?.discardImmediate === true && waits.waiting > 0 ? "discard" : "keep";
  }

  function leave(): void {
    if (waits.settled || !context.isInCharge()) return;
    abandoned = true;
    const { phase, call } = keeper.record;
    if (phase === "asking") void keeper.apply({ type: "callAbandoned" }).catch(() => undefined);
    else if (call?.inFlight !== true)
      abandon.abort(new TaskCancelledError("The call was cancelled before it ran"));
    else {
      context.scheduler.schedule(lateKey, options.lateAnswerMs, () =>
        abandon.abort(new DOMException("The answer came too late", "AbortError")),
      );
    }
  }

  return {
    wait(limits) {
      // Somebody wants it again.
      abandoned = false;
      context.scheduler.cancel(lateKey);
      return waits.add(limits);
    },
    get isSending() {
      return running !== undefined;
    },
    get givingUp() {
      return abandon.signal.aborted || vanished ? running : undefined;
    },
    get left() {
      return waits.left;
    },
    advance,
    ended: () => waits.resolve({ storeError: undefined, error: endError }),
    leave,
    async idle() {
      while (running !== undefined) await running;
    },
    close(reason) {
      if (!isOver(keeper.record)) waits.reject(reason);
    },
  };
}
