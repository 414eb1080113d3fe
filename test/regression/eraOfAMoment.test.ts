/**
 * What a server's first answer made of a connection lasted for ever: one 404 page of a proxy bound a server that speaks
 * both revisions to the earlier one, where its tasks are not known, so they were lost; and a server that was upgraded
 * while a session lived was never spoken to again. Trouble at `initialize` was taken for no MCP at all, and the option
 * maxResponseBytes did not hold in a session.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import {
  ConnectionError,
  httpConnection,
  TaskClient,
  type HttpConnectionOptions,
  type TaskClientOptions,
  type TaskHandle,
} from "../../src/index.js";
import { memoryStore } from "../../src/store/memory.js";

const SERVER = fileURLToPath(new URL("../helpers/changingEra.mjs", import.meta.url));
const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

interface Server {
  readonly url: string;
  control<T = void>(op: string, change?: object): Promise<T>;
}

async function startServer(settings: object): Promise<Server> {
  const child = spawn(process.execPath, [SERVER], { stdio: ["ignore", "pipe", "inherit"] });
  cleanups.push(() => void child.kill("SIGKILL"));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const origin = `http://127.0.0.1:${/\d+/.exec(String(line))?.[0] ?? ""}`;
  const control = async <T>(op: string, change: object = {}): Promise<T> => {
    const answer = await fetch(`${origin}/control`, { method: "POST", body: JSON.stringify({ op, change }) });
    return (await answer.json()) as T;
  };
  await control("set", settings);
  return { url: `${origin}/mcp`, control };
}

async function connect(
  { url }: Server,
  options: TaskClientOptions = {},
  http: HttpConnectionOptions = {},
): Promise<TaskClient> {
  const client = new TaskClient({
    push: "off",
    poll: { minIntervalMs: 20 },
    retry: { minDelayMs: 20, maxDelayMs: 100, refusedRetryMs: 100 },
    ...options,
  });
  const connection = httpConnection(url, http);
  cleanups.push(async () => {
    await client.close();
    await connection.close();
  });
  await client.connect("server", connection);
  return client;
}

async function startTask(client: TaskClient): Promise<TaskHandle> {
  const call = await client.callTool("server", { name: "t" }, { timeoutMs: 10_000 });
  if (call.kind !== "task") throw new Error("expected a task");
  return call.task;
}

const done = { content: [{ type: "text", text: "done" }] };

test("one page of a proxy does not bind a server that speaks both revisions to the earlier one", async () => {
  const server = await startServer({ era: "both", pages: 1 });
  const client = await connect(server);
  await startTask(client);
  await server.control("clear");
  await startTask(client);
  const log = await server.control<string[]>("log");
  expect(log.filter((line) => line.includes("tools/call"))).toEqual(["ours tools/call"]);
});

test("a stored task is not lost over such a page", async () => {
  const server = await startServer({ era: "both" });
  const store = memoryStore();
  const first = await connect(server, { store });
  await startTask(first);
  await first.close();
  await server.control("set", { pages: 1 });
  const second = await connect(server, { store });
  const [task] = await second.tasks();
  await server.control("finish");
  expect(await task?.result()).toEqual(done);
});

test("a server that is upgraded in a session's life is spoken to in our revision, without a restart of the host", async () => {
  const server = await startServer({ era: "earlier" });
  const client = await connect(server);
  await startTask(client);
  await server.control("set", { era: "ours" });
  await server.control("endSessions");
  // What an unlucky first call meets is not its subject: polls find out, too.
  await expect.poll(() => server.control<string[]>("log"), { timeout: 20_000 }).toContain("ours tasks/get");
  await server.control("clear");
  const task = await startTask(client);
  await server.control("finish");
  expect(await task.result()).toEqual(done);
  const log = await server.control<string[]>("log");
  expect(log.filter((line) => line.startsWith("earlier"))).toEqual([]);
});

test("a server that forgets its session is not asked for another revision", async () => {
  const server = await startServer({ era: "earlier" });
  const client = await connect(server);
  const task = await startTask(client);
  await server.control("clear");
  await server.control("endSessions");
  await expect
    .poll(() => server.control<string[]>("log"), { timeout: 10_000 })
    .toContain("earlier initialize");
  await server.control("finish");
  expect(await task.result()).toEqual(done);
  expect((await server.control<string[]>("log")).filter((line) => line.startsWith("ours"))).toEqual([]);
});

test("initialize that meets an overloaded server is trouble of the moment: the call is sent when it is over", async () => {
  const server = await startServer({ era: "earlier", initializeStatus: 503, initializeTimes: 2 });
  const client = await connect(server);
  await startTask(client);
  const log = await server.control<string[]>("log");
  expect(log.filter((line) => line === "earlier tools/call")).toHaveLength(1);
});

test("initialize that is refused over the credentials says so", async () => {
  const server = await startServer({ era: "earlier", initializeStatus: 401, initializeTimes: 100 });
  const client = await connect(server);
  const error: unknown = await startTask(client).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({ status: 401, mayHaveRun: false });
});

test("maxResponseBytes holds in a session", async () => {
  const server = await startServer({ era: "earlier", megabytes: 500 });
  const client = await connect(server, {}, { maxResponseBytes: 1024 * 1024 });
  const failed = new Promise((resolve) => client.on("retry", ({ error }) => resolve(error)));
  await startTask(client);
  await server.control("finish");
  expect(await failed).toBeInstanceOf(ConnectionError);
  // What the sockets' buffers hold is more than the limit, and far less than the answer.
  expect(await server.control<number>("written")).toBeLessThan(100 * 1024 * 1024);
});
