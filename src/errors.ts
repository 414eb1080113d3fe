/** Owns every error this package throws. No message here may hold a task id, a request state, an answer or a credential. */

/** The string codes of {@link TasksError}, stable across releases. */
export type TasksErrorCode =
  | "RPC"
  | "TASK_NOT_FOUND"
  | "MISSING_CAPABILITY"
  | "CONNECTION"
  | "INVALID_RESPONSE"
  | "INVALID_RESULT"
  | "ERA_NOT_SUPPORTED"
  | "TASK_FAILED"
  | "TASK_CANCELLED"
  | "TASK_LOST"
  | "WAIT_TIMEOUT"
  | "CALL_OUTCOME_UNKNOWN"
  | "CALL_ID_CONFLICT"
  | "INPUT_ALREADY_ANSWERED"
  | "INVALID_INPUT_RESPONSE"
  | "INPUT_NOT_TAKEN"
  | "STORE"
  | "CALLBACK"
  | "CLIENT_CLOSED"
  | "TASKS_STORE";

const BRAND = Symbol.for("mcp-taskrail.error");

/** What every error takes beside its message. */
export interface TasksErrorOptions {
  cause?: unknown;
}

/**
 * The base of all errors of this package. `instanceof` works across duplicate copies of the package, since it
 * looks at a registered symbol and the class's own codes.
 */
export class TasksError extends Error {
  /** A stable string to switch on. */
  readonly code: TasksErrorCode;
  /** @internal */
  readonly [BRAND] = true;

  constructor(code: TasksErrorCode, message: string, options: TasksErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.name = new.target.name;
    this.code = code;
  }

  /** The codes that instances of this class may have; undefined stands for all. */
  protected static readonly codes: readonly TasksErrorCode[] | undefined = undefined;

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (typeof value !== "object" || value === null || !(BRAND in value)) return false;
    return this.codes === undefined || this.codes.includes((value as TasksError).code);
  }
}

/** A JSON-RPC error answered by the server. `data` is the server's, untouched. */
export class RpcError extends TasksError {
  protected static override readonly codes: readonly TasksErrorCode[] = [
    "RPC",
    "TASK_NOT_FOUND",
    "MISSING_CAPABILITY",
  ];
  readonly rpcCode: number;
  readonly data: unknown;
  /** The HTTP status the error came with, if it came over HTTP. */
  readonly status: number | undefined;
  /** How long the server wants to be left alone, where it said so beside the error. */
  readonly retryAfterMs: number | undefined;

