/** Owns the HTTP side of the testing server: reads requests, lets faults happen, checks, logs, answers. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { sleep, systemClock } from "../internal/clock.js";
import { isObject, type JsonObject } from "../internal/json.js";
import { RPC } from "../protocol/constants.js";
import {
  isReplacing,
  statusOf,
  writeAnswer,
  writeEvent,
  writeFault,
  writeJson,
  type OutgoingAnswer,
} from "./answers.js";
import { builtinTools } from "./builtinTools.js";
import { conformanceTools } from "./conformanceTools.js";
import { CONTROL_PATH, handleControl } from "./control.js";
import { faultScript, type Fault } from "./faults.js";
import { requestLog, type LogEntry } from "./log.js";
import type { TaskServer, TaskServerOptions } from "./options.js";
import { registry as makeRegistry } from "./registry.js";
import { rpc as makeRpc, type RpcAnswer } from "./rpc.js";
import { runner as makeRunner } from "./runner.js";
import { findings, pace as makePace, type Finding } from "./strict.js";
import { principalOf, taskBook } from "./taskBook.js";

const MAX_BODY_BYTES = 16 * 1024 * 1024;
const ONE_HOUR_MS = 3_600_000;

/** One request on its way through. */
interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly atMs: number;
  readonly body: JsonObject;
  readonly method: string;
  readonly params: JsonObject;
  readonly taskId: string | undefined;
  readonly name: string | undefined;
  readonly found: Finding[];
}

/**
 * Starts a real MCP server of the 2026-07-28 revision with the tasks extension, for tests and examples.
 *
 * Resolves when it listens; rejects when the port is taken or the state file cannot be read.
 */
