/** Owns what is kept of a snapshot, and whether it is older than another. Pure. */
import type { JsonObject } from "../internal/json.js";
import type { TaskSnapshot } from "../protocol/index.js";
import type { StoredSnapshot } from "./record.js";

/** Unknown members of a snapshot beyond this much JSON text are not kept. */
const MAX_EXTRA_CHARS = 16_384;

/** True when both times can be read and the new one is the older. Unreadable times prove nothing. */
export function isStale(
  before: Pick<StoredSnapshot, "lastUpdatedAt"> | undefined,
  after: Pick<StoredSnapshot, "lastUpdatedAt"> | undefined,
): boolean {
  if (before?.lastUpdatedAt === undefined || after?.lastUpdatedAt === undefined) return false;
  // NaN compares as false with everything.
  return Date.parse(after.lastUpdatedAt) < Date.parse(before.lastUpdatedAt);
}

/** What is kept of what the server says now; hints that it leaves out stay. */
export function storedSnapshot(before: StoredSnapshot | undefined, seen: TaskSnapshot): StoredSnapshot {
  const ttlMs = seen.ttlMs === undefined ? (before?.ttlMs ?? null) : seen.ttlMs;
  const pollIntervalMs = seen.pollIntervalMs ?? before?.pollIntervalMs;
  // Our own fields come last: an unknown key of the server's cannot shadow them.
  return {
    ...keptExtra(seen.extra),
    taskId: seen.taskId,
    status: seen.status,
    ttlMs,
    ...(seen.statusMessage === undefined ? {} : { statusMessage: seen.statusMessage }),
    ...(seen.createdAt === undefined ? {} : { createdAt: seen.createdAt }),
    ...(seen.lastUpdatedAt === undefined ? {} : { lastUpdatedAt: seen.lastUpdatedAt }),
    ...(pollIntervalMs === undefined ? {} : { pollIntervalMs }),
  };
}

/** Unknown keys are kept for the host, unless a server uses them to fill our store. */
function keptExtra(extra: JsonObject | undefined): JsonObject | undefined {
  return extra !== undefined && JSON.stringify(extra).length <= MAX_EXTRA_CHARS ? extra : undefined;
}
