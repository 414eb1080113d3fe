/** `tools/call` and `tasks/get` on a server of 2025-11-25: who becomes a task, what is listed for it, whose words are on the wire. */
import { afterEach, describe, expect, test } from "vitest";
import {
  ConnectionError,
  InvalidResponseError,
  RpcError,
  WaitTimeoutError,
  type TaskHandle,
  type ToolCall,
} from "../../../src/index.js";
import {
  overHttp,
  startHost,
  startRaw,
  stopServers,
  type Host,
  type Logged,
  type RawLegacy,
} from "../../helpers/legacy.js";

const hosts: Host[] = [];

afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close();
  stopServers();
});

async function rig(settings: object = {}): Promise<{ server: RawLegacy; host: Host }> {
  const server = await startRaw(settings);
  const host = await startHost(() => overHttp(server.url));
  hosts.push(host);
  return { server, host };
}

const tool = (name: string, taskSupport?: string): object => ({
  name,
  inputSchema: { type: "object" },
  ...(taskSupport !== undefined && { execution: { taskSupport } }),
});

function taskOf(call: ToolCall): TaskHandle {
  if (call.kind !== "task") throw new Error("expected a task");
  return call.task;
}

async function sentTasks(server: RawLegacy): Promise<unknown[]> {
  return (await server.received("tools/call")).map(({ params }) => params?.["task"]);
}

/** Every member name of a message, however deep. */
function namesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...namesIn(member)]);
}

describe("which calls ask for a task", () => {
  test.each([
    ["must", "task"],
    ["may", "task"],
    ["never", "result"],
    ["unlisted", "result"],
  ])("%s: %s", async (name, kind) => {
    const { server, host } = await rig();
    const call = await host.tasks.callTool("server", { name });
    expect(call.kind).toBe(kind);
    expect(await sentTasks(server)).toEqual([kind === "task" ? {} : undefined]);
  });

  test("none where the server does not declare tasks, and the tools are then not listed for it", async () => {
    const { server, host } = await rig({ capabilities: { tools: {} }, tools: [tool("may", "optional")] });
    expect((await host.tasks.callTool("server", { name: "may" })).kind).toBe("result");
    expect(await sentTasks(server)).toEqual([undefined]);
    expect(await server.received("tools/list")).toEqual([]);
  });

  test("a result that comes at once is one, though a task was wanted", async () => {
    const { host } = await rig();
    const call = await host.tasks.callTool("server", { name: "fast" });
    expect(call).toEqual({
      kind: "result",
      result: { content: [{ type: "text", text: "at once, though a task was wanted" }] },
    });
  });

  test("all pages of the listing count, and it is kept", async () => {
    const { server, host } = await rig({ pageSize: 1 });
    for (let i = 0; i < 3; i += 1) await host.tasks.callTool("server", { name: "fast" });
    expect(await server.received("tools/list")).toHaveLength(4);
    expect(await sentTasks(server)).toEqual([{}, {}, {}]);
  });
});

