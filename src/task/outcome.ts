/** Owns what counts as an end: which snapshot proves one, and which ends are only this side's. Pure. */
import type { JsonObject } from "../internal/json.js";
import type { TaskSnapshot } from "../protocol/index.js";
import type { RpcErrorObject } from "./events.js";
import type { Outcome } from "./record.js";

/** The outcome that a snapshot proves, or undefined: a terminal status without its payload proves nothing. */
export function outcomeOf(snapshot: TaskSnapshot): Outcome | undefined {
  switch (snapshot.status) {
    case "completed":
      return snapshot.result === undefined ? undefined : { status: "completed", result: snapshot.result };
    case "failed":
      return snapshot.error === undefined ? undefined : { status: "failed", error: rpcError(snapshot.error) };
    case "cancelled":
      return {
        status: "cancelled",
        ...(snapshot.statusMessage === undefined ? {} : { statusMessage: snapshot.statusMessage }),
      };
    default:
      return undefined;
  }
}

/** True for the statuses that never change again. */
export function isTerminalStatus(status: string): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** True for the end that is this side's own limit, and no end of the task. */
export function isGaveUp(outcome: Outcome | undefined): boolean {
  return outcome?.status === "lost" && outcome.reason === "gave-up";
}

/** What stands for a code that cannot be stored: "internal error". */
const INTERNAL_ERROR = -32603;

/** A JSON-RPC error as the record keeps it. */
export function rpcError(error: RpcErrorObject): Extract<Outcome, { status: "failed" }>["error"] {
  return {
    // A code such as 1e400 is read as infinity, which JSON cannot keep: the record could not be read again.
    code: Number.isFinite(error.code) ? error.code : INTERNAL_ERROR,
    message: error.message,
    ...(error.data === undefined ? {} : { data: error.data as JsonObject }),
  };
}
