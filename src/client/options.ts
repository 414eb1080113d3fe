/** Owns what hosts may set, the defaults, and the checks: a wrong option is a TypeError that names it and its value. */
import { checkWindow } from "../engine/answerWindow.js";
import { ALL_INPUTS } from "../engine/inputBroker.js";
import type {
  EngineOptions,
  InputRequestHandler,
  PushPolicy,
  SettledHandler,
  UnansweredPolicy,
} from "../engine/types.js";
import { isClock, systemClock, systemRandom, type Clock } from "../internal/clock.js";
import { isObject } from "../internal/json.js";
import { refuseUnknown } from "../internal/options.js";
import { TASKS_EXTENSION, type ClientCapabilities, type ClientInfo } from "../protocol/index.js";
import type { StoreInput } from "../store/types.js";
import type { PollPolicy } from "../task/policy.js";
import { VERSION } from "../version.js";

/** Options of {@link TaskClient}. All times are in milliseconds. */
export interface TaskClientOptions {
  /**
   * Where calls and tasks are kept: a Keyv, any Keyv storage adapter, a Map, or `encryptedStore(...)`. Default: memory,
   * which does not survive a restart. The client never closes it.
   */
  readonly store?: StoreInput;
  /** Whose tasks these are (the principal, a tenant). Part of every store key; scopes never see each other. Default `"default"`. */
  readonly scope?: string;
  /**
   * Puts the server's questions to a person or a model. With it, requests declare elicitation (form and URL), sampling
   * and roots, unless `capabilities` says otherwise. Without it nothing is declared, and questions that come all the
   * same stay open for `respond`. Never called twice for one question in one process life.
   */
  readonly onInputRequest?: InputRequestHandler;
  /**
   * What becomes of a question when nobody is there to answer it. `"keep-open"` (the default): it waits, as long as the
   * task does. `{ afterMs, response }`: so long after it was asked, an elicitation is answered with `response` (default
   * `{ action: "cancel" }`: dismissed), whether or not a handler still waits for a person. A function says it for each
   * question, sampling and roots included. Nothing is ever accepted unless `response` says so. Such an answer counts
   * like any other (the first one stands) and is told as `source: "policy"`. The time runs on while no process lives;
   * but a process that shows the question again leaves people a minute of it, or the whole window where that is shorter.
   */
  readonly unanswered?: UnansweredPolicy;
  /** Takes outcomes: at least once per call, also after a restart, until it resolves. */
  readonly onSettled?: SettledHandler;
  /**
   * What requests declare beside the tasks extension, in place of what `onInputRequest` implies:
   * `{ elicitation?: { form?: {}, url?: {} }, sampling?: {}, roots?: {} }`.
   */
  readonly capabilities?: ClientCapabilities;
  /** Who the client says it is. Default: this package's name and version. */
  readonly clientInfo?: ClientInfo;
  readonly poll?: Partial<PollPolicy> & {
    /** Ends the watch of a task after this long as `gave-up` (never as failed). Default: never. */
    readonly giveUpAfterMs?: number;
  };
  /**
   * Notices of the server instead of most polls (`subscriptions/listen`): one stream per server for all its tasks,
   * where the server and the connection offer it; else every task is polled. `"auto"` (the default): for tasks that
   * outlive their first interval. `"always"`: as soon as there is a task. `"off"`: never. Or an object: `mode` is one
   * of these words; a stream without a sign of life for `idleMs` (90 000) is replaced; its acknowledgement may take
   * `ackTimeoutMs` (10 000); after `maxFailures` (5) streams in a row that failed, brought no notice and lived less
   * than `minLifeMs` (30 000), push rests for `cooldownMs` (300 000). Pushed tasks are still polled every
   * `safetyPollMs` (60 000) or ten intervals, whichever is longer, and when their time to live ends.
   */
  readonly push?: PushPolicy["mode"] | Partial<PushPolicy>;
  readonly retry?: Partial<EngineOptions["retry"]>;
  /** Requests at once per server, calls and follow-ups counted apart; first come, first served. Default 16. */
  readonly concurrency?: number;
  /** Without a sign of life, until a follow-up request counts as failed. Default 30 000. */
  readonly requestTimeoutMs?: number;
  /** How long outcomes stay in the store after delivery. Default 86 400 000 (a day). */
  readonly retentionMs?: number;
  /** How long what has no end of its own stays (unlimited tasks, outcomes nobody took). Default 2 592 000 000 (30 days). */
  readonly maxRetentionMs?: number;
  /** How long an acknowledged answer may stay open before it is sent once more, and then reported. Default 10 000. */
  readonly answerGraceMs?: number;
  /** How long an answer is still listened for after the caller gave up. Default 300 000. */
  readonly lateAnswerMs?: number;
  /** What becomes of a task whose handle comes after the caller gave up, in the process that it comes to. Default `"track"`. */
  readonly onLateHandle?: "track" | "cancel";
  /** How often the store is read while an answer or outcome may come from another process. Default 2000. */
  readonly storeWatchMs?: number;
  /**
   * Several processes on one store share its calls: each call is looked after (polled, asked about, delivered) by one
   * of them. After so long without a sign of life of a process, the others take its calls over; after an orderly
   * `close()`, and where lmdb tells that the process is dead, at once. Each process writes one entry to the store
   * about three times in that time, while it looks after a call, and reads it otherwise; every twenty leases it reads all
   * calls of the scope once, for any that nobody looks after. 0: every connected process
   * looks after every call that it knows of. Default 15 000; 0 where no `store` is given.
   */
  readonly leaseMs?: number;
  /**
   * A name of this process that stays the same when it is started anew ("worker-1"): its calls come back to it at
   * once, also after it was killed. No two processes that live at the same time may have one name; of two, the later
   * one has the calls. Default: none.
   */
  readonly instance?: string;
  /** Time. Default: the machine's. */
  readonly clock?: Clock;
  /** Chance, in [0, 1), for jitter. Default: the machine's. */
  readonly random?: () => number;
}

