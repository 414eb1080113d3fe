/** Owns the one table of what an error means. Nobody else decides whether to repeat a request. */
import {
  ConnectionError,
  EraNotSupportedError,
  InvalidResponseError,
  MissingCapabilityError,
  RpcError,
  TasksError,
} from "../errors.js";
import { RPC } from "../protocol/index.js";
import type { RetryClass } from "./types.js";

/** Sorts what a request was rejected with. */
export function retryClass(error: unknown, method: string): RetryClass {
  if (error instanceof EraNotSupportedError || error instanceof MissingCapabilityError) return "refused";
  if (error instanceof ConnectionError) {
    return error.status === 401 || error.status === 403 ? "auth" : "transient";
  }
  if (error instanceof RpcError) return rpcClass(error, method);
  if (error instanceof InvalidResponseError) return "transient";
  // A caller's abort, a closed client, a bug: repeating would not help.
  return "fatal";
}

function rpcClass(error: RpcError, method: string): RetryClass {
  if (error.status === 401 || error.status === 403) return "auth";
  if (method === "tools/call") return error.rpcCode === RPC.headerMismatch ? "refused" : "fatal";
  switch (error.rpcCode) {
    case RPC.invalidParams:
      return method === "tasks/get" ? "gone" : "fatal";
    case RPC.methodNotFound:
    case RPC.headerMismatch:
    case RPC.unsupportedVersion:
      return "refused";
    default:
      // An application error on a follow-up request says nothing about the task.
      return "transient";
  }
}

/** True when the same request may succeed later. */
export function isRetryable(error: unknown, method: string): boolean {
  const found = retryClass(error, method);
  return found === "transient" || found === "auth" || found === "refused";
}

/** True when the failure is the server's or the network's as a whole, not that of one task. */
export function isOutage(error: unknown): boolean {
  if (error instanceof RpcError) return isRefusedByGate(error.status);
  if (!(error instanceof ConnectionError)) return false;
  const { status } = error;
  return status === undefined || status === 408 || status >= 500 || isRefusedByGate(status);
}

function isRefusedByGate(status: number | undefined): boolean {
  return status === 401 || status === 403 || status === 429;
}

/** True when the request certainly was not executed, so that sending it again repeats nothing. */
export function certainlyNotRun(error: unknown): boolean {
  return error instanceof ConnectionError && !error.mayHaveRun;
}

/** Our kind of error, whatever was thrown; the original is kept as the cause. */
export function asTasksError(error: unknown, what: string): TasksError {
  return error instanceof TasksError ? error : new ConnectionError(what, { cause: error, mayHaveRun: true });
}
