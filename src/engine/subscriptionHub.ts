/**
 * Owns the stream of notices of one server: for which tasks it is open, its replacement, its return after failures.
 * It never polls, and never says that a server is down.
 */
import type { Connection, Notice } from "../connection/types.js";
import { InvalidResponseError } from "../errors.js";
import { readTaskSnapshot, type TaskSnapshot } from "../protocol/index.js";
import { unnested } from "../protocol/task.js";
import { createBreathing } from "./breathing.js";
import { createListenedTasks, type PushMember } from "./listenedTasks.js";
import { openListenStream, type ListenStream } from "./listenStream.js";
import {
  askedRestMs,
  reopenDelayMs,
  replaceAfterMs,
  replacedInRow,
  verdictOf,
  wasUseful,
  type StreamEnd,
} from "./pushPolicy.js";
import { asTasksError } from "./retryTable.js";
import type { Scheduler } from "./scheduler.js";
import type { ServerLane } from "./serverLane.js";
import type { EngineOptions, PushState, Tell } from "./types.js";

/** What a call has of the hub. */
export interface PushSeat {
  /** Since when every change is pushed, on the monotonic clock; undefined while polls are all there is. */
  readonly coveredSince: number | undefined;
  /** The stream has shown that it is alive: what it does not tell has not happened. */
  readonly isProven: boolean;
  /** The task is worth a stream, and the server has just answered for it. */
  want(): void;
  /** Polls that were not needed. */
  saved(polls: number): void;
  leave(): void;
}

/** The push of one server. */
export interface SubscriptionHub {
  join(taskId: string, member: PushMember): PushSeat;
  readonly state: PushState;
  readonly savedPolls: number;
  /** Notices of tasks that nobody here follows. */
  readonly strayNotices: number;
  stop(): void;
}

/** Tasks that come and go within this time share one change of the stream. */
const GATHER_MS = 250;

const NONE: ReadonlySet<string> = new Set();