/** What `close` waits for calls under way, where it is not told. */
export const DEFAULT_CLOSE_MS = 5000;
const DEFAULT_LEASE_MS = 15_000;
/** How long `callTool` waits for an answer of the server, where it is not told. */
export const DEFAULT_CALL_MS = 60_000;

/** The checked options, without what the client itself builds. */
export type ResolvedOptions = Omit<EngineOptions, "store" | "hold"> & {
  readonly store: StoreInput | undefined;
  readonly retentionMs: number;
  readonly maxRetentionMs: number;
};

/** Checks and completes. Throws `TypeError`. */
export function resolveOptions(options: TaskClientOptions): ResolvedOptions {
  mustBeObject("options", options);
  refuseUnknown("options", options, CLIENT_OPTIONS);
  const { poll = {}, retry = {} } = options;
  mustBeObject("poll", poll);
  refuseUnknown("poll", poll, POLL_OPTIONS);
  mustBeObject("retry", retry);
  refuseUnknown("retry", retry, RETRY_OPTIONS);
  const onInputRequest = optionalFunction("onInputRequest", options.onInputRequest);
  return {
    store: options.store,
    scope: nonEmpty("scope", options.scope ?? "default"),
    onInputRequest,
    unanswered: unansweredOf(options.unanswered),
    onSettled: optionalFunction("onSettled", options.onSettled),
    capabilities: capabilitiesOf(options.capabilities, onInputRequest !== undefined),
    clientInfo: clientInfoOf(options.clientInfo),
    poll: pollOf(poll),
    push: pushOf(options.push),
    giveUpAfterMs:
      poll.giveUpAfterMs === undefined ? undefined : duration("poll.giveUpAfterMs", poll.giveUpAfterMs),
    retry: {
      minDelayMs: duration("retry.minDelayMs", retry.minDelayMs ?? 1000),
      maxDelayMs: duration("retry.maxDelayMs", retry.maxDelayMs ?? 60_000),
      factor: atLeast("retry.factor", retry.factor ?? 2, 1),
      authRetryMs: duration("retry.authRetryMs", retry.authRetryMs ?? 30_000),
      refusedRetryMs: duration("retry.refusedRetryMs", retry.refusedRetryMs ?? 60_000),
    },
    concurrency: integer("concurrency", options.concurrency ?? 16),
    requestTimeoutMs: duration("requestTimeoutMs", options.requestTimeoutMs ?? 30_000),
    retentionMs: duration("retentionMs", options.retentionMs ?? 86_400_000),
    maxRetentionMs: duration("maxRetentionMs", options.maxRetentionMs ?? 2_592_000_000),
    answerGraceMs: duration("answerGraceMs", options.answerGraceMs ?? 10_000),
    lateAnswerMs: duration("lateAnswerMs", options.lateAnswerMs ?? 300_000),
    storeWatchMs: duration("storeWatchMs", options.storeWatchMs ?? 2000),
    leaseMs: leaseOf(options),
    instance: options.instance === undefined ? undefined : nonEmpty("instance", options.instance),
    onLateHandle: oneOf("onLateHandle", options.onLateHandle ?? "track", ["track", "cancel"]),
    clock: clockOf(options.clock),
    random: optionalFunction("random", options.random) ?? systemRandom,
  };
}

