/** Owns how an answer goes out over HTTP, whole or spoiled by a fault. It must not decide which. */
import type { ServerResponse } from "node:http";
import { isObject, type JsonObject, type JsonValue } from "../internal/json.js";
import type { Fault, SseStyle } from "./faults.js";

/** A JSON-RPC answer with its HTTP status. */
export interface OutgoingAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

/** Faults that stand for the whole answer; the request may not have run. */
export type ReplacingFault = Extract<
  Fault,
  { kind: "status" | "rateLimit" | "unauthorized" | "reset" | "hang" | "html" | "empty" | "rpcError" }
>;

export function isReplacing(fault: Fault): fault is ReplacingFault {
  return ["status", "rateLimit", "unauthorized", "reset", "hang", "html", "empty", "rpcError"].includes(
    fault.kind,
  );
}

/** The status that the fault answers with; 0 where nothing is answered. */
export function statusOf(fault: ReplacingFault): number {
  switch (fault.kind) {
    case "status":
      return fault.status;
    case "rateLimit":
      return 429;
    case "unauthorized":
      return 401;
    case "reset":
    case "hang":
      return 0;
    case "html":
    case "empty":
    case "rpcError":
      return fault.status ?? 200;
  }
}

const page =
  "<!doctype html><html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>";

/** Answers with the fault instead of the truth. */
export function writeFault(res: ServerResponse, fault: ReplacingFault, id: JsonValue): void {
  const status = statusOf(fault);
  switch (fault.kind) {
    case "status": {
      const { body } = fault;
      const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
      const type = fault.contentType ?? (typeof body === "string" ? "text/plain" : "application/json");
      return write(res, status, { ...(text === "" ? {} : { "content-type": type }), ...fault.headers }, text);
    }
    case "rateLimit":
      return write(
        res,
        status,
        fault.retryAfter === undefined ? {} : { "retry-after": String(fault.retryAfter) },
        "",
      );
    case "unauthorized":
      return write(res, status, { "www-authenticate": 'Bearer error="invalid_token"' }, "");
    case "reset":
      res.destroy();
      return;
    case "hang":
      return;
    case "html":
      return write(res, status, { "content-type": "text/html" }, page);
    case "empty":
      return write(res, status, { "content-type": "application/json" }, "");
    case "rpcError": {
      const { code, message = "A scripted error", data } = fault;
      const error = { code, message, ...(data === undefined ? {} : { data }) };
      return writeJson(res, { status, body: { jsonrpc: "2.0", id, error } });
    }
  }
}

/** Answers with the truth, or with what the fault makes of it. */
export function writeAnswer(
  res: ServerResponse,
  answer: OutgoingAnswer,
  how: { readonly fault: Fault | undefined; readonly sse: boolean },
): void {
  const { fault } = how;
  const { status } = answer;
  const id = answer.body["id"] ?? null;
  const body = fault === undefined ? answer.body : spoiled(answer.body, fault);
  if (fault?.kind === "raw") {
    const type = fault.contentType ?? "application/json";
    return write(
      res,
      fault.status ?? 200,
      { "content-type": type },
      fault.text.replaceAll("%ID%", JSON.stringify(id)),
    );
  }
  if (fault?.kind === "truncated") return writeTruncated(res, answer, fault.abort === true);
  if (fault?.kind === "wrongType") {
    return write(res, status, { "content-type": fault.contentType ?? "text/plain" }, JSON.stringify(body));
  }
  if (fault?.kind === "sse" || how.sse || res.headersSent) {
    return writeSse(res, { status, body }, fault?.kind === "sse" ? fault : {});
  }
  writeJson(res, { status, body });
}

/** Opens the event stream of an answer, if it is not open yet, and sends one message on it. */
export function writeEvent(res: ServerResponse, message: JsonObject): void {
  openStream(res, 200);
  res.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

export function openStream(res: ServerResponse, status: number): void {
  if (res.headersSent) return;
  res.writeHead(status, { "content-type": "text/event-stream", "cache-control": "no-store" });
  res.flushHeaders();
}

export function writeJson(res: ServerResponse, { status, body }: OutgoingAnswer): void {
  write(res, status, { "content-type": "application/json" }, JSON.stringify(body));
}

function write(
  res: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  text: string,
): void {
  if (res.destroyed) return;
  res.writeHead(status, { ...headers, "content-length": Buffer.byteLength(text) });
  res.end(text);
}

function writeTruncated(res: ServerResponse, { status, body }: OutgoingAnswer, abort: boolean): void {
  const text = JSON.stringify(body);
  const half = text.slice(0, Math.floor(text.length / 2));
  if (!abort) return write(res, status, { "content-type": "application/json" }, half);
  res.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  res.write(half, () => res.destroy());
}

function writeSse(res: ServerResponse, { status, body }: OutgoingAnswer, style: SseStyle): void {
  openStream(res, status);
  const { eol = "\n", comments = 0 } = style;
  const noise = [": keep-alive", "", "data:", "", "event: ping", ""];
  const lines = [
    ...Array.from({ length: comments }, () => noise).flat(),
    ...(style.drop === undefined ? ["event: message", `data: ${JSON.stringify(body)}`, ""] : []),
  ];
  const bytes = Buffer.from(
    (style.bom === true ? "\u{feff}" : "") + lines.map((line) => line + eol).join(""),
  );
  const chunks = style.byteByByte === true ? Array.from(bytes, (byte) => Buffer.of(byte)) : [bytes];
  for (const chunk of chunks) res.write(chunk);
  if (style.drop !== "abort") res.end();
  else res.write(": gone\n", () => res.destroy());
}

function spoiled(body: JsonObject, fault: Fault): JsonObject {
  if (fault.kind === "wrongId") return { ...body, id: fault.id ?? "not-this-one" };
  if (fault.kind === "replace") return { jsonrpc: "2.0", id: body["id"] ?? null, result: fault.result };
  const { result } = body;
  if (!isObject(result)) return body;
  return { ...body, result: spoiledResult(result, fault) };
}

function spoiledResult(result: JsonObject, fault: Fault): JsonObject {
  switch (fault.kind) {
    case "patch":
      return { ...result, ...fault.fields };
    case "omit":
      return Object.fromEntries(Object.entries(result).filter(([key]) => !fault.fields.includes(key)));
    case "taskType":
      return { ...result, resultType: "task" };
    case "nested": {
      const { resultType, _meta, ...task } = result;
      return { resultType, task, _meta };
    }
    default:
      return result;
  }
}
