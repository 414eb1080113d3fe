/** Owns when a task is looked at again and what is made of the answer. Requests are the follow-ups', changes the keeper's. */
import { InvalidResponseError, type TasksError } from "../errors.js";
import type { TaskSnapshot } from "../protocol/index.js";
import { backoffMs, intervalMs, jittered } from "../task/policy.js";
import { isStale } from "../task/transition.js";
import { YieldedPoll, type FollowUps } from "./followUps.js";
import { asTasksError, retryClass } from "./retryTable.js";
import type { RecordKeeper } from "./recordKeeper.js";
import type { Scheduler } from "./scheduler.js";
import type { SharedTasks } from "./sharedTasks.js";
import type { UsableInputs } from "./snapshotInputs.js";
import type { EngineOptions, Tell } from "./types.js";
import type { InputRequestEntry } from "../protocol/index.js";

/** A server that is out of reach this long beyond a task's end takes the task with it. */
const UNREACHABLE_GRACE_MS = 600_000;
/** Older snapshots in a row after which they are believed: the server's clock went back. */
const STALE_POLLS_BELIEVED = 3;
/** A task without open questions is looked up in the store this many times more seldom than one with. */
const STORE_LOOK_EVERY = 5;

/** The polling of one task. */
export interface PollStep {
  /** Plans the next poll, unless one is planned or under way. `first` tells what is known about earlier ones. */
  plan(first?: "at-once" | "stored" | "after-interval"): void;
  /** Takes a snapshot from wherever it comes. */
  take(snapshot: TaskSnapshot): Promise<void>;
  stop(): void;
  /** Milliseconds until the next poll, or undefined. */
  dueIn(): number | undefined;
}