describe("a listing that fails or is out of date", () => {
  test("F026: a change while the tools are listed overtakes the listing: it is made again", async () => {
    const { server, host } = await rig({ tools: [tool("grows")], toolsAfter: [tool("grows", "required")] });
    await expect.poll(() => server.control("standAlone")).toBe(1);
    expect((await host.tasks.callTool("server", { name: "grows" })).kind).toBe("task");
    expect(await sentTasks(server)).toEqual([{}]);
    expect(await server.received("tools/list")).toHaveLength(2);
  });

  test("F026: a change later makes the next call list again; the host hears of it too", async () => {
    const { server, host } = await rig({ tools: [tool("grows")] });
    const heard: string[] = [];
    host.sdk.fallbackNotificationHandler = async (notification) => void heard.push(notification.method);
    expect((await host.tasks.callTool("server", { name: "grows" })).kind).toBe("result");
    await expect.poll(() => server.control("standAlone")).toBe(1);
    await server.control("set", { tools: [tool("grows", "required")] });
    await server.control("notify", { message: { method: "notifications/tools/list_changed" } });
    await expect.poll(() => heard).toEqual(["notifications/tools/list_changed"]);
    expect((await host.tasks.callTool("server", { name: "grows" })).kind).toBe("task");
    expect(await sentTasks(server)).toEqual([undefined, {}]);
  });

  test("F026: a listing that failed is made again; the call was not sent meanwhile", async () => {
    const { server, host } = await rig({ statuses: { "tools/list": [503, 503] } });
    const task = taskOf(await host.tasks.callTool("server", { name: "must" }));
    expect(await server.received("tools/list")).toHaveLength(3);
    expect(await sentTasks(server)).toEqual([{}]);
    await server.control("finish", { result: { content: [] } });
    expect(await task.result()).toEqual({ content: [] });
  });

  test("one that goes on failing rejects the call as not sent", async () => {
    const { server, host } = await rig({
      statuses: { "tools/list": Array.from({ length: 999 }, () => 503) },
    });
    const failing = (): Promise<unknown> =>
      host.tasks.callTool("server", { name: "must" }, { timeoutMs: 3000 }).catch((reason: unknown) => reason);
    let error = await failing();
    // The limit may fall into an attempt, where a machine is busy; then it is told as a limit.
    for (let more = 4; more > 0 && error instanceof WaitTimeoutError; more -= 1) error = await failing();
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ mayHaveRun: false, status: 503 });
    expect(await sentTasks(server)).toEqual([]);
  });

  test("-32601 to a plain call: listed again, and sent once more as a task", async () => {
    const { server, host } = await rig({ tools: [tool("turned")] });
    await host.tasks.callTool("server", { name: "turned" });
    await server.control("set", { tools: [tool("turned", "required")] });
    expect((await host.tasks.callTool("server", { name: "turned" })).kind).toBe("task");
    expect(await sentTasks(server)).toEqual([undefined, undefined, {}]);
  });

  test("-32601 to a call with a task, of a tool that runs no longer as one", async () => {
    const { server, host } = await rig({ tools: [tool("turned", "optional")] });
    await host.tasks.callTool("server", { name: "turned" });
    await server.control("set", { tools: [tool("turned")], needs: { turned: "forbidden" } });
    expect((await host.tasks.callTool("server", { name: "turned" })).kind).toBe("result");
    expect(await sentTasks(server)).toEqual([{}, {}, undefined]);
  });

  test.each([
    [{ tools: [tool("odd")], needs: { odd: "required" } }, "execution.taskSupport", 1],
    [
      { capabilities: { tools: {} }, tools: [tool("odd", "required")] },
      "does not declare tasks.requests.tools.call",
      1,
    ],
  ])("-32601 that stays is explained: %j", async (settings, why, calls) => {
    const { server, host } = await rig(settings);
    const error: unknown = await host.tasks
      .callTool("server", { name: "odd" })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RpcError);
    expect(error).toMatchObject({ rpcCode: -32601, cause: { rpcCode: -32601 } });
    expect((error as Error).message).toContain("odd requires task augmentation");
    expect((error as Error).message).toContain(why);
    expect(await sentTasks(server)).toHaveLength(calls);
  });
});

