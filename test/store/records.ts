/** Owns a record as tests need it; no imports of the test runner, since child processes use it too. */
import type { TaskRecord } from "../../src/task/record.js";

/** A record of scope `s`. */
export function record(id: string, more: Partial<TaskRecord> = {}): TaskRecord {
  return {
    v: 1,
    id,
    scope: "s",
    server: "ci",
    identity: "https://ci.example/mcp",
    era: "2026-07-28",
    tool: "deploy",
    createdAtMs: 1,
    updatedAtMs: 1,
    phase: "tracking",
    questions: [],
    taskId: `task-of-${id}`,
    ...more,
  };
}
