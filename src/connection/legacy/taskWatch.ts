/** Owns one task of an earlier server: its states, its outcome and its questions, told as our revision tells them. */
import { ConnectionError, RpcError, TaskNotFoundError } from "../../errors.js";
import type { Clock } from "../../internal/clock.js";
import { isObject, type JsonObject } from "../../internal/json.js";
import { RPC } from "../../protocol/index.js";
import { legacyParams, modernTask, plainResult } from "../../protocol/legacy.js";
import type { RequestOptions } from "../types.js";
import { createNews } from "./news.js";
import { createPayloadStream, isToolResult } from "./payloadStream.js";
import { asInputRequests, createQuestionBook } from "./questionBook.js";
import { isMethodNotFound } from "./toolListing.js";
import type { ChannelRequestOptions, LegacyChannel, ServerRequest } from "./types.js";

/** How long a poll waits for the question that the server says it has. Later ones are shown by the next poll. */
const QUESTION_WAIT_MS = 500;
/** How long an answer waits for its question to be asked again; the engine repeats it, and polls in between. */
const ASKED_AGAIN_WAIT_MS = 5000;

/** One task. */
export interface TaskWatch {
  /** The state as `tasks/get` of our revision shows it: questions, result or error included. */
  get(options: RequestOptions & ChannelRequestOptions): Promise<JsonObject>;
  /** Delivers an answer. Resolves when it was sent or nothing asks for it; rejects with `ConnectionError` when it has to be repeated. */
  answer(key: string, response: JsonObject, options: ChannelRequestOptions): Promise<void>;
  ask(request: ServerRequest): void;
  takeBack(id: string | number): boolean;
  /** Another task's question has the id now. */
  disown(id: string | number): void;
  /** The handle's own state. */
  begin(handle: JsonObject): void;
  /** A state that the server told by itself. */
  told(raw: JsonObject): void;
  /** True once the task was seen over. */
  readonly isOver: boolean;
  /** True while the server may ask, or waits for an answer: what it asked, it may not ask again. */
  readonly isOpen: boolean;
  sessionEnded(): void;
  stop(): void;
}