test("F010: over a whole life with a question and a cancel, no word of the other revision is on the wire", async () => {
  const { server, host } = await rig();
  const questions = [
    {
      method: "elicitation/create",
      params: { mode: "form", message: "?", requestedSchema: { type: "object", properties: {} } },
    },
  ];
  const meta = { traceparent: "00-1-2-01", "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
  const call = await host.tasks.callTool("server", { name: "must", arguments: { questions } }, { meta });
  const task = taskOf(call);
  await expect.poll(() => task.pendingInputs.length).toBe(1);
  await task.respond(task.pendingInputs[0]?.key ?? "", { action: "accept", content: {} });
  expect((await task.settled()).status).toBe("completed");
  const other = taskOf(await host.tasks.callTool("server", { name: "must" }));
  await other.cancel();
  await other.settled();
  const log = await server.control<Logged[]>("log");
  const sent = log.filter(({ from }) => from !== undefined).map(({ message }) => message);
  expect(new Set(sent.map(({ method }) => method))).toEqual(
    new Set([
      "initialize",
      "notifications/initialized",
      "tools/list",
      "tools/call",
      "tasks/get",
      "tasks/result",
      "tasks/cancel",
      undefined,
    ]),
  );
  const names = new Set(sent.filter(({ method }) => method !== "initialize").flatMap(namesIn));
  for (const name of [
    "ttlMs",
    "pollIntervalMs",
    "inputResponses",
    "requestState",
    "extensions",
    "resultType",
    "io.modelcontextprotocol/tasks",
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
  ]) {
    expect(names).not.toContain(name);
  }
  const [toolCall] = await server.received("tools/call");
  expect(toolCall?.params).toMatchObject({ _meta: { traceparent: "00-1-2-01" }, task: {} });
});

describe("how a task of that revision reads in ours", () => {
  test("its fields have our names; the mark of its task is dropped, other members are kept", async () => {
    const { server, host } = await rig({ pollInterval: 25 });
    const task = taskOf(
      await host.tasks.callTool("server", {
        name: "must",
        arguments: { task: { ttl: 60_000, ttlMs: 5, pollIntervalMs: 7, statusMessage: "on it" } },
      }),
    );
    expect(task.snapshot).toMatchObject({ ttlMs: 60_000, pollIntervalMs: 25, statusMessage: "on it" });
    await server.control("finish", {
      result: { content: [], structuredContent: { a: 1 }, _meta: { kept: true } },
    });
    expect(await task.result()).toEqual({ content: [], structuredContent: { a: 1 }, _meta: { kept: true } });
  });

  test("a failed task has the error of tasks/result", async () => {
    const { server, host } = await rig();
    const task = taskOf(await host.tasks.callTool("server", { name: "must" }));
    await server.control("finish", {
      status: "failed",
      error: { code: -32602, message: "bad date", data: { a: 1 } },
    });
    expect(await task.settled()).toMatchObject({
      status: "failed",
      error: { code: -32602, message: "bad date", data: { a: 1 } },
    });
  });

  test("a failed task whose tasks/result is a tool result ended with that result", async () => {
    const { server, host } = await rig();
    const task = taskOf(await host.tasks.callTool("server", { name: "must" }));
    await server.control("finish", { status: "failed", result: { content: [], isError: true } });
    expect(await task.result()).toEqual({ content: [], isError: true });
  });

  test("a server without tasks/result, whose states bear the outcome", async () => {
    const none = Array(4).fill({ code: -32601, message: "Method not found" }) as object[];
    const { server, host } = await rig({ carry: true, errors: { "tasks/result": none } });
    const good = taskOf(await host.tasks.callTool("server", { name: "must" }));
    await server.control("finish", { result: { content: [{ type: "text", text: "here" }] } });
    expect(await good.result()).toEqual({ content: [{ type: "text", text: "here" }] });
    const bad = taskOf(await host.tasks.callTool("server", { name: "must" }));
    await server.control("finish", { status: "failed", error: { code: -7, message: "no disk" } });
    expect(await bad.settled()).toMatchObject({ status: "failed", error: { code: -7, message: "no disk" } });
  });

  test("a failed way to tasks/result fails no task: it is asked again", async () => {
    const { server, host } = await rig({ statuses: { "tasks/result": [503, 502] } });
    const task = taskOf(await host.tasks.callTool("server", { name: "must" }));
    await server.control("finish", { status: "failed", error: { code: -1, message: "real" } });
    expect(await task.settled()).toMatchObject({ status: "failed", error: { code: -1, message: "real" } });
    expect(await server.received("tasks/result")).toHaveLength(3);
  });

  test("Promise 12: an answer about another task is no state of this one, and asks for no result", async () => {
    const { server, host } = await rig();
    const task = taskOf(await host.tasks.callTool("server", { name: "must" }));
    const failures: unknown[] = [];
    host.tasks.on("retry", ({ error }) => failures.push(error));
    await server.control("finish", { taskId: "another-task", result: { content: [] } });
    await expect.poll(() => failures.length, { timeout: 10_000 }).toBeGreaterThan(1);
    expect(failures[0]).toBeInstanceOf(InvalidResponseError);
    expect(task.status).toBe("working");
    expect(await server.received("tasks/result")).toEqual([]);
  });

  test("a cancelled task is asked for no result", async () => {
    const { server, host } = await rig();
    const task = taskOf(await host.tasks.callTool("server", { name: "must" }));
    await server.control("finish", { status: "cancelled" });
    expect((await task.settled()).status).toBe("cancelled");
    expect(await server.received("tasks/result")).toEqual([]);
  });

  test("an outcome that the server no longer has is a task that is gone, after a second look", async () => {
    const gone = { code: -32602, message: "Task not found" };
    const { server, host } = await rig({ errors: { "tasks/result": [gone, gone] } });
    const task = taskOf(await host.tasks.callTool("server", { name: "must" }));
    await server.control("finish", { result: { content: [] } });
    expect(await task.settled()).toMatchObject({ status: "lost", reason: "unknown" });
  });

  test("an unknown task is lost after a second look, other errors of tasks/get are not the end", async () => {
    const { server, host } = await rig({ errors: { "tasks/get": [{ code: -32603, message: "hm" }] } });
    const task = taskOf(await host.tasks.callTool("server", { name: "must" }));
    await expect.poll(async () => (await server.received("tasks/get")).length).toBeGreaterThan(2);
    expect(task.status).toBe("working");
    await server.control("forget");
    expect(await task.settled()).toMatchObject({ status: "lost", reason: "unknown" });
  });
});

test("the server's own name is told, and nothing is asked for it", async () => {
  const { server, host } = await rig();
  const questions = [{ method: "roots/list", params: {} }];
  const task = taskOf(await host.tasks.callTool("server", { name: "must", arguments: { questions } }));
  await expect.poll(() => task.pendingInputs[0]?.serverDisplayName).toBe("Raw");
  expect(await server.received("server/discover")).toEqual([]);
});
