/** Owns how a record moves: one pure function of (record, event, context). No clock, no I/O. */
import type { TaskSnapshot } from "../protocol/index.js";
import type { TaskEvent } from "./events.js";
import { isGaveUp, isTerminalStatus, outcomeOf, rpcError } from "./outcome.js";
import { hasOutlivedTtl, intervalMs, type PollPolicy } from "./policy.js";
import {
  answersKept,
  closed,
  reconcileQuestions,
  type AnswerPolicy,
  type QuestionNotice,
  withoutContents,
} from "./questions.js";
import type { Outcome, Phase, Question, TaskRecord } from "./record.js";
import { isStale, storedSnapshot } from "./storedSnapshot.js";

/** What the function needs beside record and event. */
export interface TransitionContext {
  readonly nowMs: number;
  readonly poll: PollPolicy;
  readonly answers: AnswerPolicy;
}

/** The moved record, and whether it is worth a write. */
export interface Moved {
  readonly record: TaskRecord;
  /** True when something changed that must survive a restart. */
  readonly save: boolean;
  /** True when status or status message changed, as hosts see them. */
  readonly statusChanged: boolean;
  readonly notices: readonly QuestionNotice[];
  /** True when a snapshot says that the task is over but lacks the payload that proves it. */
  readonly unproven: boolean;
}

/** In which phases an event means something. What comes after the outcome is for {@link moveSettled}. */
const FITS: Readonly<Record<TaskEvent["type"], readonly Phase[]>> = {
  callSending: ["calling", "asking"],
  callNotRun: ["calling"],
  callCompleted: ["calling"],
  callFailed: ["calling"],
  callLost: ["calling"],
  callAsked: ["calling"],
  handleReceived: ["calling"],
  callAbandoned: ["calling", "asking"],
  snapshotSeen: ["tracking"],
  pollStarted: ["tracking"],
  pollFailed: ["tracking"],
  taskGone: ["tracking"],
  ttlPassed: ["tracking"],
  inputAnswered: ["asking", "tracking"],
  updateAcked: ["tracking"],
  updateRefused: ["tracking"],
  cancelRequested: ["calling", "asking", "tracking"],
  cancelAcked: ["tracking"],
  gaveUp: ["tracking"],
  paused: ["tracking"],
  revived: [],
  delivered: [],
};

/** Moves a record. Events that do not fit the record's phase change nothing. */
export function transition(record: TaskRecord, event: TaskEvent, context: TransitionContext): Moved {
  if (isOver(record)) return moveSettled(record, event, context);
  if (!FITS[event.type].includes(record.phase)) return same(record);
  switch (event.type) {
    case "callSending":
      return keep(
        record,
        { phase: "calling", call: record.call && { ...record.call, inFlight: true } },
        context,
      );
    case "callNotRun":
      return keep(record, { call: record.call && { ...record.call, inFlight: false } }, context);
    case "callCompleted":
      return settle(record, { status: "completed", result: event.result }, context);
    case "callFailed":
      return settle(record, { status: "failed", error: rpcError(event.error) }, context);
    case "callLost":
      return settle(record, { status: "lost", reason: "call-outcome-unknown" }, context);
    case "callAbandoned":
      return settle(record, { status: "cancelled" }, context);
    case "callAsked":
      return asked(record, event, context);
    case "handleReceived":
      return handle(record, event, context);
    case "snapshotSeen":
      return snapshotSeen(record, event, context);
    case "pollStarted":
      return record.failures === undefined && record.notBeforeMs !== undefined
        ? keep(record, { notBeforeMs: undefined }, context)
        : same(record);
    case "pollFailed":
      return keep(record, { failures: (record.failures ?? 0) + 1, notBeforeMs: event.notBeforeMs }, context);
    case "taskGone":
      return settle(record, { status: "lost", reason: wasExpired(record, event.elapsedMs) }, context);
    case "ttlPassed":
      return settle(record, { status: "lost", reason: "expired" }, context);
    case "inputAnswered":
      return answer(record, event, context);
    case "updateAcked":
      return mapQuestions(record, event.keys, context, (question) =>
        question.state === "answered" ? { ...question, state: "acked", ackedAtMs: context.nowMs } : question,
      );
    case "updateRefused":
      return refused(record, event.key, context);
    case "cancelRequested":
      if (record.cancelRequestedAtMs !== undefined) return same(record);
      // Nobody needs to answer for a task that is to end: unanswered questions are over.
      return keep(
        record,
        { cancelRequestedAtMs: context.nowMs, questions: record.questions.map(withdrawn) },
        context,
      );
    case "cancelAcked":
      return keep(
        record,
        { cancelAckedAtMs: context.nowMs, ...(record.cancelAgain === "due" ? { cancelAgain: "sent" } : {}) },
        context,
      );
    case "gaveUp":
      return settle(record, { status: "lost", reason: "gave-up" }, context);
    case "paused":
      return keep(record, { notBeforeMs: event.notBeforeMs }, context);
    case "revived":
    case "delivered":
      return same(record);
  }
}

