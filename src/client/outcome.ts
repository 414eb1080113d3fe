/** Owns turning a stored outcome into what callers get: a result or the error for it. */
import {
  CallOutcomeUnknownError,
  RpcError,
  TaskCancelledError,
  TaskFailedError,
  TaskLostError,
} from "../errors.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { checkStructuredContent } from "../protocol/index.js";
import type { TaskRecord } from "../task/record.js";

/** As `resultOf`, and checked against the output schema that the call was made with. Rejects with `InvalidResultError`. */
export async function checkedResultOf(record: TaskRecord): Promise<CallToolResult> {
  const result = resultOf(record);
  if (record.outputSchema !== undefined) await checkStructuredContent(result, record.outputSchema);
  return result;
}

/** The result of a settled record. Throws the error that its outcome stands for. */
function resultOf(record: TaskRecord): CallToolResult {
  const { outcome } = record;
  if (outcome === undefined) throw new TypeError("resultOf takes a record with an outcome");
  switch (outcome.status) {
    case "completed":
      return outcome.result as CallToolResult;
    case "failed":
      // Before there is a task, the JSON-RPC error is the call's own answer.
      throw record.taskId === undefined ? new RpcError(outcome.error) : new TaskFailedError(outcome.error);
    case "cancelled":
      throw new TaskCancelledError();
    case "lost":
      if (outcome.reason === "call-outcome-unknown") throw new CallOutcomeUnknownError();
      throw new TaskLostError(outcome.reason);
  }
}
