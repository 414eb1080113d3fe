/** The wrapped client as a client: what passes through, connecting and closing, stored tasks, lost transports, restarts. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Client as ClientOne } from "@modelcontextprotocol/sdk/client/index.js";
import { Client as ClientTwo } from "@modelcontextprotocol/client";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { ClientClosedError, withTasks, type KeyvLike } from "../../src/index.js";
import { createDeferred } from "../../src/internal/deferred.js";
import { spawnTaskServer } from "../../src/testing/index.js";
import { rejection, startServer, stdioServers } from "../connection/sdk/support.js";
import { startOfficial, startRaw, stopServers } from "../helpers/legacy.js";
import {
  ALL,
  FAST,
  hostOne,
  hostTwo,
  httpOne,
  httpTwo,
  newOne,
  newTwo,
  wrappedOne,
  wrappedTwo,
} from "./withTasksSupport.js";

afterAll(stopServers);

describe("what passes through", () => {
  test.each([
    ["1.x", () => withTasks(newOne(ALL)), ClientOne],
    ["2.x", () => withTasks(newTwo(ALL)), ClientTwo],
  ])("%s: instanceof, methods that are themselves, what the host sets", (_name, make, Class) => {
    const client = make() as ReturnType<typeof withTasks<ClientOne>>;
    expect(client instanceof Class).toBe(true);
    expect(client.constructor).toBe(Class);
    /* eslint-disable @typescript-eslint/unbound-method -- that they are the same is the point */
    expect(client.listPrompts).toBe(client.listPrompts);
    expect(client.callTool).toBe(client.callTool);
    expect(client.getServerVersion()).toBeUndefined();
    expect(client.transport).toBeUndefined();
    expect("callTool" in client && "taskClient" in client && "ping" in client).toBe(true);
    expect("nothing" in client).toBe(false);
    const onclose = (): void => undefined;
    client.onclose = onclose;
    expect(client.onclose).toBe(onclose);
    const fallback = async (): Promise<void> => undefined;
    client.fallbackNotificationHandler = fallback;
    expect(client.fallbackNotificationHandler).toBe(fallback);
    const own = async (): Promise<never> => Promise.reject(new Error("host's own"));
    client.callTool = own;
    expect(client.callTool).toBe(own);
    /* eslint-enable */
  });

  test("2.x: `await using` closes both; 1.x has none, and gets none", async () => {
    const server = await startServer();
    const { client } = await wrappedTwo(server.url);
    const dispose = (client as unknown as Record<symbol, unknown>)[Symbol.asyncDispose];
    if (Symbol.asyncDispose in ClientTwo.prototype) {
      await (dispose as () => Promise<void>)();
      expect(client.transport).toBeUndefined();
      expect(await rejection(client.taskClient.tasks())).toBeInstanceOf(ClientClosedError);
    } else expect(dispose).toBeUndefined();
    expect(Symbol.asyncDispose in withTasks(newOne())).toBe(Symbol.asyncDispose in newOne());
  });

  test("the host's own onclose runs, and other requests go out unchanged", async () => {
    const server = await startServer();
    const { client, call } = await wrappedTwo(server.url);
    let closed = 0;
    client.onclose = () => (closed += 1);
    const [tools] = await Promise.all([client.listTools(), call({ name: "slow", arguments: { ms: 50 } })]);
    expect(tools.tools.length).toBeGreaterThan(10);
    await client.close();
    expect(closed).toBe(1);
  });

  test("F002: 50 calls at once, half of them tasks, each get their own answer", async () => {
    const server = await startServer();
    const { call } = await wrappedTwo(server.url);
    const wanted = Array.from({ length: 50 }, (_, n) => `${n}`);
    const answers = await Promise.all(
      wanted.map((text, n) =>
        call(n % 2 ? { name: "echo", arguments: { text } } : { name: "slow", arguments: { ms: 30, text } }),
      ),
    );
    expect(answers.map(({ content }) => content?.[0]?.text)).toEqual(wanted);
  });
});

