/** Owns what a testing server can be told, and what it is to its user. No code. */
import type { Clock } from "../internal/clock.js";
import type { Fault } from "./faults.js";
import type { LogEntry } from "./log.js";
import type { Violation } from "./strict.js";
import type { TestCounters, TestTask, TestTool } from "./types.js";

/** Options that survive JSON, and so can be given to a server in another process. */
export interface TaskServerSettings {
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default "127.0.0.1". */
  readonly host?: string;
  /** Default "/mcp". */
  readonly path?: string;
  /**
   * Keeps tasks, answers and counters. It is on disk (written beside, synced, renamed) before an answer that depends
   * on it goes out. A server that starts on the same file knows all of it. Default: memory only.
   */
  readonly stateFile?: string;
  /** JSON lines, one {@link LogEntry} per request, appended before the request is answered. */
  readonly logFile?: string;
  /**
   * Every request is checked, and what is wrong recorded in `violations()`. By default only headers that contradict
   * the body are refused; true refuses all violations but those of pace; "refuse" those too, with 429.
   */
  readonly strict?: boolean | "refuse";
  /** What goes wrong from the start. */
  readonly faults?: readonly Fault[];
  /** The hint of tasks whose tool gives none. Default 200. */
  readonly pollIntervalMs?: number;
  /** The time to live of tasks whose tool gives none; null is unlimited. Default one hour. */
  readonly ttlMs?: number | null;
  /** Default "json". Requests with progress notifications are always answered with an event stream. */
  readonly answerWith?: "json" | "sse";
  /** Only these bearer tokens are let in (401 else), and each sees only its own tasks. */
  readonly tokens?: readonly string[];
  /** Ids of the first tasks, in order, for hostile ones. All others are random. */
  readonly taskIds?: readonly string[];
  /** Tools per page of `tools/list`. Default 20. */
  readonly pageSize?: number;
  /** The `ttlMs` of `tools/list` and `server/discover`. Default one minute. */
  readonly listTtlMs?: number;
  /** Who the server says it is. Default: the testing server's own name. */
  readonly serverInfo?: { readonly name: string; readonly version: string; readonly title?: string };
  /** Supports `subscriptions/listen`. Default false: -32601. */
  readonly push?: boolean;
  /** Ms between comments on quiet streams of `subscriptions/listen`. Default 15 s; 0 is none. */
  readonly keepAliveMs?: number;
  /** Opens `POST /__control`, by which another process adds faults and reads what the server knows. */
  readonly control?: boolean;
}

/** What `startTaskServer` takes. */
export interface TaskServerOptions extends TaskServerSettings {
  /** More tools. One with the name of a built-in tool replaces it. */
  readonly tools?: readonly TestTool[];
  /** The id of the n-th task, counted from 0. Used once; one that is taken already is replaced by a random id. */
  readonly taskId?: (n: number) => string;
  /** Default: the machine's clock. */
  readonly clock?: Clock;
}

/** A running server. */
export interface TaskServer {
  /** Where clients connect: `http://host:port/path`. */
  readonly url: string;
  readonly port: number;
  /** Every request so far, in the order of the answers. */
  log(): readonly LogEntry[];
  /** Every rule that was broken so far. */
  violations(): readonly (Violation & { readonly seq: number; readonly method: string })[];
  addFault(fault: Fault): void;
  clearFaults(): void;
  /** Every task ever made, those that are gone included. */
  tasks(): readonly TestTask[];
  counters(): TestCounters;
  /** Ends streams gracefully, lets running answers finish (for a second at most), then closes. */
  close(): Promise<void>;
  /** Breaks every connection at once and stops, as a killed process would. Only what was on disk before is kept. */
  crash(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
