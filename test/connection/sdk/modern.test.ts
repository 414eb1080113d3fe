/** 2026-07-28 over a client of the SDK 2.x: the envelope on every request, tasks, push, and what no error may show. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  ClientClosedError,
  ConnectionError,
  InvalidResponseError,
  MissingCapabilityError,
  RpcError,
  sdkConnection,
  TaskNotFoundError,
  type Connection,
  type JsonObject,
  type Notice,
  type TaskHandle,
  type ToolCall,
} from "../../../src/index.js";
import { createDeferred } from "../../../src/internal/deferred.js";
import {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_PROTOCOL_VERSION,
  PROTOCOL_VERSION,
  TASKS_EXTENSION,
} from "../../../src/protocol/index.js";
import type { LogEntry, TaskServer } from "../../../src/testing/index.js";
import {
  connectTwo,
  http,
  newClientTwo,
  newTasks,
  rejection,
  requestOptions,
  shown,
  startServer,
  stdioServers,
} from "./support.js";

const METHODS = ["tools/call", "tasks/get", "tasks/update", "tasks/cancel", "subscriptions/listen"];
const accept = { action: "accept", content: { approve: true } };

function taskOf(call: ToolCall): TaskHandle {
  if (call.kind !== "task") throw new Error("expected a task");
  return call.task;
}

/** One task of each kind: completed after a question, and cancelled. */
async function lifecycle(connection: Connection): Promise<void> {
  const opened = createDeferred<void>();
  const { tasks, errors } = newTasks({
    push: "always",
    // The task goes on once it is listened to.
    onInputRequest: () => opened.promise.then(() => accept),
  });
  tasks.on("push", ({ state }) => (state === "open" ? opened.resolve() : undefined));
  await tasks.connect("server", connection);
  const deploy = taskOf(await tasks.callTool("server", { name: "deploy", arguments: { afterMs: 50 } }));
  expect(await deploy.result()).toMatchObject({ structuredContent: { deployed: true } });
  const cancellable = taskOf(await tasks.callTool("server", { name: "cancellable" }));
  await cancellable.cancel();
  expect(await cancellable.settled()).toMatchObject({ status: "cancelled" });
  expect(errors).toEqual([]);
}

function expectEnvelope(log: readonly LogEntry[]): void {
  const ours = log.filter(({ id }) => String(id).startsWith("mcp-taskrail-"));
  for (const method of METHODS) expect(ours.map((entry) => entry.method)).toContain(method);
  for (const { params } of ours) {
    const meta = params["_meta"] as JsonObject;
    expect(meta[META_PROTOCOL_VERSION]).toBe(PROTOCOL_VERSION);
    expect(meta[META_CLIENT_INFO]).toMatchObject({ name: "mcp-taskrail" });
    expect(meta[META_CLIENT_CAPABILITIES]).toMatchObject({ extensions: { [TASKS_EXTENSION]: {} } });
    expect(meta).not.toHaveProperty([TASKS_EXTENSION]);
    expect(params).not.toHaveProperty("task");
  }
}

test("F004, F008, F022: over HTTP to a server that refuses every violation: none in a whole lifecycle", async () => {
  const server = await startServer({ push: true });
  await lifecycle(sdkConnection(await connectTwo(server)));
  expect(server.violations()).toEqual([]);
  expectEnvelope(server.log());
});

test("F004: over stdio too, with push", async () => {
  const servers = stdioServers({ push: true, strict: "refuse" });
  const client = newClientTwo();
  await client.connect(servers.next());
  onTestFinished(() => client.close());
  await lifecycle(sdkConnection(client));
  expect(servers.log().flatMap(({ violations = [] }) => violations)).toEqual([]);
  expectEnvelope(servers.log());
});

