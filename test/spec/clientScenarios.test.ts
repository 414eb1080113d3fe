/** F032: the five scenarios by which a client of tasks is judged, over HTTP, against a server in another process that checks every request. */
import { afterEach, expect, onTestFinished, test } from "vitest";
import { httpConnection, TaskClient, type TaskClientOptions, type TaskHandle } from "../../src/index.js";
import {
  spawnTaskServer,
  type SpawnedTaskServer,
  type SpawnTaskServerOptions,
} from "../../src/testing/index.js";

let server: SpawnedTaskServer;
afterEach(() => server.stop());

async function serve(
  settings: SpawnTaskServerOptions = {},
  options: TaskClientOptions = {},
): Promise<TaskClient> {
  server = await spawnTaskServer({ strict: true, pollIntervalMs: 100, ...settings });
  const client = new TaskClient({ push: "off", ...options });
  onTestFinished(() => client.close());
  await client.connect("srv", httpConnection(server.url));
  return client;
}

async function start(client: TaskClient, name: string, args = {}): Promise<TaskHandle> {
  const call = await client.callTool("srv", { name, arguments: args });
  if (call.kind !== "task") throw new Error("the call did not become a task");
  return call.task;
}

const sent = (method: string) => server.log().filter((entry) => entry.method === method);

test("a handle is a task, an ordinary answer is a result", async () => {
  const client = await serve();
  expect(await client.callTool("srv", { name: "inline" })).toMatchObject({ kind: "result" });
  const task = await start(client, "slow", { ms: 50 });
  expect(task.taskId).toBeTruthy();
  expect(await task.result()).toHaveProperty("content");
  expect(sent("tools/call")).toHaveLength(2);
  expect(server.violations()).toEqual([]);
});

test("polls keep the interval, the first one after the handle's", async () => {
  const client = await serve({ pollIntervalMs: 150 });
  await (await start(client, "slow", { ms: 600 })).result();
  // The server finds every poll that comes too early.
  expect(server.violations()).toEqual([]);
  expect(sent("tasks/get").length).toBeGreaterThan(1);
});

test("every request about a task names it in the routing header", async () => {
  const client = await serve();
  const task = await start(client, "cancellable");
  await task.cancel();
  await task.settled();
  const requests = server.log().filter(({ method }) => method.startsWith("tasks/"));
  expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(["tasks/get", "tasks/cancel"]));
  for (const { headers, method } of requests) {
    expect(headers["mcp-method"]).toBe(method);
    expect(headers["mcp-name"]).toBe(task.taskId);
  }
  expect(server.violations()).toEqual([]);
});

test("each end is told for what it is, and nothing is asked after it", async () => {
  const client = await serve();
  const completed = await start(client, "slow", { ms: 20 });
  const failed = await start(client, "fail_rpc");
  const cancelled = await start(client, "cancellable");
  await cancelled.cancel();
  expect((await completed.settled()).status).toBe("completed");
  expect((await failed.settled()).status).toBe("failed");
  expect((await cancelled.settled()).status).toBe("cancelled");
  const polls = sent("tasks/get").length;
  // Longer than several intervals: another task's life, on the same server.
  await (await start(client, "slow", { ms: 400 })).result();
  const later = sent("tasks/get").slice(polls);
  const over = new Set([completed.taskId, failed.taskId, cancelled.taskId]);
  expect(later.filter(({ params }) => over.has(params["taskId"] as string))).toEqual([]);
  expect(server.violations()).toEqual([]);
});

test("a notice settles the task, without a poll", async () => {
  const client = await serve({ push: true, pollIntervalMs: 60_000 }, { push: "always" });
  const task = await start(client, "slow", { ms: 600 });
  expect((await task.settled()).status).toBe("completed");
  expect(sent("subscriptions/listen")).toHaveLength(1);
  expect(sent("tasks/get")).toEqual([]);
  expect(server.violations()).toEqual([]);
});
