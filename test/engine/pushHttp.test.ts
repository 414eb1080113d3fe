/** Push over HTTP against the testing server: field cases on the real wire. */
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import {
  httpConnection,
  TaskClient,
  type HttpConnectionOptions,
  type TaskClientOptions,
  type TaskHandle,
} from "../../src/index.js";
import {
  spawnTaskServer,
  type SpawnedTaskServer,
  type SpawnTaskServerOptions,
} from "../../src/testing/index.js";

const LISTEN = "subscriptions/listen";
const CAPABILITY = ["_meta", "io.modelcontextprotocol/clientCapabilities", "extensions"] as const;

let server: SpawnedTaskServer;
afterEach(() => server.stop());

/** A server in another process that checks every request. */
async function serve(options: SpawnTaskServerOptions = {}): Promise<void> {
  server = await spawnTaskServer({ strict: true, push: true, pollIntervalMs: 100, ...options });
}

async function connect(
  options: TaskClientOptions = {},
  http: HttpConnectionOptions = {},
): Promise<{ client: TaskClient; states: string[]; errors: unknown[] }> {
  const client = new TaskClient({
    push: "always",
    retry: { minDelayMs: 50, maxDelayMs: 200 },
    ...options,
  });
  onTestFinished(() => client.close());
  const states: string[] = [];
  const errors: unknown[] = [];
  client.on("push", ({ state }) => states.push(state));
  client.on("error", ({ error }) => errors.push(error));
  await client.connect("srv", httpConnection(server.url, http));
  return { client, states, errors };
}

async function start(client: TaskClient, name: string, args = {}): Promise<TaskHandle> {
  const call = await client.callTool("srv", { name, arguments: args });
  if (call.kind !== "task") throw new Error("the call did not become a task");
  return call.task;
}

const listens = () => server.log().filter(({ method }) => method === LISTEN);
const polls = () => server.log().filter(({ method }) => method === "tasks/get");
const isOpen = (states: readonly string[]) =>
  expect.poll(() => states.at(-1), { timeout: 5000 }).toBe("open");

