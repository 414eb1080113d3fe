/**
 * Owns the questions of one task: which request of the server is which question, and which answer goes to which. That
 * revision gives questions no keys of their own, so they are made here. It decides nothing about the task.
 */
import { ConnectionError } from "../../errors.js";
import { createDeferred, type Deferred } from "../../internal/deferred.js";
import { randomId, sha256 } from "../../internal/ids.js";
import { canonicalJson, type JsonObject } from "../../internal/json.js";
import { MAX_INPUT_REQUESTS, RPC, type InputRequestEntry } from "../../protocol/index.js";
import { questionParams } from "../../protocol/legacy.js";
import type { LegacyChannel, ServerRequest } from "./types.js";

/** A key is `<digest of the question>.<random per process>.<counter>`: a later process finds the question by its digest. */
const KEY = /^([\w-]{43})\.[\w-]+\.\d+$/;
/** Polls over which a question of an earlier session is waited for, once the server asks others in this one. */
const POLLS_WAITED = 2;

/** What became of an answer: it was sent, nothing asks for it, or its question must be asked again first. */
export type Offered =
  { readonly state: "sent" | "not-asked" } | { readonly state: "waits"; readonly sent: Promise<void> };

/** The questions of one task. */
export interface QuestionBook {
  /** The server asks. What it asked before, and still has no answer to, is the same question. */
  ask(request: ServerRequest): void;
  /** The server takes a request back. False where it is none of this task. */
  takeBack(id: string | number): boolean;
  /** The server uses the id for another question, of this task or another: what had it is not asked under it any more. */
  disown(id: string | number): void;
  /** The ids of requests mean nothing any more. What they asked stays open, to be asked again. */
  sessionEnded(): void;
  /** Questions that the host holds from before, as open or as answered but not acknowledged. */
  recall(entries: readonly InputRequestEntry[]): void;
  /** The open questions. `asking`: the server says that the task waits for input. */
  open(asking: boolean): readonly InputRequestEntry[];
  /**
   * A poll was answered. Questions of an earlier session are over when the task does not wait for input, or when the
   * server asks others in this one: it could have asked them again. `couldAsk`: it had the stream for that.
   */
  polled(state: { asking: boolean; couldAsk: boolean }): void;
  /** True while a request of this session waits for its answer. */
  readonly hasLive: boolean;
  /** Rejects with `ConnectionError` when the answer did not reach the server. */
  offer(key: string, response: JsonObject): Promise<Offered>;
  /** Nothing is asked any more: answers that wait are for nobody. */
  close(): void;
}

interface Asked {
  readonly key: string;
  readonly digest: string;
  readonly method: string;
  /** Unknown while only an answer to it is known. */
  params: JsonObject | undefined;
  /** The requests of this session that ask it. None: it was asked in an earlier one. */
  readonly ids: Set<string | number>;
  /** An answer that waits for the question. */
  response: JsonObject | undefined;
  readonly sent: Deferred<void>;
  sending: Promise<void> | undefined;
  polls: number;
}

