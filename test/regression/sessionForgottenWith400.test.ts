/**
 * A server that was started again answers the old session with 404, or with 400 and a JSON-RPC error that names no
 * request, as the official example servers do. The call counted as "may have run", and no new session was opened.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { randomUUID } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { httpConnection, TaskClient, withTasks } from "../../src/index.js";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

interface Forgetful {
  readonly url: string;
  readonly calls: () => number;
  forget(): void;
}

/** The official server in a host that keeps sessions in memory, as its examples do. */
async function startServer(status: 400 | 404): Promise<Forgetful> {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  let calls = 0;
  const server: Server = createServer((request, response) => {
    void (async () => {
      const id = request.headers["mcp-session-id"] as string | undefined;
      let transport = id === undefined ? undefined : transports.get(id);
      if (id !== undefined && transport === undefined) {
        const error = { code: -32000, message: "Bad Request: No valid session ID provided" };
        response.writeHead(status, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", error, id: null }));
        return;
      }
      if (transport === undefined) {
        const made = new StreamableHTTPServerTransport({
          sessionIdGenerator: randomUUID,
          onsessioninitialized: (sessionId) => void transports.set(sessionId, made),
        });
        const mcp = new McpServer({ name: "forgetful", version: "1.0.0" });
        mcp.registerTool("count", { description: "counts" }, () => {
          calls += 1;
          return { content: [{ type: "text", text: String(calls) }] };
        });
        await mcp.connect(made);
        transport = made;
      }
      await transport.handleRequest(request, response);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    calls: () => calls,
    forget: () => transports.clear(),
  };
}

const text = (value: string): object => ({ content: [{ type: "text", text: value }] });

test.each([400, 404] as const)(
  "httpConnection: %i opens a new session, and the call goes out again",
  async (status) => {
    const server = await startServer(status);
    const connection = httpConnection(server.url);
    cleanups.push(() => connection.close());
    const tasks = new TaskClient({ retry: { minDelayMs: 20, maxDelayMs: 50 } });
    cleanups.push(() => tasks.close());
    await tasks.connect("old", connection);
    expect(await tasks.callTool("old", { name: "count" })).toMatchObject({ result: text("1") });
    server.forget();
    expect(await tasks.callTool("old", { name: "count" })).toMatchObject({ result: text("2") });
    expect(server.calls()).toBe(2);
  },
);

test.each([400, 404] as const)(
  "withTasks: %i asks the host to reconnect, and the call goes out again",
  async (status) => {
    const server = await startServer(status);
    const raw = new Client({ name: "host", version: "1.0.0" });
    const connect = (): Promise<void> => raw.connect(new StreamableHTTPClientTransport(new URL(server.url)));
    let asked = 0;
    await connect();
    const client = withTasks(raw, {
      retry: { minDelayMs: 20, maxDelayMs: 50 },
      async reconnect() {
        asked += 1;
        await raw.close();
        await connect();
      },
    });
    cleanups.push(() => client.close());
    expect(await client.callTool({ name: "count" })).toMatchObject(text("1"));
    server.forget();
    expect(await client.callTool({ name: "count" })).toMatchObject(text("2"));
    expect([server.calls(), asked]).toEqual([2, 1]);
  },
);
