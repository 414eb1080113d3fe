/** Owns the shapes that the testing server's files share: tools, steps, stored tasks, answers. No code. */
import type { JsonObject, JsonValue } from "../internal/json.js";

/** A question as it stands in `inputRequests`: `elicitation/create`, `sampling/createMessage` or `roots/list`. */
export interface TestInputRequest {
  readonly method: string;
  readonly params?: JsonObject;
}

/** A JSON-RPC error object. */
export interface TestRpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonValue;
}

/**
 * One step of a scripted task. Where a task stands is computed from its steps, its creation time and the times
 * of its answers, so that a restarted server goes on where the clock says.
 *
 * - `work` takes `ms` milliseconds and shows `message` meanwhile.
 * - `ask` waits until every key of `requests` is answered.
 * - `wait` never ends.
 * - `complete` and `fail` end the task.
 *
 * Steps that run out end the task by the tool's `finish`, or as completed with the text "done".
 */
export type TaskStep =
  | { readonly kind: "work"; readonly ms: number; readonly message?: string }
  | {
      readonly kind: "ask";
      readonly requests: Readonly<Record<string, TestInputRequest>>;
      readonly message?: string;
    }
  | { readonly kind: "wait"; readonly message?: string }
  | { readonly kind: "complete"; readonly result: JsonObject; readonly message?: string }
  | { readonly kind: "fail"; readonly error: TestRpcError; readonly message?: string };

/** What a task may be given beside its steps. */
export interface TaskTraits {
  /** Time to live in ms from creation; null is unlimited. Default: the server's `ttlMs`. */
  readonly ttlMs?: number | null | undefined;
  /** Default: the server's `pollIntervalMs`. */
  readonly pollIntervalMs?: number | undefined;
  /** `pollIntervalMs` by answer: the handle shows the first, each `tasks/get` the next, the last one stays. */
  readonly intervals?: readonly number[] | undefined;
  /** `ttlMs` by answer, like `intervals`. The last one shown decides when the task goes. */
  readonly ttls?: readonly (number | null)[] | undefined;
  /** What `tasks/cancel` does: "honour" (default) ends the task as cancelled after `cancelLagMs` (0), "ignore" nothing. */
  readonly cancel?: "honour" | "ignore" | undefined;
  readonly cancelLagMs?: number | undefined;
}

/** How a task ended, as a tool tells it. */
export type TaskEnd = { readonly result: JsonObject } | { readonly error: TestRpcError };

/** What a tool answers to one `tools/call`. */
export type ToolAnswer =
  | { readonly kind: "result"; readonly result: JsonObject }
  | { readonly kind: "error"; readonly error: TestRpcError }
  | ({ readonly kind: "task"; readonly steps: readonly TaskStep[] } & TaskTraits)
  | {
      readonly kind: "input_required";
      readonly requests?: Readonly<Record<string, TestInputRequest>>;
      /** Travels as an opaque, signed `requestState`, and comes back as `context.state`. */
      readonly state?: JsonValue;
    };

/** What a tool knows of the call. */
export interface CallContext {
  readonly arguments: JsonObject;
  /** Of a repeated call after `input_required`: what `state` was. */
  readonly state: JsonValue | undefined;
  /** Of a repeated call after `input_required`: the answers, by key. */
  readonly inputResponses: Readonly<Record<string, JsonObject>>;
  /** How many `tools/call` of this tool ran before this one, over restarts when there is a state file. */
  readonly earlierCalls: number;
  /** Aborts when the client closes the request. */
  readonly signal: AbortSignal;
  /** Sends a progress notification on the answer's stream, if the request has a progressToken. */
  readonly progress: (progress: number, total?: number, message?: string) => void;
  readonly sleep: (ms: number) => Promise<void>;
  /** Fails the next `times` `tasks/get` of the task that this call makes, with that HTTP status. */
  readonly failPolls: (times: number, status: number) => void;
}

