/** Owns one HTTP request on its way through the server: how it is read, and what log and answer take from it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { isObject, type JsonObject } from "../internal/json.js";
import type { OutgoingAnswer } from "./answers.js";
import type { Fault } from "./faults.js";
import type { LogEntry } from "./log.js";
import type { RpcAnswer } from "./rpc.js";
import type { Finding } from "./strict.js";

const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** One request on its way through. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Arrival, wall clock. */
  readonly atMs: number;
  readonly body: JsonObject;
  readonly method: string;
  readonly params: JsonObject;
  readonly taskId: string | undefined;
  /** The tool: of the call, or of the task. */
  readonly name: string | undefined;
  readonly found: Finding[];
  /** Just before the answer was written, on the clock that does not jump. */
  answeredAtMs?: number;
}

/** A request that did not get as far as JSON-RPC. */
export function blankExchange(
  req: IncomingMessage,
  res: ServerResponse,
  unread: { readonly atMs: number; readonly method: string; readonly found: Finding },
): Exchange {
  const { atMs, method, found } = unread;
  return { req, res, atMs, body: {}, method, params: {}, taskId: undefined, name: undefined, found: [found] };
}

/** The JSON object in the body; undefined when it is none. */
export async function readJson(req: IncomingMessage): Promise<JsonObject | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Error("The body is too long");
    chunks.push(chunk);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    return isObject(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

export function bearerOf(req: IncomingMessage): string | undefined {
  return /^Bearer (.+)$/.exec(req.headers.authorization ?? "")?.[1];
}

/** How many answers an update brings. */
export function keysOf(params: JsonObject): number {
  const responses = params["inputResponses"];
  return isObject(responses) ? Object.keys(responses).length : 0;
}

/** The facts of the request for its log entry. */
export function requestFacts(x: Exchange): Omit<LogEntry, "seq" | "status" | "answer"> {
  const { id } = x.body;
  return {
    atMs: x.atMs,
    method: x.method,
    ...(x.name === undefined ? {} : { name: x.name }),
    ...(x.taskId === undefined ? {} : { taskId: x.taskId }),
    ...(typeof id === "string" || typeof id === "number" ? { id } : {}),
    headers: shownHeaders(x.req),
    params: x.params,
    processed: true,
    ...(x.found.length === 0 ? {} : { violations: x.found.map(({ rule, message }) => ({ rule, message })) }),
  };
}

/** The facts of the answer for the log entry. */
export function answerFacts(answer: RpcAnswer | undefined): Partial<LogEntry> {
  return {
    ...(answer?.task === undefined ? {} : { taskId: answer.task.taskId, name: answer.task.tool }),
    ...(answer?.error === undefined ? {} : { errorCode: answer.error.code }),
    ...answer?.update,
  };
}

/** The word for the answer in the log. */
export function answerKind(answer: RpcAnswer): string {
  if (answer.error !== undefined) return "error";
  if (answer.result === undefined) return "accepted";
  const { resultType } = answer.result;
  return typeof resultType === "string" ? resultType : "complete";
}

/** The poll interval that the client can read from the answer, if any: an acknowledgement shows none. */
export function intervalShown(answer: RpcAnswer, fault: Fault | undefined): number | undefined {
  const shown = answer.result?.["pollIntervalMs"];
  const patched = fault?.kind === "patch" ? fault.fields["pollIntervalMs"] : undefined;
  const value = patched === undefined ? shown : patched;
  const readable = fault === undefined || ["sse", "nested", "taskType", "patch"].includes(fault.kind);
  return readable && typeof value === "number" && value > 0 ? value : undefined;
}

/** The JSON-RPC message. */
export function outgoing(x: Exchange, answer: RpcAnswer): OutgoingAnswer {
  const id = x.body["id"] ?? null;
  const outcome =
    answer.error === undefined ? { result: answer.result ?? {} } : { error: { ...answer.error } };
  return { status: answer.status, body: { jsonrpc: "2.0", id, ...outcome } };
}

/** All headers but credentials. */
function shownHeaders(req: IncomingMessage): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, value] of Object.entries(req.headers)) {
    if (typeof value === "string" && name !== "authorization" && name !== "cookie") shown[name] = value;
  }
  return shown;
}
