/** Owns what a driver of one call is to others, and what it needs of a server. No code. */
import type { TaskRecord } from "../task/record.js";
import type { CallerLimits, CallerWait } from "./callerWaits.js";
import type { ServerLane } from "./serverLane.js";
import type { SharedTasks } from "./sharedTasks.js";
import type { SubscriptionHub } from "./subscriptionHub.js";
import type { ToolCatalog } from "./toolCatalog.js";
import type { RecordListener, TaskInputRequest } from "./types.js";

/** A connected server, as a driver needs it. */
export interface DriverServer {
  readonly lane: ServerLane;
  readonly catalog: ToolCatalog;
  readonly shared: SharedTasks;
  readonly push: SubscriptionHub;
}

/** Who answers, and which asking of the question they saw. */
export interface AnswerFrom {
  readonly by?: string | undefined;
  readonly version?: string | undefined;
}

/** How a driver begins. */
export type DriverStart = "call" | "resume" | "adopt" | "rest";

/** The driver of one call. */
export interface TaskDriver {
  readonly id: string;
  readonly record: TaskRecord;
  /** Waits for a task or an outcome; resolved from the start where the call has been handed over before. */
  wait(limits: CallerLimits): CallerWait;
  /** Resolves with the settled record once its outcome is stored. Rejects with `ClientClosedError`, or what ended the call. */
  readonly settled: Promise<TaskRecord>;
  /** True while it only follows what the store says: another process is in charge, or none is. */
  readonly resting: boolean;
  /**
   * Where it rests, reads the record again: what is shown is what is stored now. Where the call is being given up
   * unsent, resolves when it is gone. Rejects with `StoreError`.
   */
  catchUp(): Promise<void>;
  /**
   * Lets it run: over this server, or (undefined) only as far as an outcome is to be delivered. Until then it rests,
   * and follows what other processes write.
   */
  attach(server: DriverServer | undefined): void;
  /** Claims the call anew, or lets go of it. Never rejects. */
  claimAnew(): Promise<void>;
  /** Another process looks after the call: rests, with this server within reach for a cancellation. */
  rest(near: DriverServer | undefined): void;
  /** Hears of every change of status or record until the returned function is called. */
  watch(listener: RecordListener): () => void;
  openInputs(): TaskInputRequest[];
  /** Stores an answer; it is sent as soon as there is a connection. */
  respond(key: string, response: unknown, from: AnswerFrom): Promise<void>;
  /** Resolves when the server acknowledged, or the task is over. */
  cancel(): Promise<void>;
  /** Somebody took the outcome; where there is no `onSettled`, that is its delivery. */
  taken(): Promise<void>;
  /** True while a call is under way. */
  readonly isSending: boolean;
  /** Plans nothing more; resolves when what is under way has ended and is stored. */
  drain(): Promise<void>;
  /** Removes the record, once what is being written is written; nothing brings it back. Rejects with `StoreError`. */
  remove(): Promise<void>;
  /** Stops everything at once; what runs at the server goes on. Who waits is rejected with the reason. */
  stop(reason: unknown): void;
}