/** What a tool's `run` gets: the task is there already, and whatever happens next happens in it. */
export interface RunContext {
  readonly arguments: JsonObject;
  readonly task: {
    readonly taskId: string;
    /** Shows `message` as the task's `statusMessage`. */
    readonly progress: (message: string) => void;
  };
  /**
   * Puts a question and resolves with its answer. After a restart `run` runs again from the start, and keys that
   * were answered before resolve at once.
   */
  readonly ask: (key: string, request: TestInputRequest) => Promise<JsonObject>;
  readonly sleep: (ms: number) => Promise<void>;
  /** Ends the task as failed, with this JSON-RPC error. A plain exception ends it as completed with `isError`. */
  readonly fail: (error: TestRpcError) => never;
  /** Aborts on `tasks/cancel`. If `run` then rejects, the task is cancelled; if it resolves, completed. */
  readonly signal: AbortSignal;
}

/** What every tool has. */
export interface TestToolBase {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
  /** More members of the listed tool. */
  readonly listing?: JsonObject;
  /**
   * "required" (default, but "never" for `call` tools): a caller without the extension gets -32021. "optional": the
   * work is done while such a caller waits. "never": no task is made. `run` tools are always "required".
   */
  readonly taskSupport?: "never" | "optional" | "required";
}

/** A tool whose task is plain data; it can be sent to a server in another process. */
export type StepsTool = TestToolBase &
  TaskTraits & { readonly steps: readonly TaskStep[]; readonly run?: never; readonly call?: never };

/** A tool that is one async function, run in a task. */
export type RunTool = TestToolBase &
  TaskTraits & {
    readonly run: (context: RunContext) => Promise<JsonObject>;
    readonly steps?: never;
    readonly call?: never;
  };

/** A tool that decides by itself what each call answers. */
export interface CallTool extends TestToolBase {
  readonly call: (context: CallContext) => ToolAnswer | Promise<ToolAnswer>;
  /** The end of a task whose steps ran out; must depend on nothing but what it is given. */
  readonly finish?: (args: JsonObject, answers: Readonly<Record<string, JsonObject>>) => TaskEnd;
  readonly steps?: never;
  readonly run?: never;
}

/** A tool of the testing server. */
export type TestTool = StepsTool | RunTool | CallTool;

/** An answer that a task got. */
export interface StoredAnswer {
  readonly key: string;
  /** The value that was applied: the first one. */
  readonly value: JsonObject;
  readonly atMs: number;
  /** How often a value came for this key, the applied one included. */
  deliveries: number;
  /** Later values that differ from the applied one. They changed nothing. */
  readonly conflicts: JsonObject[];
}

/** What is kept of a task. */
export interface StoredTask {
  readonly taskId: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Digest of the bearer token that made it; tasks of another token do not exist for this one. */
  readonly principal: string | null;
  readonly createdAtMs: number;
  ttlMs: number | null;
  pollIntervalMs: number;
  readonly intervals: readonly number[] | null;
  readonly ttls: readonly (number | null)[] | null;
  readonly cancel: "honour" | "ignore";
  readonly cancelLagMs: number;
  /** Null for tasks of a `run` tool, whose state is in `live`. */
  readonly steps: readonly TaskStep[] | null;
  live: LiveState | null;
  readonly answers: StoredAnswer[];
  cancelAtMs: number | null;
  /** How many `tasks/get` were answered. Not worth a write of its own. */
  polls: number;
}

/** Where a `run` task stands. */
export interface LiveState {
  message?: string;
  atMs: number;
  readonly asked: { readonly key: string; readonly request: TestInputRequest }[];
  end?: TaskEnd | { readonly cancelled: true };
}

/** A task as a test sees it. */
export interface TestTask {
  readonly taskId: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly status: string;
  /** True once the time to live has passed: `tasks/get` answers -32602. */
  readonly gone: boolean;
  readonly createdAtMs: number;
  readonly polls: number;
  readonly cancelRequested: boolean;
  readonly openKeys: readonly string[];
  readonly answers: readonly StoredAnswer[];
}

/** How often things were done, over restarts when there is a state file. */
export interface TestCounters {
  /** `tools/call` that ran, by tool: repeated rounds of `input_required` count too. */
  readonly calls: Readonly<Record<string, number>>;
  readonly tasksCreated: number;
  /** Values that were applied to questions of tasks. */
  readonly answersApplied: number;
  /** Values that came for an answered question and differ from the applied one. */
  readonly answersConflicting: number;
}
