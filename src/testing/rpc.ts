/** Owns what each JSON-RPC method answers. It must not know HTTP, faults or the log. */
import { sleep, type Clock } from "../internal/clock.js";
import { isObject, type JsonObject } from "../internal/json.js";
import {
  META_CLIENT_CAPABILITIES,
  META_PROTOCOL_VERSION,
  META_SERVER_INFO,
  PROTOCOL_VERSION,
  RPC,
  TASKS_EXTENSION,
} from "../protocol/constants.js";
import type { Registry, RegisteredTool } from "./registry.js";
import { capabilityFor, isDeclared, questionsOf, whyNotAnswer } from "./requests.js";
import { openState, sealState, type SealedState } from "./requestState.js";
import type { Runner } from "./runner.js";
import type { NewTask, TaskBook, UpdateOutcome } from "./taskBook.js";
import type { Finding } from "./strict.js";
import type {
  CallContext,
  StoredTask,
  TaskStep,
  TestInputRequest,
  TestRpcError,
  ToolAnswer,
} from "./types.js";

export interface RpcRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly principal: string | null;
  readonly signal: AbortSignal;
  /** Sends a notification on the answer's stream. */
  readonly notify: (method: string, params: JsonObject) => void;
}

export interface RpcAnswer {
  readonly status: number;
  readonly result?: JsonObject;
  readonly error?: TestRpcError;
  /** The task that the answer shows or makes. */
  readonly task?: StoredTask;
  readonly update?: UpdateOutcome;
  /** Rules that only the method itself can check. */
  readonly broken?: Finding;
}

export interface RpcDeps {
  readonly book: TaskBook;
  readonly registry: Registry;
  readonly runner: Runner;
  readonly clock: Clock;
  readonly serverInfo: { readonly name: string; readonly version: string; readonly title?: string };
  readonly listTtlMs: number;
  readonly failPolls: (taskId: string, times: number, status: number) => void;
}

export type Rpc = (request: RpcRequest) => Promise<RpcAnswer>;

