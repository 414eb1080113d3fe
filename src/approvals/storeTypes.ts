/** Owns the seam between the page's store of tasks and whatever draws it: React, another framework, or none. Types only. */
import type { JsonObject, JsonValue } from "../internal/json.js";
import type { InputView, TaskDetailView, TaskView } from "./wire.js";

/** How the page stands with the host. */
export type StoreConnection =
  /** Nobody subscribes. */
  | "idle"
  /** The first snapshot is on its way. */
  | "connecting"
  | "live"
  /** The stream was lost; what is shown may be old. It is opened again with growing delays. */
  | "reconnecting"
  /** The host refused (signed out, another origin): nothing is shown any more. `refresh()` tries again, and so does a slow timer. */
  | "refused"
  | "closed";

/** Everything that a page shows. A new object whenever something changed; unchanged tasks stay the same objects. */
export interface TasksState {
  readonly connection: StoreConnection;
  /** Why the connection is not live, in English, for developers. */
  readonly problem?: string;
  /** Calls with open questions first, then the newest. */
  readonly tasks: readonly TaskView[];
  /** True when the host keeps more calls than it sends. */
  readonly truncated: boolean;
  /** Add this to the page's own time to have the host's. */
  readonly clockOffsetMs: number;
  /** True once a snapshot has come (or was given for server rendering). */
  readonly loaded: boolean;
}

/** What became of an answer. */
export type AnswerOutcome =
  | { readonly kind: "answered"; readonly answeredAt: string }
  /** Another answer stands; this one was not taken. */
  | { readonly kind: "already-answered"; readonly answeredAt?: string; readonly by?: string }
  /** The call is over, or the question was withdrawn. */
  | { readonly kind: "over" }
  /** It does not fit the question: `field` is such as `content.count`. Nothing was stored. */
  | { readonly kind: "invalid"; readonly field?: string; readonly message: string }
  /** The host refused the person, not the answer. */
  | { readonly kind: "refused"; readonly message: string }
  /** Nobody can say whether it was stored: giving the same answer again is harmless. */
  | { readonly kind: "failed"; readonly message: string };

/** What became of a wish to cancel: the call may still end in any way. */
export type CancelOutcome =
  | { readonly kind: "asked" }
  | { readonly kind: "over" }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "failed"; readonly message: string };

/** The tasks of one person, as the host's approvals handler shows them. For any framework (`useSyncExternalStore`'s shape); its functions need no `this`. */
export interface TasksStore {
  /** Calls back after every change. One stream is open while anybody subscribes. Answers what stops it; harmless to repeat. */
  readonly subscribe: (listener: () => void) => () => void;
  readonly getSnapshot: () => TasksState;
  /** For server rendering and hydration: the `initial` state, or nothing loaded. */
  readonly getServerSnapshot: () => TasksState;
  /**
   * Answers a question. Never rejects but with `TypeError`. At most one answer of a question is under way. `version`: of
   * the question that the person was shown, so that the answer cannot go to what the server asks by now under the same
   * key; default: of what the state shows at the call.
   */
  readonly answer: (
    id: string,
    key: string,
    response: JsonObject,
    options?: { readonly version?: string },
  ) => Promise<AnswerOutcome>;
  readonly cancel: (id: string) => Promise<CancelOutcome>;
  /** One call with its result. Rejects with `TasksStoreError` when the host does not answer it. */
  readonly load: (id: string, options?: { readonly signal?: AbortSignal }) => Promise<TaskDetailView>;
  /** Tries the connection again at once. */
  readonly refresh: () => void;
  /** Ends the stream for good. */
  readonly close: () => void;
}

/** Which calls are wanted; all conditions that are given must hold. */
export interface TaskViewFilter {
  readonly server?: string;
  readonly tool?: string;
  readonly state?: "live" | "settled" | "input";
  /** Equal as JSON, or a function that decides. */
  readonly context?: JsonValue | ((context: JsonValue | undefined) => boolean);
}

/** An open question with its call. */
export interface Approval {
  readonly task: TaskView;
  readonly input: InputView;
}
