/** Owns what happens when two processes wrote one record: facts that cannot be taken back win. Pure. */
import { isGaveUp } from "./outcome.js";
import { closed, withoutContents } from "./questions.js";
import type { Question, TaskRecord } from "./record.js";
import { isOver } from "./transition.js";

/**
 * Merges what the store holds with what this process is about to write. The first outcome stays, the first answer
 * to a question stays, a cancel stays asked, a delivery stays done, an owner stays until the record is claimed; for
 * everything else the newer writer is right. `isFirst`: what is stored was certainly stored first; where the store
 * cannot tell (a slow write may have replaced another unseen), the time of an answer decides.
 */
export function mergeRecords(stored: TaskRecord, mine: TaskRecord, isFirst = false): TaskRecord {
  if (stored === mine) return mine;
  const isTheirs = stored.owner !== undefined && mine.owner !== undefined && stored.owner !== mine.owner;
  if (!isTheirs) return mergeFacts(stored, mine, isFirst);
  // Given up by who did not see that it was being sent: what comes of that is to be cancelled.
  if (isAbandoned(mine) && stored.phase === "calling" && stored.call?.inFlight === true)
    return { ...stored, ...mergeCancel(stored, { ...mine, cancelRequestedAtMs: mine.settledAtMs }) };
  // Who lost the call tells what it saw end, or become a task; how it goes on is for the owner to say.
  const isFact = isOver(stored) || isOver(mine) || stored.taskId !== mine.taskId;
  const merged = isFact ? mergeFacts(stored, mine, isFirst) : mergeOthers(stored, mine, isFirst);
  // An outcome that gave way to what we know was told already: nobody else looks after what it is now.
  const gaveWay = isOver(stored) && merged.outcome !== stored.outcome;
  const owner = gaveWay ? mine.owner : stored.owner;
  return { ...merged, owner };
}

/** The owner's record, with the answers and the cancellation that another process has. */
function mergeOthers(stored: TaskRecord, mine: TaskRecord, isFirst: boolean): TaskRecord {
  const known = isSameRound(stored, mine) ? mine.questions : [];
  const theirs = new Map(known.map((question) => [question.key, question]));
  const questions = stored.questions.map((question) => {
    const other = theirs.get(question.key);
    return other === undefined || other.digest !== question.digest
      ? question
      : mergeQuestion(question, other, isFirst);
  });
  return { ...stored, ...mergeCancel(stored, mine), questions };
}

/** Before there is a task every round asks anew, also the same under the same key: told by its state, and by its time. */
function isSameRound(a: TaskRecord, b: TaskRecord): boolean {
  if (a.taskId !== b.taskId) return false;
  if (a.taskId !== undefined) return true;
  return a.requestState === b.requestState && a.questions[0]?.askedAtMs === b.questions[0]?.askedAtMs;
}

function mergeFacts(stored: TaskRecord, mine: TaskRecord, isFirst: boolean): TaskRecord {
  if (isOver(stored) && !givesWay(stored, mine)) return mergeOver(stored, mine);
  const cancel = mergeCancel(stored, mine);
  // The first handle stays: two processes may have sent one call, and a stored task must not be lost.
  if (stored.taskId !== undefined && stored.taskId !== mine.taskId) return { ...stored, ...cancel };
  // What was given up here, and delivered as that, was gone on with meanwhile.
  if (mine.phase === "delivered" && isGaveUp(mine.outcome) && !isOver(stored))
    return { ...stored, ...cancel };
  return { ...mine, ...cancel, questions: mergeQuestions(stored, mine, isFirst) };
}

function mergeCancel(stored: TaskRecord, mine: TaskRecord): Partial<TaskRecord> {
  const cancelRequestedAtMs = earliest(stored.cancelRequestedAtMs, mine.cancelRequestedAtMs);
  const cancelAckedAtMs = earliest(stored.cancelAckedAtMs, mine.cancelAckedAtMs);
  return {
    ...(cancelRequestedAtMs === undefined ? {} : { cancelRequestedAtMs }),
    ...(cancelAckedAtMs === undefined ? {} : { cancelAckedAtMs }),
  };
}