describe("push over HTTP", () => {
  test("F077: the request names every task and the capability; a completion needs no poll, and nothing breaks a rule", async () => {
    await serve({ pollIntervalMs: 60_000 });
    const { client, states } = await connect();
    const tasks = [await start(client, "slow", { ms: 700 }), await start(client, "slow", { ms: 700 })];
    const results = tasks.map((task) => task.result());
    await isOpen(states);
    await Promise.all(results);
    const [request] = listens();
    expect(request!.params).toMatchObject({ notifications: { taskIds: tasks.map(({ taskId }) => taskId) } });
    const declared = CAPABILITY.reduce<unknown>(
      (at, key) => (at as Record<string, unknown>)[key],
      request!.params,
    );
    expect(declared).toEqual({ "io.modelcontextprotocol/tasks": {} });
    expect(polls()).toEqual([]);
    expect(server.violations()).toEqual([]);
  });

  test("a question is shown when it is asked, and its answer brings the end, without a poll", async () => {
    await serve({ pollIntervalMs: 60_000 });
    const { client } = await connect({
      onInputRequest: () => ({ action: "accept", content: { approve: true } }),
    });
    const task = await start(client, "deploy", { ms: 400, afterMs: 50 });
    expect(await task.result()).toMatchObject({ content: [{ text: "deployed to prod" }] });
    expect(polls()).toEqual([]);
  });

  test("F068, F076: a server that is killed and started again: the task is found, and the stream comes back", async () => {
    await serve();
    const { client, states } = await connect();
    const task = await start(client, "slow", { ms: 1500, text: "after all" });
    const result = task.result();
    await isOpen(states);
    await server.kill();
    await expect.poll(() => states.at(-1)).not.toBe("open");
    await server.restart();
    expect(await result).toMatchObject({ content: [{ text: "after all" }] });
  });

  test("F067: a server that accepts and drops each stream costs nobody the outcome", async () => {
    await serve({ faults: [{ method: LISTEN, kind: "stream", endAfterMs: 10, times: -1 }] });
    const { client, states } = await connect();
    const task = await start(client, "slow", { ms: 2500, text: "done" });
    expect(await task.result()).toMatchObject({ content: [{ text: "done" }] });
    expect(listens()).toHaveLength(5);
    expect(states.at(-1)).toBe("off");
    expect(server.violations()).toEqual([]);
  });

  test.each([
    [
      "F073: ends before it acknowledged",
      { kind: "stream", ack: false, silent: true, endAfterMs: 1, end: "result" },
    ],
    ["F085: has no such method", { kind: "rpcError", code: -32601, status: 404 }],
    ["wants another capability", { kind: "rpcError", code: -32021, status: 400 }],
  ] as const)("a server that %s is asked once, and polled", async (_what, fault) => {
    await serve({ faults: [{ method: LISTEN, times: -1, ...fault }] });
    const { client, states } = await connect();
    const task = await start(client, "slow", { ms: 800, text: "done" });
    expect(await task.result()).toMatchObject({ content: [{ text: "done" }] });
    expect(listens()).toHaveLength(1);
    expect(states).toEqual(["off"]);
    expect(client.stats().servers["srv"]).toMatchObject({ up: true, push: "off" });
    expect(polls().length).toBeGreaterThan(2);
  });

  test.each(["abort", "end", "result", "cancelled"] as const)(
    "F071: whichever way a stream ends after its acknowledgement (%s), polls go on and the next one is opened",
    async (end) => {
      await serve({ faults: [{ method: LISTEN, kind: "stream", endAfterMs: 300, end }] });
      const { client, states, errors } = await connect();
      const task = await start(client, "slow", { ms: 1500, text: "done" });
      const result = task.result();
      await expect.poll(() => states, { timeout: 5000 }).toEqual(["open", "closed", "open"]);
      expect(await result).toMatchObject({ content: [{ text: "done" }] });
      expect(errors).toEqual([]);
    },
  );

  test("F085: a server without push at all", async () => {
    await serve({ push: false });
    const { client, states, errors } = await connect();
    const task = await start(client, "slow", { ms: 600 });
    await task.result();
    expect([listens().length, states, errors]).toEqual([1, ["off"], []]);
  });

  test("F074: a stream that is never acknowledged is given up at its own limit", async () => {
    await serve({ faults: [{ method: LISTEN, kind: "stream", ack: false, silent: true }] });
    const { client, states } = await connect({ push: { mode: "always", ackTimeoutMs: 200 } });
    const task = await start(client, "slow", { ms: 1500 });
    const result = task.result();
    await isOpen(states);
    expect(listens()).toHaveLength(2);
    await result;
  });

  test("F070, F091: comments keep a quiet stream; without them it is replaced", async () => {
    await serve({ keepAliveMs: 50, faults: [{ method: LISTEN, kind: "stream", silent: true }] });
    const { client } = await connect({ push: { mode: "always", idleMs: 400 } });
    const task = await start(client, "never");
    const ended = task.settled().catch(() => undefined);
    await expect.poll(() => listens().length, { timeout: 5000 }).toBe(2);
    const before = client.stats().polls;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(listens()).toHaveLength(2);
    // The stream lives, so the task is not polled beyond the catch-up.
    expect(client.stats().polls - before).toBeLessThanOrEqual(1);
    await client.close();
    await ended;
  });

  test("F095: a stream that the server ends over the token comes back with the new one", async () => {
    await serve({
      tokens: ["old-token", "new-token"],
      faults: [
        { method: LISTEN, kind: "stream", endAfterMs: 200 },
        { method: LISTEN, kind: "unauthorized" },
      ],
    });
    let asked = 0;
    const { client, states, errors } = await connect(
      {},
      { headers: () => ({ authorization: `Bearer old-token`, "x-asked": String((asked += 1)) }) },
    );
    const task = await start(client, "slow", { ms: 1500, text: "done" });
    const result = task.result();
    await expect.poll(() => listens().length, { timeout: 5000 }).toBe(3);
    await isOpen(states);
    expect(await result).toMatchObject({ content: [{ text: "done" }] });
    expect(new Set(listens().map(({ headers }) => headers["x-asked"])).size).toBe(3);
    // F083: it is the polls that say whether we are refused.
    expect(errors).toEqual([]);
  });

  test("F092: a notice beyond the limit ends the stream, and polls go on", async () => {
    await serve();
    const { client, states } = await connect({}, { maxResponseBytes: 4096 });
    const task = await start(client, "slow", { ms: 1000, text: "x".repeat(10_000) });
    const settled = task.settled().catch(() => undefined);
    await isOpen(states);
    await expect.poll(() => states.includes("closed"), { timeout: 5000 }).toBe(true);
    await expect.poll(() => polls().length, { timeout: 5000 }).toBeGreaterThan(0);
    await client.close();
    await settled;
  });

  test("F086: 50 tasks, one stream", async () => {
    await serve({ pollIntervalMs: 60_000 });
    const { client } = await connect({ concurrency: 50 });
    // Long enough for fifty calls and the stream to stand, on a busy machine too: what ends before is told by a poll.
    const tasks = await Promise.all(Array.from({ length: 50 }, () => start(client, "slow", { ms: 8000 })));
    const results = await Promise.all(tasks.map((task) => task.result()));
    expect(results).toHaveLength(50);
    expect(listens().length).toBeLessThanOrEqual(2);
    expect(client.stats().polls).toBe(0);
  });
});
