/** Owns what is known of a conversation from the bytes that passed: JSON-RPC messages in order. It takes no part in it. */
import { existsSync, readFileSync } from "node:fs";

/** One message as it passed. `out`: from the client. */
export interface WireEntry {
  readonly at: number;
  readonly dir: "out" | "in";
  /** HTTP: the status, and the number of the exchange that carried it. */
  readonly status?: number;
  readonly exchange?: number;
  readonly message: WireMessage;
}

/** A JSON-RPC message, of whatever kind. */
export interface WireMessage {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Questions about a recorded conversation. */
export interface Wire {
  readonly entries: readonly WireEntry[];
  /** Requests and notifications of the client with that method. */
  sent(method: string): readonly WireEntry[];
  /** Requests and notifications of the server with that method. */
  received(method: string): readonly WireEntry[];
  /** What the server answered to this request. */
  answerTo(request: WireEntry): WireMessage | undefined;
  /** Calls that the server took: it did not turn them away as belonging to another revision. */
  callsTaken(): readonly WireEntry[];
  /** The task id in the first handle that the server gave. */
  taskId(): string | undefined;
}

/** Reads a recorded file. */
export function readWire(file: string): Wire {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const entries = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as WireEntry);
  const of = (dir: "out" | "in", method: string) =>
    entries.filter((entry) => entry.dir === dir && entry.message.method === method);
  // Some servers answer what they refuse under an id of their own: over HTTP the exchange tells what it belongs to.
  const answerEntry = (request: WireEntry) =>
    entries
      .slice(entries.indexOf(request) + 1)
      .find(
        ({ dir, message, exchange, status }) =>
          dir === "in" &&
          isAnswer(message) &&
          (message.id === request.message.id || (exchange === request.exchange && (status ?? 0) >= 400)),
      );
  const answerTo = (request: WireEntry) => answerEntry(request)?.message;
  return {
    entries,
    sent: (method) => of("out", method),
    received: (method) => of("in", method),
    answerTo,
    callsTaken: () => of("out", "tools/call").filter((call) => (answerEntry(call)?.status ?? 200) < 400),
    taskId() {
      for (const call of of("out", "tools/call")) {
        const id = taskIdOf(answerTo(call)?.result);
        if (id !== undefined) return id;
      }
      return undefined;
    },
  };
}

function isAnswer(message: WireMessage): boolean {
  return message.result !== undefined || message.error !== undefined;
}

/** Of either generation: flat with `resultType`, or below `task`. */
function taskIdOf(result: WireMessage["result"]): string | undefined {
  if (result === undefined) return undefined;
  if (result["resultType"] === "task" && typeof result["taskId"] === "string") return result["taskId"];
  const nested = result["task"];
  if (typeof nested !== "object" || nested === null || !("taskId" in nested)) return undefined;
  return typeof nested.taskId === "string" ? nested.taskId : undefined;
}
