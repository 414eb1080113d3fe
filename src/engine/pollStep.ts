/** Owns when a task is looked at again. Requests are the follow-ups', delays the pace's, what is made of answers the taking's. */
import { InvalidResponseError } from "../errors.js";
import type { InputRequestEntry, TaskSnapshot } from "../protocol/index.js";
import { backoffMs, intervalMs } from "../task/policy.js";
import { YieldedPoll, type FollowUps } from "./followUps.js";
import { outcomeOf } from "../task/outcome.js";
import { createNoticeIntake } from "./noticeIntake.js";
import { createPollPace } from "./pollPace.js";
import { asTasksError, retryClass } from "./retryTable.js";
import type { RecordKeeper } from "./recordKeeper.js";
import type { Scheduler } from "./scheduler.js";
import type { SharedTasks } from "./sharedTasks.js";
import type { UsableInputs } from "./snapshotInputs.js";
import { createSnapshotTaking, mayBeLate } from "./snapshotTaking.js";
import type { SubscriptionHub } from "./subscriptionHub.js";
import type { EngineOptions, Tell } from "./types.js";

/** A server that is out of reach this long beyond a task's end takes the task with it. */
const UNREACHABLE_GRACE_MS = 600_000;
/** A task without open questions is looked up in the store this many times more seldom than one with. */
const STORE_LOOK_EVERY = 5;

/** The polling of one task. */
export interface PollStep {
  /** Plans the next poll, unless one is planned or under way. `first` tells what is known about earlier ones. */
  plan(first?: "at-once" | "stored" | "after-interval"): void;
  stop(): void;
  /** Milliseconds until the next poll would be due without push, or undefined. */
  dueIn(): number | undefined;
}

