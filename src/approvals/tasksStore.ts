/** Owns the page's store of a person's calls, for any framework or none: one stream, one state, answers given once. It draws nothing. */
import { systemClock, systemRandom, type Clock } from "../internal/clock.js";
import { runGuarded } from "../internal/guard.js";
import { canonicalJson, isObject, whyNotJson, type JsonObject } from "../internal/json.js";
import { optionalFunction, refuseUnknown } from "../internal/options.js";
import { checkClock } from "./clockOption.js";
import { answerOutcome, cancelOutcome } from "./hostOutcomes.js";
import { createHostRequests, type StoreFetch, type StoreHeaders } from "./hostRequests.js";
import { createPageTasks, type Asked } from "./pageTasks.js";
import { readTask } from "./readView.js";
import { openStoreStream, type StoreStream, type StreamStatus } from "./storeStream.js";
import type { AnswerOutcome, CancelOutcome, TasksState, TasksStore } from "./storeTypes.js";
import { question } from "./taskFilter.js";
import { TasksStoreError } from "./tasksStoreError.js";
import type { AnswerView, InputView, SnapshotEvent } from "./wire.js";

export type { StoreFetch, StoreHeaders } from "./hostRequests.js";
export { approvalsOf, filterTasks } from "./taskFilter.js";
export { TasksStoreError } from "./tasksStoreError.js";

/** Options of {@link createTasksStore}. */
export interface TasksStoreOptions {
  /** Sent with every request. A function is asked for each one, also when the stream is opened again. */
  readonly headers?: StoreHeaders | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: StoreFetch | undefined;
  /** As of `fetch`; where the host is of another origin: `"include"` for its cookies. Default: fetch's own. */
  readonly credentials?: RequestCredentials | undefined;
  readonly clock?: Clock | undefined;
  /** In [0, 1). Default: the machine's. */
  readonly random?: (() => number) | undefined;
  /** What `GET tasks` answered, for server rendering: shown before the stream is there. */
  readonly initial?: SnapshotEvent | undefined;
}

/** Long enough for a view that is taken down and put up again, as React's Strict Mode does. */
const LINGER_MS = 1000;

const CREDENTIALS: readonly unknown[] = ["omit", "same-origin", "include"] satisfies RequestCredentials[];
const KNOWN = ["headers", "fetch", "credentials", "clock", "random", "initial"];

/**
 * The calls of whoever `authorize` says the page is. `url`: where the approvals handler is mounted, such as
 * `/approvals`. Nothing is requested before the first `subscribe`. Throws `TypeError` that names a wrong option.
 */