describe("connecting and closing", () => {
  test("a client that is not connected says so in the SDK's own words", async () => {
    for (const [wrapped, plain] of [
      [hostOne(withTasks(newOne())), hostOne(newOne())],
      [hostTwo(withTasks(newTwo())), hostTwo(newTwo())],
    ] as const) {
      const [ours, theirs] = [
        await rejection(wrapped.call({ name: "x" })),
        await rejection(plain.call({ name: "x" })),
      ];
      expect(String(ours)).toBe(String(theirs));
    }
  });

  test("a client that is connected already is taken as it is", async () => {
    const server = await startServer();
    const two = newTwo(ALL);
    await two.connect(httpTwo(server.url));
    const wrapped = withTasks(two, FAST);
    onTestFinished(() => wrapped.close());
    expect(await hostTwo(wrapped).call({ name: "slow", arguments: { ms: 20 } })).toMatchObject({
      structuredContent: { ms: 20 },
    });
    const { url } = await startOfficial();
    const one = newOne(ALL);
    await one.connect(httpOne(url));
    const other = withTasks(one, FAST);
    onTestFinished(() => other.close());
    expect(await hostOne(other).call({ name: "must" })).toEqual({
      content: [{ type: "text", text: "done" }],
    });
  });

  test("a client that is connected past the wrapper, and again: no call slips by us", async () => {
    const server = await startServer();
    const two = newTwo(ALL);
    const wrapped = hostTwo(withTasks(two, FAST));
    onTestFinished(() => wrapped.client.close());
    const legacy = await startRaw();
    const one = newOne(ALL);
    const other = hostOne(withTasks(one, FAST));
    onTestFinished(() => other.client.close());
    const task = { status: "completed", result: { content: [{ type: "text", text: "done" }] } };
    for (let round = 0; round < 2; round += 1) {
      await Promise.all([two.connect(httpTwo(server.url)), one.connect(httpOne(legacy.url))]);
      const [ours, theirs] = await Promise.all([
        wrapped.call({ name: "slow", arguments: { ms: 20, text: "late" } }),
        other.call({ name: "must", arguments: { task } }),
      ]);
      expect(ours).toMatchObject({ content: [{ text: "late" }] });
      expect(theirs).toEqual(task.result);
      await Promise.all([two.close(), one.close()]);
    }
    expect(JSON.stringify([server.log(), await legacy.control("log")])).not.toContain("mcp-taskrail/");
    expect(await wrapped.client.taskClient.tasks()).toHaveLength(2);
    expect(await other.client.taskClient.tasks()).toHaveLength(2);
  });

  test("close ends what is open, puts the transport back and closes the client", async () => {
    const server = await startServer();
    const { client, call } = await wrappedTwo(server.url);
    const transport = client.transport as unknown as Record<string, unknown>;
    const open = rejection(call({ name: "cancellable" }));
    await expect.poll(() => server.tasks().length, { timeout: 10_000 }).toBe(1);
    expect(Object.hasOwn(transport, "send")).toBe(true);
    await client.close();
    expect(await open).toBeInstanceOf(ClientClosedError);
    expect(Object.hasOwn(transport, "send")).toBe(false);
    expect(client.transport).toBeUndefined();
    expect(await rejection(call({ name: "echo" }))).toBeInstanceOf(ClientClosedError);
    expect(server.tasks()[0]?.cancelRequested).toBe(false);
  });

  test.each([
    [{ onAbort: "stop" }, /^onAbort:/],
    [{ unknown: 1 }, /unknown/],
    [{ reconnect: 5 }, /^reconnect:/],
    [{ server: "" }, /^server:/],
    [{ identity: 5 }, /^identity:/],
    [5, /^options:/],
  ])("wrong options are named: %j", (options, message) => {
    expect(() => withTasks(newTwo(), options as never)).toThrow(TypeError);
    expect(() => withTasks(newTwo(), options as never)).toThrow(message);
  });

  test("what is no client is refused", () => {
    for (const client of [undefined, {}, 5]) expect(() => withTasks(client as never)).toThrow(/^client:/);
  });
});

