/** A server on the official SDK 1.x with its tasks of 2025-11-25, in a process of its own. With "http": prints "listening <port>"; else on stdio. */
import { createServer } from "node:http";
import { randomUUID } from "node:crypto";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  InMemoryTaskMessageQueue,
  InMemoryTaskStore,
} from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js";
import { CreateMessageResultSchema, ElicitResultSchema } from "@modelcontextprotocol/sdk/types.js";

/** The stock store hides a task from every session but the one that made it; deployments that last do not. */
class SharedTaskStore extends InMemoryTaskStore {
  lookup(taskId) {
    return super.lookup(taskId, undefined);
  }
}

const bound = process.argv.includes("bound");
const taskStore = bound ? new InMemoryTaskStore() : new SharedTaskStore();
const taskMessageQueue = new InMemoryTaskMessageQueue();
const text = (value) => ({ content: [{ type: "text", text: value }] });

function newServer() {
  const server = new McpServer(
    { name: "official-legacy", version: "1.0.0" },
    {
      capabilities: {
        tools: {},
        logging: {},
        tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
      },
      taskStore,
      taskMessageQueue,
      defaultTaskPollInterval: 30,
    },
  );
  server.registerTool("plain", { description: "no task" }, () => text("plain"));
  taskTool(server, "may", "optional", async () => text("done"));
  taskTool(server, "must", "required", async () => text("done"));
  taskTool(server, "slow", "optional", () => new Promise(() => undefined));
  taskTool(
    server,
    "later",
    "optional",
    () => new Promise((resolve) => setTimeout(() => resolve(text("late")), 1500)),
  );
  taskTool(server, "fails", "optional", async () => ({ ...text("it went wrong"), isError: true }));
  taskTool(server, "breaks", "optional", async () => Promise.reject(new Error("broken")));
  taskTool(server, "asks", "optional", async (ask) => {
    const params = {
      mode: "form",
      message: "Sure?",
      requestedSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
    };
    return text(JSON.stringify(await ask({ method: "elicitation/create", params }, ElicitResultSchema)));
  });
  taskTool(server, "samples", "optional", async (ask) => {
    const params = { messages: [{ role: "user", content: { type: "text", text: "Say hi" } }], maxTokens: 10 };
    const { content } = await ask({ method: "sampling/createMessage", params }, CreateMessageResultSchema);
    return text(content.text);
  });
  return server;
}

function taskTool(server, name, taskSupport, work) {
  server.experimental.tasks.registerToolTask(
    name,
    { description: name, execution: { taskSupport } },
    {
      async createTask({ taskStore: store, taskRequestedTtl, sendRequest }) {
        const task = await store.createTask({ ttl: taskRequestedTtl, pollInterval: 30 });
        const { taskId } = task;
        const ask = async (request, schema) => {
          const answer = await sendRequest(request, schema, { relatedTask: { taskId } });
          await store.updateTaskStatus(taskId, "working");
          return answer;
        };
        void finish(store, taskId, () => work(ask));
        return { task };
      },
      getTask: (extra) => extra.taskStore.getTask(extra.taskId),
      getTaskResult: (extra) => extra.taskStore.getTaskResult(extra.taskId),
    },
  );
}

async function finish(store, taskId, work) {
  // The handle goes first.
  await new Promise((resolve) => setTimeout(resolve, 40));
  try {
    const result = await work();
    await store.storeTaskResult(taskId, result.isError ? "failed" : "completed", result);
  } catch (error) {
    await store.updateTaskStatus(taskId, "failed", error.message).catch(() => undefined);
  }
}

if (process.argv.includes("http")) serveHttp();
else await newServer().connect(new StdioServerTransport());

function serveHttp() {
  const transports = new Map();
  createServer(async (request, response) => {
    const known = transports.get(request.headers["mcp-session-id"]);
    if (known === undefined && request.headers["mcp-session-id"] !== undefined) {
      response.writeHead(404).end();
      return;
    }
    const transport =
      known ??
      new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void transports.set(id, transport),
      });
    if (known === undefined) await newServer().connect(transport);
    await transport.handleRequest(request, response);
  }).listen(0, "127.0.0.1", function () {
    console.log(`listening ${this.address().port}`);
  });
}