export function createTasksStore(url: string, options: TasksStoreOptions = {}): TasksStore {
  checkOptions(url, options);
  const { clock = systemClock, random = systemRandom, initial } = options;
  const { headers, fetch, credentials } = options;
  const requests = createHostRequests({ url, headers, fetch, credentials, clock });
  const tasks = createPageTasks(initial?.tasks ?? []);
  const first: TasksState = {
    connection: "idle",
    tasks: tasks.list,
    truncated: initial?.truncated === true,
    clockOffsetMs: 0,
    loaded: initial !== undefined,
  };
  let state = first;
  const listeners = new Set<{ readonly run: () => void }>();
  const answering = new Map<string, { response: string; outcome: Promise<AnswerOutcome> }>();
  const cancelling = new Map<string, Promise<CancelOutcome>>();
  let stream: StoreStream | undefined;
  let stopLingering: (() => void) | undefined;
  let closed = false;

  function set(changes: Partial<TasksState>): void {
    const { problem: _problem, ...rest } = state;
    // A problem lasts until the connection is said to be otherwise.
    const next = { ...("connection" in changes ? rest : state), ...changes, tasks: tasks.list };
    if (isSame(next, state)) return;
    state = next;
    // A listener that fails is a fault of the page: neither the others nor the stream are to suffer from it.
    for (const { run } of [...listeners]) runGuarded(run, tellThePage);
  }

  function onEvent(name: string, data: unknown): boolean {
    if (!isObject(data)) return false;
    const nowMs = clock.now();
    switch (name) {
      case "snapshot":
        if (!Array.isArray(data["tasks"])) return false;
        tasks.replace(data["tasks"], nowMs);
        set({ truncated: data["truncated"] === true, loaded: true, ...offsetOf(data["now"], nowMs) });
        return true;
      case "task":
        if (!tasks.put(data["task"], nowMs)) return false;
        set({});
        return true;
      case "removed":
        if (typeof data["id"] !== "string") return false;
        tasks.remove(data["id"]);
        set({});
        return true;
      default:
        return false;
    }
  }

  function open(): void {
    stopLingering?.();
    stopLingering = undefined;
    if (closed || stream !== undefined) return;
    stream = openStoreStream({
      requests,
      clock,
      random,
      onEvent,
      onStatus,
    });
  }

  function onStatus(connection: StreamStatus, problem: string | undefined): void {
    // What was shown is not for whoever sits there now. A network that fails says nothing about that.
    const isRefused = connection === "refused";
    if (isRefused) tasks.replace([], clock.now());
    set({
      connection,
      ...(problem === undefined ? {} : { problem }),
      ...(isRefused ? { loaded: false, truncated: false } : {}),
    });
  }

  function linger(): void {
    if (stream === undefined) return;
    stopLingering = clock.setTimer(LINGER_MS, () => {
      stopLingering = undefined;
      stop();
      set({ connection: "idle" });
    });
  }

  function stop(): void {
    stream?.stop();
    stream = undefined;
  }

  async function post(id: string, asked: Asked, response: JsonObject): Promise<AnswerOutcome> {
    const { key, version } = asked;
    const input = tasks.find(id)?.inputs.find((each) => question(id, each) === question(id, asked));
    const outcome = await answerOutcome(requests.post("answer", { id, key, version, response }));
    if (outcome.kind === "answered" || outcome.kind === "already-answered" || outcome.kind === "over") {
      const answer =
        outcome.kind === "answered" && input !== undefined
          ? answerView(input, response, outcome.answeredAt)
          : undefined;
      tasks.answered(id, asked, answer, clock.now());
      set({});
    }
    return outcome;
  }

  return {
    subscribe(listener) {
      if (typeof listener !== "function") throw new TypeError("listener: expected a function");
      const entry = { run: listener };
      listeners.add(entry);
      open();
      return () => {
        if (listeners.delete(entry) && listeners.size === 0 && !closed) linger();
      };
    },
    getSnapshot: () => state,
    getServerSnapshot: () => first,
    async answer(id, key, response, { version } = {}) {
      text("id", id);
      if (typeof key !== "string") throw new TypeError("key: expected a string");
      if (version !== undefined && typeof version !== "string")
        throw new TypeError("version: expected a string");
      checkJson("response", response);
      const shown = tasks.find(id)?.inputs.findLast((input) => input.key === key);
      const meant = version ?? shown?.version;
      if (meant === undefined)
        return {
          kind: "failed",
          message: "No such question is shown; give its version",
        };
      const asked = { key, version: meant };
      const mine = question(id, asked);
      const wanted = canonicalJson(response);
      const underWay = answering.get(mine);
      if (underWay !== undefined) {
        const outcome = await underWay.outcome;
        return underWay.response === wanted ? outcome : insteadOf(outcome);
      }
      const outcome = post(id, asked, response).finally(() => answering.delete(mine));
      answering.set(mine, { response: wanted, outcome });
      return outcome;
    },
    async cancel(id) {
      text("id", id);
      const underWay = cancelling.get(id);
      if (underWay !== undefined) return underWay;
      const outcome = cancelOutcome(requests.post("cancel", { id })).finally(() => cancelling.delete(id));
      cancelling.set(id, outcome);
      if ((await outcome).kind === "asked") {
        tasks.cancelAsked(id);
        set({});
      }
      return outcome;
    },
    async load(id, { signal } = {}) {
      text("id", id);
      const { body } = await requests.get("task", `id=${encodeURIComponent(id)}`, signal);
      const task = readTask(body);
      if (task === undefined) throw new TasksStoreError("The host's answer is not a call");
      return task;
    },
    refresh: () => stream?.refresh(),
    close() {
      if (closed) return;
      closed = true;
      stopLingering?.();
      stop();
      set({ connection: "closed" });
      listeners.clear();
    },
  };
}