test("F013: what the SDK client sends by itself declares nothing", async () => {
  const server = await startServer();
  const client = await connectTwo(server);
  await sdkConnection(client).request("tools/list", {}, requestOptions);
  await client.callTool({ name: "echo", arguments: { text: "x" } });
  const theirs = server.log().filter(({ id }) => !String(id).startsWith("mcp-taskrail-"));
  expect(theirs.length).toBeGreaterThan(1);
  expect(JSON.stringify(theirs.map(({ params }) => params))).not.toContain(TASKS_EXTENSION);
});

test("F007: an id that fits no header is sent, and answered", async () => {
  const server = await startServer({ taskIds: ["tâsk ✓", "=?base64?eA==?="] });
  const { tasks } = newTasks();
  await tasks.connect("server", sdkConnection(await connectTwo(server)));
  for (const _id of [1, 2]) {
    const task = taskOf(await tasks.callTool("server", { name: "slow", arguments: { ms: 50 } }));
    expect(await task.settled()).toMatchObject({ status: "completed" });
  }
  expect(server.violations()).toEqual([]);
});

test("arguments that a tool wants in headers are there, and the caller's own beside them", async () => {
  const server = await startServer();
  const { tasks } = newTasks();
  await tasks.connect("server", sdkConnection(await connectTwo(server)));
  await tasks.listTools("server");
  const params = { name: "regional", arguments: { region: "eu", priority: 3, ms: 20 } };
  const task = taskOf(
    await tasks.callTool("server", params, { headers: { "x-trace": "abc", "mcp-method": "lies" } }),
  );
  await task.result();
  const call = server.log().find(({ method }) => method === "tools/call");
  expect(call?.headers).toMatchObject({
    "mcp-param-region": "eu",
    "mcp-param-priority": "3",
    "x-trace": "abc",
    "mcp-method": "tools/call",
  });
  expect(server.violations()).toEqual([]);
});

test("F023: the first call always asks for progress, which keeps it alive beyond its timeout", async () => {
  const server = await startServer();
  const connection = sdkConnection(await connectTwo(server), { timeoutMs: 1000 });
  const notices: Notice[] = [];
  const params = { name: "inline", arguments: { steps: 4, stepMs: 350 } };
  const answer = await connection.request("tools/call", params, {
    ...requestOptions,
    onNotice: (notice) => notices.push(notice),
  });
  expect(answer["content"]).toEqual([{ type: "text", text: "4 steps" }]);
  expect(notices.map(({ params: { progress } }) => progress)).toEqual([1, 2, 3, 4]);
  await connection.request("tools/call", { name: "echo" }, requestOptions);
  const calls = server.log().filter(({ method }) => method === "tools/call");
  for (const { params: sent, id } of calls) {
    expect(sent["_meta"]).toHaveProperty("progressToken", id);
  }
});

test("F025: a handle that comes after the caller gave up is taken, whatever he does next", async () => {
  const server = await startServer({
    faults: [{ kind: "delay", ms: 1500, processed: true, method: "tools/call" }],
  });
  const { tasks } = newTasks();
  await tasks.connect("server", sdkConnection(await connectTwo(server)));
  const failed = await rejection(
    tasks.callTool("server", { name: "slow", arguments: { ms: 50 } }, { timeoutMs: 700, callId: "late" }),
  );
  expect(failed).toMatchObject({ code: "WAIT_TIMEOUT" });
  const task = await tasks.task("late");
  expect(await task?.result()).toMatchObject({ structuredContent: { ms: 50 } });
  expect(server.counters().calls["slow"]).toBe(1);
});

test("F062: a JSON-RPC error asks for no new connection, and is answered once", async () => {
  const server = await startServer({ faults: [{ kind: "rpcError", code: -32602, method: "tools/call" }] });
  const client = await connectTwo(server);
  let reconnects = 0;
  const connection = sdkConnection(client, { reconnect: async () => void (reconnects += 1) });
  const error = await rejection(connection.request("tools/call", { name: "echo" }, requestOptions));
  expect(error).toBeInstanceOf(RpcError);
  expect(error).toMatchObject({ rpcCode: -32602 });
  await connection.request("tools/call", { name: "echo" }, requestOptions);
  expect(reconnects).toBe(0);
});

