/** Owns what a worker of the kill test is told, and what it writes down. No code. */
import type { JsonObject } from "../../src/index.js";
import type { FaultPoint } from "../../src/testing/index.js";

/** The places of the worker's own. */
export type Place =
  | "connected"
  | "called"
  | "cancelled"
  | "asked"
  | "returning"
  | `settled: ${"before" | "written" | "waiting"}`;

/** Where a process dies. */
export type KillPoint =
  | FaultPoint
  /** The parent does it, so long after the worker said that it is connected. */
  | { readonly at: "parent"; readonly afterMs: number };

/** Where the records are. */
export type StorePlan =
  { readonly kind: "lmdb"; readonly path: string } | { readonly kind: "redis"; readonly url: string };

/** What one process life is to do. */
export interface WorkerPlan {
  readonly url: string;
  /** The server's request log, to know what it has executed. */
  readonly serverLog: string;
  readonly store: StorePlan;
  /** Gets a line of JSON per delivery, synced before `onSettled` goes on. */
  readonly deliveries: string;
  /** Gets a line of JSON per {@link Trace}. */
  readonly trace: string;
  readonly callId: string;
  /** Counts the processes of one run from 1; answers differ by it. The standing ones have numbers of their own. */
  readonly life: number;
  /** Stays, calls nothing, and ends with its standard input: one of several processes on the store. */
  readonly standing?: boolean;
  /** Another process may take the outcome: this one need not see it delivered. */
  readonly shared?: boolean;
  readonly push?: "always" | undefined;
  /** How long a process may give no sign of life until others take over. */
  readonly leaseMs?: number | undefined;
  /** The name by which a process that starts again has its calls back at once. */
  readonly instance?: string | undefined;
  /** Gets the points that were passed, as JSON. */
  readonly passed?: string | undefined;
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
  | { readonly what: "asked"; readonly id: string; readonly key: string }
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
