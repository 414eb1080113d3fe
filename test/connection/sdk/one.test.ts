/** What a client of the SDK 1.x brings with it: its errors over HTTP, and a server in memory with tasks. */
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import {
  InMemoryTaskMessageQueue,
  InMemoryTaskStore,
} from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { sdkConnection } from "../../../src/index.js";
import { overHttp, startRaw, stopServers } from "../../helpers/legacy.js";
import { ClientOne, newTasks, rejection, requestOptions, shown } from "./support.js";

afterAll(stopServers);

describe("over HTTP", () => {
  test.each([
    [401, false],
    [403, false],
    [404, false],
    [429, false],
    [500, true],
    [503, true],
  ])("%i: mayHaveRun %s, and nothing of the page that came with it", async (status, mayHaveRun) => {
    const server = await startRaw({ statuses: { "tasks/cancel": [status] } });
    const client = new ClientOne({ name: "host", version: "1.0.0" });
    const errors: unknown[] = [];
    client.onerror = (error) => errors.push(error);
    await client.connect(overHttp(server.url));
    onTestFinished(() => client.close());
    const connection = sdkConnection(client);
    const taskId = "task-id-that-nobody-may-see";
    const error = await rejection(connection.request("tasks/cancel", { taskId }, requestOptions));
    expect(error).toMatchObject({ code: "CONNECTION", status, mayHaveRun });
    expect(shown(error)).not.toContain(taskId);
    expect(shown(error)).not.toContain("html");
    await client.ping();
    expect(errors).toEqual([]);
  });
});

test("in memory: a server on the SDK's own experimental tasks", async () => {
  const server = new McpServer(
    { name: "in-memory", version: "1.0.0" },
    {
      capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
      taskStore: new InMemoryTaskStore(),
      taskMessageQueue: new InMemoryTaskMessageQueue(),
    },
  );
  const result = { content: [{ type: "text" as const, text: "done" }] };
  server.experimental.tasks.registerToolTask(
    "build",
    { execution: { taskSupport: "required" } },
    {
      async createTask({ taskStore }) {
        const task = await taskStore.createTask({ ttl: 60_000, pollInterval: 20 });
        await taskStore.storeTaskResult(task.taskId, "completed", result);
        return { task };
      },
      getTask: ({ taskStore, taskId }) => taskStore.getTask(taskId),
      getTaskResult: ({ taskStore, taskId }) => taskStore.getTaskResult(taskId) as never,
    },
  );
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  const client = new ClientOne({ name: "host", version: "1.0.0" });
  await client.connect(near);
  onTestFinished(() => client.close());
  const { tasks, errors } = newTasks();
  await tasks.connect("server", sdkConnection(client));
  const call = await tasks.callTool("server", { name: "build" });
  if (call.kind !== "task") throw new Error("expected a task");
  expect(await call.task.result()).toEqual(result);
  expect(errors).toEqual([]);
});
