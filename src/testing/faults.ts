/** Owns scripted faults: their shapes, which request each one hits, and how often. It must not do any I/O. */
import type { JsonObject, JsonValue } from "../internal/json.js";

/** Which requests a fault hits. All given members must fit. */
export interface FaultMatch {
  readonly method?: string;
  /** The tool of a `tools/call`, or the tool that made the task of a `tasks/*`. */
  readonly name?: string;
  readonly taskId?: string;
  /** Hits only an update with at least that many keys. */
  readonly minKeys?: number;
  /** The first matching request that is hit, counted from 1 since the fault was added. Default 1. */
  readonly nth?: number;
  /** How many are hit from there on; -1 is all. Default 1. */
  readonly times?: number;
}

/**
 * What goes wrong. Of several faults that fit a request, all delays happen, then the first other one.
 *
 * Faults that answer something else do so without running the request, unless `processed` is true: then it was
 * executed, and its answer was lost. The ones that spoil the true answer always run the request.
 */
export type FaultKind =
  /** Any HTTP answer. A `body` that is not text goes out as JSON. */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: JsonValue;
      readonly contentType?: string;
      readonly processed?: boolean;
    }
  /** 429; `retryAfter` in seconds, or a date, as the header takes it. */
  | { readonly kind: "rateLimit"; readonly retryAfter?: string | number; readonly processed?: boolean }
  /** 401 with WWW-Authenticate. */
  | { readonly kind: "unauthorized"; readonly processed?: boolean }
  /** The connection is destroyed: before anything ran, or (`processed`) after, so that the answer is lost. */
  | { readonly kind: "reset"; readonly processed?: boolean }
  /** No answer, ever; the connection stays open. */
  | { readonly kind: "hang"; readonly processed?: boolean }
  /** The rest happens `ms` later. With `processed`, the request runs at once and only its answer waits. */
  | { readonly kind: "delay"; readonly ms: number; readonly processed?: boolean }
  /** A proxy's page. `status` 200 by default. */
  | { readonly kind: "html"; readonly status?: number; readonly processed?: boolean }
  /** No body. `status` 200 by default. */
  | { readonly kind: "empty"; readonly status?: number; readonly processed?: boolean }
  /** A JSON-RPC error instead of the answer. `status` 200 by default. */
  | {
      readonly kind: "rpcError";
      readonly code: number;
      readonly message?: string;
      readonly data?: JsonValue;
      readonly status?: number;
      readonly processed?: boolean;
    }
  /** The acknowledgement of an update or a cancel that is then forgotten. */
  | { readonly kind: "ackOnly" }
  /** The JSON breaks off in the middle; with `abort`, so does the connection. */
  | { readonly kind: "truncated"; readonly abort?: boolean }
  /** The right answer under a wrong JSON-RPC id. */
  | { readonly kind: "wrongId"; readonly id?: JsonValue }
  /** The right answer under a wrong content type ("text/plain"). */
  | { readonly kind: "wrongType"; readonly contentType?: string }
  /** The right answer as an event stream, written as the options say. */
  | ({ readonly kind: "sse" } & SseStyle)
  /** The task fields below `task`, as an older draft had it. */
  | { readonly kind: "nested" }
  /** `resultType: "task"` whatever was asked. */
  | { readonly kind: "taskType" }
  /** Members of the result that are left out. */
  | { readonly kind: "omit"; readonly fields: readonly string[] }
  /** Members of the result that are replaced or added. */
  | { readonly kind: "patch"; readonly fields: JsonObject }
  /** The result as a whole. */
  | { readonly kind: "replace"; readonly result: JsonValue }
  /** Of `subscriptions/listen`, with `push`: a stream that behaves as said. */
  | StreamFault
  /** This text instead of the JSON answer; `%ID%` becomes the JSON-RPC id. For what JSON values cannot say (1e400). */
  | { readonly kind: "raw"; readonly text: string; readonly status?: number; readonly contentType?: string };

/** What is wrong with a stream of `subscriptions/listen`. */
export interface StreamFault {
  readonly kind: "stream";
  /** False: no acknowledgement. */
  readonly ack?: boolean;
  /** "none": acknowledged, but for no task. */
  readonly accept?: "none";
  /** Neither notices nor comments, as if the connection were half open. */
  readonly silent?: boolean;
  /**
   * Ends so many ms after the start: "abort" (default) breaks, "end" without a result, "result" gracefully, "cancelled"
   * by a notice that names the request, with the connection left open.
   */
  readonly endAfterMs?: number;
  readonly end?: "abort" | "end" | "result" | "cancelled";
}

/** How an event stream is written. */
export interface SseStyle {
  readonly eol?: "\n" | "\r\n" | "\r";
  /** Begins with a byte-order mark. */
  readonly bom?: boolean;
  /** So many comment lines, empty data events and named events without data before the answer. */
  readonly comments?: number;
  /** One byte per write. */
  readonly byteByByte?: boolean;
  /** Ends without the answer: "end" gracefully, "abort" by a broken connection. */
  readonly drop?: "end" | "abort";
}

/** A fault and what it hits. Plain JSON, so that it can be sent to a server in another process. */
export type Fault = FaultMatch & FaultKind;

/** What a fault is matched against. */
export interface FaultTarget {
  readonly method: string;
  readonly name: string | undefined;
  readonly taskId: string | undefined;
  readonly keys: number;
}

export interface FaultPlan {
  readonly delays: readonly Extract<Fault, { kind: "delay" }>[];
  readonly fault: Fault | undefined;
}

export interface FaultScript {
  add(fault: Fault): void;
  clear(): void;
  /** Counts the request against every fault that fits it, and answers what goes wrong with it. */
  take(target: FaultTarget): FaultPlan;
}

/** A script with the given faults. */
export function faultScript(initial: readonly Fault[]): FaultScript {
  let entries: { fault: Fault; seen: number; hits: number }[] = [];
  const add = (fault: Fault): void => {
    entries.push({ fault, seen: 0, hits: 0 });
  };
  initial.forEach(add);
  return {
    add,
    clear() {
      entries = [];
    },
    take(target) {
      const delays: Extract<Fault, { kind: "delay" }>[] = [];
      let chosen: Fault | undefined;
      for (const entry of entries) {
        const { fault } = entry;
        if (!fits(fault, target)) continue;
        // One that another fault hides is not used up: the next request meets it.
        if (fault.kind !== "delay" && chosen !== undefined) continue;
        entry.seen += 1;
        if (entry.seen < (fault.nth ?? 1)) continue;
        const times = fault.times ?? 1;
        if (times !== -1 && entry.hits >= times) continue;
        entry.hits += 1;
        if (fault.kind === "delay") delays.push(fault);
        else chosen = fault;
      }
      return { delays, fault: chosen };
    },
  };
}

function fits(match: FaultMatch, target: FaultTarget): boolean {
  return (
    (match.method === undefined || match.method === target.method) &&
    (match.name === undefined || match.name === target.name) &&
    (match.taskId === undefined || match.taskId === target.taskId) &&
    (match.minKeys === undefined || target.keys >= match.minKeys)
  );
}
