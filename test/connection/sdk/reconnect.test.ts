/** The connection follows the SDK client: to its next transport, to the next process of a server on stdio, past a handshake. */
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { sdkConnection, type Connection, type TaskHandle, type ToolCall } from "../../../src/index.js";
import { createDeferred } from "../../../src/internal/deferred.js";
import { startRaw, stopServers, type RawLegacy } from "../../helpers/legacy.js";
import {
  ClientOne,
  ClientTwo,
  connectTwo,
  http,
  newClientTwo,
  newTasks,
  rejection,
  requestOptions,
  startServer,
  stdioServers,
} from "./support.js";

function taskOf(call: ToolCall): TaskHandle {
  if (call.kind !== "task") throw new Error("expected a task");
  return call.task;
}
const echo = (connection: Connection): Promise<unknown> =>
  connection.request("tools/call", { name: "echo", arguments: { text: "hi" } }, requestOptions);

describe("a client whose host connects it again", () => {
  test("a request that waits goes over the next transport", async () => {
    const server = await startServer();
    const client = await connectTwo(server);
    const connection = sdkConnection(client);
    await echo(connection);
    await client.close();
    const waiting = echo(connection);
    await client.connect(http(server));
    expect(await waiting).toMatchObject({ content: [{ text: "hi" }] });
    await echo(connection);
    expect(server.counters().calls["echo"]).toBe(3);
  });

  test("a request that nobody can take certainly did not run", async () => {
    const server = await startServer();
    const client = await connectTwo(server);
    const connection = sdkConnection(client);
    await client.close();
    const params = { name: "echo", arguments: {} };
    const error = await rejection(
      connection.request("tools/call", params, { ...requestOptions, timeoutMs: 50 }),
    );
    expect(error).toMatchObject({ code: "CONNECTION", mayHaveRun: false });
  });

  test("one that is under way when the client closes may have run, and is rejected at once", async () => {
    const server = await startServer({ faults: [{ kind: "hang", method: "tools/call" }] });
    const client = await connectTwo(server);
    const connection = sdkConnection(client);
    const open = rejection(echo(connection));
    await expect.poll(() => server.log().length).toBeGreaterThan(1);
    await client.close();
    expect(await open).toMatchObject({ code: "CONNECTION", mayHaveRun: true });
  });

  test("the transport before is put back as it was", async () => {
    const server = await startServer();
    const client = newClientTwo();
    const first = http(server);
    await client.connect(first);
    onTestFinished(() => client.close());
    const { onmessage, onclose, onerror } = first;
    const connection = sdkConnection(client);
    await echo(connection);
    await client.close();
    await client.connect(http(server));
    await echo(connection);
    expect(first.onmessage).toBe(onmessage);
    expect(first.onclose).toBe(onclose);
    expect(first.onerror).toBe(onerror);
  });
});

test("Promise 12: a client that is connected to another server asks it for nothing of the first", async () => {
  const client = new ClientOne({ name: "host", version: "1.0.0" });
  onTestFinished(() => client.close());
  const asked: string[] = [];
  const connectTo = async (name: string): Promise<void> => {
    const server = new McpServer({ name, version: "1.0.0" });
    server.registerTool("where", {}, () => {
      asked.push(name);
      return { content: [{ type: "text", text: name }] };
    });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await server.connect(theirs);
    await client.connect(ours);
  };
  const where = (connection: Connection): Promise<unknown> =>
    connection.request("tools/call", { name: "where", arguments: {} }, requestOptions);
  await connectTo("first");
  const [connection, named] = [sdkConnection(client), sdkConnection(client, { identity: "either" })];
  expect(await where(connection)).toMatchObject({ content: [{ text: "first" }] });
  await client.close();
  await connectTo("second");
  const error = await rejection(where(connection));
  expect(error).toMatchObject({ code: "CONNECTION", mayHaveRun: false });
  expect(String(error)).toContain("another server");
  expect(await where(named)).toMatchObject({ content: [{ text: "second" }] });
  await client.close();
  await connectTo("first");
  expect(await where(connection)).toMatchObject({ content: [{ text: "first" }] });
  expect(asked).toEqual(["first", "second", "first"]);
});

describe("reconnect", () => {
  test("is asked once, however many requests wait, and not while the client is connected", async () => {
    const server = await startServer();
    const client = await connectTwo(server);
    let asked = 0;
    const connection = sdkConnection(client, {
      reconnect: async () => {
        asked += 1;
        await client.connect(http(server));
      },
    });
    await echo(connection);
    expect(asked).toBe(0);
    await client.close();
    await Promise.all(Array.from({ length: 5 }, () => echo(connection)));
    expect(asked).toBe(1);
  });

  test("is asked again when it failed, with a pause between", async () => {
    const server = await startServer();
    const client = await connectTwo(server);
    let asked = 0;
    const connection = sdkConnection(client, {
      reconnect: async () => {
        asked += 1;
        if (asked === 1) throw new Error("not yet");
        await client.connect(http(server));
      },
    });
    await client.close();
    expect(await echo(connection)).toMatchObject({ content: [{ text: "hi" }] });
    expect(asked).toBe(2);
  });

  test("F122: a session that the server has forgotten is one, a 404 where there are no sessions is not", async () => {
    const legacy = await startRaw({ statuses: { ping: [404] } });
    onTestFinished(() => legacy.kill());
    const one = new ClientOne({ name: "host", version: "1.0.0" });
    const connect = (): Promise<void> => one.connect(new StreamableHTTPClientTransport(new URL(legacy.url)));
    await connect();
    onTestFinished(() => one.close());
    let asked = 0;
    const connection = sdkConnection(one, {
      reconnect: async () => {
        asked += 1;
        await one.close();
        await connect();
      },
    });
    expect(await rejection(connection.request("ping", {}, requestOptions))).toMatchObject({ status: 404 });
    expect(asked).toBe(1);
    await connection.request("ping", {}, requestOptions);
    expect(await legacy.received("initialize")).toHaveLength(2);

    const modern = await startServer({ faults: [{ kind: "status", status: 404, method: "tools/list" }] });
    const two = sdkConnection(await connectTwo(modern), { reconnect: async () => void (asked += 1) });
    expect(await rejection(two.request("tools/list", {}, requestOptions))).toMatchObject({ status: 404 });
    expect(asked).toBe(1);
  });
});

