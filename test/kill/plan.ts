/** Owns what a worker of the kill test is told, and what it writes down. No code. */
import type { JsonObject } from "../../src/index.js";

/** Where a process kills itself. Every count starts at 1, in that process. */
export type KillPoint =
  | {
      readonly seam: "fetch";
      readonly method: string;
      readonly nth: number;
      /**
       * before: nothing was sent. sent: the bytes left, the server may or may not have read them. executed: the server
       * ran it, nothing of the answer was read. headers: the body was not read. answered: the whole answer is in this
       * process, nothing of it in the library. later: the library has had the answer for a moment.
       */
      readonly when: "before" | "sent" | "executed" | "headers" | "answered" | "later";
    }
  | { readonly seam: "store"; readonly write: number; readonly when: "before" | "after" }
  | { readonly seam: "input"; readonly nth: number; readonly when: "asked" | "returning" }
  | { readonly seam: "settled"; readonly when: "before" | "written" | "waiting" }
  | { readonly seam: "program"; readonly when: "connected" | "called" | "cancelled" }
  /** The parent does it, so long after the worker said that it is connected. */
  | { readonly seam: "parent"; readonly afterMs: number };

/** What one process life is to do. */
export interface WorkerPlan {
  readonly url: string;
  /** The server's request log, to know what it has executed. */
  readonly serverLog: string;
  readonly storePath: string;
  /** Gets a line of JSON per delivery, synced before `onSettled` goes on. */
  readonly deliveries: string;
  /** Gets a line of JSON per {@link Trace}. */
  readonly trace: string;
  readonly callId: string;
  /** Counts the processes of one run from 1; answers differ by it. */
  readonly life: number;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Calls on every start, as a host does that replays its turn; otherwise only life 1 calls. */
  readonly replay: boolean;
  /** Asks for the cancellation once there is a task; in life 1 only, unless `replay`. */
  readonly cancel: boolean;
  /** Closes the client at the end, rather than just being through. */
  readonly close: boolean;
  readonly kill?: KillPoint | undefined;
}

/** One thing that a worker saw. */
export type Trace = { readonly life: number } & (
  | { readonly what: "started" | "finished" }
  | { readonly what: "asked"; readonly key: string }
  /** How `callTool` ended: "task", "result", or an error's code. */
  | { readonly what: "called"; readonly how: string }
  | { readonly what: "error"; readonly code: string; readonly message: string }
  | { readonly what: "unhandled"; readonly message: string }
);

/** One line of the delivery file. */
export interface Delivery {
  readonly life: number;
  readonly id: string;
  readonly status: string;
  readonly reason?: string;
  readonly result?: JsonObject;
  readonly error?: JsonObject;
  readonly cancelRequested: boolean;
}
