/**
 * A server of 2025-11-25 over HTTP, raw, in a process of its own: it does what the official one cannot be made to do, and
 * is driven through /control. Its tasks outlive sessions. Prints "listening <port>".
 */
import { createServer } from "node:http";

const sessions = new Set();
const tasks = new Map();
const log = [];
let lastId = 0;
/** What the tests change while it runs. */
const settings = {
  capabilities: { tools: { listChanged: true }, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
  tools: [
    tool("must", "required"),
    tool("may", "optional"),
    tool("never", "forbidden"),
    tool("fast", "optional"),
  ],
  pageSize: 100,
  /** JSON-RPC errors by method, each for so many times. */
  errors: {},
  /** HTTP statuses by method, each for so many times. */
  statuses: {},
  /** Questions that come with the handle's call, before its answer. */
  earlyQuestion: undefined,
  pollInterval: 20,
  /** States bear the outcome, as servers do that have no `tasks/result`. */
  carry: false,
};

function tool(name, taskSupport) {
  return { name, inputSchema: { type: "object" }, ...(taskSupport && { execution: { taskSupport } }) };
}

function shown(task) {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt, pollInterval } = task;
  const outcome = settings.carry ? { result: task.result, error: task.error } : {};
  return { taskId, status, statusMessage, createdAt, lastUpdatedAt, ttl: task.ttl, pollInterval, ...outcome };
}

function touch(task, change) {
  Object.assign(task, change, { lastUpdatedAt: new Date().toISOString() });
}

/** Puts what is not answered on the stream, under a new JSON-RPC id each time. */
function putQuestion(task, question, stream) {
  lastId += 1;
  const id = question.sameId ?? `q${lastId}`;
  question.ids.push(id);
  const related =
    question.related === false ? {} : { "io.modelcontextprotocol/related-task": { taskId: task.taskId } };
  const params = { ...question.params, _meta: { ...related, progressToken: lastId } };
  write(stream, { jsonrpc: "2.0", id, method: question.method, params });
}

function write(stream, message) {
  log.push({ to: "client", message });
  stream.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

function settleStreams(task) {
  if (!["completed", "failed", "cancelled"].includes(task.status)) return;
  for (const { stream, id } of task.streams.splice(0)) {
    write(stream, { jsonrpc: "2.0", id, ...payloadOf(task) });
    stream.end();
  }
}

function payloadOf(task) {
  if (task.error) return { error: task.error };
  if (!task.result) return { error: { code: -32603, message: `Task ${task.taskId} has no result stored` } };
  const related = { "io.modelcontextprotocol/related-task": { taskId: task.taskId } };
  return { result: { ...task.result, _meta: { ...task.result._meta, ...related } } };
}

/** What is answered ends the task, with the answers as its result. */
function onAnswer(message) {
  for (const task of tasks.values()) {
    for (const question of task.questions) {
      if (!question.ids.includes(message.id)) continue;
      question.answers.push(message.result ?? message.error);
      if (task.questions.some(({ answers }) => answers.length === 0)) return;
      if (task.holds) {
        touch(task, { status: "working" });
        return;
      }
      const answers = task.questions.map((each) => each.answers[0]);
      touch(task, { status: "completed", result: text(JSON.stringify(answers)) });
      settleStreams(task);
    }
  }
}

const text = (value) => ({ content: [{ type: "text", text: value }] });

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: settings.capabilities,
    serverInfo: { name: "raw-legacy", title: "Raw", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list"({ cursor }) {
    const from = Number(cursor ?? 0);
    const tools = settings.tools.slice(from, from + settings.pageSize);
    const next = from + settings.pageSize;
    return { tools, ...(next < settings.tools.length && { nextCursor: String(next) }) };
  },
  "tools/call"({ name, arguments: args = {}, task: wanted }) {
    const support = settings.tools.find((each) => each.name === name)?.execution?.taskSupport;
    const needs = settings.needs?.[name] ?? support;
    if (needs === "required" && !wanted)
      throw { code: -32601, message: `${name} requires task augmentation` };
    if (needs === "forbidden" && wanted) throw { code: -32601, message: `${name} does not support tasks` };
    if (!wanted || name === "fast") return text(wanted ? "at once, though a task was wanted" : "plain");
    const task = {
      taskId: `task-${Math.random().toString(36).slice(2)}`,
      status: "working",
      createdAt: new Date().toISOString(),
      lastUpdatedAt: new Date().toISOString(),
      ttl: null,
      pollInterval: settings.pollInterval,
      questions: [],
      streams: [],
      ...args.task,
    };
    tasks.set(task.taskId, task);
    for (const asked of args.questions ?? []) addQuestion(task, asked);
    return {
      task: shown(task),
      _meta: { "io.modelcontextprotocol/related-task": { taskId: task.taskId }, kept: 1 },
    };
  },
  "tasks/get": ({ taskId }) => shown(find(taskId)),
  "tasks/cancel"({ taskId }) {
    const task = find(taskId);
    if (["completed", "failed", "cancelled"].includes(task.status)) {
      throw { code: -32602, message: "Cannot cancel task in terminal status" };
    }
    touch(task, { status: "cancelled" });
    settleStreams(task);
    return shown(task);
  },
};

function find(taskId) {
  const task = tasks.get(taskId);
  if (!task) throw { code: -32602, message: "Failed to retrieve task: Task not found" };
  return task;
}

function addQuestion(task, asked) {
  const question = { ids: [], answers: [], ...asked };
  task.questions.push(question);
  if (!asked.quiet) touch(task, { status: "input_required" });
  for (const { stream } of task.streams) putQuestion(task, question, stream);
}

