/** Owns the engine's seams: its options, what hosts hand in, what they are told. No code. */
import type { Clock } from "../internal/clock.js";
import type { Hold } from "../internal/hold.js";
import type { JsonObject, JsonValue } from "../internal/json.js";
import type { ClientCapabilities, ClientInfo, InputRequest } from "../protocol/index.js";
import type { TaskStore } from "../store/types.js";
import type { InputAnswer } from "../task/answers.js";
import type { BackoffPolicy, PollPolicy } from "../task/policy.js";
import type { Outcome, TaskRecord } from "../task/record.js";
import type { TasksError } from "../errors.js";

/** A question as the host sees it: the request itself (by `kind`), and where it comes from. */
export type TaskInputRequest = InputRequest & {
  /** The local id of the call, for `respond(id, key, response)`. */
  readonly id: string;
  /** The server's key of the question: unique within the task. */
  readonly key: string;
  /**
   * Opaque: which question it is. Another request under the same key, and another asking of the same, have another
   * version; given to `respond`, it makes sure that the answer is to what the person saw.
   */
  readonly version: string;
  /** True where the server refused the answer before (-32602): another one may be given. */
  readonly refused?: true;
  /** The host's name of the server. */
  readonly server: string;
  /** The name that the server gives itself, for people; the host's name until the server has told it. */
  readonly serverDisplayName: string;
  readonly tool: string;
  /** What the host gave to `callTool` as `context`. */
  readonly context: JsonValue | undefined;
  readonly askedAt: Date;
  /** When the host's own policy will answer, and with what action (option `unanswered`); absent where it will not. */
  readonly unanswered?: { readonly at: Date; readonly action: string };
  /** Aborts when the question is withdrawn: answered elsewhere, task over or cancelled, client closed. */
  readonly signal: AbortSignal;
};

/**
 * Shows a question and answers with the response, or with undefined to defer: then it stays open, and anyone may
 * answer later through `respond`. Called once per question and process life.
 */
export type InputRequestHandler = (
  request: TaskInputRequest,
) => Promise<JsonObject | undefined> | JsonObject | undefined;

/** After this long, answer this. */
export interface AnswerWindow {
  /** Since the question was asked, in milliseconds; 0: at once. */
  readonly afterMs: number;
  /**
   * As for `respond`. Default: `{ action: "cancel" }` (dismissed) for elicitations; sampling and roots have no neutral
   * answer, and without one stay open.
   */
  readonly response?: JsonObject;
}

/** What becomes of questions that nobody answers: for all, or by question. */
export type UnansweredPolicy =
  "keep-open" | AnswerWindow | ((request: TaskInputRequest) => AnswerWindow | "keep-open" | undefined);

/** How a call ended, as the host is told. */
export type Settled = Outcome & {
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  readonly context: JsonValue | undefined;
  /** Who answered its questions, what and when. */
  readonly answers: readonly InputAnswer[];
  /** True when the host asked for its cancellation, however it ended. */
  readonly cancelRequested: boolean;
  readonly settledAt: Date;
};

/** Runs at least once per call until it resolves; the outcome stays in the store until then. */
export type SettledHandler = (settled: Settled) => Promise<void> | void;

/** How an error of a request is treated; see the table in `retryTable.ts`. */
export type RetryClass = "transient" | "auth" | "gone" | "refused" | "fatal";

/** What a snapshot tells a host. */
export interface PublicSnapshot {
  readonly status: string;
  readonly statusMessage: string | undefined;
  readonly createdAt: string | undefined;
  readonly lastUpdatedAt: string | undefined;
  readonly ttlMs: number | null;
  readonly pollIntervalMs: number | undefined;
}

