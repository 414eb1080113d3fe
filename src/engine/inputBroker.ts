/** Owns showing a task's questions to the host: each once per process life, side by side, withdrawn when over. */
import { CallbackError, TasksError } from "../errors.js";
import type { Clock, StopTimer } from "../internal/clock.js";
import type { JsonObject } from "../internal/json.js";
import {
  readInputRequest,
  readServerName,
  type ClientCapabilities,
  type InputRequest,
} from "../protocol/index.js";
import { versionOf } from "../task/answers.js";
import type { AnswerSource, Question, TaskRecord } from "../task/record.js";
import { isOver } from "../task/transition.js";
import { planAnswer, windowLeftMs, type PlannedAnswer } from "./answerWindow.js";
import type { InputRequestHandler, TaskInputRequest, Tell, UnansweredPolicy } from "./types.js";

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
  /** What the host's policy will answer, and when; "not-asked" until the policy has been asked. */
  planned: (PlannedAnswer & { leftMs: number; at: Date; action: string }) | undefined | "not-asked";
  stopWindow: StopTimer | undefined;
}

export function createInputBroker(options: {
  handler: InputRequestHandler | undefined;
  unanswered: UnansweredPolicy;
  clock: Clock;
  displayName: () => Promise<string>;
  tell: Tell;
  /** Stores an answer, however long that takes, until the signal aborts; rejects when it does not fit. */
  respond: (
    key: string,
    response: JsonObject,
    showing: { digest: string; signal: AbortSignal; source: AnswerSource },
  ) => Promise<void>;
}): InputBroker {
  const shown = new Map<string, Shown>();
  /** What is read without being shown here, by version: the policy is not asked anew by every reader. */
  let aside = new Map<string, Shown>();
  /** Whose answers are being stored, also once their questions are shown no more. */
  const storing = new Set<Shown>();
  let displayName: string | undefined;

  function show(record: TaskRecord, question: Question): void {
    const entry = shownNow(question);
    shown.set(question.key, entry);
    void present(record, question, entry);
  }

  async function present(record: TaskRecord, question: Question, entry: Shown): Promise<void> {
    displayName ??= await options.displayName();
    if (entry.controller.signal.aborted) return;
    const request = publicRequest(record, question, entry);
    if (request === undefined) return;
    openWindow(record, question, entry);
    const { handler } = options;
    options.tell("input", { request, handled: handler !== undefined });
    if (handler === undefined) return;
    try {
      const response = await handler(request);
      // Deferred: it stays open, for whoever answers later.
      if (response === undefined || entry.controller.signal.aborted) return;
      entry.answering = true;
      storing.add(entry);
      await options.respond(question.key, response, {
        digest: entry.digest,
        signal: request.signal,
        source: "handler",
      });
    } catch (error) {
      entry.answering = false;
      if (entry.controller.signal.aborted) return;
      report(record, error, "onInputRequest failed; the question stays open");
    } finally {
      storing.delete(entry);
    }
  }

  /** Starts the time after which the host's policy answers. */
  function openWindow(record: TaskRecord, question: Question, entry: Shown): void {
    const planned = entry.planned === "not-asked" ? undefined : entry.planned;
    if (planned === undefined) return;
    entry.stopWindow = options.clock.setTimer(planned.leftMs, () => {
      // Somebody was there after all: what is being stored is not to be overtaken.
      if (entry.answering || entry.controller.signal.aborted) return;
      const { signal } = entry.controller;
      options
        .respond(question.key, planned.response, { digest: entry.digest, signal, source: "policy" })
        .catch((error: unknown) => {
          if (!signal.aborted) report(record, error, "What unanswered says could not be stored");
        });
    });
  }

  /** What the policy says of a question; asked once per showing. */
  function plan(record: TaskRecord, question: Question, request: TaskInputRequest, entry: Shown): void {
    try {
      const planned = planAnswer(options.unanswered, request);
      if (planned === undefined) return void (entry.planned = undefined);
      const nowMs = options.clock.now();
      const leftMs = windowLeftMs(planned, question.askedAtMs, nowMs);
      // Read here, where a host's object may throw: whoever reads the question is not to meet that.
      const { action } = planned.response;
      entry.planned = {
        ...planned,
        leftMs,
        at: new Date(nowMs + leftMs),
        action: typeof action === "string" ? action : "answered",
      };
    } catch (error) {
      entry.planned = undefined;
      report(record, error, "unanswered failed; the question stays open");
    }
  }

  function report(record: TaskRecord, error: unknown, what: string): void {
    options.tell("error", {
      error: error instanceof TasksError ? error : new CallbackError(what, { cause: error }),
      server: record.server,
      id: record.id,
    });
  }

  function publicRequest(record: TaskRecord, question: Question, entry: Shown): TaskInputRequest | undefined {
    const read = readQuestion(question);
    if (read === undefined) return undefined;
    const request: TaskInputRequest = {
      ...read,
      id: record.id,
      key: question.key,
      version: versionOf(question),
      ...(question.state === "refused" ? { refused: true } : {}),
      server: record.server,
      // Of another process's call only the record tells.
      serverDisplayName: displayName ?? readServerName(record.snapshot?.["_meta"]) ?? record.server,
      tool: record.tool,
      context: record.context,
      askedAt: new Date(question.askedAtMs),
      signal: entry.controller.signal,
    };
    if (entry.planned === "not-asked") plan(record, question, request, entry);
    const { planned } = entry;
    if (planned === undefined || planned === "not-asked") return request;
    return { ...request, unanswered: { at: planned.at, action: planned.action } };
  }

  function withdraw(record: TaskRecord, key: string, reason: unknown): void {
    const entry = shown.get(key);
    shown.delete(key);
    entry?.stopWindow?.();
    entry?.controller.abort(reason);
    options.tell("inputWithdrawn", { id: record.id, server: record.server, key });
  }

  return {
    reconcile(record) {
      const open = new Map(openQuestions(record).map((question) => [question.key, question]));
      for (const [key, entry] of shown) {
        if (open.get(key)?.digest === entry.digest) continue;
        if (entry.answering) {
          entry.stopWindow?.();
          shown.delete(key);
        } else withdraw(record, key, withdrawnReason());
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
      const seen = new Map<string, Shown>();
      const read = answerableQuestions(record).flatMap((question) => {
        const entry = shown.get(question.key) ?? aside.get(versionOf(question)) ?? shownNow(question);
        if (entry !== shown.get(question.key)) seen.set(versionOf(question), entry);
        return publicRequest(record, question, entry) ?? [];
      });
      aside = seen;
      return read;
    },
  };
}

/** The questions that wait for an answer: none of a task that is over (or given up, until it is gone on with). */
export function openQuestions(record: TaskRecord): Question[] {
  if (isOver(record)) return [];
  return record.questions.filter((question) => question.state === "open");
}

/** The questions that `respond` takes an answer to: the open ones, and those whose answer the server refused. */
export function answerableQuestions(record: TaskRecord): Question[] {
  if (isOver(record)) return [];
  return record.questions.filter(
    ({ state, params }) => state === "open" || (state === "refused" && params !== undefined),
  );
}

/** A stored question as a request, or undefined where it is over (its params are dropped). */
export function readQuestion(question: Question): InputRequest | undefined {
  const read = readInputRequest(question.method, question.params ?? {}, ALL_INPUTS);
  return read.ok ? read.request : undefined;
}

function shownNow({ digest }: Question): Shown {
  return {
    digest,
    controller: new AbortController(),
    answering: false,
    planned: "not-asked",
    stopWindow: undefined,
  };
}

function withdrawnReason(): DOMException {
  return new DOMException("The input request was withdrawn", "AbortError");
}