/** What the page knows of an answer of its own, until the host tells it. */
function answerView(input: InputView, { action }: JsonObject, answeredAt: string): AnswerView {
  return {
    key: input.key,
    version: input.version,
    action: input.kind.startsWith("elicitation") && typeof action === "string" ? action : "answered",
    answeredAt,
    source: "respond",
    ...("message" in input ? { message: input.message.slice(0, 1000) } : {}),
  };
}

/** What a second, different answer comes to when the first one has had its end: it was not sent. */
function insteadOf(first: AnswerOutcome): AnswerOutcome {
  switch (first.kind) {
    case "answered":
      return { kind: "already-answered", answeredAt: first.answeredAt };
    case "already-answered":
    case "over":
    case "refused":
      return first;
    case "invalid":
    case "failed":
      return {
        kind: "failed",
        message: "Another answer to this question was under way; this one was not sent",
      };
  }
}

/** As if nobody had caught it. */
function tellThePage(error: unknown): void {
  if (typeof globalThis.reportError === "function") globalThis.reportError(error);
  else
    queueMicrotask(() => {
      throw error;
    });
}

/** Hosts and pages whose clocks differ by more than this tell no time. */
const MOST_OFFSET_MS = 10 * 366 * 86_400_000;

function offsetOf(now: unknown, nowMs: number): { clockOffsetMs?: number } {
  const hostMs = typeof now === "string" ? Date.parse(now) : NaN;
  if (Number.isNaN(hostMs)) return {};
  const offsetMs = hostMs - nowMs;
  return { clockOffsetMs: Math.abs(offsetMs) <= MOST_OFFSET_MS ? offsetMs : 0 };
}

function isSame(a: TasksState, b: TasksState): boolean {
  return (
    a.connection === b.connection &&
    a.problem === b.problem &&
    a.tasks === b.tasks &&
    a.truncated === b.truncated &&
    a.clockOffsetMs === b.clockOffsetMs &&
    a.loaded === b.loaded
  );
}

function checkOptions(url: string, options: TasksStoreOptions): void {
  text("url", url);
  if (!isObject(options)) throw new TypeError("options: expected an object");
  refuseUnknown("createTasksStore", options, KNOWN);
  const { headers, fetch, credentials, clock, random, initial } = options;
  if (headers !== undefined && typeof headers !== "function" && !isObject(headers))
    throw new TypeError("headers: expected an object, or a function that answers one");
  optionalFunction("fetch", fetch);
  if (credentials !== undefined && !CREDENTIALS.includes(credentials))
    throw new TypeError(`credentials: expected one of ${CREDENTIALS.join(", ")}`);
  optionalFunction("random", random);
  checkClock(clock);
  if (initial !== undefined && (!isObject(initial) || !Array.isArray(initial["tasks"])))
    throw new TypeError("initial: expected what GET tasks answers");
}

function text(name: string, value: unknown): void {
  if (typeof value !== "string" || value === "") throw new TypeError(`${name}: expected a non-empty string`);
}

function checkJson(name: string, value: unknown): void {
  if (!isObject(value)) throw new TypeError(`${name}: expected an object`);
  const reason = whyNotJson(value, name);
  if (reason !== undefined) throw new TypeError(`${name}: expected JSON, but ${reason}`);
}