/** `onNews` hears states as `notifications/tasks` would tell them. */
export function createTaskWatch(context: {
  channel: LegacyChannel;
  taskId: string;
  clock: Clock;
  timeoutMs: number;
  isListened: () => boolean;
  onNews: (snapshot: JsonObject) => void;
}): TaskWatch {
  const { channel, taskId, clock, onNews } = context;
  /** The newest state, without questions and payload. */
  let last: JsonObject | undefined;
  /** False once a poll of this session showed that the task waits for nobody. */
  let asking: boolean | undefined;
  let over = false;
  /** True once a notice told the end, until the next poll: its outcome was asked for. */
  let endTold = false;
  /** True when the host tells which questions it holds: what is not in the book is then asked by nobody. */
  let complete = false;
  const news = createNews(clock);
  const book = createQuestionBook(channel, () => {
    news.ring();
    if (last !== undefined && !over) onNews(withQuestions(last));
  });
  const stream = createPayloadStream(channel, taskId, {
    clock,
    onEnd() {
      news.ring();
      const outcome = outcomeSeen();
      if (outcome !== undefined) onNews(outcome);
    },
  });

  async function get(options: RequestOptions & ChannelRequestOptions): Promise<JsonObject> {
    const outcome = outcomeSeen();
    if (outcome !== undefined) return outcome;
    if (options.openInputs !== undefined) {
      complete = true;
      book.recall(options.openInputs);
    }
    endTold = false;
    const couldAsk = stream.isOpen;
    stream.pollStarted();
    const raw = await channel.request("tasks/get", legacyParams({ taskId }, options.meta), sending(options));
    const state = modernTask(raw);
    // Whose state this is, the reader of the answer finds out.
    if (state["taskId"] !== taskId) return state;
    take(state);
    switch (state["status"]) {
      case "completed":
      case "failed":
        return ended(state, options, raw);
      case "cancelled":
        return finish(state);
      default:
        book.polled({ asking: asking === true, couldAsk });
        if (asking === true && !book.hasLive) stream.leaveSilent();
        if (asking === true && stream.open() && !book.hasLive) {
          await news.next(QUESTION_WAIT_MS, options.signal);
        }
        return outcomeSeen() ?? withQuestions(state);
    }
  }

  /** The newest state. What was asked for is believed whatever its time: the server's clock, or a notice, may be wrong. */
  function take(state: JsonObject): void {
    last = state;
    asking = state["status"] === "input_required";
  }

  function withQuestions(state: JsonObject): JsonObject {
    const waits = state["status"] === "input_required";
    const entries = book.open(waits);
    if (entries.length === 0 && !(waits && complete)) return state;
    return { ...state, status: "input_required", inputRequests: asInputRequests(entries) };
  }

  /** `tasks/result` answers only when the task is over, and with what the call would have answered: also its failure. */
  function outcomeSeen(): JsonObject | undefined {
    const { payload } = stream;
    if (payload === undefined || !isToolResult(payload) || last?.["status"] === "cancelled") return undefined;
    return finish({ ...(last ?? { taskId }), status: "completed", result: plainResult(payload) });
  }

  /** `raw`: the state as it came, where it was asked for. */
  async function ended(
    state: JsonObject,
    options: ChannelRequestOptions,
    raw: JsonObject = {},
  ): Promise<JsonObject> {
    const failed = state["status"] === "failed";
    try {
      const payload = await stream.fetch(options);
      if (isToolResult(payload) || !failed) {
        return finish({ ...state, status: "completed", result: plainResult(payload) });
      }
    } catch (error) {
      if (options.signal?.aborted === true) throw error;
      // Some servers have no `tasks/result`, and tell the outcome with the state, as the revision after this one does.
      const told = isMethodNotFound(error) ? carried(raw) : undefined;
      if (told !== undefined) return finish({ ...state, ...told });
      if (!failed || !isOfTask(error)) throw outcomeGone(error, failed);
      const { rpcCode: code, data } = error;
      // Official servers say here that they have no result; why it failed is in the state.
      const why = code === RPC.internalError ? state["statusMessage"] : undefined;
      const message = typeof why === "string" && why !== "" ? why : error.message;
      return finish({
        ...state,
        error: { code, message, ...(data !== undefined && { data: data as JsonObject }) },
      });
    }
    return finish({ ...state, error: { code: RPC.internalError, message: textOr(state["statusMessage"]) } });
  }

  function finish(state: JsonObject): JsonObject {
    over = true;
    last = state;
    stream.stop();
    book.close();
    news.ring();
    return state;
  }

  async function answer(key: string, response: JsonObject, options: ChannelRequestOptions): Promise<void> {
    const offered = await book.offer(key, response);
    if (offered.state !== "waits" || over) return;
    if (asking === false && !book.hasLive) return book.polled({ asking: false, couldAsk: true });
    const seen = { sent: false };
    void offered.sent.then(() => {
      seen.sent = true;
      news.ring();
    });
    stream.open();
    const until = clock.monotonic() + Math.min(options.timeoutMs, ASKED_AGAIN_WAIT_MS);
    const isDone = (): boolean => seen.sent || outcomeSeen() !== undefined;
    while (!isDone() && stream.isOpen) {
      const leftMs = until - clock.monotonic();
      if (leftMs <= 0) break;
      await news.next(leftMs, options.signal);
    }
    if (isDone()) return;
    // It is kept: when the question comes before the next attempt, it has its answer.
    throw new ConnectionError("The server has not asked again what the answer is for", { mayHaveRun: false });
  }

  function told(raw: JsonObject): void {
    const state = modernTask(raw);
    if (state["taskId"] !== taskId || over || isOlder(state, last)) return;
    take(state);
    if (asking === true) stream.open();
    if (context.isListened()) void tell(state);
  }

  async function tell(state: JsonObject): Promise<void> {
    const { status } = state;
    if (status === "cancelled") return onNews(finish(state));
    if (status !== "completed" && status !== "failed") return onNews(withQuestions(state));
    if (endTold) return;
    endTold = true;
    try {
      onNews(await ended(state, { timeoutMs: context.timeoutMs }));
    } catch {
      // Without its payload it proves nothing, and is what makes the next poll come.
      onNews(state);
    }
  }

  return {
    get,
    answer,
    ask(request) {
      stream.heard();
      book.ask(request);
    },
    takeBack: (id) => book.takeBack(id),
    disown: (id) => book.disown(id),
    begin(handle) {
      take(modernTask(handle));
    },
    told,
    get isOver() {
      return over;
    },
    get isOpen() {
      return stream.isOpen || book.hasLive;
    },
    sessionEnded() {
      asking = undefined;
      book.sessionEnded();
      stream.sessionEnded();
      news.ring();
    },
    stop() {
      stream.stop();
      book.close();
      news.ring();
    },
  };
}

/** What the channel needs of a request's options. */
export function sending(options: RequestOptions & ChannelRequestOptions): ChannelRequestOptions {
  const { signal, timeoutMs, headers, onNotice } = options;
  return { signal, timeoutMs, headers, onNotice };
}

/** Unreadable times prove nothing. */
function isOlder(state: JsonObject, before: JsonObject | undefined): boolean {
  const [mine, theirs] = [state["lastUpdatedAt"], before?.["lastUpdatedAt"]];
  return typeof mine === "string" && typeof theirs === "string" && Date.parse(mine) < Date.parse(theirs);
}

/** The outcome that a state bears itself. */
function carried({ result, error }: JsonObject): JsonObject | undefined {
  if (isObject(result) && isToolResult(result)) return { status: "completed", result: plainResult(result) };
  return isObject(error) ? { status: "failed", error } : undefined;
}

/** The error that the call would have had; one that comes with a status of HTTP is of the way to the server. */
function isOfTask(error: unknown): error is RpcError {
  return error instanceof RpcError && (error.status ?? 200) < 400;
}

/** A completed task whose outcome the server no longer knows is gone. */
function outcomeGone(error: unknown, failed: boolean): unknown {
  if (failed || !isOfTask(error) || error.rpcCode !== RPC.invalidParams) return error;
  return new TaskNotFoundError(
    { code: error.rpcCode, message: error.message, data: error.data },
    { cause: error },
  );
}

function textOr(statusMessage: unknown): string {
  return typeof statusMessage === "string" ? statusMessage : "The task failed; the server gave no error";
}