describe("push", () => {
  interface Heard {
    readonly acknowledged: (readonly string[])[];
    readonly notices: Notice[];
    readonly over: Promise<void>;
    stop(reason: unknown): void;
  }
  function listen(connection: Connection, taskIds: readonly string[]): Heard {
    const ending = new AbortController();
    const heard = { acknowledged: [] as (readonly string[])[], notices: [] as Notice[] };
    const over = Promise.resolve(
      connection.listen?.(taskIds, {
        ...requestOptions,
        signal: ending.signal,
        onAcknowledged: (ids) => heard.acknowledged.push(ids),
        onNotice: (notice) => heard.notices.push(notice),
        onLife: () => undefined,
      }),
    );
    over.catch(() => undefined);
    return { ...heard, over, stop: (reason) => ending.abort(reason) };
  }
  /** A task that ends when it is cancelled. */
  const startTask = async (connection: Connection): Promise<string> => {
    const params = { name: "cancellable", arguments: {} };
    return (await connection.request("tools/call", params, requestOptions))["taskId"] as string;
  };

  test("over HTTP: acknowledged for what exists, told of the end, ended by the server", async () => {
    const server = await startServer({ push: true });
    const client = await connectTwo(server);
    const errors: unknown[] = [];
    client.onerror = (error) => errors.push(error);
    const connection = sdkConnection(client);
    const taskId = await startTask(connection);
    const heard = listen(connection, [taskId, "no-such-task"]);
    await expect.poll(() => heard.acknowledged.length, { timeout: 10_000 }).toBe(1);
    await connection.request("tasks/cancel", { taskId }, requestOptions);
    await expect.poll(() => heard.notices.length, { timeout: 10_000 }).toBeGreaterThan(0);
    expect(heard.acknowledged).toEqual([[taskId]]);
    expect(heard.notices.at(-1)?.params).toMatchObject({ taskId, status: "cancelled" });
    await server.close();
    await heard.over;
    expect(errors).toEqual([]);
  });

  test.each(["HTTP", "stdio"])("over %s: the server is told when nobody listens any more", async (over) => {
    const servers = stdioServers({ push: true });
    const server = await startServer({ push: true });
    const client = newClientTwo();
    await client.connect(over === "HTTP" ? http(server) : servers.next());
    onTestFinished(() => client.close());
    const connection = sdkConnection(client);
    const taskId = await startTask(connection);
    const left = listen(connection, [taskId]);
    await expect.poll(() => left.acknowledged.length, { timeout: 10_000 }).toBe(1);
    const stays = listen(connection, [taskId]);
    await expect.poll(() => stays.acknowledged.length, { timeout: 10_000 }).toBe(1);
    const enough = new Error("enough");
    left.stop(enough);
    expect(await rejection(left.over)).toBe(enough);
    await connection.request("tasks/cancel", { taskId }, requestOptions);
    await expect.poll(() => stays.notices.length, { timeout: 10_000 }).toBeGreaterThan(0);
    expect(left.notices).toEqual([]);
  });

  test("a stream that breaks, or is refused, is an error; nothing it says is the SDK's", async () => {
    const server = await startServer({ push: true });
    const client = await connectTwo(server);
    const connection = sdkConnection(client);
    const taskId = await startTask(connection);
    server.addFault({ kind: "stream", endAfterMs: 20, end: "abort", method: "subscriptions/listen" });
    expect(await rejection(listen(connection, [taskId]).over)).toBeInstanceOf(ConnectionError);
    server.addFault({ kind: "stream", endAfterMs: 20, end: "end", method: "subscriptions/listen" });
    expect(await rejection(listen(connection, [taskId]).over)).toBeInstanceOf(ConnectionError);
    server.addFault({ kind: "rpcError", code: -32601, status: 404, method: "subscriptions/listen" });
    expect(await rejection(listen(connection, [taskId]).over)).toMatchObject({ rpcCode: -32601 });
    server.addFault({ kind: "stream", ack: false, method: "subscriptions/listen" });
    const silent = listen(connection, [taskId]);
    await connection.request("tasks/cancel", { taskId }, requestOptions);
    await connection.request("tasks/get", { taskId }, requestOptions);
    silent.stop(new Error("enough"));
    await rejection(silent.over);
    // What comes before the acknowledgement belongs to no subscription.
    expect(silent.notices).toEqual([]);
  });
});

