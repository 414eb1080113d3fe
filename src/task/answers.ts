/** Owns who answered what and when, as hosts are told. Pure. */
import type { JsonObject } from "../internal/json.js";
import { isElicitation } from "./questions.js";
import type { AnswerSource, Question, TaskRecord } from "./record.js";

/** One answer that was given to a question of a call. It stands, whatever the server made of it. */
export interface InputAnswer {
  readonly key: string;
  /** Which question it was: as in `TaskInputRequest`. */
  readonly version: string;
  /** The request's method, such as `elicitation/create`. */
  readonly method: string;
  /** What people were asked: an elicitation's message, cut after 1000 characters; the server's text. */
  readonly message?: string;
  /** accept, decline or cancel of an elicitation; `answered` for others. */
  readonly action: string;
  /**
   * An elicitation's answer. Its content is kept until the outcome is delivered, and not at all where it is longer
   * than 16 384 characters of JSON.
   */
  readonly response?: JsonObject;
  /** Whoever the host said answered (`by` of `respond`). */
  readonly by?: string;
  /** `handler`: `onInputRequest`. `respond`: `respond()`. `policy`: the option `unanswered`. */
  readonly source: AnswerSource;
  readonly answeredAt: Date;
}

/** Of more answers, the last ones are told. */
const MAX_ANSWERS = 256;

/** The answers given so far, in the order in which they were given. */
export function answersOf(record: TaskRecord): InputAnswer[] {
  return (
    [...(record.earlierAnswers ?? []), ...record.questions]
      // What the server refused is among the earlier ones.
      .filter(({ answeredAtMs, state }) => answeredAtMs !== undefined && state !== "refused")
      .sort((a, b) => (a.answeredAtMs ?? 0) - (b.answeredAtMs ?? 0))
      .slice(-MAX_ANSWERS)
      .map(answerOf)
  );
}

/** Tells a question from another one under its key: what is asked, and in which asking. */
export function versionOf({ digest, askedAtMs }: Question): string {
  return `${digest.slice(0, 22)}.${askedAtMs.toString(36)}`;
}

function answerOf(question: Question): InputAnswer {
  const { key, method, params, response, by, source = "handler", answeredAtMs = 0 } = question;
  const isForPeople = isElicitation(question);
  const action = isForPeople ? response?.["action"] : undefined;
  const message = question.message ?? (isForPeople ? params?.["message"] : undefined);
  return {
    key,
    version: versionOf(question),
    method,
    ...(typeof message === "string" ? { message } : {}),
    action: typeof action === "string" ? action : "answered",
    ...(isForPeople && response !== undefined ? { response } : {}),
    ...(by === undefined ? {} : { by }),
    source,
    answeredAt: new Date(answeredAtMs),
  };
}
