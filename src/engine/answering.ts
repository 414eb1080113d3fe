/** Owns which questions of a record can be answered, and what is said when something about them is wrong. Sends and stores nothing. */
import {
  InputAlreadyAnsweredError,
  InputNotTakenError,
  InvalidInputResponseError,
  InvalidResponseError,
  StoreError,
  type TasksError,
} from "../errors.js";
import type { JsonObject } from "../internal/json.js";
import { versionOf } from "../task/answers.js";
import type { QuestionNotice } from "../task/questions.js";
import type { Question, TaskRecord } from "../task/record.js";
import { isOver } from "../task/transition.js";

/** The question, when it waits for an answer. Throws what `respond` rejects with otherwise. */
export function answerable(
  record: TaskRecord,
  key: string,
  shown: { readonly digest?: string | undefined; readonly version?: string | undefined } = {},
): Question {
  const { digest, version } = shown;
  const question = record.questions.find((candidate) => candidate.key === key);
  if (question === undefined) {
    throw new InvalidInputResponseError(
      "key",
      "expected the key of an input request of this task that is open",
    );
  }
  if (isOver(record)) throw new InvalidInputResponseError("key", "the task is over");
  if (question.state === "closed" && question.answeredAtMs === undefined) throw withdrawn();
  if (question.state !== "open" && question.state !== "refused") {
    throw new InputAlreadyAnsweredError(question.answeredAtMs);
  }
  const isOther = version !== undefined && version !== versionOf(question);
  if (isOther || (digest !== undefined && digest !== question.digest)) {
    throw new InvalidInputResponseError("key", "the server changed the request since it was shown");
  }
  return question;
}

/** Throws when another answer stands, or the question was withdrawn before this one was stored. */
export function checkStored(record: TaskRecord, key: string, response: JsonObject): void {
  const now = record.questions.find((candidate) => candidate.key === key);
  if (now?.response !== undefined && JSON.stringify(now.response) === JSON.stringify(response)) return;
  answerable(record, key);
  throw withdrawn();
}

/** Whether the question is answered, as far as is known with this response (a response that was taken is not kept). */
export function isAnswerOf(record: TaskRecord, key: string, response: JsonObject): boolean {
  const now = record.questions.find((candidate) => candidate.key === key);
  if (now?.answeredAtMs === undefined || now.state === "refused") return false;
  return (
    now.response === undefined ||
    now.state === "closed" ||
    JSON.stringify(now.response) === JSON.stringify(response)
  );
}

/** What waits for a call hears when another process removed its record. */
export function removedError(): StoreError {
  return new StoreError("The call is no longer in the store: its time there is over, or it was removed");
}

function withdrawn(): InvalidInputResponseError {
  return new InvalidInputResponseError("key", "the question was withdrawn before the answer was stored");
}

/** What the host hears of a question. */
export function questionError(notice: QuestionNotice): TasksError {
  switch (notice.what) {
    case "changed-after-answer":
      return new InvalidResponseError(
        "The server changed an input request after it was answered; the answer is not sent",
      );
    case "not-taken":
      return new InputNotTakenError(
        "The server acknowledged an answer twice, yet still asks; it is not asked again",
      );
    case "too-many":
      return new InvalidResponseError(
        "The server asks more at once than is shown; the rest comes when these are answered",
      );
  }
}