/** True once the record has an outcome. */
export function isOver(record: TaskRecord): boolean {
  return record.phase === "settled" || record.phase === "delivered";
}

/** What tells the fate of a call that nobody knew. */
const LATE_ANSWERS: readonly TaskEvent["type"][] = ["callCompleted", "callFailed", "handleReceived"];

/** True for a call that ended as "nobody knows": its answer may still come. */
export function isLostCall({ outcome, taskId }: TaskRecord): boolean {
  return outcome?.status === "lost" && outcome.reason === "call-outcome-unknown" && taskId === undefined;
}

function moveSettled(record: TaskRecord, event: TaskEvent, context: TransitionContext): Moved {
  if (event.type === "delivered" && record.phase === "settled") {
    const delivered: TaskRecord = { ...record, phase: "delivered", deliveredAtMs: context.nowMs };
    return keep(withoutContents(delivered), {}, context);
  }
  if (isLostCall(record) && LATE_ANSWERS.includes(event.type)) {
    // Nobody knew what became of the call; now its answer has come after all.
    const { outcome: _outcome, settledAtMs: _settled, deliveredAtMs: _delivered, ...rest } = record;
    return transition({ ...rest, phase: "calling" }, event, context);
  }
  if (event.type === "revived" && isGaveUp(record.outcome) && record.taskId !== undefined) {
    const { outcome: _outcome, settledAtMs: _settled, deliveredAtMs: _delivered, ...rest } = record;
    return keep(rest, { phase: "tracking" }, context);
  }
  return same(record);
}

function asked(
  record: TaskRecord,
  event: Extract<TaskEvent, { type: "callAsked" }>,
  context: TransitionContext,
): Moved {
  // Keys are unique for the life of a task, and there is no task yet: every round starts afresh.
  const { questions, notices } = reconcileQuestions([], event.inputRequests, {
    digests: event.digests,
    // Also within one millisecond: an asking is told from the one before by its time.
    nowMs: Math.max(context.nowMs, ...record.questions.map(({ askedAtMs }) => askedAtMs + 1)),
    policy: context.answers,
  });
  const { requestState: _old, ...rest } = record;
  const next: TaskRecord = {
    ...rest,
    phase: "asking",
    questions,
    ...earlier(record),
    ...(event.requestState === undefined ? {} : { requestState: event.requestState }),
    ...(record.call === undefined ? {} : { call: { ...record.call, inFlight: false } }),
  };
  return { ...keep(next, {}, context), statusChanged: record.phase !== "asking", notices };
}

/** The answers of rounds that are over. */
function earlier({ earlierAnswers, questions }: TaskRecord): Partial<TaskRecord> {
  const kept = answersKept(earlierAnswers, questions);
  return kept.length === 0 ? {} : { earlierAnswers: kept };
}

