/** Owns showing a task's questions to the host: each once per process life, side by side, withdrawn when over. */
import { CallbackError, TasksError } from "../errors.js";
import type { JsonObject } from "../internal/json.js";
import { readInputRequest, type ClientCapabilities, type InputRequest } from "../protocol/index.js";
import type { Question, TaskRecord } from "../task/record.js";
import { isOver } from "../task/transition.js";
import type { InputRequestHandler, TaskInputRequest, Tell } from "./types.js";

/** Everything that a server may ask: how questions are read where no handler says what it can answer. */
export const ALL_INPUTS: ClientCapabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

/** The broker of one task. */
export interface InputBroker {
  /** Shows what is newly open, withdraws what is no longer. */
  reconcile(record: TaskRecord): void;
  /** Withdraws everything that is shown, with this reason. */
  withdrawAll(record: TaskRecord, reason: unknown): void;
  /** The open questions as hosts see them. */
  open(record: TaskRecord): TaskInputRequest[];
}

interface Shown {
  readonly digest: string;
  readonly controller: AbortController;
  /** The handler's own answer is being stored: that ends the showing without a withdrawal. */
  answering: boolean;
}

export function createInputBroker(options: {
  handler: InputRequestHandler | undefined;
  displayName: () => Promise<string>;
  tell: Tell;
  /** Stores an answer, however long that takes, until the signal aborts; rejects when it does not fit. */
  respond: (
    key: string,
    response: JsonObject,
    showing: { digest: string; signal: AbortSignal },
  ) => Promise<void>;
}): InputBroker {
  const shown = new Map<string, Shown>();
  /** Whose answers are being stored, also once their questions are shown no more. */
  const storing = new Set<Shown>();
  let displayName: string | undefined;

  function show(record: TaskRecord, question: Question): void {
    const entry: Shown = { digest: question.digest, controller: new AbortController(), answering: false };
    shown.set(question.key, entry);
    void present(record, question, entry);
  }

  async function present(record: TaskRecord, question: Question, entry: Shown): Promise<void> {
    displayName ??= await options.displayName();
    if (entry.controller.signal.aborted) return;
    const request = publicRequest(record, question, entry.controller.signal);
    if (request === undefined) return;
    const { handler } = options;
    options.tell("input", { request, handled: handler !== undefined });
    if (handler === undefined) return;
    try {
      const response = await handler(request);
      // Deferred: it stays open, for whoever answers later.
      if (response === undefined || entry.controller.signal.aborted) return;
      entry.answering = true;
      storing.add(entry);
      await options.respond(question.key, response, { digest: entry.digest, signal: request.signal });
    } catch (error) {
      entry.answering = false;
      if (entry.controller.signal.aborted) return;
      options.tell("error", {
        error:
          error instanceof TasksError
            ? error
            : new CallbackError("onInputRequest failed; the question stays open", {
                cause: error,
              }),
        server: record.server,
        id: record.id,
      });
    } finally {
      storing.delete(entry);
    }
  }

  function publicRequest(
    record: TaskRecord,
    question: Question,
    signal: AbortSignal,
  ): TaskInputRequest | undefined {
    const request = readQuestion(question);
    if (request === undefined) return undefined;
    return {
      ...request,
      id: record.id,
      key: question.key,
      server: record.server,
      serverDisplayName: displayName ?? record.server,
      tool: record.tool,
      context: record.context,
      askedAt: new Date(question.askedAtMs),
      signal,
    };
  }

  function withdraw(record: TaskRecord, key: string, reason: unknown): void {
    const entry = shown.get(key);
    shown.delete(key);
    entry?.controller.abort(reason);
    options.tell("inputWithdrawn", { id: record.id, server: record.server, key });
  }

  return {
    reconcile(record) {
      const open = new Map(openQuestions(record).map((question) => [question.key, question]));
      for (const [key, entry] of shown) {
        if (open.get(key)?.digest === entry.digest) continue;
        if (entry.answering) shown.delete(key);
        else withdraw(record, key, withdrawnReason());
      }
      for (const question of open.values()) if (!shown.has(question.key)) show(record, question);
      // Nobody needs an answer any more, and nobody would end its storing later.
      if (isOver(record)) for (const entry of storing) entry.controller.abort(withdrawnReason());
    },
    withdrawAll(record, reason) {
      for (const key of [...shown.keys()]) withdraw(record, key, reason);
      for (const entry of storing) entry.controller.abort(reason);
    },
    open(record) {
      return openQuestions(record).flatMap((question) => {
        const signal = shown.get(question.key)?.controller.signal ?? new AbortController().signal;
        return publicRequest(record, question, signal) ?? [];
      });
    },
  };
}

/** The questions that wait for an answer: none of a task that is over (or given up, until it is gone on with). */
export function openQuestions(record: TaskRecord): Question[] {
  if (isOver(record)) return [];
  return record.questions.filter((question) => question.state === "open");
}

/** A stored question as a request, or undefined where it is over (its params are dropped). */
export function readQuestion(question: Question): InputRequest | undefined {
  const read = readInputRequest(question.method, question.params ?? {}, ALL_INPUTS);
  return read.ok ? read.request : undefined;
}

function withdrawnReason(): DOMException {
  return new DOMException("The input request was withdrawn", "AbortError");
}
