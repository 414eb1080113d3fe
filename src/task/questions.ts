/** Owns what becomes of a task's questions as snapshots and answers come in. Pure. */
import type { InputRequestEntry } from "../protocol/index.js";
import type { Question, TaskRecord } from "./record.js";

/** More open questions than this are left for later snapshots: a person cannot answer them anyway, and memory is bounded. */
export const MAX_OPEN_QUESTIONS = 256;

/** Longer answers are not kept once the server has them; longer messages are cut. */
const MAX_KEPT_CHARS = 16_384;
const MAX_MESSAGE_CHARS = 1000;

/** What the policy of answers needs to know. */
export interface AnswerPolicy {
  /** How long an acknowledged answer may stay open before it is sent once more, and then reported. */
  readonly answerGraceMs: number;
}

/** Something the host should hear about a question. */
export interface QuestionNotice {
  readonly key: string;
  readonly what: "changed-after-answer" | "not-taken" | "too-many";
}

/** The questions after a snapshot, and what to report. */
export interface Reconciled {
  readonly questions: Question[];
  readonly notices: readonly QuestionNotice[];
}

/**
 * Brings the kept questions in line with those that the server shows now. A key that was answered once is never
 * opened again; a key that disappears is over.
 */
export function reconcileQuestions(
  kept: readonly Question[],
  shown: readonly InputRequestEntry[],
  context: { digests: ReadonlyMap<string, string>; nowMs: number; policy: AnswerPolicy },
): Reconciled {
  const notices: QuestionNotice[] = [];
  const shownKeys = new Map(shown.map((entry) => [entry[0], entry[1]]));
  const known = new Set(kept.map((question) => question.key));
  const questions: Question[] = [];
  for (const question of kept) {
    const digest = shownKeys.has(question.key) ? context.digests.get(question.key) : undefined;
    const next = digest === undefined ? ended(question) : stillShown(question, digest, context, notices);
    if (next === "new") known.delete(question.key);
    else if (next !== undefined) questions.push(next);
  }
  let open = questions.filter((question) => question.state === "open").length;
  for (const [key, request] of shown) {
    if (known.has(key)) continue;
    known.add(key);
    if (open >= MAX_OPEN_QUESTIONS) {
      notices.push({ key, what: "too-many" });
      break;
    }
    open += 1;
    questions.push({
      key,
      method: request.method,
      params: request.params,
      digest: context.digests.get(key) ?? "",
      askedAtMs: context.nowMs,
      state: "open",
    });
  }
  return { questions: forgetting(questions), notices };
}

/** A server that asks without end must not fill the store: of old answers only what keeps them from being asked again stays. */
function forgetting(questions: Question[]): Question[] {
  let surplus = questions.length - MAX_OPEN_QUESTIONS;
  if (surplus <= 0) return questions;
  return questions.map((question) => {
    if (surplus <= 0 || question.state !== "closed") return question;
    surplus -= 1;
    const { message: _message, response: _response, by: _by, source: _source, ...bare } = question;
    return bare;
  });
}

/**
 * A key that the server no longer shows: unanswered ones are forgotten (an answer that was refused is none; it is among the
 * earlier ones), answered ones leave their key behind.
 */
function ended(question: Question): Question | undefined {
  const isUnanswered = question.state === "open" || question.state === "refused";
  return isUnanswered ? undefined : closed(question);
}

/**
 * What is needed to never ask it again, and to tell who answered what: of an elicitation its answer, where that is
 * short. Samples are the host's own text, and long.
 */
export function closed(question: Question): Question {
  const { key, method, digest, askedAtMs, answeredAtMs, by, source } = question;
  const over: Question = { key, method, digest, askedAtMs, state: "closed" };
  if (answeredAtMs === undefined) return over;
  const response = isElicitation(question) ? short(question.response) : undefined;
  const message = question.message ?? messageOf(question);
  return {
    ...over,
    answeredAtMs,
    ...(message === undefined ? {} : { message }),
    ...(response === undefined ? {} : { response }),
    ...(by === undefined ? {} : { by }),
    ...(source === undefined ? {} : { source }),
  };
}

/** The answers of a round that is over. Of more than are kept, the last ones. */
export function answersKept(before: readonly Question[] = [], round: readonly Question[]): Question[] {
  const answered = round.filter((question) => question.answeredAtMs !== undefined).map(closed);
  return [...before, ...answered].slice(-MAX_OPEN_QUESTIONS);
}

/** What was answered is the host's once the outcome is delivered; who answered when is told as long as the call is kept. */
export function withoutContents(record: TaskRecord): TaskRecord {
  const { questions, earlierAnswers } = record;
  return {
    ...record,
    questions: questions.map(withoutContent),
    ...(earlierAnswers === undefined ? {} : { earlierAnswers: earlierAnswers.map(withoutContent) }),
  };
}

function withoutContent(question: Question): Question {
  const { response } = question;
  return response === undefined ? question : { ...question, response: { action: response["action"] } };
}

/** True where people are asked, by a form or a page. */
export function isElicitation({ method }: Question): boolean {
  return method === "elicitation/create";
}

function messageOf({ params }: Question): string | undefined {
  const message = params?.["message"];
  return typeof message === "string" ? message.slice(0, MAX_MESSAGE_CHARS) : undefined;
}

function short(response: Question["response"]): Question["response"] {
  if (response === undefined || JSON.stringify(response).length <= MAX_KEPT_CHARS) return response;
  return { action: response["action"] };
}

function stillShown(
  question: Question,
  digest: string,
  context: { nowMs: number; policy: AnswerPolicy },
  notices: QuestionNotice[],
): Question | "new" {
  switch (question.state) {
    case "open":
    case "refused":
      // The server broke its own rule; the person must see what is really asked.
      return digest === question.digest ? question : "new";
    case "answered":
      if (digest === question.digest) return question;
      notices.push({ key: question.key, what: "changed-after-answer" });
      return "new";
    case "acked":
      return stillShownAfterAck(question, digest, context, notices);
    case "closed":
      return question;
  }
}

function stillShownAfterAck(
  question: Question,
  digest: string,
  context: { nowMs: number; policy: AnswerPolicy },
  notices: QuestionNotice[],
): Question {
  if (digest !== question.digest) {
    // Another request under an answered key: the answer was not meant for it.
    if (question.reported === true) return question;
    notices.push({ key: question.key, what: "changed-after-answer" });
    return { ...question, reported: true };
  }
  const waitedMs = context.nowMs - (question.ackedAtMs ?? context.nowMs);
  // A wall clock that went back only makes us wait longer, never ask again.
  if (waitedMs < context.policy.answerGraceMs) return question;
  if ((question.resent ?? 0) === 0) return { ...question, state: "answered", resent: 1 };
  if (question.reported === true) return question;
  notices.push({ key: question.key, what: "not-taken" });
  return { ...question, reported: true };
}

/** Keys with an answer that the server has not acknowledged. */
export function unsentKeys(questions: readonly Question[]): string[] {
  return questions.filter((question) => question.state === "answered").map((question) => question.key);
}

/** Questions that the server may have to be asked about again: open, or answered without an acknowledgement. */
export function openInputs(questions: readonly Question[]): InputRequestEntry[] {
  return questions.flatMap(({ key, method, params, state }) =>
    params !== undefined && (state === "open" || state === "answered")
      ? ([[key, { method, params }]] as const)
      : [],
  );
}
