/** Owns what a client must do on the wire: checks one request and names what is wrong. No state but the pace of polls. */
import type { IncomingHttpHeaders } from "node:http";
import { isObject, type JsonObject } from "../internal/json.js";
import {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_PROTOCOL_VERSION,
  PROTOCOL_VERSION,
  RPC,
  TASKS_EXTENSION,
} from "../protocol/constants.js";
import { decodeHeaderValue } from "../protocol/headers.js";

/** A rule of the wire that a request broke. */
export interface Violation {
  /** Which: "accept", "content-type", "session", "envelope", "version-header", "method-header", … */
  readonly rule: string;
  readonly message: string;
}

/** A violation, and how a server that minds it answers. */
export interface Finding extends Violation {
  readonly status: number;
  readonly code: number;
  /**
   * From which mode on it is refused. "always": a header that contradicts the body. "refuse": what a conforming server
   * has to bear, though no client may do it.
   */
  readonly from: "always" | "strict" | "refuse";
}

export interface CheckedRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
  /** The schema of the tool that a `tools/call` names. */
  readonly inputSchema: JsonObject | undefined;
}

const named: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/** Everything that is wrong with the request, worst first. */
export function findings(request: CheckedRequest): Finding[] {
  return [
    ...shapeFindings(request),
    ...transportFindings(request),
    ...(request.method.startsWith("notifications/") ? [] : envelopeFindings(request)),
    ...headerFindings(request),
    ...mirrorFindings(request),
  ];
}

function shapeFindings({ body, params }: CheckedRequest): Finding[] {
  const found: Finding[] = [];
  const invalid = (message: string): void => {
    found.push({ rule: "rpc-shape", message, status: 400, code: RPC.invalidRequest, from: "strict" });
  };
  if (body["jsonrpc"] !== "2.0") invalid("jsonrpc is not 2.0");
  const id = body["id"];
  if (id !== undefined && typeof id !== "string" && !Number.isInteger(id))
    invalid("id is no string or integer");
  if ("task" in params) {
    found.push({
      rule: "params.task",
      message: "params.task is of the earlier generation",
      status: 400,
      code: RPC.invalidParams,
      from: "refuse",
    });
  }
  return found;
}

function transportFindings({ headers }: CheckedRequest): Finding[] {
  const found: Finding[] = [];
  const add = (rule: string, message: string, status: number): void => {
    found.push({ rule, message, status, code: RPC.invalidRequest, from: "strict" });
  };
  const accept = headers.accept ?? "";
  if (!accept.includes("application/json") || !accept.includes("text/event-stream")) {
    add("accept", "Accept must list application/json and text/event-stream", 406);
  }
  if (!(headers["content-type"] ?? "").startsWith("application/json")) {
    add("content-type", "Content-Type must be application/json", 415);
  }
  if (headers["mcp-session-id"] !== undefined) add("session", "Mcp-Session-Id is of earlier revisions", 400);
  if (headers["last-event-id"] !== undefined) add("session", "Last-Event-ID is of earlier revisions", 400);
  return found;
}

function envelopeFindings({ params }: CheckedRequest): Finding[] {
  const found: Finding[] = [];
  const add = (rule: string, message: string): void => {
    found.push({ rule, message, status: 400, code: RPC.invalidParams, from: "strict" });
  };
  const meta = params["_meta"];
  if (!isObject(meta)) {
    add("envelope", "params._meta is missing");
    return found;
  }
  if (typeof meta[META_PROTOCOL_VERSION] !== "string")
    add("envelope", `_meta lacks ${META_PROTOCOL_VERSION}`);
  const info = meta[META_CLIENT_INFO];
  if (!isObject(info) || typeof info["name"] !== "string" || typeof info["version"] !== "string") {
    add("envelope", `_meta lacks ${META_CLIENT_INFO} with name and version`);
  }
  const capabilities = meta[META_CLIENT_CAPABILITIES];
  if (!isObject(capabilities)) add("envelope", `_meta lacks ${META_CLIENT_CAPABILITIES}`);
  else if (capabilities["tasks"] !== undefined)
    add("extension-path", "capabilities.tasks is of the earlier generation");
  if (TASKS_EXTENSION in meta) add("extension-path", "the extension stands directly under _meta");
  if (isObject(capabilities) && TASKS_EXTENSION in capabilities) {
    add("extension-path", "the extension stands outside clientCapabilities.extensions");
  }
  const token = meta["progressToken"];
  if (token !== undefined && typeof token !== "string" && !Number.isInteger(token)) {
    add("progress-token", "progressToken is no string or integer");
  }
  return found;
}