export function createQuestionBook(channel: LegacyChannel, onChange: () => void): QuestionBook {
  const process = randomId();
  const asked: Asked[] = [];
  /** Keys that were answered, or taken back: never shown again. */
  const over = new Set<string>();
  /** Requests whose digest is being made. */
  const arriving = new Map<string | number, ServerRequest>();
  let counter = 0;
  let order: Promise<void> = Promise.resolve();

  async function place(request: ServerRequest): Promise<void> {
    const params = questionParams(request.params);
    const digest = await digestOf(request.method, params);
    // Taken back meanwhile, or of a session that has ended.
    if (arriving.get(request.id) !== request) return;
    arriving.delete(request.id);
    const question = asked.find((each) => each.digest === digest) ?? add(undefined, digest, request.method);
    question.params ??= params;
    // Ids should differ. Where they do not, an answer must not go to what it was not given for.
    for (const each of asked) if (each !== question) each.ids.delete(request.id);
    question.ids.add(request.id);
    question.polls = 0;
    const { response } = question;
    if (response === undefined) onChange();
    // The answer was given in an earlier session; nobody is asked again.
    else await send(question, response).catch(() => undefined);
  }

  function add(key: string | undefined, digest: string, method: string): Asked {
    counter += 1;
    const question: Asked = {
      key: key ?? `${digest}.${process}.${counter}`,
      digest,
      method,
      params: undefined,
      ids: new Set(),
      response: undefined,
      sent: createDeferred(),
      sending: undefined,
      polls: 0,
    };
    asked.push(question);
    return question;
  }

  /** It would not be shown, and the server would wait for ever. */
  function refuse({ id }: ServerRequest): void {
    const error = { code: RPC.internalError, message: "Too many questions of one task are open" };
    void channel.answer(id, { error }).catch(() => undefined);
  }

  function end(question: Asked): void {
    const at = asked.indexOf(question);
    if (at >= 0) asked.splice(at, 1);
    over.add(question.key);
    question.sent.resolve();
  }

  function send(question: Asked, response: JsonObject): Promise<void> {
    return (question.sending ??= sendToAll(question, response).finally(() => (question.sending = undefined)));
  }

  /** Also to a request that repeats the question while the answer is on its way. */
  async function sendToAll(question: Asked, response: JsonObject): Promise<void> {
    const told = new Set<string | number>();
    try {
      const nextId = (): string | number | undefined =>
        [...question.ids].find((id) => !told.has(id) && !arriving.has(id));
      for (let id = nextId(); id !== undefined; id = nextId()) {
        await channel.answer(id, { result: response });
        told.add(id);
      }
    } catch (error) {
      // One request has the answer: the question is answered.
      if (told.size === 0) throw error;
    }
    if (told.size === 0) throw sessionOver();
    end(question);
  }

  return {
    ask(request) {
      if (arriving.size + asked.length >= MAX_INPUT_REQUESTS) return refuse(request);
      arriving.set(request.id, request);
      order = order.then(() => place(request)).catch(() => undefined);
    },
    takeBack(id) {
      if (arriving.delete(id)) return true;
      const question = asked.find(({ ids }) => ids.has(id));
      if (question === undefined) return false;
      question.ids.delete(id);
      if (question.ids.size === 0) {
        end(question);
        onChange();
      }
      return true;
    },
    disown(id) {
      arriving.delete(id);
      for (const { ids } of asked) ids.delete(id);
    },
    sessionEnded() {
      arriving.clear();
      for (const question of asked) question.ids.clear();
    },
    recall(entries) {
      for (const [key, { method, params }] of entries) {
        const digest = KEY.exec(key)?.[1];
        if (digest === undefined || over.has(key)) continue;
        const known = asked.find((each) => each.key === key || each.digest === digest);
        const question = known ?? add(key, digest, method);
        question.params ??= params;
      }
    },
    open(asking) {
      return asked
        .filter(({ ids, params }) => params !== undefined && (asking || ids.size > 0))
        .map(({ key, method, params }) => [key, { method, params: params ?? {} }] as const);
    },
    polled({ asking, couldAsk }) {
      const asksOthers = couldAsk && asked.some(({ ids }) => ids.size > 0);
      for (const question of asked.filter(({ ids }) => ids.size === 0)) {
        if (asksOthers) question.polls += 1;
        if (!asking || question.polls >= POLLS_WAITED) end(question);
      }
    },
    get hasLive() {
      return asked.some(({ ids }) => ids.size > 0);
    },
    async offer(key, response) {
      // A request may be on its way into the book.
      await order;
      const digest = KEY.exec(key)?.[1];
      if (over.has(key) || digest === undefined) return { state: "not-asked" };
      const question =
        asked.find((each) => each.key === key) ??
        asked.find((each) => each.digest === digest) ??
        add(key, digest, "");
      if (question.ids.size > 0) {
        await send(question, response);
        over.add(key);
        return { state: "sent" };
      }
      question.response = response;
      return { state: "waits", sent: question.sent.promise };
    },
    close() {
      arriving.clear();
      for (const question of [...asked]) end(question);
    },
  };
}

/** Trace context and the like differ each time the same thing is asked. */
async function digestOf(method: string, params: JsonObject): Promise<string> {
  const { _meta: _own, ...rest } = params;
  return sha256(canonicalJson([method, rest]));
}

function sessionOver(): ConnectionError {
  return new ConnectionError("The session ended before the answer was sent", { mayHaveRun: false });
}

/** Where questions come from one by one, they are an object on the wire of our revision. */
export function asInputRequests(entries: readonly InputRequestEntry[]): JsonObject {
  return Object.fromEntries(entries.map(([key, request]) => [key, { ...request }]));
}