/** The methods over one book. An answer that depends on the book is given once the book is on disk. */
export function rpc(deps: RpcDeps): Rpc {
  const { book, registry, clock } = deps;

  function complete(result: JsonObject): RpcAnswer {
    return {
      status: 200,
      result: { resultType: "complete", ...result, _meta: { [META_SERVER_INFO]: { ...deps.serverInfo } } },
    };
  }

  function discover(): RpcAnswer {
    return complete({
      supportedVersions: [PROTOCOL_VERSION],
      capabilities: { tools: {}, extensions: { [TASKS_EXTENSION]: {} } },
      instructions: "A server for tests: its tools behave as their descriptions say.",
      ttlMs: deps.listTtlMs,
      cacheScope: "public",
    });
  }

  function listTools({ params }: RpcRequest): RpcAnswer {
    const page = registry.page(params["cursor"]);
    if (page === undefined) return refusal(RPC.invalidParams, "Unknown cursor");
    return complete({ ...page, ttlMs: deps.listTtlMs, cacheScope: "public" });
  }

  async function callTool(request: RpcRequest): Promise<RpcAnswer> {
    const { params, principal } = request;
    const tool = typeof params["name"] === "string" ? registry.get(params["name"]) : undefined;
    if (tool === undefined) return refusal(RPC.invalidParams, "Unknown tool");
    const args = params["arguments"] ?? {};
    if (!isObject(args)) return refusal(RPC.invalidParams, "arguments must be an object");
    if (tool.taskSupport === "required" && !declaresTasks(params)) return missing(tasksCapability);
    const opened = openState(book.secret, params, principal);
    if ("broken" in opened) return broken("request-state", opened.broken);
    const earlierCalls = book.countCall(tool.name);
    const traits =
      tool.run === undefined ? undefined : { ...tool.traits, kind: "task" as const, steps: null };
    const pollFaults: [times: number, status: number][] = [];
    const answer =
      traits ?? (await tool.call?.(contextOf(request, args, opened, { earlierCalls, pollFaults })));
    if (answer === undefined) return refusal(RPC.internalError, "The tool does nothing");
    if (answer.kind !== "task") return settle(request, tool, answer);
    const undeclared = questionsOf(answer.steps ?? []).find(
      (one) => !isDeclared(one, capabilitiesOf(params)),
    );
    if (undeclared !== undefined) return missing(capabilityFor(undeclared));
    if (answer.steps !== null && !declaresTasks(params)) return inline(tool, args, answer.steps);
    return makeTask({ ...answer, tool: tool.name, arguments: args, principal }, pollFaults);
  }

  function contextOf(
    request: RpcRequest,
    args: JsonObject,
    opened: { state: SealedState | undefined },
    call: { earlierCalls: number; pollFaults: [number, number][] },
  ): CallContext {
    const { params, signal, notify } = request;
    const meta = params["_meta"];
    const token = isObject(meta) ? meta["progressToken"] : undefined;
    return {
      arguments: args,
      state: opened.state?.state,
      inputResponses: (params["inputResponses"] ?? {}) as Record<string, JsonObject>,
      earlierCalls: call.earlierCalls,
      signal,
      sleep: (ms) => sleep(clock, ms, { signal, keepAlive: true }),
      progress(progress, total, message) {
        if (typeof token !== "string" && typeof token !== "number") return;
        notify("notifications/progress", { progressToken: token, progress, total, message });
      },
      failPolls: (times, status) => call.pollFaults.push([times, status]),
    };
  }

  async function settle(
    request: RpcRequest,
    tool: RegisteredTool,
    answer: Exclude<ToolAnswer, { kind: "task" }>,
  ): Promise<RpcAnswer> {
    await book.flush();
    if (answer.kind === "result") return complete(answer.result);
    if (answer.kind === "error") return { status: 200, error: answer.error };
    const { params, principal } = request;
    const requests = answer.requests ?? {};
    const undeclared = Object.values(requests).find((one) => !isDeclared(one, capabilitiesOf(params)));
    if (undeclared !== undefined) return missing(capabilityFor(undeclared));
    const requestState =
      answer.state === undefined
        ? undefined
        : sealState(book.secret, { params, principal, requests, state: answer.state });
    return {
      status: 200,
      result: {
        ...complete({}).result,
        resultType: "input_required",
        ...(answer.requests === undefined ? {} : { inputRequests: plain(requests) }),
        ...(requestState === undefined ? {} : { requestState }),
      },
    };
  }

  /** The work of an optional task for a caller that does not know tasks: it waits. */
  async function inline(
    tool: RegisteredTool,
    args: JsonObject,
    steps: readonly TaskStep[],
  ): Promise<RpcAnswer> {
    await book.flush();
    for (const step of steps) {
      if (step.kind === "work") await sleep(clock, step.ms, { keepAlive: true });
      if (step.kind === "complete") return complete(step.result);
      if (step.kind === "fail") return { status: 200, error: step.error };
    }
    const end = registry.finish(tool.name)(args, {});
    return "result" in end ? complete(end.result) : { status: 200, error: end.error };
  }

  async function makeTask(created: NewTask, pollFaults: readonly [number, number][]): Promise<RpcAnswer> {
    const task = book.create(created);
    for (const [times, status] of pollFaults) deps.failPolls(task.taskId, times, status);
    if (task.steps === null) deps.runner.start(task);
    await book.flush();
    return {
      status: 200,
      task,
      result: { ...complete({}).result, ...handleOf(book, task), resultType: "task" },
    };
  }

  async function getTask(request: RpcRequest): Promise<RpcAnswer> {
    const task = taskOf(request);
    if (task === undefined) return unknownTask;
    book.polled(task);
    const shown = detailOf(book, task);
    await book.flush();
    return { ...complete(shown), task };
  }

  async function updateTask(request: RpcRequest): Promise<RpcAnswer> {
    const task = taskOf(request);
    if (task === undefined) return unknownTask;
    const responses = request.params["inputResponses"];
    if (!isObject(responses))
      return { ...refusal(RPC.invalidParams, "inputResponses must be an object"), task };
    const entries = Object.entries(responses);
    const open = new Map(book.view(task).open);
    for (const [key, value] of entries) {
      const asked = open.get(key);
      const why = asked === undefined ? undefined : whyNotAnswer(asked, value);
      // One bad value refuses the whole update, the good ones included.
      if (why !== undefined) return { ...broken("input-response", `An answer ${why}`), task };
    }
    const update = book.update(task, entries as [string, JsonObject][]);
    await book.flush();
    return { ...complete({}), task, update };
  }

  async function cancelTask(request: RpcRequest): Promise<RpcAnswer> {
    const task = taskOf(request);
    if (task === undefined) return unknownTask;
    book.cancel(task);
    await book.flush();
    return { ...complete({}), task };
  }

  function taskOf({ params, principal }: RpcRequest): StoredTask | undefined {
    return typeof params["taskId"] === "string" ? book.find(params["taskId"], principal) : undefined;
  }

  const methods: Readonly<Record<string, (request: RpcRequest) => RpcAnswer | Promise<RpcAnswer>>> = {
    "server/discover": discover,
    "tools/list": listTools,
    "tools/call": callTool,
    "tasks/get": getTask,
    "tasks/update": updateTask,
    "tasks/cancel": cancelTask,
  };

  return async (request) => {
    const method = Object.hasOwn(methods, request.method) ? methods[request.method] : undefined;
    if (method === undefined)
      return { status: 404, error: { code: RPC.methodNotFound, message: "Method not found" } };
    const version = metaOf(request.params)[META_PROTOCOL_VERSION];
    if (typeof version === "string" && version !== PROTOCOL_VERSION) return unsupported(version);
    if (request.method.startsWith("tasks/") && !declaresTasks(request.params))
      return missing(tasksCapability);
    return method(request);
  };
}

