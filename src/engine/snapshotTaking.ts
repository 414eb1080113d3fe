/** Owns what is made of a snapshot of a task, from wherever it comes: how far it is believed, and what is said of it. It plans no polls. */
import { InvalidResponseError, type TasksError } from "../errors.js";
import type { InputRequestEntry, TaskSnapshot } from "../protocol/index.js";
import { isTerminalStatus } from "../task/outcome.js";
import type { TaskRecord } from "../task/record.js";
import { isStale } from "../task/storedSnapshot.js";
import type { Moved } from "../task/transition.js";
import type { RecordKeeper } from "./recordKeeper.js";
import type { UsableInputs } from "./snapshotInputs.js";
import type { Tell } from "./types.js";

/** Older snapshots in a row after which they are believed: the server's clock went back. */
const STALE_POLLS_BELIEVED = 3;

/** Where a snapshot comes from. A notice may be late, double or out of order: it proves less than the answer to a question. */
export type SnapshotSource = "poll" | "notice";

/** The taking of one task's snapshots. */
export interface SnapshotTaking {
  /** Rejects as the keeper does. */
  take(seen: TaskSnapshot, source: SnapshotSource): Promise<Moved>;
  /** Reports something that every snapshot may show again. */
  sayOnce(what: string, error: TasksError): void;
}

export function createSnapshotTaking(context: {
  keeper: RecordKeeper;
  readInputs: (entries: readonly InputRequestEntry[]) => Promise<UsableInputs>;
  tell: Tell;
  /** Milliseconds that the task has lived, as far as this process has seen. */
  elapsedMs: () => number;
}): SnapshotTaking {
  const { keeper } = context;
  const said = new Set<string>();
  let staleInRow = 0;
  let unprovenInRow = 0;

  async function take(seen: TaskSnapshot, source: SnapshotSource): Promise<Moved> {
    for (const warning of seen.warnings) sayOnce(warning, new InvalidResponseError(warning));
    const snapshot = source === "poll" ? provenAsFarAsPossible(seen) : seen;
    const inputs = await context.readInputs(snapshot.inputRequests ?? []);
    if (source === "poll") staleInRow = isStale(keeper.record.snapshot, snapshot) ? staleInRow + 1 : 0;
    const { moved } = await keeper.apply({
      type: "snapshotSeen",
      snapshot:
        snapshot.inputRequests === undefined ? snapshot : { ...snapshot, inputRequests: inputs.entries },
      digests: inputs.digests,
      elapsedMs: context.elapsedMs(),
      acceptStale: source === "poll" && staleInRow >= STALE_POLLS_BELIEVED,
    });
    if (source === "poll") {
      unprovenInRow = moved.unproven ? unprovenInRow + 1 : 0;
      if (unprovenInRow > 1) {
        sayOnce(
          "unproven",
          new InvalidResponseError("The task is said to be over, but its result is missing"),
        );
      }
    }
    return moved;
  }

  /** A failure that is confirmed without its error is still a failure: the server said so. A missing result is never invented. */
  function provenAsFarAsPossible(snapshot: TaskSnapshot): TaskSnapshot {
    const bare = snapshot.status === "failed" && snapshot.error === undefined && unprovenInRow > 0;
    if (!bare) return snapshot;
    return { ...snapshot, error: { code: -32603, message: "The task failed; the server gave no error" } };
  }

  function sayOnce(what: string, error: TasksError): void {
    if (said.has(what) || said.size > 50) return;
    said.add(what);
    context.tell("error", { error, server: keeper.record.server, id: keeper.record.id });
  }

  return { take, sayOnce };
}

/**
 * True for a snapshot that closes an open question without showing that it is newer than what is known. Where two ways
 * bring snapshots (polls and a stream), such a one may be from before the question.
 */
export function mayBeLate(record: TaskRecord, seen: TaskSnapshot): boolean {
  if (isTerminalStatus(seen.status)) return false;
  if (seen.status === "input_required" && seen.inputRequests === undefined) return false;
  const shown = new Set(seen.status === "input_required" ? seen.inputRequests?.map(([key]) => key) : []);
  const closes = record.questions.some(({ key, state }) => state === "open" && !shown.has(key));
  // What is known is the older one: the snapshot is news.
  return closes && !isStale(seen, record.snapshot);
}
