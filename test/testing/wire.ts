/** Owns a bare client for the server's own tests: it writes requests by hand, so that it can also write wrong ones. */
import { isObject, type JsonObject, type JsonValue } from "../../src/internal/json.js";
import { encodeHeaderValue } from "../../src/protocol/headers.js";

export const everything: JsonObject = {
  extensions: { "io.modelcontextprotocol/tasks": {} },
  elicitation: { form: {}, url: {} },
  sampling: {},
  roots: {},
};

export interface Wire {
  capabilities?: JsonObject;
  meta?: JsonObject;
  headers?: Record<string, string | undefined>;
  id?: string | number;
  signal?: AbortSignal;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON-RPC answer, from JSON or from an event stream. */
  readonly body: {
    id?: JsonValue;
    result?: Record<string, JsonValue>;
    error?: { code: number; data?: JsonValue };
  };
  /** All messages of an event stream. */
  readonly events: readonly JsonObject[];
}

/** Sends one correct request, changed as `wire` says. */
export async function send(
  url: string,
  method: string,
  params: JsonObject = {},
  wire: Wire = {},
): Promise<WireAnswer> {
  const name = method === "tools/call" ? params["name"] : params["taskId"];
  const headers: Record<string, string> = {};
  const wanted: Record<string, string | undefined> = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    "mcp-name": typeof name === "string" ? encodeHeaderValue(name) : undefined,
    ...wire.headers,
  };
  for (const [key, value] of Object.entries(wanted)) if (value !== undefined) headers[key] = value;
  const body = {
    jsonrpc: "2.0",
    id: wire.id ?? "r-1",
    method,
    params: {
      ...params,
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "wire", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": wire.capabilities ?? everything,
        ...wire.meta,
      },
    },
  };
  const response = await fetch(url, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    ...(wire.signal === undefined ? {} : { signal: wire.signal }),
  });
  const answer = await readAnswer(response);
  notePace(answer.body.result);
  return answer;
}

/** When the next poll of a task may go out. */
const nextPolls = new Map<string, number>();

function notePace(result: Record<string, JsonValue> | undefined): void {
  const { taskId, pollIntervalMs } = result ?? {};
  if (typeof taskId === "string" && typeof pollIntervalMs === "number") {
    nextPolls.set(taskId, performance.now() + pollIntervalMs);
  }
}

/** The result of a request that must succeed. Polls wait for their time first; those by `send` do not. */
export async function ask(
  url: string,
  method: string,
  params: JsonObject = {},
  wire: Wire = {},
): Promise<JsonObject> {
  const { taskId } = params;
  if (method === "tasks/get" && typeof taskId === "string") {
    // A timer may fire a little before its time.
    const leftMs = (): number => (nextPolls.get(taskId) ?? 0) - performance.now();
    while (leftMs() > 0) await new Promise((resolve) => setTimeout(resolve, leftMs()));
  }
  const { body, text } = await send(url, method, params, wire);
  if (body.result === undefined) throw new Error(`${method} gave no result: ${text}`);
  return body.result;
}

/** Calls a tool that makes a task, and answers its handle. */
export async function startTask(
  url: string,
  name: string,
  args: JsonObject = {},
): Promise<JsonObject & { taskId: string }> {
  const handle = await ask(url, "tools/call", { name, arguments: args });
  if (typeof handle["taskId"] !== "string") throw new Error(`${name} made no task`);
  return { ...handle, taskId: handle["taskId"] };
}

/** Polls at the server's own pace until the status is one of the wanted. */
export async function pollUntil(url: string, taskId: string, ...wanted: string[]): Promise<JsonObject> {
  for (;;) {
    const task = await ask(url, "tasks/get", { taskId });
    if (wanted.some((status) => status === task["status"])) return task;
  }
}

export const terminal = ["completed", "failed", "cancelled"] as const;

async function readAnswer(response: Response): Promise<WireAnswer> {
  const text = await response.text();
  const events: JsonObject[] = [];
  let body: unknown = {};
  if (response.headers.get("content-type")?.startsWith("text/event-stream") === true) {
    for (const line of text.split("\n")) {
      if (line.startsWith("data: ")) events.push(JSON.parse(line.slice(6)) as JsonObject);
    }
    body = events.at(-1) ?? {};
  } else {
    try {
      body = JSON.parse(text);
    } catch {
      body = {};
    }
  }
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isObject(body) ? body : {},
    events,
  };
}

/** The member as a string; fails where it is none. */
export function words(object: Readonly<Record<string, unknown>> | undefined, key: string): string {
  const value = object?.[key];
  if (typeof value !== "string") throw new Error(`${key} is no string`);
  return value;
}