/** The flat fields that a handle shows. */
export function handleOf(book: TaskBook, task: StoredTask, view = book.view(task)): JsonObject {
  return {
    taskId: task.taskId,
    status: view.status,
    ...(view.message === undefined ? {} : { statusMessage: view.message }),
    createdAt: new Date(task.createdAtMs).toISOString(),
    lastUpdatedAt: new Date(view.updatedAtMs).toISOString(),
    ttlMs: task.ttlMs,
    pollIntervalMs: task.pollIntervalMs,
  };
}

/** The whole task as `tasks/get` and `notifications/tasks` show it. */
export function detailOf(book: TaskBook, task: StoredTask): JsonObject {
  const view = book.view(task);
  return {
    ...handleOf(book, task, view),
    ...(view.status === "input_required" ? { inputRequests: plain(Object.fromEntries(view.open)) } : {}),
    ...(view.result === undefined ? {} : { result: view.result }),
    ...(view.error === undefined ? {} : { error: { ...view.error } }),
  };
}

/** True when the request declares the tasks extension at its place. */
export function declaresTasks(params: JsonObject): boolean {
  const extensions = capabilitiesOf(params)["extensions"];
  return isObject(extensions) && isObject(extensions[TASKS_EXTENSION]);
}

const tasksCapability: JsonObject = { extensions: { [TASKS_EXTENSION]: {} } };
const unknownTask: RpcAnswer = { status: 200, error: { code: RPC.invalidParams, message: "Unknown task" } };

/** The answer to a request that lacks a capability. */
export function missing(requiredCapabilities: JsonObject): RpcAnswer {
  const error = {
    code: RPC.missingCapability,
    message: "The request lacks a capability that it needs",
    data: { requiredCapabilities },
  };
  return { status: 400, error };
}

export const missingTasks: RpcAnswer = missing(tasksCapability);

function unsupported(requested: string): RpcAnswer {
  const error = {
    code: RPC.unsupportedVersion,
    message: "Unsupported protocol version",
    data: { supported: [PROTOCOL_VERSION], requested },
  };
  return { status: 400, error };
}

function refusal(code: number, message: string): RpcAnswer {
  return { status: 200, error: { code, message } };
}

function broken(rule: string, message: string): RpcAnswer {
  const found: Finding = { rule, message, status: 200, code: RPC.invalidParams, from: "always" };
  return { ...refusal(RPC.invalidParams, message), broken: found };
}

function metaOf(params: JsonObject): Readonly<Record<string, unknown>> {
  const meta = params["_meta"];
  return isObject(meta) ? meta : {};
}

function capabilitiesOf(params: JsonObject): Readonly<Record<string, unknown>> {
  const capabilities = metaOf(params)[META_CLIENT_CAPABILITIES];
  return isObject(capabilities) ? capabilities : {};
}

function plain(requests: Readonly<Record<string, TestInputRequest>>): JsonObject {
  return Object.fromEntries(Object.entries(requests).map(([key, request]) => [key, { ...request }]));
}