function handle(
  record: TaskRecord,
  event: Extract<TaskEvent, { type: "handleReceived" }>,
  context: TransitionContext,
): Moved {
  // From here on nothing repeats the call: its arguments are dropped, the digest stays.
  const { call: _call, requestState: _state, ...rest } = record;
  const tracked: TaskRecord = {
    ...rest,
    phase: "tracking",
    taskId: event.snapshot.taskId,
    receivedAtMs: context.nowMs,
    questions: [],
    ...earlier(record),
    snapshot: { taskId: event.snapshot.taskId, status: "working", ttlMs: null },
  };
  const moved = snapshotSeen(
    tracked,
    { ...event, type: "snapshotSeen", elapsedMs: 0, acceptStale: true },
    context,
  );
  return {
    ...keep(moved.record, {}, context),
    notices: moved.notices,
    statusChanged: true,
    unproven: moved.unproven,
  };
}

function snapshotSeen(
  record: TaskRecord,
  event: Extract<TaskEvent, { type: "snapshotSeen" }>,
  context: TransitionContext,
): Moved {
  const outcome = outcomeOf(event.snapshot);
  // An end without its payload proves nothing, and is not shown: the server may say something else next time.
  const unproven = outcome === undefined && isTerminalStatus(event.snapshot.status);
  const snapshot = unproven ? { ...event.snapshot, ...lastProven(record) } : event.snapshot;
  // A terminal state never changes at the server, so it is true however late it arrives.
  if (outcome === undefined && !event.acceptStale && isStale(record.snapshot, snapshot)) return same(record);
  const stored = storedSnapshot(record.snapshot, snapshot);
  const statusChanged =
    stored.status !== record.snapshot?.status || stored.statusMessage !== record.snapshot.statusMessage;
  if (outcome !== undefined) {
    return { ...settle({ ...record, snapshot: stored }, outcome, context), statusChanged };
  }
  const questions = questionsAfter(record, snapshot, event.digests, context);
  const { failures, notBeforeMs: _notBefore, ...rest } = record;
  const cancelsAgain = isCancelForgotten(record, context);
  const next: TaskRecord = {
    ...rest,
    snapshot: stored,
    questions: questions.questions,
    ...(cancelsAgain ? { cancelAgain: "due" } : {}),
  };
  const slackMs = Math.max(1000, intervalMs(next, context.poll));
  if (hasOutlivedTtl(stored.ttlMs, event.elapsedMs, slackMs)) {
    return settle(next, { status: "lost", reason: "expired" }, context);
  }
  const save =
    statusChanged ||
    cancelsAgain ||
    failures !== undefined ||
    stored.ttlMs !== record.snapshot?.ttlMs ||
    stored.pollIntervalMs !== record.snapshot.pollIntervalMs ||
    changed(record.questions, next.questions);
  return {
    record: save ? { ...next, updatedAtMs: context.nowMs } : next,
    save,
    statusChanged,
    notices: questions.notices,
    unproven,
  };
}

/** An acknowledgement proves nothing: a server that restarted may have lost what it acknowledged. Once is enough to find out. */
function isCancelForgotten(record: TaskRecord, { nowMs, answers }: TransitionContext): boolean {
  const { cancelAckedAtMs, cancelAgain } = record;
  return (
    cancelAckedAtMs !== undefined &&
    cancelAgain === undefined &&
    nowMs - cancelAckedAtMs >= answers.answerGraceMs
  );
}

/** What a snapshot that proves nothing leaves as it was. */
function lastProven({ snapshot }: TaskRecord): Pick<TaskSnapshot, "status"> & Partial<TaskSnapshot> {
  return {
    status: snapshot?.status ?? "working",
    ...(snapshot?.statusMessage === undefined ? {} : { statusMessage: snapshot.statusMessage }),
    ...(snapshot?.lastUpdatedAt === undefined ? {} : { lastUpdatedAt: snapshot.lastUpdatedAt }),
  };
}

