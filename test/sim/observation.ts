/** Owns the words in which a world tells what happened, for the invariants and the trace. No code. */
import type { Settled, TaskClientEvents, TaskHandle, TaskInputRequest } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import type { TaskRecord } from "../../src/task/record.js";
import type { CallSpec } from "./scenario.js";
import type { Machine } from "./time.js";

/** One process of a host, as invariants see it. */
export interface ProcessView extends Machine {
  readonly host: number;
  readonly life: number;
  readonly scope: string;
  readonly hasHandler: boolean;
  readonly startedAt: number;
  /** `close` was called. */
  closing: boolean;
  /** `close` has resolved in time. */
  isDone: boolean;
  /** The server's index, by the name that the process gave it. */
  readonly names: ReadonlyMap<string, number>;
}

/** One request on its way. */
export interface Exchange {
  readonly number: number;
  readonly process: ProcessView;
  readonly server: number;
  readonly method: string;
  readonly params: JsonObject;
  readonly rpcId: string;
  readonly scope: string;
  readonly taskId: string | undefined;
  readonly sentAt: number;
}

/** How it ended for the one who sent it. */
export type ExchangeEnd =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly retryAfterMs?: number | undefined;
      /** The JSON-RPC result, where a whole one came. */
      readonly result?: JsonObject | undefined;
      readonly error?: { readonly code: number } | undefined;
    }
  | { readonly kind: "failure" }
  | { readonly kind: "aborted" };

/** How a `callTool` ended. */
export type CallToolEnd =
  | { readonly kind: "task"; readonly handle: TaskHandle }
  | { readonly kind: "result"; readonly result: unknown }
  | { readonly kind: "error"; readonly error: unknown };

export type Observation =
  | { readonly kind: "started" | "crashed" | "closed" | "slept"; readonly process: ProcessView }
  | { readonly kind: "calmed"; readonly process?: undefined }
  | {
      readonly kind: "wrote";
      readonly process: ProcessView | undefined;
      readonly key: string;
      readonly before: TaskRecord | undefined;
      readonly after: TaskRecord | undefined;
      /** Of an entry that is no record. */
      readonly text: string | undefined;
    }
  | {
      readonly kind: "storeFailed";
      readonly process: ProcessView;
      readonly key: string;
      readonly operation: string;
      readonly applied: boolean;
    }
  | { readonly kind: "sent"; readonly process: ProcessView; readonly exchange: Exchange }
  | {
      readonly kind: "ended";
      readonly process: ProcessView;
      readonly exchange: Exchange;
      readonly end: ExchangeEnd;
    }
  | { readonly kind: "noticed"; readonly process: ProcessView; readonly snapshot: JsonObject }
  | { readonly kind: "executed"; readonly process?: undefined; readonly n: number; readonly times: number }
  | {
      readonly kind: "took";
      readonly process?: undefined;
      readonly n: number;
      readonly key: string;
      readonly response: JsonObject;
      readonly sender: ProcessView;
      readonly scope: string;
      /** Of a task's question: which edition of it the server has, and when the answer set out. */
      readonly asked?: { readonly edition: number; readonly sentAt: number; readonly taskId: string };
    }
  | {
      readonly kind: "told";
      readonly process: ProcessView;
      readonly name: keyof TaskClientEvents;
      readonly event: TaskClientEvents[keyof TaskClientEvents];
    }
  | { readonly kind: "shown"; readonly process: ProcessView; readonly request: TaskInputRequest }
  | {
      readonly kind: "hidden";
      readonly process: ProcessView;
      readonly id: string;
      readonly key: string;
    }
  | {
      readonly kind: "gave";
      readonly process: ProcessView;
      readonly id: string;
      readonly key: string;
      readonly response: JsonObject;
      /** What a policy says beforehand counts from then on, in milliseconds of the world. */
      readonly notBefore?: number;
      readonly how: "handler" | "respond" | "policy";
      /** The answer is for this edition of the question, and for no other. */
      readonly edition?: number;
    }
  | {
      readonly kind: "called";
      readonly process: ProcessView;
      readonly spec: CallSpec;
      readonly end: CallToolEnd;
    }
  | {
      readonly kind: "waited";
      readonly process: ProcessView;
      readonly n: number;
      readonly id: string;
      readonly end: Exclude<CallToolEnd, { kind: "task" }>;
    }
  /** An operation of a host was refused. */
  | {
      readonly kind: "rejected";
      readonly process: ProcessView;
      readonly what: string;
      readonly error: unknown;
    }
  | { readonly kind: "asked for"; readonly process: ProcessView; readonly spec: CallSpec }
  | {
      readonly kind: "left";
      readonly process: ProcessView;
      readonly n: number;
      readonly how: "abort" | "cancel" | "forget";
    }
  | { readonly kind: "settling"; readonly process: ProcessView; readonly settled: Settled }
  | { readonly kind: "delivered"; readonly process: ProcessView; readonly settled: Settled };

/** Told where something does not hold. */
export class Violation extends Error {
  constructor(
    readonly invariant: string,
    detail: string,
  ) {
    super(`${invariant}: ${detail}`);
  }
}

/** Something that must hold, named after its promise. */
export interface Invariant {
  see?(observation: Observation): void;
  /** After every step. */
  check?(): void;
  /** After the last one. */
  finish?(): void;
}