export async function startTaskServer(options: TaskServerOptions = {}): Promise<TaskServer> {
  const { host = "127.0.0.1", path = "/mcp", clock = systemClock, strict = false, tokens } = options;
  const registry = makeRegistry(
    [...builtinTools, ...conformanceTools, ...(options.tools ?? [])],
    options.pageSize ?? 20,
  );
  const book = taskBook({
    stateFile: options.stateFile,
    taskId: options.taskId ?? ((n) => options.taskIds?.[n]),
    pollIntervalMs: options.pollIntervalMs ?? 200,
    ttlMs: options.ttlMs === undefined ? ONE_HOUR_MS : options.ttlMs,
    now: () => clock.now(),
    finish: (tool) => registry.finish(tool),
  });
  const log = requestLog(options.logFile);
  const faults = faultScript(options.faults ?? []);
  const pace = makePace();
  const runner = makeRunner({ book, registry, clock });
  const rpc = makeRpc({
    book,
    registry,
    runner,
    clock,
    serverInfo: { name: "mcp-taskrail-testing", version: "1.0.0" },
    listTtlMs: options.listTtlMs ?? 60_000,
    failPolls: (taskId, times, status) =>
      faults.add({ kind: "status", method: "tasks/get", taskId, times, status }),
  });

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const atMs = clock.now();
    const target = new URL(req.url ?? "/", "http://server").pathname;
    if (target === CONTROL_PATH && options.control === true) return handleControl(req, res, server);
    if (target !== path) return writeText(res, 404, "Not found");
    if (req.method !== "POST") return refuseMethod(req, res, atMs);
    const text = await readBody(req);
    const body = parse(text);
    if (body === undefined) {
      const found: Finding = {
        rule: "rpc-shape",
        message: "The body is no JSON object",
        status: 400,
        code: RPC.parseError,
      };
      note(
        { ...blank(req, res, atMs), found: [found] },
        { status: 400, answer: "error", errorCode: RPC.parseError },
      );
      return writeJson(res, errorAnswer(400, null, RPC.parseError, "Parse error"));
    }
    await exchange(read(req, res, atMs, body));
  }

  async function exchange(x: Exchange): Promise<void> {
    const plan = faults.take({ method: x.method, name: x.name, taskId: x.taskId, keys: keysOf(x.params) });
    const { fault } = plan;
    const early =
      x.method === "tasks/get" && x.taskId !== undefined
        ? pace.begin(x.taskId, clock.monotonic())
        : undefined;
    if (early !== undefined) x.found.push(early);
    try {
      for (const delay of plan.delays) if (delay.processed !== true) await pause(x, delay.ms);
      if (fault !== undefined && isReplacing(fault) && fault.processed !== true) {
        return answerFault(x, fault, undefined);
      }
      const answer = refused(x) ?? (fault?.kind === "ackOnly" ? ackOnly : await run(x));
      if (fault !== undefined && isReplacing(fault)) return answerFault(x, fault, answer);
      await answerTruth(x, { answer, fault, delays: plan.delays });
    } finally {
      if (x.method === "tasks/get" && x.taskId !== undefined)
        whenOver(x, () => pace.ended(x.taskId ?? "", clock.monotonic()));
    }
  }

  function refused(x: Exchange): RpcAnswer | undefined {
    if (tokens !== undefined && !tokens.includes(tokenOf(x.req) ?? "")) {
      return { status: 401, error: { code: RPC.invalidRequest, message: "Unauthorized" } };
    }
    const minded = x.found.find(
      ({ rule, always }) => always === true || (rule === "polite" ? strict === "refuse" : strict !== false),
    );
    if (minded === undefined) return undefined;
    return { status: minded.status, error: { code: minded.code, message: minded.message } };
  }

  async function run(x: Exchange): Promise<RpcAnswer> {
    if (x.body["id"] === undefined) return { status: 202 };
    const controller = new AbortController();
    x.res.on("close", () => controller.abort(new Error("The client closed the request")));
    try {
      const answer = await rpc({
        method: x.method,
        params: x.params,
        principal: tokens === undefined ? null : principalOf(tokenOf(x.req)),
        signal: controller.signal,
        notify: (method, params) => writeEvent(x.res, { jsonrpc: "2.0", method, params }),
      });
      if (answer.broken !== undefined) x.found.push(answer.broken);
      return answer;
    } catch (error) {
      const message = error instanceof Error ? error.message : "The tool threw";
      return { status: 200, error: { code: RPC.internalError, message } };
    }
  }

  function answerFault(
    x: Exchange,
    fault: Extract<Fault, { kind: string }>,
    answer: RpcAnswer | undefined,
  ): void {
    if (!isReplacing(fault)) return;
    note(x, {
      ...factsOf(answer),
      status: statusOf(fault),
      answer: `fault:${fault.kind}`,
      processed: answer !== undefined,
      ...(fault.kind === "rpcError" ? { errorCode: fault.code } : {}),
    });
    writeFault(x.res, fault, x.body["id"] ?? null);
  }

  async function answerTruth(
    x: Exchange,
    how: {
      answer: RpcAnswer;
      fault: Fault | undefined;
      delays: readonly { ms: number; processed?: boolean }[];
    },
  ): Promise<void> {
    const { answer, fault } = how;
    const kind = fault === undefined ? kindOf(answer) : `fault:${fault.kind}`;
    note(x, { ...factsOf(answer), status: answer.status, answer: kind });
    for (const delay of how.delays) if (delay.processed === true) await pause(x, delay.ms);
    if (answer.task !== undefined)
      pace.shown(answer.task.taskId, clock.monotonic(), answer.task.pollIntervalMs);
    if (answer.status === 202) return void x.res.writeHead(202).end();
    writeAnswer(x.res, outgoing(x, answer), { fault, sse: options.answerWith === "sse" });
  }

  function note(x: Exchange, facts: Partial<LogEntry> & Pick<LogEntry, "status" | "answer">): void {
    log.add({
      atMs: x.atMs,
      method: x.method,
      ...(x.name === undefined ? {} : { name: x.name }),
      ...(x.taskId === undefined ? {} : { taskId: x.taskId }),
      ...(typeof x.body["id"] === "string" || typeof x.body["id"] === "number" ? { id: x.body["id"] } : {}),
      headers: shownHeaders(x.req),
      params: x.params,
      processed: true,
      ...(x.found.length === 0
        ? {}
        : { violations: x.found.map(({ rule, message }) => ({ rule, message })) }),
      ...facts,
    });
  }

  function refuseMethod(req: IncomingMessage, res: ServerResponse, atMs: number): void {
    const found: Finding = {
      rule: "http-method",
      message: "Only POST is used",
      status: 405,
      code: RPC.invalidRequest,
    };
    note(
      { ...blank(req, res, atMs), method: `HTTP ${req.method}`, found: [found] },
      { status: 405, answer: "error" },
    );
    writeText(res, 405, "Method not allowed");
  }

  function read(req: IncomingMessage, res: ServerResponse, atMs: number, body: JsonObject): Exchange {
    const method = typeof body["method"] === "string" ? body["method"] : "";
    const params = isObject(body["params"]) ? body["params"] : {};
    const taskId = typeof params["taskId"] === "string" ? params["taskId"] : undefined;
    const called = method === "tools/call" && typeof params["name"] === "string" ? params["name"] : undefined;
    const name = called ?? book.toolOf(taskId);
    const inputSchema = called === undefined ? undefined : registry.get(called)?.inputSchema;
    const found = findings({ method, params, headers: req.headers, body, inputSchema });
    return { req, res, atMs, body, method, params, taskId, name, found };
  }

  async function pause(x: Exchange, ms: number): Promise<void> {
    const gone = new AbortController();
    x.res.on("close", () => gone.abort());
    await sleep(clock, ms, { keepAlive: true, signal: gone.signal }).catch(() => undefined);
  }

  const http = createServer((req, res) => {
    handle(req, res).catch((error: unknown) => {
      if (!res.headersSent) writeText(res, 500, error instanceof Error ? error.message : "Internal error");
      else res.destroy();
    });
  });
  http.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(options.port ?? 0, host, resolve);
  });
  runner.resume();
  const address = http.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;

  async function stop(abrupt: boolean): Promise<void> {
    runner.stop();
    const closed = new Promise<void>((resolve) => http.close(() => resolve()));
    if (abrupt) http.closeAllConnections();
    else http.closeIdleConnections();
    await closed;
    log.close();
  }

  const server: TaskServer = {
    url: `http://${host}:${port}${path}`,
    port,
    log: () => log.entries(),
    violations: () =>
      log
        .entries()
        .flatMap(({ seq, method, violations = [] }) => violations.map((one) => ({ ...one, seq, method }))),
    addFault: (fault) => faults.add(fault),
    clearFaults: () => faults.clear(),
    tasks: () => book.describe(),
    counters: () => book.counters(),
    close: () => stop(false),
    crash: () => stop(true),
    [Symbol.asyncDispose]: () => stop(true),
  };
  return server;
}