function headerFindings({ method, params, headers }: CheckedRequest): Finding[] {
  const meta = params["_meta"];
  const version = isObject(meta) ? meta[META_PROTOCOL_VERSION] : undefined;
  const nameField = named[method];
  const name = nameField === undefined ? undefined : params[nameField];
  return [
    ...mirrored(
      "version-header",
      "MCP-Protocol-Version",
      headers,
      typeof version === "string" ? version : PROTOCOL_VERSION,
    ),
    ...mirrored("method-header", "Mcp-Method", headers, method),
    ...(typeof name === "string" ? mirrored("name-header", "Mcp-Name", headers, name) : []),
  ];
}

function mirrorFindings({ method, params, headers, inputSchema }: CheckedRequest): Finding[] {
  if (method !== "tools/call" || inputSchema === undefined) return [];
  const found: Finding[] = [];
  const expected = new Set<string>();
  for (const { path, header } of mirrorsOf(inputSchema)) {
    const name = `Mcp-Param-${header}`;
    const value = path.reduce<unknown>(
      (at, key) => (isObject(at) ? at[key] : undefined),
      params["arguments"],
    );
    expected.add(name.toLowerCase());
    if (value !== undefined && value !== null) {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      found.push(...mirrored("param-header", name, headers, text));
    } else if (headers[name.toLowerCase()] !== undefined) {
      found.push(mismatch("param-header", `${name} stands for an argument that is absent`, "always"));
    }
  }
  for (const name of Object.keys(headers)) {
    if (name.startsWith("mcp-param-") && !expected.has(name)) {
      found.push(mismatch("param-header", `${name} is not annotated`, "strict"));
    }
  }
  return found;
}

/** The `x-mcp-header` annotations that count: on plain property paths. */
export function mirrorsOf(
  inputSchema: JsonObject,
  path: readonly string[] = [],
): { path: string[]; header: string }[] {
  const properties = inputSchema["properties"];
  if (!isObject(properties)) return [];
  return Object.entries(properties).flatMap(([key, property]) => {
    if (!isObject(property)) return [];
    const header = property["x-mcp-header"];
    const here = typeof header === "string" && header !== "" ? [{ path: [...path, key], header }] : [];
    return [...here, ...mirrorsOf(property, [...path, key])];
  });
}

function mirrored(rule: string, name: string, headers: IncomingHttpHeaders, value: string): Finding[] {
  const header = headers[name.toLowerCase()];
  if (typeof header !== "string") return [mismatch(rule, `${name} is missing`, "strict")];
  if (!/^[\x20-\x7e\t]*$/.test(header)) return [mismatch(rule, `${name} is not plain ASCII`, "always")];
  return decodeHeaderValue(header) === value
    ? []
    : [mismatch(rule, `${name} differs from the body`, "always")];
}

function mismatch(rule: string, message: string, from: Finding["from"]): Finding {
  return { rule, message: `Header mismatch: ${message}`, status: 400, code: RPC.headerMismatch, from };
}

/** How far before its time a poll may come: timers fire up to a millisecond early. */
const SLACK_MS = 2;

/** Watches the spacing of `tasks/get` per task. */
export interface Pace {
  /** A poll came. Answers what is wrong with its moment. */
  begin(taskId: string, nowMs: number): Finding | undefined;
  /** An answer goes out that shows the task and this interval. */
  shown(taskId: string, nowMs: number, pollIntervalMs: number): void;
  /** The poll is over, answered or not: the interval in force counts from here. */
  ended(taskId: string, nowMs: number): void;
  /** The next poll may come at once: a stream for the task was opened. */
  excuse(taskId: string): void;
}

export function pace(): Pace {
  const marks = new Map<string, { notBeforeMs: number; intervalMs: number; inFlight: number }>();
  const mark = (taskId: string): { notBeforeMs: number; intervalMs: number; inFlight: number } => {
    const found = marks.get(taskId) ?? { notBeforeMs: -Infinity, intervalMs: 0, inFlight: 0 };
    marks.set(taskId, found);
    return found;
  };
  const finding = (message: string): Finding => ({
    rule: "polite",
    message,
    status: 429,
    code: RPC.invalidRequest,
    from: "refuse",
  });
  return {
    begin(taskId, nowMs) {
      const at = mark(taskId);
      at.inFlight += 1;
      if (at.inFlight > 1) return finding("two polls of one task at one time");
      const early = at.notBeforeMs - SLACK_MS - nowMs;
      return early > 0 ? finding(`a poll came ${Math.ceil(early)} ms too early`) : undefined;
    },
    shown(taskId, nowMs, pollIntervalMs) {
      const at = mark(taskId);
      at.intervalMs = pollIntervalMs;
      at.notBeforeMs = nowMs + pollIntervalMs;
    },
    ended(taskId, nowMs) {
      const at = mark(taskId);
      at.inFlight -= 1;
      at.notBeforeMs = Math.max(at.notBeforeMs, nowMs + at.intervalMs);
    },
    excuse(taskId) {
      mark(taskId).notBeforeMs = -Infinity;
    },
  };
}
