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
  type ReplacingFault,
} from "./answers.js";
import { builtinTools } from "./builtinTools.js";
import { conformanceTools } from "./conformanceTools.js";
import { CONTROL_PATH, handleControl } from "./control.js";
import {
  answerFacts,
  answerKind,
  bearerOf,
  blankExchange,
  intervalShown,
  keysOf,
  outgoing,
  readJson,
  requestFacts,
  type Exchange,
} from "./exchange.js";
import { faultScript, type Fault, type StreamFault } from "./faults.js";
import { listenedIds, listenStreams } from "./listen.js";
import { requestLog, type LogEntry } from "./log.js";
import type { TaskServer, TaskServerOptions } from "./options.js";
import { registry as makeRegistry } from "./registry.js";
import { declaresTasks, missingTasks, rpc as makeRpc, type RpcAnswer } from "./rpc.js";
import { runner as makeRunner } from "./runner.js";
import { findings, pace as makePace, type Finding } from "./strict.js";
import { principalOf, taskBook } from "./taskBook.js";

const ONE_HOUR_MS = 3_600_000;
/** How long `close` waits for running requests; a scripted hang would otherwise keep it for ever. */
const CLOSE_GRACE_MS = 1000;
const LISTEN = "subscriptions/listen";

/**
 * Starts a real MCP server of the 2026-07-28 revision with the tasks extension, for tests and examples.
 *
 * Resolves when it listens; rejects when the port is taken or the state file cannot be read.
 */
