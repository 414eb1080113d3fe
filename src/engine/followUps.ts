/** Owns the requests about a task that exists: get, update, cancel; one at a time per task. */
import { InputNotTakenError, InvalidResponseError, RpcError, type TasksError } from "../errors.js";
import { linkSignals } from "../internal/abort.js";
import type { Clock } from "../internal/clock.js";
import { createLimiter } from "../internal/limiter.js";
import type { JsonObject } from "../internal/json.js";
import {
  inputResponsesObject,
  readCompleteAnswer,
  readTaskAnswer,
  RPC,
  type InputRequestEntry,
  type TaskSnapshot,
} from "../protocol/index.js";
import { openInputs, unsentKeys } from "../task/questions.js";
import type { Question } from "../task/record.js";
import { oneShot } from "./oneShot.js";
import { asTasksError, isRetryable, retryClass } from "./retryTable.js";
import type { RecordKeeper } from "./recordKeeper.js";
import type { ServerLane } from "./serverLane.js";
import type { EngineOptions, Tell } from "./types.js";

/** A poll that hangs yields to an answer or a cancel after this long. */
const YIELD_AFTER_MS = 1000;

/** The requests of one task. */
export interface FollowUps {
  /** One `tasks/get`. Rejects as the request does. */
  get(): Promise<TaskSnapshot>;
  /**
   * Sends every stored answer that was not acknowledged, until none is left or the task is over. Answers false where
   * one cannot be sent, which is reported. Never rejects.
   */
  sendAnswers(): Promise<boolean>;
  /** Asks for the cancellation until the server acknowledges it or the task is over. Never rejects. */
  sendCancel(): Promise<void>;
}