export function createPollStep(context: {
  keeper: RecordKeeper;
  followUps: FollowUps;
  scheduler: Scheduler;
  options: Pick<
    EngineOptions,
    "clock" | "random" | "poll" | "retry" | "giveUpAfterMs" | "storeWatchMs" | "requestTimeoutMs"
  >;
  shared: SharedTasks;
  readInputs: (entries: readonly InputRequestEntry[]) => Promise<UsableInputs>;
  tell: Tell;
  over: AbortSignal;
}): PollStep {
  const { keeper, scheduler, options, over } = context;
  const { clock } = options;
  const key = Symbol("poll");
  const limitKey = Symbol("limit");
  const receivedMono =
    clock.monotonic() - Math.max(clock.now() - (keeper.record.receivedAtMs ?? clock.now()), 0);
  const startedMono = clock.monotonic();
  let polling = false;
  let lookedAt = startedMono;
  let staleInRow = 0;
  let goneInRow = 0;
  let unprovenInRow = 0;
  let failingSince: number | undefined;
  const said = new Set<string>();

  const share = context.shared.join(keeper.record.taskId ?? "", (snapshot) => {
    // Its questions are put, and answered, by the call that looks at the task.
    const { inputRequests: _theirs, ...rest } = snapshot;
    void quietly(take(rest));
  });
  over.addEventListener("abort", () => share.leave(), { once: true });

  const elapsedMs = (): number => clock.monotonic() - receivedMono;

  function plan(first?: "at-once" | "stored" | "after-interval"): void {
    if (over.aborted || polling || scheduler.dueIn(key) !== undefined) return;
    const delayMs = first === "at-once" ? 0 : first === "stored" ? storedDelayMs() : politeDelayMs();
    schedule(delayMs);
  }

  function schedule(delayMs: number): void {
    const leftMs = giveUpInMs();
    // The host's own limit ends at the limit, not at the first poll after it.
    if (leftMs !== undefined && delayMs >= leftMs) scheduler.schedule(key, leftMs, () => void giveUp());
    else scheduler.schedule(key, delayMs, () => void poll());
  }

  /** From an answer to the next request: the interval in force, made longer by chance, never shorter. */
  function politeDelayMs(): number {
    return jittered(intervalMs(keeper.record, options.poll), options.poll.jitter, options.random());
  }

  /** What an earlier process left: an orderly close says when; otherwise a poll may have gone out just before the end. */
  function storedDelayMs(): number {
    const { failures, notBeforeMs } = keeper.record;
    const leftMs = notBeforeMs === undefined ? 0 : notBeforeMs - clock.now();
    // Never longer than it was meant to be when it was written: the wall clock may have gone back meanwhile.
    const meantMs = notBeforeMs === undefined ? 0 : notBeforeMs - keeper.record.updatedAtMs;
    const bounded = Math.min(Math.max(leftMs, 0), Math.max(meantMs, 0));
    return notBeforeMs !== undefined && failures === undefined ? bounded : Math.max(bounded, politeDelayMs());
  }

  function giveUpInMs(): number | undefined {
    if (options.giveUpAfterMs === undefined) return undefined;
    return Math.max(options.giveUpAfterMs - (clock.monotonic() - startedMono), 0);
  }

  async function giveUp(): Promise<void> {
    await quietly(keeper.apply({ type: "gaveUp" }));
  }

  async function poll(): Promise<void> {
    if (over.aborted || polling) return;
    if (!share.mayPoll(intervalMs(keeper.record, options.poll))) return schedule(politeDelayMs());
    polling = true;
    const leftMs = giveUpInMs();
    // This poll may still bring the end, but it is not waited for while it queues for a server out of reach.
    if (leftMs !== undefined) {
      scheduler.schedule(limitKey, leftMs + options.requestTimeoutMs, () => void giveUp());
    }
    let nextMs: number | undefined;
    try {
      await keeper.apply({ type: "pollStarted" });
      await lookIntoStore();
      if (over.aborted) return;
      const snapshot = await context.followUps.get();
      share.tell(snapshot);
      await take(snapshot);
      failingSince = undefined;
      goneInRow = 0;
    } catch (error) {
      if (!over.aborted) nextMs = await failed(error);
    } finally {
      polling = false;
      scheduler.cancel(limitKey);
      share.looked();
    }
    if (over.aborted) return;
    if (giveUpInMs() === 0) return giveUp();
    schedule(nextMs ?? politeDelayMs());
  }

  /** Another process may have asked for the cancellation, or found the end. Seldom: it costs a read. */
  async function lookIntoStore(): Promise<void> {
    if (clock.monotonic() - lookedAt < options.storeWatchMs * STORE_LOOK_EVERY) return;
    lookedAt = clock.monotonic();
    // A store that cannot be read is reported when it is written.
    await keeper.refresh(false).catch(() => undefined);
  }

  async function failed(error: unknown): Promise<number | undefined> {
    if (error instanceof YieldedPoll) return undefined;
    const found = retryClass(error, "tasks/get");
    if (found === "gone") return gone();
    goneInRow = 0;
    failingSince ??= clock.monotonic();
    if (isLostBeyondReach()) {
      await quietly(keeper.apply({ type: "ttlPassed" }));
      return undefined;
    }
    const attempt = (keeper.record.failures ?? 0) + 1;
    const grownMs = backoffMs(attempt, options.retry, options.random());
    const slow = found === "refused" || found === "fatal";
    const delayMs = Math.max(politeDelayMs(), slow ? options.retry.refusedRetryMs : grownMs);
    if (slow) sayOnce("refused", asTasksError(error, "tasks/get is refused"));
    else if (error instanceof InvalidResponseError) sayOnce(error.message, error);
    const { id, server } = keeper.record;
    context.tell("retry", { id, server, method: "tasks/get", retryClass: found, attempt, delayMs, error });
    await quietly(keeper.apply({ type: "pollFailed", notBeforeMs: Math.ceil(clock.now() + delayMs) }));
    return delayMs;
  }

  /** A second look confirms it: an answer of a server that has just been restarted may be wrong. */
  async function gone(): Promise<undefined> {
    goneInRow += 1;
    if (goneInRow > 1) await quietly(keeper.apply({ type: "taskGone", elapsedMs: elapsedMs() }));
    return undefined;
  }

  function isLostBeyondReach(): boolean {
    const ttlMs = keeper.record.snapshot?.ttlMs ?? null;
    if (ttlMs === null || failingSince === undefined) return false;
    const failingMs = clock.monotonic() - failingSince;
    return elapsedMs() > ttlMs + UNREACHABLE_GRACE_MS && failingMs > UNREACHABLE_GRACE_MS;
  }

  async function take(seen: TaskSnapshot): Promise<void> {
    for (const warning of seen.warnings) sayOnce(warning, new InvalidResponseError(warning));
    const snapshot = provenAsFarAsPossible(seen);
    const inputs = await context.readInputs(snapshot.inputRequests ?? []);
    staleInRow = isStale(keeper.record.snapshot, snapshot) ? staleInRow + 1 : 0;
    const { moved } = await keeper.apply({
      type: "snapshotSeen",
      snapshot:
        snapshot.inputRequests === undefined ? snapshot : { ...snapshot, inputRequests: inputs.entries },
      digests: inputs.digests,
      // A server that still shows the task as running is not overruled by a wall clock, which may have jumped between
      // two processes: only time that this process has seen pass counts.
      elapsedMs: Math.min(elapsedMs(), clock.monotonic() - startedMono),
      acceptStale: staleInRow >= STALE_POLLS_BELIEVED,
    });
    unprovenInRow = moved.unproven ? unprovenInRow + 1 : 0;
    if (moved.unproven && unprovenInRow > 1) {
      sayOnce("unproven", new InvalidResponseError("The task is said to be over, but its result is missing"));
    }
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

  return {
    plan,
    take,
    stop() {
      scheduler.cancel(key);
      scheduler.cancel(limitKey);
    },
    dueIn: () => scheduler.dueIn(key),
  };
}

/** The keeper reports its own failures; what is left is a client that closes. */
async function quietly(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}