function questionsAfter(
  record: TaskRecord,
  snapshot: TaskSnapshot,
  digests: ReadonlyMap<string, string>,
  context: TransitionContext,
): { questions: Question[]; notices: readonly QuestionNotice[] } {
  const shown = snapshot.inputRequests;
  // input_required without its requests tells nothing about them.
  if (snapshot.status === "input_required" && shown === undefined) {
    return { questions: record.questions, notices: [] };
  }
  const asking = snapshot.status === "input_required" ? (shown ?? []) : [];
  const known = new Set(record.questions.map((question) => question.key));
  const relevant =
    record.cancelRequestedAtMs === undefined ? asking : asking.filter(([key]) => known.has(key));
  return reconcileQuestions(record.questions, relevant, {
    digests,
    nowMs: context.nowMs,
    policy: context.answers,
  });
}

function answer(
  record: TaskRecord,
  event: Extract<TaskEvent, { type: "inputAnswered" }>,
  context: TransitionContext,
): Moved {
  return mapQuestions(record, [event.key], context, (question) => {
    const sameRequest = event.digest === undefined || event.digest === question.digest;
    const free = question.state === "open" || question.state === "refused";
    if (!free || !sameRequest) return question;
    const { by: _by, ...rest } = question;
    return {
      ...rest,
      state: "answered",
      response: event.response,
      answeredAtMs: context.nowMs,
      source: event.source,
      ...(event.by === undefined ? {} : { by: event.by }),
      resent: 0,
    };
  });
}

/** The question waits for another answer, as one that is asked anew; the one that was given is told all the same. */
function refused(record: TaskRecord, key: string, context: TransitionContext): Moved {
  const given = record.questions.filter((question) => question.key === key && question.state === "answered");
  const earlierAnswers = answersKept(record.earlierAnswers, given);
  const next = given.length === 0 ? record : { ...record, earlierAnswers };
  return mapQuestions(next, [key], context, (question) =>
    question.state === "answered"
      ? { ...question, state: "refused", askedAtMs: Math.max(context.nowMs, question.askedAtMs + 1) }
      : question,
  );
}

function mapQuestions(
  record: TaskRecord,
  keys: readonly string[],
  context: TransitionContext,
  change: (question: Question) => Question,
): Moved {
  const wanted = new Set(keys);
  const questions = record.questions.map((question) =>
    wanted.has(question.key) ? change(question) : question,
  );
  return changed(record.questions, questions) ? keep(record, { questions }, context) : same(record);
}

function changed(before: readonly Question[], after: readonly Question[]): boolean {
  return before.length !== after.length || after.some((question, i) => question !== before[i]);
}

function withdrawn(question: Question): Question {
  return question.state === "open" ? closed(question) : question;
}

function settle(record: TaskRecord, outcome: Outcome, context: TransitionContext): Moved {
  const { call: _call, requestState: _state, failures: _failures, notBeforeMs: _notBefore, ...rest } = record;
  const next: TaskRecord = {
    ...rest,
    phase: "settled",
    outcome,
    settledAtMs: context.nowMs,
    // What was given up may be gone on with: its questions and answers stay as they are.
    questions: isGaveUp(outcome) ? record.questions : record.questions.map(closed),
  };
  return { ...keep(next, {}, context), statusChanged: true };
}

function keep(record: TaskRecord, change: Partial<Unset<TaskRecord>>, context: TransitionContext): Moved {
  const next = { ...record, ...change, updatedAtMs: context.nowMs } as TaskRecord;
  return { record: next, save: true, statusChanged: false, notices: [], unproven: false };
}

type Unset<T> = { [K in keyof T]: T[K] | undefined };

function same(record: TaskRecord): Moved {
  return { record, save: false, statusChanged: false, notices: [], unproven: false };
}

function wasExpired(record: TaskRecord, elapsedMs: number): "expired" | "unknown" {
  const ttlMs = record.snapshot?.ttlMs ?? null;
  return ttlMs !== null && elapsedMs >= ttlMs ? "expired" : "unknown";
}