export async function startTaskServer(options: TaskServerOptions = {}): Promise<TaskServer> {
  const { host = "127.0.0.1", path = "/mcp", clock = systemClock, strict = false, tokens } = options;
  const tools = [...builtinTools, ...conformanceTools, ...(options.tools ?? [])];
  const registry = makeRegistry(tools, options.pageSize ?? 20);
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
  const streams = listenStreams({ book, clock, keepAliveMs: options.keepAliveMs ?? 15_000 });
  const rpc = makeRpc({
    book,
    registry,
    runner,
    clock,
    serverInfo: options.serverInfo ?? { name: "mcp-taskrail-testing", version: "1.0.0" },
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
    const body = await readJson(req);
    if (body === undefined) return refuseBody(req, res, atMs);
    await exchange(read(req, res, atMs, body));
  }

  function refuseMethod(req: IncomingMessage, res: ServerResponse, atMs: number): void {
    const found = finding("http-method", "Only POST is used", 405);
    note(blankExchange(req, res, { atMs, method: `HTTP ${req.method}`, found }), {
      status: 405,
      answer: "error",
    });
    writeText(res, 405, "Method not allowed");
  }

  function refuseBody(req: IncomingMessage, res: ServerResponse, atMs: number): void {
    const found = finding("rpc-shape", "The body is no JSON object", 400);
    const error = { code: RPC.parseError, message: "Parse error" };
    note(blankExchange(req, res, { atMs, method: "", found }), {
      status: 400,
      answer: "error",
      errorCode: error.code,
    });
    writeJson(res, { status: 400, body: { jsonrpc: "2.0", id: null, error } });
  }

  function read(req: IncomingMessage, res: ServerResponse, atMs: number, body: JsonObject): Exchange {
    const method = typeof body["method"] === "string" ? body["method"] : "";
    const params = isObject(body["params"]) ? body["params"] : {};
    const taskId = typeof params["taskId"] === "string" ? params["taskId"] : undefined;
    const called = method === "tools/call" && typeof params["name"] === "string" ? params["name"] : undefined;
    const inputSchema = called === undefined ? undefined : registry.get(called)?.inputSchema;
    const found = findings({ method, params, headers: req.headers, body, inputSchema });
    return { req, res, atMs, body, method, params, taskId, name: called ?? book.toolOf(taskId), found };
  }

  async function exchange(x: Exchange): Promise<void> {
    const { delays, fault } = faults.take({
      method: x.method,
      name: x.name,
      taskId: x.taskId,
      keys: keysOf(x.params),
    });
    const endPoll = x.method === "tasks/get" ? beginPoll(x) : undefined;
    try {
      for (const delay of delays) if (delay.processed !== true) await pause(x, delay.ms);
      if (fault !== undefined && isReplacing(fault) && fault.processed !== true) {
        return answerFault(x, fault, undefined);
      }
      const refusal = refused(x);
      if (refusal === undefined && x.method === LISTEN && options.push === true) return listen(x, fault);
      const answer = refusal ?? (fault?.kind === "ackOnly" ? acknowledged : await run(x));
      if (fault !== undefined && isReplacing(fault)) return answerFault(x, fault, answer);
      note(x, {
        ...answerFacts(answer),
        status: answer.status,
        answer: fault === undefined ? answerKind(answer) : `fault:${fault.kind}`,
      });
      for (const delay of delays) if (delay.processed === true) await pause(x, delay.ms);
      answerTruth(x, answer, fault);
    } finally {
      endPoll?.();
    }
  }

  /** Checks the moment of a poll, and answers what is to be called once the exchange is through. */
  function beginPoll(x: Exchange): (() => void) | undefined {
    const { taskId, res } = x;
    if (taskId === undefined || book.toolOf(taskId) === undefined) return undefined;
    const early = pace.begin(taskId, clock.monotonic());
    if (early !== undefined) x.found.push(early);
    const beganMs = clock.monotonic();
    // The client counts from the answer. It may have read that before our write returns, and it knows of a hung
    // poll's end before we do: so the moment just before the write, or the poll's own arrival, is what we go by.
    const end = (): void => pace.ended(taskId, x.answeredAtMs ?? beganMs);
    return () => (res.writableEnded || res.destroyed ? end() : res.once("close", end));
  }

  function refused(x: Exchange): RpcAnswer | undefined {
    if (tokens !== undefined && !tokens.includes(bearerOf(x.req) ?? "")) {
      return { status: 401, error: { code: RPC.invalidRequest, message: "Unauthorized" } };
    }
    const minded = x.found.find(
      ({ from }) => from === "always" || strict === "refuse" || (strict && from === "strict"),
    );
    return minded && { status: minded.status, error: { code: minded.code, message: minded.message } };
  }

  async function run(x: Exchange): Promise<RpcAnswer> {
    if (x.body["id"] === undefined) return { status: 202 };
    const controller = new AbortController();
    x.res.on("close", () => controller.abort(new Error("The client closed the request")));
    try {
      const answer = await rpc({
        method: x.method,
        params: x.params,
        principal: principal(x),
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

  function principal(x: Exchange): string | null {
    return tokens === undefined ? null : principalOf(bearerOf(x.req));
  }

  function listen(x: Exchange, fault: Fault | undefined): void {
    if (listenedIds(x.params).length > 0 && !declaresTasks(x.params)) {
      note(x, { ...answerFacts(missingTasks), status: missingTasks.status, answer: "error" });
      return answerTruth(x, missingTasks, undefined);
    }
    const streamFault: StreamFault | undefined = fault?.kind === "stream" ? fault : undefined;
    note(x, { status: 200, answer: streamFault === undefined ? "stream" : "fault:stream" });
    const { res, params } = x;
    const id = x.body["id"] ?? null;
    const accepted = streams.open({ res, id, params, principal: principal(x), fault: streamFault });
    // Nothing is replayed on a stream, so every task of it is to be polled once, whenever the last poll was.
    for (const taskId of accepted) pace.excuse(taskId);
  }

  function answerFault(x: Exchange, fault: ReplacingFault, answer: RpcAnswer | undefined): void {
    note(x, {
      ...answerFacts(answer),
      status: statusOf(fault),
      answer: `fault:${fault.kind}`,
      processed: answer !== undefined,
      ...(fault.kind === "rpcError" ? { errorCode: fault.code } : {}),
    });
    if (fault.kind !== "hang") x.answeredAtMs = clock.monotonic();
    writeFault(x.res, fault, x.body["id"] ?? null);
  }

  function answerTruth(x: Exchange, answer: RpcAnswer, fault: Fault | undefined): void {
    x.answeredAtMs = clock.monotonic();
    const intervalMs = intervalShown(answer, fault);
    if (answer.task !== undefined && intervalMs !== undefined) {
      pace.shown(answer.task.taskId, x.answeredAtMs, intervalMs);
    }
    if (answer.status === 202) x.res.writeHead(202).end();
    else writeAnswer(x.res, outgoing(x, answer), { fault, sse: options.answerWith === "sse" });
  }

  function note(x: Exchange, facts: Partial<LogEntry> & Pick<LogEntry, "status" | "answer">): void {
    log.add({ ...requestFacts(x), ...facts });
  }

  async function pause(x: Exchange, ms: number): Promise<void> {
    const gone = new AbortController();
    x.res.on("close", () => gone.abort());
    await sleep(clock, ms, { keepAlive: true, signal: gone.signal }).catch(() => undefined);
  }

  let closing = false;
  const http = createServer((req, res) => {
    // A connection that is kept alive would keep a closing server open.
    res.on("close", () => {
      if (closing) setImmediate(() => http.closeIdleConnections());
    });
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
    closing = true;
    if (abrupt) http.closeAllConnections();
    streams.end();
    const stopWaiting = systemClock.setTimer(CLOSE_GRACE_MS, () => http.closeAllConnections());
    await closed;
    stopWaiting();
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

const acknowledged: RpcAnswer = { status: 200, result: { resultType: "complete" } };

function finding(rule: string, message: string, status: number): Finding {
  return { rule, message, status, code: RPC.invalidRequest, from: "always" };
}

function writeText(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, { "content-type": "text/plain" }).end(text);
}