/** What `TaskClient.on` tells. Ids are local ids; no event holds a task id. */
export interface EngineEvents {
  /** A call became a task, whose handle is stored (or reported as not). `late`: its handle came after the caller had given up. */
  created: { readonly id: string; readonly server: string; readonly tool: string; readonly late: boolean };
  updated: { readonly id: string; readonly server: string; readonly snapshot: PublicSnapshot };
  /** A question is open. `handled`: `onInputRequest` was called with it. */
  input: { readonly request: TaskInputRequest; readonly handled: boolean };
  inputWithdrawn: { readonly id: string; readonly server: string; readonly key: string };
  /** As `onSettled` gets it, but for the contents of answers. */
  settled: Settled;
  /** A request failed and will be repeated. */
  retry: {
    readonly id: string | undefined;
    readonly server: string;
    readonly method: string;
    readonly retryClass: RetryClass;
    readonly attempt: number;
    readonly delayMs: number;
    readonly error: unknown;
  };
  /**
   * How a server's push stands: "open": a stream is acknowledged; "closed": it ended, or nobody needs it (while a new
   * one is tried for, tasks are polled); "off": the server has none, or its streams keep failing: tasks are polled,
   * and it is tried again after `push.cooldownMs`.
   */
  push: { readonly server: string; readonly state: PushState };
  serverDown: { readonly server: string; readonly reason: "unreachable" | "auth"; readonly error: unknown };
  serverUp: { readonly server: string };
  /** Something that needs a person's attention, but fails no promise of the client. */
  error: { readonly error: TasksError; readonly server: string | undefined; readonly id: string | undefined };
}

/** How push stands at one server. */
export type PushState = "open" | "closed" | "off";

/** When a stream of notices is opened, and how far it is trusted. All times in milliseconds. */
export interface PushPolicy {
  /** `auto`: for tasks that outlive their first interval. `always`: as soon as there is a task. `off`: never. */
  readonly mode: "auto" | "always" | "off";
  /** A stream without a sign of life (comments count) for this long is dead. */
  readonly idleMs: number;
  /** How long the acknowledgement of a stream is waited for. */
  readonly ackTimeoutMs: number;
  /** A stream that lived this long, or brought a notice, makes up for earlier failures. */
  readonly minLifeMs: number;
  /** After this many failures in a row push rests for `cooldownMs`. */
  readonly maxFailures: number;
  readonly cooldownMs: number;
  /** Tasks that are pushed are polled all the same, this seldom (or every ten intervals, where that is longer). */
  readonly safetyPollMs: number;
}

/** Tells the engine's events. */
export type Tell = <Name extends keyof EngineEvents>(name: Name, event: EngineEvents[Name]) => void;

/** All times in milliseconds. */
export interface EngineOptions {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly scope: string;
  readonly store: TaskStore;
  readonly clientInfo: ClientInfo;
  /** What requests declare beside the tasks extension. */
  readonly capabilities: ClientCapabilities;
  readonly poll: PollPolicy;
  readonly push: PushPolicy;
  /** Who waits for something, in a process that would end otherwise. */
  readonly hold: Pick<Hold, "count" | "onEmpty">;
  readonly retry: BackoffPolicy & {
    /** How long a server that refuses our credentials is left alone. */
    readonly authRetryMs: number;
    /** Between attempts that the server refuses as a whole (-32601, -32020, -32021, -32022). */
    readonly refusedRetryMs: number;
  };
  readonly requestTimeoutMs: number;
  readonly answerGraceMs: number;
  readonly giveUpAfterMs: number | undefined;
  /** How long a handle is waited for after the caller gave up. */
  readonly lateAnswerMs: number;
  /** Without a sign of life for so long, a process's calls are others' to take; undefined: no leases. */
  readonly leaseMs: number | undefined;
  /** The host's name of this process, the same over restarts. */
  readonly instance: string | undefined;
  /** How often the store is read again while an answer or an outcome may come from another process. */
  readonly storeWatchMs: number;
  readonly concurrency: number;
  readonly onLateHandle: "track" | "cancel";
  readonly onInputRequest: InputRequestHandler | undefined;
  readonly unanswered: UnansweredPolicy;
  readonly onSettled: SettledHandler | undefined;
}

/** What a driver tells about its record. */
export type RecordListener = (record: TaskRecord) => void;
