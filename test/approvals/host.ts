/** Owns a host in another process: a client per scope on one lmdb store, and the approvals handler behind a real HTTP server. */
import { createServer } from "node:http";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { approvalsHandler, type ApprovalsHandler } from "../../src/approvals/index.js";
import { httpConnection, TaskClient } from "../../src/index.js";
import { lmdbStore } from "../../src/store/lmdb.js";
import { nodeListener } from "./nodeListener.js";

/** What a host is told, as JSON in the variable HOST_INPUT. */
export interface HostInput {
  readonly serverUrl: string;
  readonly storePath: string;
  readonly port?: number;
  readonly scopes: readonly string[];
  /** How the handler is mounted. Default "hono". */
  readonly mount?: "hono" | "node";
  /** False: this process only shows and answers; it has no connection to the server. */
  readonly connects?: boolean;
  readonly refreshMs?: number;
  readonly keepAliveMs?: number;
  readonly maxStreamMs?: number;
}

const input = JSON.parse(process.env["HOST_INPUT"] ?? "{}") as HostInput;
const clients = new Map<string, TaskClient>();

for (const scope of input.scopes) {
  const client = new TaskClient({
    store: lmdbStore(input.storePath),
    scope,
    // Every question is deferred to whoever looks at the page.
    onInputRequest: () => undefined,
    poll: { defaultIntervalMs: 50, minIntervalMs: 10 },
    push: "off",
    retry: { minDelayMs: 20, maxDelayMs: 200 },
    storeWatchMs: 50,
  });
  clients.set(scope, client);
  if (input.connects !== false) await client.connect("ci", httpConnection(input.serverUrl));
}

const { refreshMs = 100, keepAliveMs, maxStreamMs } = input;
const handler = approvalsHandler((scope) => clients.get(scope), {
  // As a cookie of a session would be: the person, and the name that others see.
  authorize(request) {
    const [scope, actor] = (request.headers.get("x-user") ?? "").split("/");
    if (scope === undefined || scope === "")
      return new Response(null, { status: 401, headers: { "www-authenticate": "Session" } });
    return { scope, actor: actor ?? scope };
  },
  context: (context) => context,
  origins: ["https://chat.example"],
  refreshMs,
  keepAliveMs,
  maxStreamMs,
  onError: (error) => console.error("handler", error),
});

/** What tests need beside the handler: calls, answers by the host's own code, closing. */
async function control(request: Request): Promise<Response> {
  const { op, scope, tool, args, callId, context } = (await request.json()) as {
    op: "call" | "close" | "forget";
    scope: string;
    tool: string;
    args: Record<string, never>;
    callId?: string;
    context?: string;
  };
  const client = clients.get(scope);
  if (client === undefined) return new Response(null, { status: 404 });
  if (op === "close") await client.close();
  else if (op === "forget") await (await client.task(callId ?? ""))?.forget();
  else {
    const call = await client.callTool("ci", { name: tool, arguments: args }, { callId, context });
    return Response.json({ id: call.kind === "task" ? call.task.id : undefined });
  }
  return Response.json({});
}

const port = await (input.mount === "node" ? listenNode(handler) : listenHono(handler));
console.log(JSON.stringify({ port }));
// Ends with whoever started it.
process.stdin.resume().once("end", () => process.exit());

function listenHono(serveApprovals: ApprovalsHandler): Promise<number> {
  const app = new Hono();
  app.post("/control", (c) => control(c.req.raw));
  app.all("/deep/approvals/*", (c) => serveApprovals(c.req.raw));
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, port: input.port ?? 0, hostname: "127.0.0.1" }, (info) => resolve(info.port));
  });
}

function listenNode(serveApprovals: ApprovalsHandler): Promise<number> {
  const server = createServer(
    nodeListener(async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/control") return control(request);
      if (pathname.startsWith("/deep/approvals/")) return serveApprovals(request);
      return new Response(null, { status: 404 });
    }),
  );
  return new Promise((resolve) => {
    server.listen(input.port ?? 0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}
