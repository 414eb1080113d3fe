/**
 * A server over HTTP in a process of its own that changes: it speaks "ours" (2026-07-28), "earlier" (2025-11-25) or
 * "both", with tasks of each revision known to that one alone, behind a proxy with pages of its own. Driven through
 * /control. Prints "listening <port>".
 */
import { createServer } from "node:http";

const settings = { era: "earlier", pages: 0, initializeStatus: 0, initializeTimes: 0, megabytes: 0 };
const tasks = new Map();
const sessions = new Set();
let log = [];
let written = 0;

const control = {
  set: (change) => void Object.assign(settings, change),
  endSessions: () => sessions.clear(),
  finish: () => tasks.forEach((task) => Object.assign(task, { status: "completed" })),
  log: () => log,
  clear: () => void (log = []),
  written: () => written,
};

createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => {
    const message = body === "" ? {} : JSON.parse(body);
    if (request.url === "/control") {
      response.end(JSON.stringify(control[message.op](message.change) ?? null));
    } else handle(request, message, response);
  });
}).listen(0, "127.0.0.1", function () {
  console.log(`listening ${this.address().port}`);
});

function handle(request, message, response) {
  const ours = request.headers["mcp-protocol-version"] === "2026-07-28";
  if (request.method === "POST") log.push(`${ours ? "ours" : "earlier"} ${message.method ?? "answer"}`);
  if (settings.pages > 0) {
    settings.pages -= 1;
    return void response.writeHead(404, { "content-type": "text/html" }).end("<h1>404</h1>");
  }
  const say = (status, rest, headers = {}) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ jsonrpc: "2.0", ...rest }));
  };
  if (ours && settings.era !== "earlier") return speakOurs(message, say);
  if (settings.era === "ours")
    return say(400, { id: null, error: { code: -32600, message: "Not supported" } });
  return speakEarlier(request, message, { response, say });
}

function newTask(era) {
  const at = new Date().toISOString();
  const task = { taskId: `task-${tasks.size}`, status: "working", createdAt: at, lastUpdatedAt: at, era };
  tasks.set(task.taskId, task);
  return shown(task);
}

function shown({ taskId, status, createdAt, lastUpdatedAt, era }) {
  const task = { taskId, status, createdAt, lastUpdatedAt };
  if (era === "earlier") return { ...task, ttl: null, pollInterval: 20 };
  return { ...task, ttlMs: null, pollIntervalMs: 20, ...(status === "completed" && { result }) };
}

const result = { content: [{ type: "text", text: "done" }] };

function speakOurs({ id, method, params }, say) {
  const answer = (given) => say(200, { id, result: { resultType: "complete", ...given } });
  if (method === "server/discover") return answer({ supportedVersions: ["2026-07-28"], capabilities: {} });
  if (method === "tools/call") return answer({ ...newTask("ours"), resultType: "task" });
  const task = method === "tasks/get" ? tasks.get(params.taskId) : undefined;
  if (method !== "tasks/get") return say(404, { id, error: { code: -32601, message: "Method not found" } });
  if (task?.era !== "ours") return say(200, { id, error: { code: -32602, message: "Unknown task" } });
  return answer(shown(task));
}

function speakEarlier(request, { id, method, params }, { response, say }) {
  if (request.method !== "POST") return void response.writeHead(request.method === "GET" ? 405 : 200).end();
  if (method === "initialize") {
    if (settings.initializeTimes > 0) {
      settings.initializeTimes -= 1;
      return void response.writeHead(settings.initializeStatus).end("no");
    }
    const session = `s${Math.random()}`;
    sessions.add(session);
    const capabilities = { tools: {}, tasks: { requests: { tools: { call: {} } } } };
    const serverInfo = { name: "changing", version: "1.0.0" };
    const answer = { protocolVersion: "2025-11-25", capabilities, serverInfo };
    return say(200, { id, result: answer }, { "mcp-session-id": session });
  }
  if (!request.headers["mcp-session-id"]) {
    return say(400, { id: null, error: { code: -32000, message: "Bad Request: Server not initialized" } });
  }
  if (!sessions.has(request.headers["mcp-session-id"])) {
    return say(404, { id: null, error: { code: -32001, message: "Session not found" } });
  }
  if (id === undefined) return void response.writeHead(202).end();
  const tool = { name: "t", inputSchema: { type: "object" }, execution: { taskSupport: "optional" } };
  if (method === "tools/list") return say(200, { id, result: { tools: [tool] } });
  if (method === "tools/call") return say(200, { id, result: { task: newTask("earlier") } });
  if (method === "tasks/result") return settings.megabytes ? flood(id, response) : say(200, { id, result });
  const task = tasks.get(params?.taskId);
  if (method === "tasks/get" && task?.era === "earlier") return say(200, { id, result: shown(task) });
  return say(200, { id, error: { code: method === "tasks/get" ? -32602 : -32601, message: "No" } });
}

/** A result as large as memory. */
function flood(id, response) {
  response.writeHead(200, { "content-type": "application/json" });
  response.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"`);
  const chunk = "x".repeat(1024 * 1024);
  let open = true;
  response.on("close", () => (open = false));
  let left = settings.megabytes;
  const next = () => {
    if (!open) return;
    if (left === 0) return void response.end('"}]}}');
    left -= 1;
    response.write(chunk, (error) => {
      if (error) return;
      written += chunk.length;
      setImmediate(next);
    });
  };
  next();
}