const control = {
  set: (change) => void Object.assign(settings, change),
  log: () => log,
  clear: () => void log.splice(0),
  tasks: () => [...tasks.values()].map(({ streams, ...task }) => ({ ...task, open: streams.length })),
  ask: ({ question }) => tasks.forEach((task) => addQuestion(task, question)),
  /** All that is open once more, under other ids. */
  repeat: () =>
    tasks.forEach((task) =>
      task.questions
        .filter(({ answers }) => answers.length === 0)
        .forEach((question) => task.streams.forEach(({ stream }) => putQuestion(task, question, stream))),
    ),
  takeBack() {
    for (const task of tasks.values()) {
      for (const question of task.questions.splice(0)) {
        for (const { stream } of task.streams) {
          for (const requestId of question.ids) {
            write(stream, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
          }
        }
      }
    }
  },
  finish({ status = "completed", ...change }) {
    for (const task of tasks.values()) {
      touch(task, { status, ...change });
      settleStreams(task);
    }
  },
  /** Sends a notification on the stand-alone stream. */
  notify: ({ message }) => standAlone.forEach((stream) => write(stream, { jsonrpc: "2.0", ...message })),
  statusNotice: () =>
    tasks.forEach((task) =>
      control.notify({ message: { method: "notifications/tasks/status", params: shown(task) } }),
    ),
  dropStreams: () =>
    tasks.forEach((task) => task.streams.splice(0).forEach(({ stream }) => stream.destroy())),
  endSessions() {
    sessions.clear();
    control.dropStreams();
    for (const stream of standAlone) stream.destroy();
    standAlone.clear();
  },
  forget: () => tasks.clear(),
  /** How many stand-alone streams are open. */
  standAlone: () => standAlone.size,
};

const standAlone = new Set();

createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => {
    if (request.url === "/control") {
      const { op, ...params } = JSON.parse(body);
      response.end(JSON.stringify(control[op](params) ?? null));
    } else handle(request, response, body);
  });
}).listen(0, "127.0.0.1", function () {
  console.log(`listening ${this.address().port}`);
});

function handle(request, response, body) {
  const session = request.headers["mcp-session-id"];
  if (request.method === "DELETE") return void response.writeHead(200).end();
  if (request.method === "GET") {
    if (!sessions.has(session)) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    standAlone.add(response);
    response.on("close", () => standAlone.delete(response));
    return;
  }
  const message = JSON.parse(body);
  log.push({ from: session ?? "new", message });
  if (message.method !== "initialize" && !sessions.has(session)) {
    const error = { code: -32001, message: "Session not found" };
    return void response.writeHead(404).end(JSON.stringify({ jsonrpc: "2.0", id: null, error }));
  }
  if (message.method === undefined && settings.refuseAnswers) return void response.writeHead(503).end();
  if (message.method === undefined) onAnswer(message);
  if (message.method === "notifications/cancelled") closeStream(message.params.requestId);
  if (message.id === undefined || message.method === undefined) return void response.writeHead(202).end();
  answer(message, response);
}

function closeStream(requestId) {
  for (const task of tasks.values()) {
    const at = task.streams.findIndex(({ id }) => id === requestId);
    if (at >= 0) task.streams.splice(at, 1)[0].stream.end();
  }
}

function answer(message, response) {
  const { id, method, params = {} } = message;
  const status = (settings.statuses[method] ?? []).shift();
  if (status !== undefined) return void response.writeHead(status).end("<html>no</html>");
  const headers = {};
  if (method === "initialize") {
    const session = `s${sessions.size}-${Math.random().toString(36).slice(2)}`;
    sessions.add(session);
    headers["mcp-session-id"] = session;
  }
  try {
    const error = (settings.errors[method] ?? []).shift();
    if (error) throw error;
    if (method === "tasks/result") return openResult(id, find(params.taskId), response);
    if (!methods[method]) throw { code: -32601, message: "Method not found" };
    const result = methods[method](params);
    if (method === "tools/list" && settings.toolsAfter) return overtaken(id, result, response);
    if (method === "tools/call" && settings.earlyQuestion) return early(id, result, response);
    response.writeHead(200, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  } catch (error) {
    if (error.code === undefined) throw error;
    response.writeHead(200, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
  }
}

function openResult(id, task, response) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  const entry = { stream: response, id };
  task.streams.push(entry);
  response.on("close", () => (task.streams = task.streams.filter((each) => each !== entry)));
  for (const question of task.questions) {
    if (question.answers.length === 0 && !(question.once && question.ids.length > 0)) {
      putQuestion(task, question, response);
    }
  }
  settleStreams(task);
}

/** The list changes while its old state is on the way. */
function overtaken(id, result, response) {
  Object.assign(settings, { tools: settings.toolsAfter, toolsAfter: undefined });
  control.notify({ message: { method: "notifications/tools/list_changed" } });
  response.writeHead(200, { "content-type": "application/json" });
  setTimeout(() => response.end(JSON.stringify({ jsonrpc: "2.0", id, result })), 50);
}

/** Questions before the handle: of this task, and of one that is not ours. */
function early(id, result, response) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const own = tasks.get(result.task?.taskId);
  for (const question of settings.earlyQuestion) {
    const entry = { ids: [], answers: [], ...question };
    if (!question.foreign) own?.questions.push(entry);
    putQuestion(question.foreign ? { taskId: "somebody-elses" } : own, entry, response);
  }
  write(response, { jsonrpc: "2.0", id, result });
  response.end();
}