const ackOnly: RpcAnswer = { status: 200, result: { resultType: "complete" } };

function kindOf(answer: RpcAnswer): string {
  if (answer.error !== undefined) return "error";
  if (answer.result === undefined) return "accepted";
  const { resultType } = answer.result;
  return typeof resultType === "string" ? resultType : "complete";
}

function factsOf(answer: RpcAnswer | undefined): Partial<LogEntry> {
  return {
    ...(answer?.task === undefined ? {} : { taskId: answer.task.taskId, name: answer.task.tool }),
    ...(answer?.error === undefined ? {} : { errorCode: answer.error.code }),
    ...answer?.update,
  };
}

function outgoing(x: Exchange, answer: RpcAnswer): OutgoingAnswer {
  const id = x.body["id"] ?? null;
  const outcome =
    answer.error === undefined ? { result: answer.result ?? {} } : { error: { ...answer.error } };
  return { status: answer.status, body: { jsonrpc: "2.0", id, ...outcome } };
}

function errorAnswer(
  status: number,
  id: string | number | null,
  code: number,
  message: string,
): OutgoingAnswer {
  return { status, body: { jsonrpc: "2.0", id, error: { code, message } } };
}

function keysOf(params: JsonObject): number {
  const responses = params["inputResponses"];
  return isObject(responses) ? Object.keys(responses).length : 0;
}

function tokenOf(req: IncomingMessage): string | undefined {
  return /^Bearer (.+)$/.exec(req.headers.authorization ?? "")?.[1];
}

/** What the log keeps of the headers: all that the wire page names, and no credential. */
function shownHeaders(req: IncomingMessage): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, value] of Object.entries(req.headers)) {
    if (typeof value === "string" && name !== "authorization" && name !== "cookie") shown[name] = value;
  }
  return shown;
}

function blank(req: IncomingMessage, res: ServerResponse, atMs: number): Exchange {
  return { req, res, atMs, body: {}, method: "", params: {}, taskId: undefined, name: undefined, found: [] };
}

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

async function readBody(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Error("The body is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function writeText(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, { "content-type": "text/plain" }).end(text);
}

/** Runs `over` once the answer is out or the connection is gone. */
function whenOver(x: Exchange, over: () => void): void {
  if (x.res.writableEnded || x.res.destroyed) over();
  else x.res.once("close", over);
}