describe("a transport that is lost", () => {
  test("without `reconnect`, the call ends as the SDK ends it, and the task goes on", async () => {
    const server = await startServer();
    const sdk = newTwo();
    const { client, call } = await wrappedTwo(server.url, {}, sdk);
    const errors: unknown[] = [];
    client.onerror = (error) => errors.push(error);
    const called = rejection(call({ name: "cancellable" }));
    await expect.poll(() => server.tasks().length, { timeout: 10_000 }).toBe(1);
    await sdk.close();
    expect(await called).toMatchObject({ code: "CONNECTION_CLOSED" });
    await client.connect(httpTwo(server.url));
    for (const task of await client.taskClient.tasks()) await task.cancel();
    await expect
      .poll(async () => (await client.taskClient.tasks())[0]?.status, { timeout: 10_000 })
      .toBe("cancelled");
    // Its answer is not given to a client that no longer waits for it.
    expect(errors).toEqual([]);
  });

  test("with it, a call on stdio outlives the server's process, and runs once", async () => {
    const servers = stdioServers();
    const sdk = newTwo(ALL);
    let transport = servers.next();
    const client = withTasks(sdk, {
      ...FAST,
      reconnect: async () => {
        transport = servers.next();
        await sdk.connect(transport);
      },
    });
    onTestFinished(() => client.close());
    await client.connect(transport);
    const { call } = hostTwo(client);
    const created = createDeferred<void>();
    client.taskClient.on("created", () => created.resolve());
    const called = call({ name: "slow", arguments: { ms: 3000, text: "outlived" } });
    await created.promise;
    const { pid } = transport;
    if (pid === null) throw new Error("no process");
    process.kill(pid, "SIGKILL");
    expect(await called).toMatchObject({ content: [{ text: "outlived" }] });
    expect(await call({ name: "echo", arguments: { text: "again" } })).toMatchObject({
      content: [{ text: "again" }],
    });
    const calls = servers.log().filter(({ method, name }) => method === "tools/call" && name === "slow");
    expect(calls).toHaveLength(1);
  });

  test("one whose answer waits for the next transport ends when the client is closed instead", async () => {
    const server = await startServer();
    const sdk = newTwo(ALL);
    let connections = 0;
    const { call, client } = await wrappedTwo(
      server.url,
      {
        async reconnect() {
          connections += 1;
          if (connections > 1) throw new Error("out of reach");
          await sdk.connect(httpTwo(server.url));
        },
      },
      sdk,
    );
    client.taskClient.on("settled", () => void sdk.close());
    const called = rejection(call({ name: "slow", arguments: { ms: 1500 } }));
    await expect.poll(() => server.tasks().length, { timeout: 10_000 }).toBe(1);
    await sdk.close();
    await expect.poll(() => connections, { timeout: 10_000 }).toBeGreaterThan(1);
    await client.close();
    expect(await called).toBeInstanceOf(ClientClosedError);
  });

  test("1.x: a call outlives its session", async () => {
    const server = await startRaw();
    const sdk = newOne(ALL);
    const connect = (): Promise<void> => sdk.connect(httpOne(server.url));
    const { call, client } = await wrappedOne(server.url, { reconnect: connect }, sdk);
    const called = call({ name: "must", arguments: { task: { holds: true } } });
    await expect
      .poll(async () => (await client.taskClient.tasks())[0]?.status, { timeout: 10_000 })
      .toBe("working");
    await sdk.close();
    const result = { content: [{ type: "text", text: "outlived" }] };
    await expect.poll(() => sdk.transport !== undefined, { timeout: 10_000 }).toBe(true);
    await server.control("finish", { result });
    expect(await called).toEqual(result);
  });
});