/** The names of all options. */
export const CLIENT_OPTIONS = [
  "store",
  "scope",
  "onInputRequest",
  "unanswered",
  "onSettled",
  "capabilities",
  "clientInfo",
  "poll",
  "retry",
  "concurrency",
  "requestTimeoutMs",
  "retentionMs",
  "maxRetentionMs",
  "answerGraceMs",
  "lateAnswerMs",
  "onLateHandle",
  "storeWatchMs",
  "leaseMs",
  "instance",
  "clock",
  "random",
  "push",
];
export const POLL_OPTIONS = [
  "defaultIntervalMs",
  "minIntervalMs",
  "maxIntervalMs",
  "jitter",
  "giveUpAfterMs",
];
export const PUSH_OPTIONS = [
  "mode",
  "idleMs",
  "ackTimeoutMs",
  "minLifeMs",
  "maxFailures",
  "cooldownMs",
  "safetyPollMs",
];
const PUSH_MODES = ["auto", "always", "off"] as const;
export const RETRY_OPTIONS = ["minDelayMs", "maxDelayMs", "factor", "authRetryMs", "refusedRetryMs"];

function unansweredOf(given: UnansweredPolicy = "keep-open"): UnansweredPolicy {
  if (given !== "keep-open" && typeof given !== "function") checkWindow("unanswered", given);
  return given;
}

/** Nobody else sees a memory of our own. */
function leaseOf({ leaseMs, store }: TaskClientOptions): number | undefined {
  if (leaseMs === undefined) return store === undefined ? undefined : DEFAULT_LEASE_MS;
  return leaseMs === 0 ? undefined : duration("leaseMs", leaseMs);
}

function pollOf(poll: Partial<PollPolicy>): PollPolicy {
  const minIntervalMs = duration("poll.minIntervalMs", poll.minIntervalMs ?? 100);
  const maxIntervalMs = duration("poll.maxIntervalMs", poll.maxIntervalMs ?? 3_600_000);
  if (maxIntervalMs < minIntervalMs) {
    throw wrong("poll.maxIntervalMs", maxIntervalMs, `at least poll.minIntervalMs (${minIntervalMs})`);
  }
  return {
    defaultIntervalMs: duration("poll.defaultIntervalMs", poll.defaultIntervalMs ?? 1000),
    minIntervalMs,
    maxIntervalMs,
    jitter: atLeast("poll.jitter", poll.jitter ?? 0.1, 0),
  };
}