export function createPollStep(context: {
  keeper: RecordKeeper;
  followUps: FollowUps;
  scheduler: Scheduler;
  options: Pick<
    EngineOptions,
    "clock" | "random" | "poll" | "push" | "retry" | "giveUpAfterMs" | "storeWatchMs" | "requestTimeoutMs"
  >;
  shared: SharedTasks;
  push: SubscriptionHub;
  readInputs: (entries: readonly InputRequestEntry[]) => Promise<UsableInputs>;
  tell: Tell;
  over: AbortSignal;
}): PollStep {
  const { keeper, scheduler, options, over } = context;
  const { clock } = options;
  const key = Symbol("poll");
  const limitKey = Symbol("limit");
  const lookKey = Symbol("store look");
  const pace = createPollPace(() => keeper.record, options);
  const taking = createSnapshotTaking({
    ...context,
    // A server that still shows the task as running is not overruled by a wall clock, which may have jumped between
    // two processes: only time that this process has seen pass counts.
    elapsedMs: () => Math.min(pace.elapsedMs, pace.watchedMs),
  });
  const storeLookMs = options.storeWatchMs * STORE_LOOK_EVERY;
  let polling = false;
  /** Why the planned poll is due when it is: the interval, a failure, or (late) because a stream tells of changes. */
  let planned: "interval" | "failure" | "safety" = "interval";
  let lookedAt = clock.monotonic();
  let goneInRow = 0;
  let failingSince: number | undefined;
  /** When a notice was last taken, on the monotonic clock. */
  let noticedAt = -Infinity;
  let overtakenInRow = 0;
  /** Safety polls on a stream that has shown no life since its acknowledgement. */
  let unprovenPolls = 0;
  const intake = createNoticeIntake({
    take: takeNotice,
    everyMs: options.poll.minIntervalMs,
    clock,
    scheduler,
  });

  const taskId = keeper.record.taskId ?? "";
  const share = context.shared.join(taskId, (snapshot, source) => {
    // Its questions are put, and answered, by the call that looks at the task.
    const { inputRequests: _theirs, ...rest } = snapshot;
    void quietly(taking.take(rest, source));
  });
  const seat = context.push.join(taskId, {
    take: (snapshot) => intake.offer(snapshot, outcomeOf(snapshot) !== undefined),
    covered() {
      unprovenPolls = 0;
      pullIn(pace.remainingMs());
    },
    proven() {
      // Planned while the stream had said nothing: now it can be later.
      if (planned !== "safety" || polling || over.aborted || unprovenPolls === 0) return;
      unprovenPolls = 0;
      schedule(Math.max(pace.safetyMs(undefined) - pace.sinceAnswerMs, 0), "safety");
    },
    lost() {
      if (planned === "safety") pullIn(pace.lostMs());
    },
  });
  over.addEventListener("abort", leave, { once: true });
  if (options.push.mode === "always") seat.want();

  function leave(): void {
    if (planned === "safety") seat.saved(pace.missed());
    planned = "interval";
    scheduler.cancel(lookKey);
    intake.stop();
    share.leave();
    seat.leave();
  }

  function plan(first?: "at-once" | "stored" | "after-interval"): void {
    if (over.aborted || polling) return;
    if (scheduler.dueIn(key) !== undefined) return isWatchful() ? pullInSafety() : undefined;
    const delayMs = first === "at-once" ? 0 : first === "stored" ? pace.storedMs() : pace.politeMs();
    schedule(delayMs, "interval");
  }

  function schedule(delayMs: number, why: typeof planned): void {
    planned = why;
    if (why === "safety") lookIntoStoreMeanwhile();
    else scheduler.cancel(lookKey);
    const leftMs = pace.giveUpInMs();
    // The host's own limit ends at the limit, not at the first poll after it.
    if (leftMs !== undefined && delayMs >= leftMs) scheduler.schedule(key, leftMs, () => void giveUp());
    else scheduler.schedule(key, delayMs, () => void poll());
  }

  /** Looks at the task sooner than was planned. Not so after a failure: the server is to be left alone. */
  function pullIn(delayMs: number | undefined): void {
    const dueMs = scheduler.dueIn(key);
    if (over.aborted || polling || planned === "failure" || delayMs === undefined || dueMs === undefined)
      return;
    // The polls that were left out until now stay left out.
    if (planned === "safety") seat.saved(Math.max(pace.missed() - 1, 0));
    if (delayMs < dueMs) schedule(delayMs, "interval");
    else planned = "interval";
  }

  function safetyMs(): number {
    if (seat.isProven) return pace.safetyMs(undefined);
    unprovenPolls += 1;
    return pace.safetyMs(unprovenPolls - 1);
  }

  function pullInSafety(): void {
    if (planned === "safety") pullIn(pace.remainingMs());
  }

  /** An answer that was sent is followed at the usual pace until the server shows what it made of it. */
  function isWatchful(): boolean {
    return keeper.record.questions.some(({ state }) => state === "answered" || state === "acked");
  }

  async function giveUp(): Promise<void> {
    await quietly(keeper.apply({ type: "gaveUp" }));
  }

  async function poll(): Promise<void> {
    if (over.aborted || polling) return;
    if (!share.mayPoll(intervalMs(keeper.record, options.poll))) return schedule(pace.politeMs(), "interval");
    if (pace.tooEarlyMs > 0) return schedule(pace.tooEarlyMs, planned);
    if (planned === "safety") seat.saved(Math.max(pace.missed() - 1, 0));
    polling = true;
    planned = "interval";
    scheduler.cancel(lookKey);
    const beganAt = clock.monotonic();
    const leftMs = pace.giveUpInMs();
    // This poll may still bring the end, but it is not waited for while it queues for a server out of reach.
    if (leftMs !== undefined) {
      scheduler.schedule(limitKey, leftMs + options.requestTimeoutMs, () => void giveUp());
    }
    let failedMs: number | undefined;
    let isAnswered = false;
    /** A notice came in between, and the answer may be from before it. */
    let isOvertaken = false;
    try {
      await keeper.apply({ type: "pollStarted" });
      await lookIntoStore();
      if (over.aborted) return;
      const snapshot = await context.followUps.get();
      // Twice in a row would be a server that contradicts itself: then its answer counts, as ever.
      isOvertaken = noticedAt >= beganAt && overtakenInRow === 0 && mayBeLate(keeper.record, snapshot);
      overtakenInRow = isOvertaken ? 1 : 0;
      if (!isOvertaken) {
        share.tell(snapshot, "poll");
        await taking.take(snapshot, "poll");
      }
      failingSince = undefined;
      goneInRow = 0;
      isAnswered = true;
    } catch (error) {
      if (!over.aborted) failedMs = await failed(error);
    } finally {
      polling = false;
      scheduler.cancel(limitKey);
      share.looked();
      pace.answered();
    }
    if (over.aborted) return;
    if (pace.giveUpInMs() === 0) return giveUp();
    if (failedMs !== undefined) return schedule(failedMs, "failure");
    // It has outlived its first interval by now.
    if (isAnswered) seat.want();
    const isPushed = isAnswered && seat.coveredSince !== undefined && beganAt >= seat.coveredSince;
    if (isPushed && !isWatchful() && !isOvertaken) schedule(safetyMs(), "safety");
    else schedule(pace.politeMs(), "interval");
  }

  async function takeNotice(snapshot: TaskSnapshot): Promise<void> {
    if (over.aborted) return;
    goneInRow = 0;
    // Nobody is told that a question is over by what may be older than the question.
    if (mayBeLate(keeper.record, snapshot)) return pullInSafety();
    noticedAt = clock.monotonic();
    share.tell(snapshot, "notice");
    const unproven = await taking.take(snapshot, "notice").then(
      (moved) => moved.unproven,
      () => false,
    );
    const hidesQuestions = snapshot.status === "input_required" && snapshot.inputRequests === undefined;
    // What it does not say is asked for: an end without its payload is none yet.
    if (unproven || hidesQuestions) pullInSafety();
  }

  /** Another process may have asked for the cancellation, or found the end. Seldom: it costs a read. */
  async function lookIntoStore(): Promise<void> {
    if (clock.monotonic() - lookedAt < storeLookMs) return;
    lookedAt = clock.monotonic();
    // A store that cannot be read is reported when it is written.
    await keeper.refresh(false).catch(() => undefined);
  }

  /** What other processes write is seen as soon as it would be with polls. */
  function lookIntoStoreMeanwhile(): void {
    const dueMs = lookedAt + storeLookMs - clock.monotonic();
    const delayMs = Math.max(dueMs, intervalMs(keeper.record, options.poll));
    scheduler.schedule(lookKey, delayMs, () => {
      void lookIntoStore().then(() => {
        if (planned === "safety" && !over.aborted) lookIntoStoreMeanwhile();
      });
    });
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
    const delayMs = Math.max(pace.politeMs(), slow ? options.retry.refusedRetryMs : grownMs);
    if (slow) taking.sayOnce("refused", asTasksError(error, "tasks/get is refused"));
    else if (error instanceof InvalidResponseError) taking.sayOnce(error.message, error);
    const { id, server } = keeper.record;
    context.tell("retry", { id, server, method: "tasks/get", retryClass: found, attempt, delayMs, error });
    await quietly(keeper.apply({ type: "pollFailed", notBeforeMs: Math.ceil(clock.now() + delayMs) }));
    return delayMs;
  }

  /** A second look confirms it: an answer of a server that has just been restarted may be wrong. */
  async function gone(): Promise<undefined> {
    goneInRow += 1;
    if (goneInRow > 1) await quietly(keeper.apply({ type: "taskGone", elapsedMs: pace.elapsedMs }));
    return undefined;
  }

  function isLostBeyondReach(): boolean {
    const ttlMs = keeper.record.snapshot?.ttlMs ?? null;
    if (ttlMs === null || failingSince === undefined) return false;
    const failingMs = clock.monotonic() - failingSince;
    return pace.elapsedMs > ttlMs + UNREACHABLE_GRACE_MS && failingMs > UNREACHABLE_GRACE_MS;
  }

  return {
    plan,
    stop() {
      for (const each of [key, limitKey, lookKey]) scheduler.cancel(each);
    },
    dueIn() {
      const dueMs = scheduler.dueIn(key);
      return dueMs !== undefined && planned === "safety" ? pace.remainingMs() : dueMs;
    },
  };
}

/** The keeper reports its own failures; what is left is a client that closes. */
async function quietly(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}