describe("stored tasks", () => {
  const slow = (callId: string): { name: string; arguments: { ms: number }; _meta: object } => ({
    name: "slow",
    arguments: { ms: 1500 },
    _meta: { "mcp-taskrail/callId": callId, "mcp-taskrail/context": { chat: 5 } },
  });

  test("go on when the next client is connected, and keep what the host said of them", async () => {
    const server = await startServer();
    const store = new Map();
    const first = await wrappedTwo(server.url, { store });
    const called = rejection(first.call(slow("turn-1") as never));
    await expect.poll(() => server.tasks().length, { timeout: 10_000 }).toBe(1);
    await first.client.close();
    await called;
    const settled: unknown[] = [];
    const onSettled = ({ id, context, status }: { id: string; context: unknown; status: string }): void =>
      void settled.push({ id, context, status });
    await wrappedTwo(server.url, { store, onSettled });
    await expect
      .poll(() => settled, { timeout: 10_000 })
      .toEqual([{ id: "turn-1", context: { chat: 5 }, status: "completed" }]);
  });

  test("the same callId gives the stored result, and calls nothing", async () => {
    const server = await startServer();
    const store = new Map();
    const first = await wrappedTwo(server.url, { store });
    const answer = await first.call(slow("turn-2") as never);
    await first.client.close();
    const second = await wrappedTwo(server.url, { store });
    expect(await second.call(slow("turn-2") as never)).toEqual(answer);
    expect(server.counters().calls["slow"]).toBe(1);
    expect(await rejection(second.call({ ...slow("turn-2"), name: "echo" } as never))).toMatchObject({
      code: "CALL_ID_CONFLICT",
    });
    expect(
      await rejection(second.call({ name: "echo", _meta: { "mcp-taskrail/callId": 5 } })),
    ).toBeInstanceOf(TypeError);
  });

  test("also when the store was out of reach at first", async () => {
    const server = await startServer();
    const store = new Map();
    const first = await wrappedTwo(server.url, { store });
    const called = rejection(first.call(slow("turn-3") as never));
    await expect.poll(() => server.tasks().length, { timeout: 10_000 }).toBe(1);
    await first.client.close();
    await called;
    let broken = true;
    const guarded = new Proxy(store, {
      get(target, property) {
        if (broken && property !== "constructor") {
          return () => {
            throw new Error("out of reach");
          };
        }
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    const settled: string[] = [];
    const late: KeyvLike = {
      get: async (key: string) => guarded.get(key) as never,
      set: async (key: string, value: unknown) => (guarded.set(key, value), true),
      delete: async (key: string) => guarded.delete(key),
      async *iterator() {
        yield* [...guarded.entries()];
      },
    };
    const { client } = await wrappedTwo(server.url, {
      store: late,
      onSettled: ({ id }) => void settled.push(id),
    });
    expect(await rejection(client.callTool({ name: "echo" }))).toMatchObject({ code: "STORE" });
    broken = false;
    await expect.poll(() => settled, { timeout: 10_000 }).toEqual(["turn-3"]);
  });

  test("a store that never answers holds up no caller who leaves", async () => {
    const server = await startServer();
    const silent: KeyvLike = {
      get: () => new Promise(() => undefined),
      set: () => new Promise(() => undefined),
      delete: () => new Promise(() => undefined),

      async *iterator() {
        await new Promise(() => undefined);
      },
    };
    const { call } = await wrappedTwo(server.url, { store: silent });
    const ending = new AbortController();
    const called = rejection(call({ name: "echo" }, { signal: ending.signal }));
    ending.abort(new Error("enough"));
    expect(String(await called)).toContain("enough");
    expect(server.counters().calls["echo"]).toBeUndefined();
  });

  test("a host that is killed in the middle of a call gets the answer after its restart", async () => {
    const folder = mkdtempSync(join(tmpdir(), "wrapped-host-"));
    const server = await spawnTaskServer({ pollIntervalMs: 20 });
    const children = new Set<ChildProcess>();
    onTestFinished(async () => {
      for (const child of children) child.kill("SIGKILL");
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    const program = fileURLToPath(new URL("../helpers/wrappedHost.ts", import.meta.url));
    const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
    const start = (): { child: ChildProcess; lines: AsyncIterator<string> } => {
      const args = ["--import", loader, program, server.url, folder, "4000"];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      children.add(child);
      return { child, lines: createInterface(child.stdout)[Symbol.asyncIterator]() };
    };
    const first = start();
    expect((await first.lines.next()).value).toBe("task");
    const gone = once(first.child, "exit");
    first.child.kill("SIGKILL");
    await gone;
    const second = start();
    const line = await second.lines.next();
    expect(line.value).toMatch(/^answer .*"late"/);
    expect((await server.counters()).calls["slow"]).toBe(1);
  });
});