  constructor(
    error: { code: number; message: string; data?: unknown },
    options: TasksErrorOptions & {
      code?: TasksErrorCode;
      status?: number | undefined;
      retryAfterMs?: number | undefined;
    } = {},
  ) {
    super(options.code ?? "RPC", error.message, options);
    this.rpcCode = error.code;
    this.data = error.data;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The server does not know the task (-32602 on `tasks/get`): unknown, or expired. */
export class TaskNotFoundError extends RpcError {
  protected static override readonly codes: readonly TasksErrorCode[] = ["TASK_NOT_FOUND"];
  constructor(error: { code: number; message: string; data?: unknown }, options: TasksErrorOptions = {}) {
    super(error, { ...options, code: "TASK_NOT_FOUND" });
  }
}

/** The server needs a capability that the request did not declare (-32021, or -32003 of older servers). */
export class MissingCapabilityError extends RpcError {
  protected static override readonly codes: readonly TasksErrorCode[] = ["MISSING_CAPABILITY"];
  constructor(
    error: { code: number; message: string; data?: unknown },
    options: TasksErrorOptions & { status?: number | undefined; retryAfterMs?: number | undefined } = {},
  ) {
    super(error, { ...options, code: "MISSING_CAPABILITY" });
  }
}

/** No usable answer: the network, a proxy or the server's HTTP layer failed. */
export class ConnectionError extends TasksError {
  protected static override readonly codes: readonly TasksErrorCode[] = ["CONNECTION"];
  /** HTTP status, when there was an HTTP answer. */
  readonly status: number | undefined;
  /** How long the server asked us to stay away, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** False only when the request certainly was not executed: nothing was sent, or it was refused unread (429). */
  readonly mayHaveRun: boolean;

  constructor(
    message: string,
    options: TasksErrorOptions & {
      status?: number | undefined;
      retryAfterMs?: number | undefined;
      mayHaveRun: boolean;
    },
  ) {
    super("CONNECTION", message, options);
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.mayHaveRun = options.mayHaveRun;
  }
}

/** The server answered, but not with what the protocol allows. */
export class InvalidResponseError extends TasksError {
  protected static override readonly codes: readonly TasksErrorCode[] = ["INVALID_RESPONSE"];
  /** HTTP status, when there was an HTTP answer. */
  readonly status: number | undefined;
  /**
   * The task id of an answer that names a task but is not a valid handle, so that the host can `adopt` or cancel
   * what it caused. A secret: non-enumerable, so that a logged error does not print it.
   */
  declare readonly taskId: string | undefined;
  constructor(
    message: string,
    options: TasksErrorOptions & { status?: number | undefined; taskId?: string | undefined } = {},
  ) {
    super("INVALID_RESPONSE", message, options);
    this.status = options.status;
    hide(this, "taskId", options.taskId);
  }
}

/** The tool's result does not fit the `outputSchema` that the call was made with. The tool ran; its result is in the store. */
export class InvalidResultError extends TasksError {
  protected static override readonly codes: readonly TasksErrorCode[] = ["INVALID_RESULT"];
  constructor(message: string, options: TasksErrorOptions = {}) {
    super("INVALID_RESULT", message, options);
  }
}

/** The server does not speak 2026-07-28 (it wants `initialize`, or names other versions). */
export class EraNotSupportedError extends TasksError {
  protected static override readonly codes: readonly TasksErrorCode[] = ["ERA_NOT_SUPPORTED"];
  /** The versions that the server named, if it did. */
  readonly supported: readonly string[];
  constructor(message: string, options: TasksErrorOptions & { supported?: readonly string[] } = {}) {
    super("ERA_NOT_SUPPORTED", message, options);
    this.supported = options.supported ?? [];
  }
}

/** The task ended as `failed`: the JSON-RPC error that the call would have had. */
export class TaskFailedError extends TasksError {
  protected static override readonly codes: readonly TasksErrorCode[] = ["TASK_FAILED"];
  readonly rpcCode: number;
  readonly data: unknown;
  constructor(error: { code: number; message: string; data?: unknown }) {
    super("TASK_FAILED", error.message);
    this.rpcCode = error.code;
    this.data = error.data;
  }
}

/** The task ended as `cancelled`. */
export class TaskCancelledError extends TasksError {
  protected static override readonly codes: readonly TasksErrorCode[] = ["TASK_CANCELLED"];
  constructor(message = "The task was cancelled") {
    super("TASK_CANCELLED", message);
  }
}

/** Why a task was lost. `gave-up` is the host's own `giveUpAfterMs`: the task may still be running. */
export type LostReason = "expired" | "unknown" | "gave-up";

/** Nobody can say any more how the task ended. */
export class TaskLostError extends TasksError {
  protected static override readonly codes: readonly TasksErrorCode[] = ["TASK_LOST"];
  readonly reason: LostReason;
  constructor(reason: LostReason, options: TasksErrorOptions = {}) {
    super("TASK_LOST", lostMessages[reason], options);
    this.reason = reason;
  }
}

const lostMessages: Record<LostReason, string> = {
  expired: "The task's time to live has passed and the server no longer has it",
  unknown: "The server does not know the task",
  "gave-up": "The limit giveUpAfterMs was reached; the task may still be running (resume() goes on with it)",
};

/** A wait ended before the task did. The task lives on; `task` is its handle. */
export class WaitTimeoutError<Handle = unknown> extends TasksError {
  protected static override readonly codes: readonly TasksErrorCode[] = ["WAIT_TIMEOUT"];
  /** Non-enumerable, so that a logged error does not print the task id. */
  declare readonly task: Handle | undefined;
  constructor(waitedMs: number, what: string, task?: Handle) {
    super("WAIT_TIMEOUT", `No outcome within ${waitedMs} ms; ${what}`);
    hide(this, "task", task);
  }
}

/** The connection or the process was lost after the call may have left: whether the tool ran is unknown. */
export class CallOutcomeUnknownError extends TasksError {
  protected static override readonly codes: readonly TasksErrorCode[] = ["CALL_OUTCOME_UNKNOWN"];
  constructor(options: TasksErrorOptions = {}) {
    super(
      "CALL_OUTCOME_UNKNOWN",
      "The call may or may not have run: its answer was lost. It was not sent again " +
        '(see onUnknownOutcome: "retry", or declare idempotentHint on the tool)',
      options,
    );
  }
}

/** The `callId` is in the store with another server, tool or arguments. */
export class CallIdConflictError extends TasksError {
  protected static override readonly codes: readonly TasksErrorCode[] = ["CALL_ID_CONFLICT"];
  constructor(differs: string) {
    super(
      "CALL_ID_CONFLICT",
      `The callId was used before with ${differs}; another call needs a callId of its own`,
    );
  }
}

/** The question has its answer already; the first one stands. */
export class InputAlreadyAnsweredError extends TasksError {
  protected static override readonly codes: readonly TasksErrorCode[] = ["INPUT_ALREADY_ANSWERED"];
  /** When the answer that stands was given (wall clock, ms). */
  readonly answeredAtMs: number | undefined;
  constructor(answeredAtMs?: number) {
    super("INPUT_ALREADY_ANSWERED", "The input request was answered before; the first answer stands");
    this.answeredAtMs = answeredAtMs;
  }
}

/** The response does not fit the question. Nothing was stored or sent. */
export class InvalidInputResponseError extends TasksError {
  protected static override readonly codes: readonly TasksErrorCode[] = ["INVALID_INPUT_RESPONSE"];
  /** The field that is wrong, as a dotted path (`content.amount`). */
  readonly field: string;
  constructor(field: string, expected: string) {
    super("INVALID_INPUT_RESPONSE", `${field}: ${expected}`);
    this.field = field;
  }
}

/** The server acknowledged an answer, yet kept the question open. Reported once; the person is not asked again. */
export class InputNotTakenError extends TasksError {
  protected static override readonly codes: readonly TasksErrorCode[] = ["INPUT_NOT_TAKEN"];
  constructor(message: string, options: TasksErrorOptions = {}) {
    super("INPUT_NOT_TAKEN", message, options);
  }
}

/** The store refused, or a record in it cannot be read. `task` is the handle, when a task exists. */
export class StoreError<Handle = unknown> extends TasksError {
  protected static override readonly codes: readonly TasksErrorCode[] = ["STORE"];
  /** Non-enumerable, so that a logged error does not print the task id. */
  declare readonly task: Handle | undefined;
  constructor(message: string, options: TasksErrorOptions & { task?: Handle } = {}) {
    super("STORE", message, options);
    hide(this, "task", options.task);
  }
}

/** A function of the host's threw or rejected (a handler, a listener). Only told as `error` event; `cause` is what it threw. */
export class CallbackError extends TasksError {
  protected static override readonly codes: readonly TasksErrorCode[] = ["CALLBACK"];
  constructor(message: string, options: TasksErrorOptions = {}) {
    super("CALLBACK", message, options);
  }
}

/** The client was closed. Tasks live on at the server and in the store. */
export class ClientClosedError extends TasksError {
  protected static override readonly codes: readonly TasksErrorCode[] = ["CLIENT_CLOSED"];
  constructor() {
    super("CLIENT_CLOSED", "The TaskClient is closed; its tasks live on at the server and in the store");
  }
}

function hide(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: false, configurable: true, writable: false });
}