export function createFollowUps(context: {
  keeper: RecordKeeper;
  lane: ServerLane;
  /** Resolves once it is certain that this process still looks after the task; else `over` aborts first. */
  confirm: () => Promise<void>;
  options: Pick<EngineOptions, "clock" | "retry" | "requestTimeoutMs">;
  tell: Tell;
  /** Aborts when the task is over, another process took over, or the client closes. */
  over: AbortSignal;
}): FollowUps {
  const { keeper, options, over, lane } = context;
  const turn = createLimiter(1);
  const refusals = new Set<string>();
  let yieldPoll: (() => void) | undefined;
  /** JSON-RPC errors in a row in answer to `tasks/update`. */
  let refusedUpdates = 0;

  async function request(
    method: string,
    more: JsonObject,
    signal: AbortSignal,
    how: { openInputs?: readonly InputRequestEntry[]; beforeSend?: () => Promise<void> } = {},
  ): Promise<JsonObject> {
    await context.confirm();
    signal.throwIfAborted();
    return lane.request({
      method,
      params: { taskId: taskIdOf(keeper), ...more },
      signal,
      timeoutMs: options.requestTimeoutMs,
      ...how,
    });
  }

  /** Waits for a poll that is under way, but not for one that hangs: it can be repeated at no cost. */
  async function urgent<T>(run: () => Promise<T>): Promise<T> {
    const stop = yieldTimer(options.clock, () => yieldPoll?.());
    try {
      const release = await turn.acquire(over);
      try {
        return await run();
      } finally {
        release();
      }
    } finally {
      stop();
    }
  }

  async function repeated(method: string, attempt: () => Promise<void>): Promise<void> {
    await oneShot(() => urgent(attempt), {
      ...options.retry,
      signal: over,
      again: (error, attemptNumber) => {
        if (over.aborted || !isRetryable(error, method)) return false;
        reportRefusal(error, method);
        context.tell("retry", {
          id: keeper.record.id,
          server: keeper.record.server,
          method,
          retryClass: retryClass(error, method),
          attempt: attemptNumber,
          delayMs: Math.min(
            options.retry.minDelayMs * options.retry.factor ** (attemptNumber - 1),
            options.retry.maxDelayMs,
          ),
          error,
        });
        return true;
      },
    });
  }

  async function sendUpdate(select: () => string[], sent: { keys: string[] }): Promise<void> {
    await repeated("tasks/update", async () => {
      // Selected anew for every attempt: more answers may have come, others may be over.
      const keys = inTurn(select());
      sent.keys = keys;
      if (keys.length === 0) return;
      const wanted = new Set(keys);
      const chosen = keeper.record.questions.filter(({ key }) => wanted.has(key));
      const entries = chosen.flatMap(({ key, response }) =>
        response === undefined ? [] : ([[key, response]] as const),
      );
      // It may wait long for a server that is down, and a notice may tell meanwhile that another question is asked.
      const beforeSend = async (): Promise<void> => {
        if (!chosen.every(isStillToSend)) throw new OutdatedAnswers();
      };
      const more = { inputResponses: inputResponsesObject(entries) };
      try {
        const raw = await request("tasks/update", more, over, { beforeSend });
        readCompleteAnswer(raw, "tasks/update");
      } catch (error) {
        // Whoever sends answers selects anew as long as any is left.
        if (error instanceof OutdatedAnswers) return;
        if (error instanceof RpcError) refusedUpdates += 1;
        throw error;
      }
      refusedUpdates = 0;
      await keeper.apply({ type: "updateAcked", keys });
    });
  }

  function isStillToSend({ key, digest, response }: Question): boolean {
    const now = keeper.record.questions.find((question) => question.key === key);
    return (
      now?.state === "answered" &&
      now.digest === digest &&
      JSON.stringify(now.response) === JSON.stringify(response)
    );
  }

  /** One answer that a server fails over, by whatever error, is not to hold up the others: then they go in turn. */
  function inTurn(keys: string[]): string[] {
    if (refusedUpdates === 0 || keys.length < 2) return keys;
    const at = (refusedUpdates - 1) % keys.length;
    return keys.slice(at, at + 1);
  }

  async function sendRefused(keys: readonly string[], error: RpcError): Promise<void> {
    if (keys.length > 1) {
      // One bad answer makes a server refuse them all: the good ones go alone.
      for (const key of keys)
        await sendSome(() => unsentKeys(keeper.record.questions).filter((k) => k === key));
      return;
    }
    const [key] = keys;
    if (key === undefined) return;
    await keeper.apply({ type: "updateRefused", key });
    report(new InputNotTakenError("The server refused the answer to an input request", { cause: error }));
  }

  async function sendSome(select: () => string[]): Promise<void> {
    const sent = { keys: [] as string[] };
    try {
      await sendUpdate(select, sent);
    } catch (error) {
      if (over.aborted) return;
      // What was refused is what was sent: an answer that came meanwhile has its own try.
      if (error instanceof RpcError) return sendRefused(sent.keys, error);
      // Nothing that repeating could mend; the answer stays stored and is sent again by the next process.
      report(new InvalidResponseError("tasks/update could not be sent", { cause: error }));
      throw error;
    }
  }

  /** A server that refuses a method as a whole needs a person; the retries go on, since servers get mended. */
  function reportRefusal(error: unknown, method: string): void {
    if (retryClass(error, method) !== "refused" || refusals.has(method)) return;
    refusals.add(method);
    report(asTasksError(error, `${method} is refused by the server`));
  }

  function report(error: TasksError): void {
    context.tell("error", { error, server: keeper.record.server, id: keeper.record.id });
  }

  return {
    async get() {
      const release = await turn.acquire(over);
      const link = linkSignals(over);
      yieldPoll = () => link.abort(new YieldedPoll());
      try {
        const raw = await request("tasks/get", {}, link.signal, {
          openInputs: openInputs(keeper.record.questions),
        });
        return readTaskAnswer(raw, taskIdOf(keeper));
      } finally {
        yieldPoll = undefined;
        link.release();
        release();
      }
    },
    async sendAnswers() {
      try {
        while (!over.aborted && unsentKeys(keeper.record.questions).length > 0) {
          await sendSome(() => unsentKeys(keeper.record.questions));
        }
        return true;
      } catch {
        // Reported in sendSome.
        return false;
      }
    },
    async sendCancel() {
      try {
        await repeated("tasks/cancel", async () => {
          const raw = await request("tasks/cancel", {}, over);
          readCompleteAnswer(raw, "tasks/cancel");
        });
      } catch (error) {
        if (over.aborted) return;
        // -32602: over or unknown already. Either way the polls find out how it ended.
        const expected = error instanceof RpcError && error.rpcCode === RPC.invalidParams;
        if (!expected) {
          report(new InvalidResponseError("The server did not take the request to cancel", { cause: error }));
        }
      }
      await keeper.apply({ type: "cancelAcked" });
    },
  };
}

/** Why answers were not sent after all: one of them is not the answer any more, or the question is over. */
class OutdatedAnswers extends Error {}

/** Why a poll ended that was in the way: no failure, it just comes again. */
export class YieldedPoll extends Error {
  constructor() {
    super("A more urgent request came first");
  }
}

function taskIdOf(keeper: RecordKeeper): string {
  const { taskId } = keeper.record;
  if (taskId === undefined) throw new TypeError("there is no task yet");
  return taskId;
}

function yieldTimer(clock: Clock, run: () => void): () => void {
  return clock.setTimer(YIELD_AFTER_MS, run);
}
