/**
 * Owns what travels between the approvals handler and the page: JSON shapes and the names of the events. Types and
 * constants only. No task id of a server is ever part of it: `id` is always the local id. Instants are ISO text of the
 * host's clock, texts are the MCP server's and untrusted.
 */
import type { JsonObject, JsonValue } from "../internal/json.js";

/** A call as the page shows it. */
export interface TaskView {
  /** The local id, for `answer` and `cancel`. */
  readonly id: string;
  /** The host's name of the server. */
  readonly server: string;
  readonly tool: string;
  /** working, input_required, completed, failed, cancelled, lost; unknown words as the server said them. */
  readonly status: string;
  readonly statusMessage?: string;
  /** What the handler's option `context` let through of the call's context. */
  readonly context?: JsonValue;
  readonly createdAt: string;
  /** When the time to live ends; absent where it is unlimited or unknown. */
  readonly expiresAt?: string;
  readonly cancelRequested: boolean;
  /** The questions that wait for an answer now, oldest first. */
  readonly inputs: readonly InputView[];
  /** How many more questions wait that cannot be shown, since they are larger than is sent; absent: none. */
  readonly unshownInputs?: number;
  /** What was answered so far, oldest first; never the content of an answer. */
  readonly answers: readonly AnswerView[];
  /** Present once the call is over. */
  readonly outcome?: OutcomeView;
}

/** A call with its result, as `GET task` answers it. */
export interface TaskDetailView extends TaskView {
  /** The tool's result (a `CallToolResult`), once the call is completed. */
  readonly result?: JsonObject;
}

/** How a call ended, without its payload. */
export interface OutcomeView {
  readonly status: "completed" | "failed" | "cancelled" | "lost";
  readonly settledAt: string;
  /** True when the tool itself reported an error in its result (`isError`). */
  readonly isError?: boolean;
  /** The JSON-RPC error of a failed call; its message is the server's text. */
  readonly error?: { readonly code: number; readonly message: string };
  /** Why nobody can say how it ended: expired, unknown, gave-up, call-outcome-unknown. */
  readonly reason?: string;
}

/** An open question. */
export type InputView = InputBody & {
  /** The server's key of it, unique within the call; any text. */
  readonly key: string;
  /** Opaque. Another request under the same key, or another round of it, has another one: an answer says which it is for. */
  readonly version: string;
  /** The name that the asking server gives itself, or the host's name of it. */
  readonly serverName: string;
  readonly askedAt: string;
  /** True where the server refused the answer before: another one may be given. */
  readonly refused?: boolean;
  /** When the host's own policy will answer it (option `unanswered` of `TaskClient`), and with what action. */
  readonly answeredByPolicyAt?: string;
  readonly policyAction?: string;
};

/** What is asked, by `kind`. */
export type InputBody =
  | { readonly kind: "elicitation-form"; readonly message: string; readonly requestedSchema: JsonObject }
  | { readonly kind: "elicitation-url"; readonly message: string; readonly url: string }
  | { readonly kind: "sampling"; readonly params: JsonObject }
  | { readonly kind: "roots" };

/** Who answered which question, and when. */
export interface AnswerView {
  readonly key: string;
  /** Which question it was: as in `InputView`. The handler always says it; what a page shows ahead may not. */
  readonly version?: string;
  /** accept, decline or cancel of an elicitation; `answered` for sampling and roots. */
  readonly action: string;
  readonly answeredAt: string;
  /** The actor that `authorize` named; absent where the host's own code or policy answered. */
  readonly by?: string;
  readonly source: "handler" | "respond" | "policy";
  /** What was asked, cut after 1000 characters; an elicitation's message. */
  readonly message?: string;
}

/** The first event of every stream, and its fresh start whenever the page was behind. Event name `snapshot`. */
export interface SnapshotEvent {
  /** The host's time, so that the page can tell ages and time left whatever its own clock says. */
  readonly now: string;
  /** Calls with open questions first, then the newest. */
  readonly tasks: readonly TaskView[];
  /** True when there are more calls than are sent. */
  readonly truncated: boolean;
}

/** Event name `task`: a call is new, or is now as it says. */
export interface TaskEventData {
  readonly now: string;
  readonly task: TaskView;
}

/** Event name `removed`: the call is no longer kept, or no longer among the first ones that are sent. */
export interface RemovedEvent {
  readonly id: string;
}

/** The body of `POST answer`. */
export interface AnswerBody {
  readonly id: string;
  readonly key: string;
  /** Of the question that the person was shown. */
  readonly version: string;
  /** `{ action, content? }` for elicitations; the protocol's result for sampling and roots. */
  readonly response: JsonObject;
}

/** The answer to `POST answer`: the answer is stored (now, or by the same request before). */
export interface AnsweredBody {
  readonly answeredAt: string;
}

/** The body of `POST cancel`. */
export interface CancelBody {
  readonly id: string;
}

/** The body of every refusal. */
export interface RefusalBody {
  readonly error: {
    readonly code: RefusalCode;
    /** In English, for developers; says nothing of other scopes. */
    readonly message: string;
    /** `invalid-answer`: which part, such as `content.count`. */
    readonly field?: string;
    /** `already-answered`: when the answer that stands was given, and by whom, where that is known. */
    readonly answeredAt?: string;
    readonly by?: string;
  };
}

/** What each refusal means; the status code is in brackets. */
export type RefusalCode =
  /** The body or a parameter is not as expected (400). */
  | "bad-request"
  /** `authorize` refused (403), or the origin is another site's (403). */
  | "forbidden"
  /** No such route, call or question in this scope (404). */
  | "not-found"
  /** Another method is meant (405, with `Allow`). */
  | "method-not-allowed"
  /** Another answer stands (409). */
  | "already-answered"
  /** The call is over, or the question was withdrawn (410). */
  | "over"
  /** The body is larger than the limit (413). */
  | "too-large"
  /** The body is not `application/json` (415). */
  | "unsupported-media-type"
  /** The answer does not fit the question; `field` says where (422). */
  | "invalid-answer"
  /** The host cannot answer now: its store fails, or it is closing (503). */
  | "unavailable"
  /** The host's own code failed (500). */
  | "internal";
