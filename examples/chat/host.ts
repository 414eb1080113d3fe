/**
 * The chat's host as a process of its own: the page, the conversation, the tasks. It may be killed at any moment and be
 * started again on the same folder: what it knew is on disk.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import { TaskClient, httpConnection } from "mcp-taskrail";
import { approvalsHandler } from "mcp-taskrail/approvals";
import { lmdbStore } from "mcp-taskrail/lmdb";
import { modelAnswer } from "./assistant.js";
import { openConversation } from "./conversation.js";
import { SERVER, openDesk, type Desk } from "./desk.js";
import type { ChatBody, ConversationBody } from "./messages.js";
import { CONVERSATION } from "./names.js";
import { isJson, openSessions } from "./session.js";

/** What the parent gives as JSON in the first argument. */
export interface HostSettings {
  readonly serverUrl: string;
  /** Tasks, conversation and the cookies' key. */
  readonly folder: string;
  /** The built page. */
  readonly page: string;
  /** 0: any. A restarted host wants the port that it had. */
  readonly port: number;
  /** Tells the parent when a question arrives, for the measurement of how long it takes to the page. */
  readonly tellQuestions?: boolean;
}

/** What this process tells its parent once it listens. */
export interface HostReady {
  readonly url: string;
  readonly port: number;
}

/** With `tellQuestions`, one for each. */
export interface QuestionNotice {
  readonly key: string;
  readonly atMs: number;
}

/** Everybody at the desk sees and answers the same tasks. */
const SCOPE = "desk";
const settings = JSON.parse(process.argv[2] ?? "{}") as HostSettings;

mkdirSync(settings.folder, { recursive: true });
const conversation = openConversation(join(settings.folder, "conversation.json"));
const sessions = openSessions(settings.folder);
const store = lmdbStore(join(settings.folder, "tasks"));
const desk: Desk = openDesk(() => tasks, conversation);
const tasks = new TaskClient({
  store,
  scope: SCOPE,
  instance: "desk-host",
  push: "always",
  // Nobody answers in this process, but people on the page can answer all of these.
  capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
  onSettled: (settled) => desk.settled(settled),
});
tasks.on("error", ({ error }) => console.error(`host: ${error.name}: ${error.message}`));
if (settings.tellQuestions === true) {
  tasks.on("input", ({ request }) => {
    const notice: QuestionNotice = { key: request.key, atMs: performance.timeOrigin + performance.now() };
    process.send?.(notice);
  });
}

const approvals = approvalsHandler(tasks, {
  authorize: async (request) => {
    const actor = await sessions.actor(request);
    return actor === undefined ? undefined : { scope: SCOPE, actor };
  },
  // The page puts each task to the message that started it.
  context: (context) => context,
  onError: (error) => console.error("host:", error),
});

const app = new Hono<{ Variables: { actor: string } }>();
app.use(async (c, next) => {
  await next();
  c.header("content-security-policy", "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'");
  c.header("x-content-type-options", "nosniff");
  c.header("referrer-policy", "no-referrer");
});
app.all("/api/tasks", (c) => approvals(c.req.raw));
app.all("/api/tasks/*", (c) => approvals(c.req.raw));
app.route("/api/session", sessions.routes);
app.use("/api/*", async (c, next) => {
  const actor = await sessions.actor(c.req.raw);
  if (actor === undefined) return c.json({ error: "sign in first" }, 403);
  c.set("actor", actor);
  return next();
});
app.get("/api/conversation", (c) => c.json(conversationBody()));
app.post("/api/chat", async (c) => {
  if (!isJson(c.req.raw)) return c.json({ error: "application/json is expected" }, 415);
  const message = chatBody(await c.req.json<unknown>().catch(() => undefined));
  if (message === undefined) return c.json({ error: "id and text are expected" }, 400);
  await desk.post(message, c.get("actor"));
  return c.json(conversationBody());
});
app.post("/api/model", async (c) => {
  if (!isJson(c.req.raw)) return c.json({ error: "application/json is expected" }, 415);
  return c.json(modelAnswer(await c.req.json<unknown>().catch(() => undefined)));
});
app.all("/api/*", (c) => c.json({ error: "no such thing" }, 404));
app.use(serveStatic({ root: settings.page }));

await tasks.connect(SERVER, httpConnection(settings.serverUrl));
desk.resume();

const server = createAdaptorServer({ fetch: app.fetch });
await new Promise<void>((resolve, reject) => {
  server.once("error", reject);
  server.listen(settings.port, "127.0.0.1", resolve);
});
const address = server.address();
const port = typeof address === "object" && address !== null ? address.port : 0;
const ready: HostReady = { url: `http://127.0.0.1:${port}/`, port };
process.send?.(ready);

process.once("SIGTERM", () => void leave());
// Without its parent there is nobody to restart it.
process.once("disconnect", () => void leave());

async function leave(): Promise<void> {
  server.close();
  if ("closeAllConnections" in server) server.closeAllConnections();
  await tasks.close();
  await store.disconnect();
  process.exit(0);
}

function conversationBody(): ConversationBody {
  return { id: CONVERSATION, messages: conversation.messages };
}

function chatBody(value: unknown): ChatBody | undefined {
  const { id, text } = (value ?? {}) as { id?: unknown; text?: unknown };
  if (typeof id !== "string" || !/^[\w-]{8,64}$/.test(id)) return undefined;
  if (typeof text !== "string" || text.trim() === "" || text.length > 400_000) return undefined;
  return { id, text };
}
