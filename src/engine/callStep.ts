/** Owns sending `tools/call`: once, unless it certainly did not run or may be repeated. It never decides what a record becomes. */
import {
  CallOutcomeUnknownError,
  ConnectionError,
  InvalidResponseError,
  RpcError,
  StoreError,
} from "../errors.js";
import type { Notice } from "../connection/types.js";
import { linkSignals } from "../internal/abort.js";
import type { JsonObject } from "../internal/json.js";
import { inputResponsesObject, readCallAnswer, RPC, type CallAnswer } from "../protocol/index.js";
import type { RpcErrorObject } from "../task/events.js";
import { isOver } from "../task/transition.js";
import { oneShot } from "./oneShot.js";
import { certainlyNotRun, retryClass } from "./retryTable.js";
import type { RecordKeeper } from "./recordKeeper.js";
import type { ServerLane } from "./serverLane.js";
import type { ToolCatalog } from "./toolCatalog.js";
import type { EngineOptions, Tell } from "./types.js";

/** How the sending ended. */
export type CallEnd =
  | { readonly kind: "answered"; readonly answer: CallAnswer }
  /** The server's JSON-RPC error: the call's own failure. */
  | { readonly kind: "failed"; readonly error: RpcError }
  /** It certainly did not run: nothing needs to be kept. */
  | { readonly kind: "not-run"; readonly error: unknown }
  /** Nobody can say whether it ran. */
  | { readonly kind: "unknown"; readonly error: unknown }
  /** The client closed, or the call ended by another way; the record says what is known. */
  | { readonly kind: "closed" };

/** What one sending needs. */
export interface CallStepContext {
  readonly keeper: RecordKeeper;
  readonly lane: ServerLane;
  readonly catalog: ToolCatalog;
  readonly options: EngineOptions;
  readonly tell: Tell;
  readonly closing: AbortSignal;
  /** Ends the attempts (the caller left before anything was sent, or a late answer was waited for long enough). */
  readonly abandon: AbortSignal;
  /** True once nobody wants the call any more: what did not run is not sent again. */
  readonly isUnwanted: () => boolean;
  /** Resolves once it is known whether this process still looks after the call. */
  readonly confirm: () => Promise<void>;
  /** False once another process looks after the call: it is that one's to send. */
  readonly isInCharge: () => boolean;
  /** How long attempts that did not run are repeated, in milliseconds; undefined: until the client closes. */
  readonly limitMs: number | undefined;
  /** Milliseconds without a sign of life until the request is given up. */
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly onNotice: (notice: Notice) => void;
}

/** Sends the record's call until there is something to say about it. Never rejects. */
export async function sendCall(context: CallStepContext): Promise<CallEnd> {
  const link = linkSignals(context.closing, context.abandon);
  const seen: { last?: unknown } = {};
  try {
    return { kind: "answered", answer: await attempts(context, link.signal, seen) };
  } catch (error) {
    if (context.closing.aborted || isElsewhere(context)) return { kind: "closed" };
    // What the last attempt met says more than that we stopped trying.
    return endOf(context.abandon.aborted && "last" in seen ? seen.last : error, context);
  } finally {
    link.release();
  }
}

function attempts(
  context: CallStepContext,
  signal: AbortSignal,
  seen: { last?: unknown },
): Promise<CallAnswer> {
  const { retry, clock } = context.options;
  const until = clock.monotonic() + (context.limitMs ?? Infinity);
  let first = true;
  const attempt = (): Promise<CallAnswer> => {
    // Only the caller's own request is direct; repetitions wait for the server as everything else does.
    const direct = first;
    first = false;
    return attemptOnce(context, signal, direct);
  };
  return oneShot(attempt, {
    ...retry,
    signal,
    again: async (error, attemptNumber) => {
      seen.last = error;
      const askedMs = error instanceof ConnectionError ? (error.retryAfterMs ?? 0) : 0;
      // The server asks for more patience than the caller has: better told now than at the end of it.
      if (signal.aborted || context.isUnwanted() || clock.monotonic() + askedMs >= until) return false;
      if (isElsewhere(context) || !(await mayRepeat(error, context))) return false;
      context.tell("retry", {
        id: context.keeper.record.id,
        server: context.lane.name,
        method: "tools/call",
        retryClass: retryClass(error, "tools/call"),
        attempt: attemptNumber,
        delayMs: Math.max(
          askedMs,
          Math.min(retry.minDelayMs * retry.factor ** (attemptNumber - 1), retry.maxDelayMs),
        ),
        error,
      });
      return true;
    },
  });
}

async function attemptOnce(
  context: CallStepContext,
  signal: AbortSignal,
  direct: boolean,
): Promise<CallAnswer> {
  try {
    return await sendRepaired(context, signal, direct);
  } catch (error) {
    if (certainlyNotRun(error)) await context.keeper.apply({ type: "callNotRun" });
    throw error;
  }
}