function mergeOver(stored: TaskRecord, mine: TaskRecord): TaskRecord {
  const deliveredAtMs = earliest(stored.deliveredAtMs, mine.deliveredAtMs);
  if (deliveredAtMs === undefined) return stored;
  return withoutContents({ ...stored, phase: "delivered", deliveredAtMs });
}

function mergeQuestions(stored: TaskRecord, mine: TaskRecord, isFirst: boolean): Question[] {
  // Another round of the call has other questions, whatever their keys.
  if (!isSameRound(stored, mine)) return mine.questions;
  const theirs = new Map(stored.questions.map((question) => [question.key, question]));
  const merged = mine.questions.map((question) => {
    const other = theirs.get(question.key);
    return other === undefined ? question : mergeQuestion(other, question, isFirst);
  });
  // Answered there, while here it was seen to be over: it is not sent any more, but it was given.
  const known = new Set(mine.questions.map(({ key }) => key));
  const given = stored.questions.filter((question) => isGiven(question) && !known.has(question.key));
  return given.length === 0 ? merged : [...merged, ...given.map(closed)];
}

function mergeQuestion(stored: Question, mine: Question, isFirst: boolean): Question {
  if (stored.digest !== mine.digest) return mine;
  // It ended here while it was answered there: who answered is told all the same.
  if (mine.state === "closed" && mine.answeredAtMs === undefined && isGiven(stored)) return closed(stored);
  if (progress(stored) > progress(mine)) return stored;
  if (stored.state === "open" && mine.state === "open")
    return { ...mine, askedAtMs: Math.min(stored.askedAtMs, mine.askedAtMs) };
  // A refused answer gives way to the one that was given in its place, and to no other: whatever their clocks say.
  if (stored.state === "refused" && mine.state === "answered")
    return isToSameAsking(mine, stored) ? mine : stored;
  if (stored.state !== "answered") return mine;
  if (mine.state === "refused") return isToSameAsking(stored, mine) ? stored : mine;
  if (mine.state !== "answered") return mine;
  // Two processes answered: the first answer stands, also for the one that came later with a slow write.
  if (isFirst) return { ...stored, ...resent(mine) };
  return isEarlier(mine, stored) ? mine : { ...stored, ...resent(mine) };
}

/** What the server refused waits for another answer; the one that was given is among the earlier ones. */
function isGiven({ answeredAtMs, state }: Question): boolean {
  return answeredAtMs !== undefined && state !== "refused";
}

/** A refusal asks anew, and says so by its time; who answers that keeps it. */
function isToSameAsking(answered: Question, refused: Question): boolean {
  return answered.askedAtMs >= refused.askedAtMs;
}

function isEarlier(a: Question, b: Question): boolean {
  return (a.answeredAtMs ?? Infinity) < (b.answeredAtMs ?? Infinity);
}

function resent(question: Question): { resent?: number } {
  return question.resent === undefined ? {} : { resent: question.resent };
}

function progress(question: Question): number {
  switch (question.state) {
    case "open":
      return 0;
    case "answered":
      // An answer that is sent once more was acknowledged before: that is no step back.
      return question.ackedAtMs === undefined ? 1 : 2;
    case "refused":
      return 1;
    case "acked":
      return 2;
    case "closed":
      return 3;
  }
}

/** Given up before there was a task: true as long as nothing was sent. */
function isAbandoned({ outcome, taskId }: TaskRecord): boolean {
  return outcome?.status === "cancelled" && taskId === undefined;
}

/** An outcome that only says that somebody did not know gives way to who knows. */
function givesWay(stored: TaskRecord, mine: TaskRecord): boolean {
  if (stored.outcome?.status !== "lost") return false;
  if (isGaveUp(stored.outcome)) return true;
  if (stored.outcome.reason !== "call-outcome-unknown" || stored.taskId !== undefined) return false;
  return mine.taskId !== undefined || (isOver(mine) && mine.outcome?.status !== "lost");
}

function earliest(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : Math.min(a, b);
}
