// The server of the interop table on the official TypeScript server SDK 2.x, which has no tasks of its own: they are
// built here on its public API (custom request handlers, an extension capability). Arguments: stdio or a port, and the
// file that keeps the tasks, so that they outlive the process.
import { createServer } from "node:http";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { createMcpHandler, ProtocolError, Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { toNodeHandler } from "@modelcontextprotocol/node";
import * as z from "zod";

const EXTENSION = "io.modelcontextprotocol/tasks";
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
const [where, file] = process.argv.slice(2);

const load = () => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {});
const save = (tasks) => writeFileSync(file, JSON.stringify(tasks));
const text = (value) => ({ content: [{ type: "text", text: value }] });
const form = { type: "object", properties: { approve: { type: "boolean" } }, required: ["approve"] };
const deployQuestion = {
  method: "elicitation/create",
  params: { mode: "form", message: "Deploy?", requestedSchema: form },
};

function create(tool, seconds) {
  const tasks = load();
  const now = new Date().toISOString();
  const task = { taskId: randomUUID(), tool, seconds, createdAt: now, lastUpdatedAt: now, status: "working" };
  if (tool === "deploy") task.status = "input_required";
  tasks[task.taskId] = task;
  save(tasks);
  return seedOf(task);
}

function find(taskId) {
  const tasks = load();
  const task = tasks[taskId];
  if (task === undefined) throw new ProtocolError(-32602, "Unknown task");
  const due = Date.parse(task.createdAt) + task.seconds * 1000;
  if (task.tool === "crunch" && task.status === "working" && Date.now() >= due) {
    Object.assign(task, { status: "completed", lastUpdatedAt: new Date().toISOString() });
    task.result = text(`crunched ${task.seconds}`);
    save(tasks);
  }
  return { tasks, task };
}

function seedOf({ taskId, status, createdAt, lastUpdatedAt }) {
  return { taskId, status, createdAt, lastUpdatedAt, ttlMs: 600_000, pollIntervalMs: 250 };
}

function shown(task) {
  const { status, result } = task;
  const base = seedOf(task);
  if (status === "input_required") return { ...base, inputRequests: { approve: deployQuestion } };
  return result === undefined ? base : { ...base, result };
}

function build() {
  const options = { capabilities: { tools: {}, extensions: { [EXTENSION]: {} } } };
  const server = new Server({ name: "interop-ts-sdk-2", version: "0.0.0" }, options);
  server.setRequestHandler("tools/list", () => ({
    tools: [
      { name: "echo", inputSchema: { type: "object", properties: { text: { type: "string" } } } },
      { name: "crunch", inputSchema: { type: "object", properties: { seconds: { type: "number" } } } },
      { name: "deploy", inputSchema: { type: "object", properties: {} } },
    ],
  }));
  server.setRequestHandler("tools/call", (request, context) => {
    const { name, arguments: args } = request.params;
    if (name === "echo") return text(args.text);
    const declared = (context.mcpReq.envelope ?? context.mcpReq._meta ?? {})[CAPABILITIES_KEY];
    if (declared?.extensions?.[EXTENSION] === undefined) return text("without a task");
    return { resultType: "task", ...create(name, args?.seconds ?? 0) };
  });
  const params = z.looseObject({ taskId: z.string() });
  server.setRequestHandler("tasks/get", { params }, ({ taskId }) => shown(find(taskId).task));
  server.setRequestHandler("tasks/cancel", { params }, ({ taskId }) => {
    const { tasks, task } = find(taskId);
    if (task.result === undefined) task.status = "cancelled";
    task.lastUpdatedAt = new Date().toISOString();
    save(tasks);
    return {};
  });
  server.setRequestHandler("tasks/update", { params }, ({ taskId }, context) => {
    // The SDK lifts this member out of the params of every request.
    const answer = context.mcpReq.inputResponses?.approve;
    const { tasks, task } = find(taskId);
    if (task.status === "input_required" && answer !== undefined) {
      task.result = text(`answered ${JSON.stringify(answer)}`);
      task.status = "completed";
      task.lastUpdatedAt = new Date().toISOString();
      save(tasks);
    }
    return {};
  });
  return server;
}

if (where === "stdio") {
  serveStdio(build);
} else {
  const handler = toNodeHandler(createMcpHandler(build));
  createServer((request, response) => void handler(request, response)).listen(Number(where), "127.0.0.1");
}