describe("what goes wrong", () => {
  const SECRET_TASK = "task-id-that-nobody-may-see";
  const SECRET_STATE = "request-state-that-nobody-may-see";
  const SECRET_ANSWER = "answer-that-nobody-may-see";
  const SECRET_TOKEN = "bearer-that-nobody-may-see";
  const request = {
    taskId: SECRET_TASK,
    requestState: SECRET_STATE,
    inputResponses: { q: { action: "accept", content: { text: SECRET_ANSWER } } },
  };

  /** Answers `server/discover`, and everything else as told, quoting all that it was sent. */
  async function echoServer(
    answer: (response: ServerResponse, everything: string, id: unknown) => void,
  ): Promise<{ url: string }> {
    const server = createServer((incoming, response) => {
      let body = "";
      incoming.on("data", (chunk: Buffer) => (body += String(chunk)));
      incoming.on("end", () => {
        const { id, method } = JSON.parse(body) as { id: unknown; method: string };
        if (method !== "server/discover")
          return answer(response, JSON.stringify(incoming.headers) + body, id);
        const result = {
          resultType: "complete",
          supportedVersions: [PROTOCOL_VERSION],
          capabilities: { tools: {} },
          _meta: { "io.modelcontextprotocol/serverInfo": { name: "echo", version: "1" } },
        };
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` };
  }

  const status =
    (code: number, type = "text/html", body?: (everything: string, id: unknown) => string) =>
    (response: ServerResponse, everything: string, id: unknown): void => {
      response.writeHead(code, { "content-type": type, "retry-after": "1" });
      response.end(body?.(everything, id) ?? `<html>${everything}</html>`);
    };
  const rpc = (code: number) => (everything: string, id: unknown) =>
    JSON.stringify({
      jsonrpc: "2.0",
      id,
      error: { code, message: `No: ${SECRET_TASK}`, data: { said: SECRET_ANSWER } },
    });

  test.each([
    ["401", status(401), { code: "CONNECTION", status: 401, mayHaveRun: false }],
    ["403", status(403), { code: "CONNECTION", status: 403, mayHaveRun: false }],
    ["429", status(429), { code: "CONNECTION", status: 429, mayHaveRun: false }],
    ["500", status(500), { code: "CONNECTION", status: 500, mayHaveRun: true }],
    ["404 of a proxy", status(404), { code: "CONNECTION", status: 404, mayHaveRun: true }],
    [
      "404 with -32601",
      status(404, "application/json", rpc(-32601)),
      { code: "RPC", rpcCode: -32601, status: 404 },
    ],
    [
      "400 with -32602",
      status(400, "application/json", rpc(-32602)),
      { code: "TASK_NOT_FOUND", rpcCode: -32602 },
    ],
    [
      "200 with -32602",
      status(200, "application/json", rpc(-32602)),
      { code: "TASK_NOT_FOUND", rpcCode: -32602 },
    ],
    ["an HTML page", status(200), { code: "CONNECTION", mayHaveRun: true }],
    [
      "no JSON",
      status(200, "application/json", (all) => `{oops ${all}`),
      { code: "CONNECTION", mayHaveRun: true },
    ],
    [
      "no message",
      status(200, "application/json", (all) => JSON.stringify({ said: all })),
      { mayHaveRun: true },
    ],
    ["an empty body", status(200, "application/json", () => ""), { code: "CONNECTION", mayHaveRun: true }],
    ["an empty stream", status(200, "text/event-stream", () => ""), { code: "CONNECTION", mayHaveRun: true }],
    ["a stream of comments", status(200, "text/event-stream", () => ": hi\n\n"), { code: "CONNECTION" }],
    [
      "no result",
      status(200, "application/json", (_all, id) => JSON.stringify({ jsonrpc: "2.0", id, result: 5 })),
      {},
    ],
  ])("%s", async (_name, answer, expected) => {
    const { url } = await echoServer(answer);
    const client = newClientTwo();
    const errors: unknown[] = [];
    client.onerror = (error) => errors.push(error);
    await client.connect(http({ url }));
    onTestFinished(() => client.close());
    const connection = sdkConnection(client, { timeoutMs: 5000 });
    const error = await rejection(
      connection.request("tasks/get", request, {
        ...requestOptions,
        headers: { "x-credential": SECRET_TOKEN },
      }),
    );
    expect(error).toMatchObject(expected);
    expect(
      error instanceof ConnectionError || error instanceof RpcError || error instanceof InvalidResponseError,
    ).toBe(true);
    for (const secret of [SECRET_TASK, SECRET_STATE, SECRET_ANSWER, SECRET_TOKEN]) {
      expect(shown(error)).not.toContain(secret);
    }
    expect(errors).toEqual([]);
  });

  test("the SDK's onerror still hears of what is its own", async () => {
    const { url } = await echoServer(status(500));
    const client = newClientTwo();
    const errors: unknown[] = [];
    client.onerror = (error) => errors.push(error);
    await client.connect(http({ url }));
    onTestFinished(() => client.close());
    const connection = sdkConnection(client);
    const [ours, theirs] = await Promise.all([
      rejection(connection.request("tasks/get", request, requestOptions)),
      rejection(client.callTool({ name: "echo" })),
    ]);
    expect(ours).toBeInstanceOf(ConnectionError);
    await expect.poll(() => errors).toEqual([theirs]);
  });

  test("F022: a release of the SDK that leaves out the name header is named where a server refuses it", async () => {
    const server = await startServer();
    const connection = sdkConnection(await connectTwo(server));
    const refusal = { kind: "rpcError", code: -32020, message: "Header mismatch", status: 400 } as const;
    server.addFault({ ...refusal, method: "tasks/get" });
    server.addFault({ ...refusal, method: "tools/call" });
    const ofTask = await rejection(connection.request("tasks/get", { taskId: "x" }, requestOptions));
    expect(ofTask).toMatchObject({ code: "RPC", rpcCode: -32020 });
    expect(String(ofTask)).toContain("Header mismatch (@modelcontextprotocol/client before 2.1");
    const ofCall = await rejection(connection.request("tools/call", { name: "echo" }, requestOptions));
    expect(String(ofCall)).toMatch(/Header mismatch$/);
  });

  test("F005: a missing capability, under its new number and its old one", async () => {
    for (const code of [-32021, -32003]) {
      const server = await startServer();
      const connection = sdkConnection(await connectTwo(server));
      const data = { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } };
      server.addFault({ kind: "rpcError", code, data, status: 400 });
      const error = await rejection(connection.request("tasks/get", { taskId: "x" }, requestOptions));
      expect(error).toBeInstanceOf(MissingCapabilityError);
    }
  });

  test("a server that is not there: the request certainly did not run", async () => {
    const server = await startServer();
    const connection = sdkConnection(await connectTwo(server));
    await server.close();
    const error = await rejection(connection.request("tasks/get", { taskId: SECRET_TASK }, requestOptions));
    expect(error).toMatchObject({ code: "CONNECTION", mayHaveRun: false });
  });

  test("no answer: given up after the timeout, and the server sees the request end", async () => {
    const server = await startServer({ faults: [{ kind: "hang", method: "tools/call" }] });
    const connection = sdkConnection(await connectTwo(server));
    const params = { name: "echo", arguments: {} };
    const error = await rejection(
      connection.request("tools/call", params, { ...requestOptions, timeoutMs: 50 }),
    );
    expect(error).toMatchObject({ code: "CONNECTION", mayHaveRun: true });
    expect(String(error)).toContain("50 ms");
  });

  test("an abort rejects with its own reason, before and after the request is out", async () => {
    const server = await startServer({ faults: [{ kind: "hang", method: "tools/call" }] });
    const connection = sdkConnection(await connectTwo(server));
    const reason = { any: "value" };
    const ending = new AbortController();
    const asked = connection.request(
      "tools/call",
      { name: "echo" },
      { ...requestOptions, signal: ending.signal },
    );
    const gone = rejection(asked);
    ending.abort(reason);
    expect(await gone).toBe(reason);
    const late = connection.request(
      "tools/call",
      { name: "echo" },
      { ...requestOptions, signal: ending.signal },
    );
    expect(await rejection(late)).toBe(reason);
  });

  test("a connection that is closed ends what is open, and takes nothing more", async () => {
    const server = await startServer({ faults: [{ kind: "hang", method: "tools/call" }] });
    const client = await connectTwo(server);
    const connection = sdkConnection(client);
    const open = rejection(connection.request("tools/call", { name: "echo" }, requestOptions));
    await expect.poll(() => server.log().length).toBeGreaterThan(0);
    await connection.close();
    expect(await open).toBeInstanceOf(ClientClosedError);
    expect(await rejection(connection.request("tools/list", {}, requestOptions))).toBeInstanceOf(
      ClientClosedError,
    );
    expect((await client.listTools()).tools.length).toBeGreaterThan(5);
  });

  test("a task that the server does not know", async () => {
    const server = await startServer();
    const connection = sdkConnection(await connectTwo(server));
    const error = await rejection(connection.request("tasks/get", { taskId: SECRET_TASK }, requestOptions));
    expect(error).toBeInstanceOf(TaskNotFoundError);
    expect(shown(error)).not.toContain(SECRET_TASK);
  });
});

describe("server/discover", () => {
  test("is asked once for the time that the server gives it", async () => {
    const server: TaskServer = await startServer();
    const connection = sdkConnection(await connectTwo(server));
    const first = await connection.discover(requestOptions);
    expect(await connection.discover(requestOptions)).toBe(first);
    expect(first).toMatchObject({ name: "mcp-taskrail-testing", tasks: true });
    const ours = server.log().filter(({ id }) => String(id).startsWith("mcp-taskrail-"));
    expect(ours.map(({ method }) => method)).toEqual(["server/discover"]);
  });
});

describe("options", () => {
  const client = newClientTwo();
  test.each([
    ["no client", undefined, {}, /^client:/],
    ["something else", {}, {}, /^client:/],
    ["options that are none", client, 5, /^options:/],
    ["an unknown one", client, { identiti: "x" }, /identiti/],
    ["a client of a server unknown yet", client, {}, /^identity:/],
    ["an empty identity", client, { identity: "" }, /^identity:/],
    ["a timeout that is none", client, { identity: "x", timeoutMs: 0 }, /^timeoutMs:/],
    ["a timeout that is no number", client, { identity: "x", timeoutMs: "1" }, /^timeoutMs:/],
    ["a clock that is none", client, { identity: "x", clock: {} }, /^clock:/],
    ["a reconnect that is none", client, { identity: "x", reconnect: "yes" }, /^reconnect:/],
  ])("%s", (_name, given, options, message) => {
    expect(() => sdkConnection(given as never, options as never)).toThrow(TypeError);
    expect(() => sdkConnection(given as never, options as never)).toThrow(message);
  });

  test("the identity is the server's own name, of whatever version", async () => {
    const server = await startServer();
    expect(sdkConnection(await connectTwo(server)).identity).toBe("mcp:mcp-taskrail-testing");
    expect(sdkConnection(client, { identity: "mine" }).identity).toBe("mine");
  });
});