test("a server on stdio is killed in the middle of a task and started again: the task goes on", async () => {
  const servers = stdioServers({ push: true });
  const client = newClientTwo();
  let transport = servers.next();
  await client.connect(transport);
  onTestFinished(() => client.close());
  const connection = sdkConnection(client, {
    reconnect: async () => {
      transport = servers.next();
      await client.connect(transport);
    },
  });
  const { tasks, errors } = newTasks({ push: "always", onInputRequest: () => ({ action: "decline" }) });
  await tasks.connect("server", connection);
  const working = taskOf(await tasks.callTool("server", { name: "slow", arguments: { ms: 4000 } }));
  const asks = taskOf(await tasks.callTool("server", { name: "deploy", arguments: { ms: 2000 } }));
  const pid = transport.pid;
  if (pid === null) throw new Error("no process");
  process.kill(pid, "SIGKILL");
  expect(await working.result()).toMatchObject({ structuredContent: { ms: 4000 } });
  expect(await asks.result()).toMatchObject({ structuredContent: { deployed: false } });
  expect(transport.pid).not.toBe(pid);
  expect(servers.log().filter(({ method }) => method === "tools/call")).toHaveLength(2);
  expect(errors).toEqual([]);
});

describe("a handshake under way", () => {
  let legacy: RawLegacy;
  beforeAll(async () => {
    legacy = await startRaw();
  });
  afterAll(stopServers);

  /** A server in memory that takes its time with `initialize`, and writes down what comes. */
  function slowServer(): { transport: Transport; seen: string[]; asked: Promise<void>; answer: () => void } {
    const [near, far] = InMemoryTransport.createLinkedPair();
    const seen: string[] = [];
    const asked = createDeferred<void>();
    const gate = createDeferred<void>();
    far.onmessage = (message) => {
      const { id, method = "answer" } = message as { id?: number; method?: string };
      seen.push(method);
      if (id === undefined) return;
      const result = {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "slow", version: "1" },
      };
      const reply = (): Promise<void> => far.send({ jsonrpc: "2.0", id, result });
      if (method !== "initialize") return void reply();
      asked.resolve();
      void gate.promise.then(reply);
    };
    return { transport: near, seen, asked: asked.promise, answer: () => gate.resolve() };
  }

  test.each([
    ["1.x", () => new ClientOne({ name: "host", version: "1.0.0" })],
    ["2.x", () => new ClientTwo({ name: "host", version: "1.0.0" })],
  ])(
    "of a client %s: nothing of ours comes before its end, the first time and the next",
    async (_name, make) => {
      const client = make() as ClientOne;
      onTestFinished(() => client.close());
      const connection = sdkConnection(client, { identity: "slow" });
      for (let round = 0; round < 2; round += 1) {
        const server = slowServer();
        const waiting = connection.request("ping", {}, requestOptions);
        const connected = client.connect(server.transport);
        await server.asked;
        const second = connection.request("ping", {}, requestOptions);
        server.answer();
        await Promise.all([connected, waiting, second]);
        expect(server.seen).toEqual(["initialize", "notifications/initialized", "ping", "ping"]);
        await client.close();
      }
    },
  );

  test("of 1.x over HTTP: `initialized` has arrived before anything of ours, though it is slow", async () => {
    const client = new ClientOne({ name: "host", version: "1.0.0" });
    onTestFinished(() => client.close());
    const connection = sdkConnection(client, { identity: "raw" });
    const waiting = connection.request("ping", {}, requestOptions);
    await client.connect(
      new StreamableHTTPClientTransport(new URL(legacy.url), {
        async fetch(url, init) {
          const isInitialized = JSON.stringify(init?.body ?? null).includes("notifications/initialized");
          if (isInitialized) await new Promise((resolve) => setTimeout(resolve, 50));
          return fetch(url, init);
        },
      }),
    );
    await waiting;
    const log = await legacy.control<{ from?: string; message: { method?: string } }[]>("log");
    const methods = log.filter(({ from }) => from !== undefined).map(({ message }) => message.method);
    expect(methods.indexOf("ping")).toBeGreaterThan(methods.indexOf("notifications/initialized"));
  });

  test("a session that goes on has none: a transport that has one already is spoken over", async () => {
    const client = new ClientOne({ name: "host", version: "1.0.0" });
    onTestFinished(() => client.close());
    const first = new StreamableHTTPClientTransport(new URL(legacy.url));
    await client.connect(first);
    const connection = sdkConnection(client, { identity: "raw" });
    await connection.request("ping", {}, requestOptions);
    const { sessionId } = first;
    if (sessionId === undefined) throw new Error("no session");
    await client.close();
    const before = (await legacy.received("initialize")).length;
    await client.connect(new StreamableHTTPClientTransport(new URL(legacy.url), { sessionId }));
    await connection.request("ping", {}, { ...requestOptions, timeoutMs: 3000 });
    expect(await legacy.received("initialize")).toHaveLength(before);
  });
});