export function createSubscriptionHub(
  lane: ServerLane,
  options: Pick<
    EngineOptions,
    "clock" | "random" | "retry" | "push" | "clientInfo" | "capabilities" | "hold"
  >,
  hooks: { scheduler: Scheduler; tell: Tell; count: (method: string) => void },
): SubscriptionHub {
  const { clock, push } = options;
  const { scheduler } = hooks;
  const { connection, name: server } = lane;
  const listen: Connection["listen"] = connection.listen?.bind(connection);
  const enabled = push.mode !== "off" && listen !== undefined;
  const tasks = createListenedTasks();
  const openKey = Symbol("open stream");
  const reported = new Set<string>();
  let current: ListenStream | undefined;
  let opening: ListenStream | undefined;
  let state: PushState = "closed";
  let failures = 0;
  /** Streams that were replaced in a row. */
  let replaced = 0;
  let recheckedBefore = false;
  let notBefore = -Infinity;
  let savedPolls = 0;
  let strayNotices = 0;
  let stopped = false;

  const breathing = createBreathing({
    hold: options.hold,
    scheduler,
    isOpen: () => current !== undefined,
    letGo(pauseMs) {
      current?.close();
      current = undefined;
      notBefore = Math.max(notBefore, clock.monotonic() + pauseMs);
      tasks.uncoverBut(NONE);
      review(pauseMs);
    },
  });

  /** Opens what is missing and closes what nobody needs. Safe to call at any time. */
  function review(gatherMs = GATHER_MS): void {
    if (stopped || !enabled) return;
    if (!tasks.anyWanted) return closeAll();
    if (opening !== undefined || scheduler.dueIn(openKey) !== undefined || missing().length === 0) return;
    const restMs = notBefore - clock.monotonic();
    const freshMs = current === undefined ? 0 : replaceAfterMs(replaced) - current.livedMs;
    scheduler.schedule(openKey, Math.max(gatherMs, restMs, freshMs), open);
  }

  function missing(): string[] {
    const known = current?.taskIds;
    return tasks.listenable().filter((taskId) => known?.has(taskId) !== true);
  }

  function open(): void {
    // Nothing is asked of a server that is down or wants to be left alone: the next poll that succeeds comes back here.
    if (stopped || listen === undefined || !lane.mayListen || missing().length === 0) return;
    hooks.count("subscriptions/listen");
    const listener = { onAcknowledged, onProven, onNotice, onEnd };
    opening = openListenStream(listen, new Set(tasks.listenable()), { options, scheduler, listener });
  }

  function onAcknowledged(stream: ListenStream): void {
    if (stream !== opening) return;
    opening = undefined;
    const old = current;
    current = stream;
    if (old !== undefined) replaced = replacedInRow(replaced, old.livedMs);
    old?.close();
    recheckedBefore = false;
    tellState("open");
    breathing.opened();
    tasks.uncoverBut(stream.acknowledged ?? NONE);
    tasks.cover(stream.acknowledged ?? NONE, clock.monotonic());
    // Others may have come meanwhile, or all may have left.
    review();
  }

  function onProven(stream: ListenStream): void {
    if (stream === current) tasks.prove(stream.acknowledged ?? NONE);
  }

  function onNotice(stream: ListenStream, { method, params }: Notice): void {
    if (method !== "notifications/tasks") return;
    const { _meta, ...shown } = params;
    let snapshot: TaskSnapshot;
    try {
      snapshot = readTaskSnapshot(unnested(shown));
    } catch (error) {
      return report("notice", error, "A notice of the server cannot be read");
    }
    const [member] = tasks.get(snapshot.taskId)?.members ?? [];
    if (member === undefined) {
      strayNotices += 1;
      return;
    }
    stream.notices += 1;
    failures = 0;
    member.take(snapshot);
  }

  function onEnd(stream: ListenStream, end: StreamEnd): void {
    if (wasUseful(stream, push)) failures = 0;
    if (stream === opening) opening = undefined;
    if (stream === current) {
      current = undefined;
      tasks.uncoverBut(NONE);
    }
    takeVerdict(stream, end);
    review(0);
  }

  function takeVerdict(stream: ListenStream, end: StreamEnd): void {
    const verdict = verdictOf(end, stream.acknowledged !== undefined);
    const askedMs = askedRestMs(end);
    // Streams wait as long as they are asked to. Polls are all that is left, and find out what the server wants of them.
    if (askedMs > 0) lane.leaveAlone(Math.min(askedMs, options.retry.maxDelayMs));
    if (verdict.kind === "rest") {
      if (verdict.report !== undefined) report("refused", verdict.report, "The server refuses to push");
      return rest();
    }
    if (verdict.kind === "recheck") {
      if (recheckedBefore) return rest();
      recheckedBefore = true;
      tasks.doubt(stream.taskIds);
    }
    failures += 1;
    const delayMs = reopenDelayMs(failures, { ...push, ...options.retry }, options.random());
    if (delayMs === undefined) return rest();
    // While it rests, the end of the stream that was left does not cut that short.
    notBefore = Math.max(notBefore, clock.monotonic() + Math.max(delayMs, askedMs));
    if (current === undefined) tellState("closed");
  }

  /** Polls are all there is for a while. A stream that lives goes on. */
  function rest(): void {
    failures = 0;
    recheckedBefore = false;
    notBefore = Math.max(notBefore, clock.monotonic() + push.cooldownMs);
    if (current === undefined) tellState("off");
  }

  function closeAll(): void {
    scheduler.cancel(openKey);
    breathing.closed();
    for (const stream of [current, opening]) stream?.close();
    current = opening = undefined;
    replaced = 0;
    if (state === "open") tellState("closed");
  }

  function tellState(next: PushState): void {
    if (state === next) return;
    state = next;
    hooks.tell("push", { server, state });
  }

  function report(what: string, error: unknown, message: string): void {
    if (reported.has(what)) return;
    reported.add(what);
    const own = asTasksError(error, message);
    const told = what === "notice" ? new InvalidResponseError(message, { cause: own }) : own;
    hooks.tell("error", { error: told, server, id: undefined });
  }

  function join(taskId: string, member: PushMember): PushSeat {
    const task = tasks.join(taskId, member);
    return {
      get coveredSince() {
        return task.coveredSince;
      },
      get isProven() {
        return current?.proven === true;
      },
      want() {
        if (task.wanted && !task.doubtful && task.coveredSince !== undefined) return;
        task.wanted = true;
        task.doubtful = false;
        review();
      },
      saved: (polls) => void (savedPolls += polls),
      leave() {
        // Nothing is to be opened for it; with thousands of tasks that end at once, looking would cost.
        if (tasks.leave(taskId, member) && !tasks.anyWanted && !stopped) closeAll();
      },
    };
  }

  return {
    join,
    get state() {
      return state;
    },
    get savedPolls() {
      return savedPolls;
    },
    get strayNotices() {
      return strayNotices;
    },
    stop() {
      closeAll();
      breathing.stop();
      stopped = true;
    },
  };
}