/** -32020 means that the tool's header annotations are not what we know: list again, and send once more. */
async function sendRepaired(
  context: CallStepContext,
  signal: AbortSignal,
  direct: boolean,
): Promise<CallAnswer> {
  try {
    return await sendOnce(context, signal, direct);
  } catch (error) {
    if (!(error instanceof RpcError) || error.rpcCode !== RPC.headerMismatch) throw error;
    try {
      await context.catalog.list({ fresh: true, signal });
    } catch {
      // The refusal says more: the call did not run.
      throw error;
    }
    return sendOnce(context, signal, direct);
  }
}

async function sendOnce(context: CallStepContext, signal: AbortSignal, direct: boolean): Promise<CallAnswer> {
  const { keeper } = context;
  const { record } = keeper;
  const raw = await context.lane.request({
    method: "tools/call",
    params: callParams(context.keeper),
    signal,
    timeoutMs: context.timeoutMs,
    headers: context.headers,
    meta: record.call?.meta,
    tool: context.catalog.known(record.tool),
    onNotice: context.onNotice,
    direct,
    // The intent is journaled before the request goes out; the store's refusal stops it.
    beforeSend: async () => {
      // A while has passed: another process may have taken the call over, and finished it.
      if (!direct) await lookAgain(context);
      if (keeper.record.call?.inFlight !== true) {
        await keeper.apply({ type: "callSending" }, "must");
        // The write may have met a record that another process has taken over, and sends itself.
        await context.confirm();
      }
      // A cancellation may have been stored by another process.
      if (isElsewhere(context) || context.isUnwanted()) {
        throw new ConnectionError("The call was given up before it was sent", { mayHaveRun: false });
      }
    },
  });
  return readCallAnswer(raw);
}

async function lookAgain({ keeper, confirm }: CallStepContext): Promise<void> {
  // A store out of reach hides nothing that another process could have stored there; it is reported when written.
  await keeper.refresh(false).catch(() => undefined);
  await confirm();
}

/** The call became a task or came to an end by another way (a caller that left, another process): it is not sent. */
function isElsewhere({ keeper, isInCharge }: CallStepContext): boolean {
  return isOver(keeper.record) || keeper.record.taskId !== undefined || !isInCharge();
}

function callParams({ record }: RecordKeeper): JsonObject {
  const responses = record.questions.flatMap((question) =>
    question.response === undefined ? [] : ([[question.key, question.response]] as const),
  );
  return {
    name: record.tool,
    arguments: record.call?.arguments ?? {},
    ...(responses.length === 0 ? {} : { inputResponses: inputResponsesObject(responses) }),
    ...(record.requestState === undefined ? {} : { requestState: record.requestState }),
  };
}

async function mayRepeat(error: unknown, context: CallStepContext): Promise<boolean> {
  // Nothing was sent. A caller is told; a resumed call, and what people answered for it, waits for the store.
  if (error instanceof StoreError) return context.limitMs === undefined;
  if (!(error instanceof ConnectionError)) return false;
  if (certainlyNotRun(error)) {
    // Credentials that are refused now are the caller's to mend; a resumed call has no caller and waits.
    return retryClass(error, "tools/call") !== "auth" || context.limitMs === undefined;
  }
  return mayRepeatUnknown(context);
}

/** Whether a call that may have run may be sent again: the host said so, or the tool declares that it is harmless. */
export async function mayRepeatUnknown(
  context: Pick<CallStepContext, "keeper" | "catalog" | "closing">,
): Promise<boolean> {
  const { record } = context.keeper;
  if (record.call?.onUnknownOutcome === "retry") return true;
  try {
    if (context.catalog.known(record.tool) === undefined)
      await context.catalog.list({ signal: context.closing });
  } catch {
    // Without the listing nothing allows a repetition.
    return false;
  }
  const hints = context.catalog.known(record.tool)?.annotations;
  return hints?.idempotentHint === true || hints?.readOnlyHint === true;
}

function endOf(error: unknown, context: CallStepContext): CallEnd {
  if (error instanceof StoreError || certainlyNotRun(error)) return { kind: "not-run", error };
  // The server refused the request as a whole: it did not run, and may be asked again once that is mended.
  if (retryClass(error, "tools/call") === "refused") return { kind: "not-run", error };
  if (error instanceof RpcError) return { kind: "failed", error };
  const sent = context.keeper.record.call?.inFlight === true;
  if (!sent) return { kind: "not-run", error };
  // A readable answer outside the protocol is more telling than "unknown", though it leaves the call just as open.
  if (error instanceof InvalidResponseError) return { kind: "unknown", error };
  return { kind: "unknown", error: new CallOutcomeUnknownError({ cause: error }) };
}

/** A caught RPC error as the record keeps it. */
export function rpcErrorObject(error: RpcError): RpcErrorObject {
  return {
    code: error.rpcCode,
    message: error.message,
    ...(error.data === undefined ? {} : { data: error.data }),
  };
}
