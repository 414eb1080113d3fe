/** Owns how the questions of one call are shown and answered: the broker over its record, and what `respond` does. It sends nothing. */
import { ClientClosedError, InvalidInputResponseError, StoreError } from "../errors.js";
import type { JsonObject } from "../internal/json.js";
import { checkInputResponse } from "../protocol/index.js";
import type { AnswerSource } from "../task/record.js";
import { isOver } from "../task/transition.js";
import { answerable, checkStored, isAnswerOf, removedError } from "./answering.js";
import { createInputBroker, readQuestion, type InputBroker } from "./inputBroker.js";
import { oneShot } from "./oneShot.js";
import type { RecordKeeper } from "./recordKeeper.js";
import type { EngineOptions, Tell } from "./types.js";

/** Where an answer comes from. */
export interface AnswerOrigin {
  /** Whoever the host says answered. */
  readonly by?: string | undefined;
  readonly source: AnswerSource;
  /** Of the request that was shown: the answer is for no other. */
  readonly digest?: string | undefined;
  readonly version?: string | undefined;
}

/** The questions of one call. */
export interface DriverInputs extends InputBroker {
  /** Stores an answer. Rejects as `TaskHandle.respond`. */
  respond(key: string, response: unknown, origin: AnswerOrigin): Promise<void>;
}

export function createDriverInputs(
  options: EngineOptions,
  context: {
    keeper: RecordKeeper;
    tell: Tell;
    displayName: () => Promise<string>;
    /** Aborts when the client closes. */
    closing: AbortSignal;
    /** Aborts when the call is over, or was removed. */
    over: AbortSignal;
    /** Where another process is in charge, reads its record. */
    catchUp: () => Promise<void>;
  },
): DriverInputs {
  const { keeper, closing, over } = context;

  async function respond(key: string, response: unknown, origin: AnswerOrigin): Promise<void> {
    if (closing.aborted) throw new ClientClosedError();
    // Where another process is in charge, its record is the one to answer.
    await context.catchUp();
    if (over.aborted && !isOver(keeper.record)) throw removedError();
    const question = answerable(keeper.record, key, origin);
    const request = readQuestion(question);
    if (request === undefined)
      throw new InvalidInputResponseError("key", "the question can no longer be read");
    const checked = checkInputResponse(request, response);
    const { by, source } = origin;
    // Stored before it is sent; when the store refuses, nothing has happened.
    const { moved } = await keeper.apply(
      { type: "inputAnswered", key, digest: question.digest, response: checked, by, source },
      "must",
    );
    checkStored(moved.record, key, checked);
  }

  /** The person has answered, and is not asked again: what the store refuses now is stored later. */
  function respondInTheEnd(
    key: string,
    response: JsonObject,
    { signal, ...origin }: AnswerOrigin & { signal: AbortSignal },
  ): Promise<void> {
    let doubtful = false;
    const attempt = async (): Promise<void> => {
      // A write that failed may have been done all the same.
      if (doubtful && isAnswerOf(keeper.record, key, response)) return;
      await respond(key, response, origin);
    };
    return oneShot(attempt, {
      ...options.retry,
      signal,
      again: (error) => (doubtful = error instanceof StoreError) && !signal.aborted,
    });
  }

  const broker = createInputBroker({
    handler: options.onInputRequest,
    unanswered: options.unanswered,
    clock: options.clock,
    displayName: context.displayName,
    tell: context.tell,
    respond: respondInTheEnd,
  });
  return { ...broker, respond };
}
