/** Owns what hosts see of a record's state: no task id, no payload. */
import type { TaskRecord } from "../task/record.js";
import type { PublicSnapshot } from "./types.js";

/** The state of a call, also before it is a task and after it is over. */
export function publicSnapshot(record: TaskRecord): PublicSnapshot {
  const { snapshot } = record;
  return {
    status: publicStatus(record),
    statusMessage: snapshot?.statusMessage,
    createdAt: snapshot?.createdAt,
    lastUpdatedAt: snapshot?.lastUpdatedAt,
    ttlMs: snapshot?.ttlMs ?? null,
    pollIntervalMs: snapshot?.pollIntervalMs,
  };
}

/** The field's own status words; `lost` for calls whose end nobody knows. */
export function publicStatus(record: TaskRecord): string {
  if (record.outcome !== undefined) return record.outcome.status;
  switch (record.phase) {
    case "asking":
      return "input_required";
    case "calling":
      return "working";
    default:
      return record.snapshot?.status ?? "working";
  }
}