function pushOf(given: TaskClientOptions["push"]): PushPolicy {
  const push: Partial<PushPolicy> = isObject(given)
    ? given
    : { mode: oneOf("push", given === undefined ? "auto" : given, PUSH_MODES) };
  refuseUnknown("push", push, PUSH_OPTIONS);
  return {
    mode: oneOf("push.mode", push.mode ?? "auto", PUSH_MODES),
    idleMs: duration("push.idleMs", push.idleMs ?? 90_000),
    ackTimeoutMs: duration("push.ackTimeoutMs", push.ackTimeoutMs ?? 10_000),
    minLifeMs: duration("push.minLifeMs", push.minLifeMs ?? 30_000),
    maxFailures: integer("push.maxFailures", push.maxFailures ?? 5),
    cooldownMs: duration("push.cooldownMs", push.cooldownMs ?? 300_000),
    safetyPollMs: duration("push.safetyPollMs", push.safetyPollMs ?? 60_000),
  };
}

/** The tasks extension is declared by whoever can drive tasks: that is this client, always. */
function capabilitiesOf(given: ClientCapabilities | undefined, hasHandler: boolean): ClientCapabilities {
  if (given !== undefined) mustBeObject("capabilities", given);
  const declared = given ?? (hasHandler ? ALL_INPUTS : {});
  const extensions = isObject(declared["extensions"]) ? declared["extensions"] : {};
  return { ...declared, extensions: { ...extensions, [TASKS_EXTENSION]: {} } };
}

function clientInfoOf(given: ClientInfo | undefined): ClientInfo {
  if (given === undefined) return { name: "mcp-taskrail", version: VERSION };
  if (!isObject(given)) throw wrong("clientInfo", given, "an object");
  nonEmpty("clientInfo.name", given.name);
  nonEmpty("clientInfo.version", given.version);
  return given;
}

function clockOf(given: Clock | undefined): Clock {
  if (given === undefined) return systemClock;
  if (!isClock(given)) throw wrong("clock", given, "an object with now(), monotonic() and setTimer()");
  return given;
}

/** Anything but an object is the caller's mistake. Narrows nothing, so that the declared type stays. */
export function mustBeObject(name: string, value: unknown): void {
  if (!isObject(value)) throw wrong(name, value, "an object");
}

/** A duration in milliseconds: positive and finite. */
export function duration(name: string, value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value) && value > 0) return value;
  throw wrong(name, value, "a positive number of milliseconds");
}

/** A text with something in it. */
export function nonEmpty(name: string, value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw wrong(name, value, "a non-empty string");
}

/** One of a few words. */
export function oneOf<Word extends string>(name: string, value: unknown, words: readonly Word[]): Word {
  if (words.includes(value as Word)) return value as Word;
  throw wrong(name, value, words.map((word) => JSON.stringify(word)).join(" or "));
}

/** A function, or nothing. */
export function optionalFunction<F>(name: string, value: F | undefined): F | undefined {
  if (value === undefined || typeof value === "function") return value;
  throw wrong(name, value, "a function");
}

function integer(name: string, value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
  throw wrong(name, value, "a positive integer");
}

function atLeast(name: string, value: unknown, least: number): number {
  if (typeof value === "number" && Number.isFinite(value) && value >= least) return value;
  throw wrong(name, value, `a number of at least ${least}`);
}

/** The error for a wrong option. Objects are named by their kind only: they may hold credentials. */
export function wrong(name: string, value: unknown, expected: string): TypeError {
  return new TypeError(`${name}: expected ${expected}, got ${shown(value)}`);
}

function shown(value: unknown): string {
  if (value === null) return "null";
  switch (typeof value) {
    case "string":
      return JSON.stringify(value.length > 50 ? `${value.slice(0, 50)}…` : value);
    case "number":
    case "boolean":
    case "undefined":
    case "bigint":
      return String(value);
    default:
      return Array.isArray(value) ? "an array" : `a ${typeof value}`;
  }
}
