/** Owns the closed set of things that can happen to a record. No code. */
import type { JsonObject } from "../internal/json.js";
import type { AnswerSource } from "./record.js";
import type { InputRequestEntry, TaskSnapshot } from "../protocol/index.js";

/** One thing that happened. `transition` is the only reader. */
export type TaskEvent =
  /** The call is about to leave; from here on a crash makes its fate unknown. */
  | { readonly type: "callSending" }
  /** The attempt certainly did not run; it may be sent again. */
  | { readonly type: "callNotRun" }
  /** The server answered with an ordinary result. */
  | { readonly type: "callCompleted"; readonly result: JsonObject }
  /** The server answered with a JSON-RPC error: the call's own failure. */
  | { readonly type: "callFailed"; readonly error: RpcErrorObject }
  /** Nobody can say whether the call ran, and it may not be repeated. */
  | { readonly type: "callLost" }
  /** The server wants inputs first (multi round trip). */
  | {
      readonly type: "callAsked";
      readonly inputRequests: readonly InputRequestEntry[];
      readonly digests: ReadonlyMap<string, string>;
      readonly requestState: string | undefined;
    }
  /** The server answered with a task handle. */
  | {
      readonly type: "handleReceived";
      readonly snapshot: TaskSnapshot;
      readonly digests: ReadonlyMap<string, string>;
    }
  /** Given up before there was a task: nothing runs at the server. */
  | { readonly type: "callAbandoned" }
  /** A snapshot was seen, by poll or push. */
  | {
      readonly type: "snapshotSeen";
      readonly snapshot: TaskSnapshot;
      /** Digests of its input requests, by key. */
      readonly digests: ReadonlyMap<string, string>;
      /** Milliseconds since the local receipt of the handle, on a clock that does not jump. */
      readonly elapsedMs: number;
      /** Believe it although it is older than the last one (a server whose clock went back). */
      readonly acceptStale: boolean;
    }
  /** A poll goes out: what an earlier, orderly close left about it is used up. */
  | { readonly type: "pollStarted" }
  /** A poll failed; the next one is not before `notBeforeMs` (wall clock). */
  | { readonly type: "pollFailed"; readonly notBeforeMs: number }
  /** The server does not know the task, and a second look confirmed it. */
  | { readonly type: "taskGone"; readonly elapsedMs: number }
  /** The time to live has passed while the server could not be reached. */
  | { readonly type: "ttlPassed" }
  | {
      readonly type: "inputAnswered";
      readonly key: string;
      readonly digest: string | undefined;
      readonly response: JsonObject;
      readonly by: string | undefined;
      readonly source: AnswerSource;
    }
  /** The server acknowledged these answers. */
  | { readonly type: "updateAcked"; readonly keys: readonly string[] }
  /** The server refused this answer (-32602). */
  | { readonly type: "updateRefused"; readonly key: string }
  | { readonly type: "cancelRequested" }
  | { readonly type: "cancelAcked" }
  /** The host's own limit was reached. */
  | { readonly type: "gaveUp" }
  /** The host goes on with a call that it had given up. */
  | { readonly type: "revived" }
  /** The client closes; a later process may poll from then on. */
  | { readonly type: "paused"; readonly notBeforeMs: number }
  /** `onSettled` resolved, or somebody took the outcome. */
  | { readonly type: "delivered" };

/** A JSON-RPC error as the wire has it. */
export interface RpcErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}
