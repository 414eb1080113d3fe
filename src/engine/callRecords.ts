/** Owns the records that calls begin with, and whether a stored one is of the same call. It stores and sends nothing. */
import { CallIdConflictError } from "../errors.js";
import type { JsonObject, JsonValue } from "../internal/json.js";
import type { TaskRecord } from "../task/record.js";
import { isOver } from "../task/transition.js";
import type { CallerOptions } from "./callFlow.js";
import type { ServerLane } from "./serverLane.js";

/** A call that a host asks for. */
export interface NewCall {
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly callId: string | undefined;
  readonly context: JsonValue | undefined;
  readonly meta: JsonObject | undefined;
  readonly outputSchema: JsonObject | undefined;
  readonly onUnknownOutcome: "fail" | "retry";
  /** Aborted before the call is sent: nothing is sent, and nothing stays behind. */
  readonly signal: AbortSignal | undefined;
  readonly caller: Omit<CallerOptions, "discardImmediate">;
}

/** Where and when a record begins, and who looks after it. */
export interface RecordContext {
  readonly lane: ServerLane;
  readonly scope: string;
  readonly owner: string | undefined;
  readonly nowMs: number;
}

/** The record of a call that is about to be sent. */
export function newCallRecord(
  wanted: NewCall,
  identity: { readonly id: string; readonly digest: string },
  context: RecordContext,
): TaskRecord {
  return {
    ...emptyRecord(identity.id, context),
    tool: wanted.tool,
    callDigest: identity.digest,
    ...(wanted.context === undefined ? {} : { context: wanted.context }),
    ...(wanted.outputSchema === undefined ? {} : { outputSchema: wanted.outputSchema }),
    phase: "calling",
    call: {
      arguments: wanted.arguments,
      ...(wanted.meta === undefined ? {} : { meta: wanted.meta }),
      onUnknownOutcome: wanted.onUnknownOutcome,
      // One write for the usual case. A call that queues first says so when it leaves, with a write of its own.
      inFlight: !context.lane.callsWait,
    },
  };
}

/** The record of a task that was created elsewhere. */
export function adoptedRecord(
  task: { readonly id: string; readonly taskId: string; readonly context: JsonValue | undefined },
  context: RecordContext,
): TaskRecord {
  return {
    ...emptyRecord(task.id, context),
    taskId: task.taskId,
    receivedAtMs: context.nowMs,
    snapshot: { taskId: task.taskId, status: "working", ttlMs: null },
    ...(task.context === undefined ? {} : { context: task.context }),
  };
}

/** Throws `CallIdConflictError` where the stored call is another one. */
export function checkSameCall(record: TaskRecord, call: NewCall, digest: string, lane: ServerLane): void {
  if (record.server !== call.server) throw new CallIdConflictError("another server");
  // What is over can be answered; what is not would never be looked at over this connection.
  const elsewhere = record.identity !== lane.connection.identity;
  if (elsewhere && !isOver(record)) throw new CallIdConflictError("another identity of the server");
  if (record.tool !== call.tool) throw new CallIdConflictError("another tool");
  if (record.callDigest !== digest) throw new CallIdConflictError("other arguments");
}

function emptyRecord(id: string, { lane, scope, nowMs, owner }: RecordContext): TaskRecord {
  return {
    v: 1,
    id,
    scope,
    server: lane.name,
    identity: lane.connection.identity,
    ...(owner === undefined ? {} : { owner }),
    era: "2026-07-28",
    tool: "",
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    phase: "tracking",
    questions: [],
  };
}
