/** One URL, whichever revision answers there: the fallback to a session of the official SDK's client. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { TaskClient, type TaskInputRequest } from "../../src/index.js";
import { httpConnection } from "../../src/connection/http.js";
import type { HttpConnectionOptions } from "../../src/connection/httpOptions.js";
import { ClientClosedError, ConnectionError, EraNotSupportedError } from "../../src/errors.js";
import { rejection, requestOptions } from "./support.js";

const OFFICIAL = fileURLToPath(new URL("../helpers/legacyOfficial.mjs", import.meta.url));
const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** The official server of 2025-11-25, in another process. */
async function startOfficial(): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [OFFICIAL, "http"], { stdio: ["ignore", "pipe", "ignore"] });
  cleanups.push(() => void child.kill("SIGKILL"));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const port = /\d+/.exec(String(line))?.[0] ?? "";
  return { url: `http://127.0.0.1:${port}/mcp`, child };
}

/** A fetch that notes what went out. */
function noting(requests: { method: string; headers: Record<string, string>; body: string }[]) {
  return async (url: string, init: RequestInit): Promise<Response> => {
    const headers = Object.fromEntries(new Headers(init.headers));
    requests.push({
      method: init.method ?? "GET",
      headers,
      body: typeof init.body === "string" ? init.body : "",
    });
    return fetch(url, init);
  };
}

function connect(url: string, options: HttpConnectionOptions = {}) {
  const connection = httpConnection(url, options);
  cleanups.push(() => connection.close());
  return connection;
}

describe("a server of 2025-11-25 under an httpConnection", () => {
  it("calls, tasks, questions and the display name work as ever, with the host's headers on every request", async () => {
    const { url } = await startOfficial();
    const requests: { method: string; headers: Record<string, string>; body: string }[] = [];
    let token = 0;
    const asked: TaskInputRequest[] = [];
    const tasks = new TaskClient({
      onInputRequest(request) {
        asked.push(request);
        return { action: "accept", content: { ok: true } };
      },
    });
    cleanups.push(() => tasks.close());
    const connection = connect(url, {
      fetch: noting(requests),
      headers: () => ({ authorization: `Bearer token-${(token += 1)}` }),
    });
    await tasks.connect("old", connection);
    expect(await tasks.callTool("old", { name: "plain" })).toMatchObject({
      kind: "result",
      result: { content: [{ text: "plain" }] },
    });
    const must = await tasks.callTool("old", { name: "must" });
    expect(must.kind).toBe("task");
    if (must.kind === "task") expect(await must.task.result()).toMatchObject({ content: [{ text: "done" }] });
    const asks = await tasks.callTool("old", { name: "asks" });
    if (asks.kind !== "task") throw new Error("expected a task");
    expect(await asks.task.result()).toMatchObject({
      content: [{ text: JSON.stringify({ action: "accept", content: { ok: true } }) }],
    });
    expect(asked).toHaveLength(1);
    expect(asked[0]?.serverDisplayName).toBe("official-legacy");
    // Only the first request was of our revision: nothing of it is in the session.
    const [first, ...rest] = requests;
    expect(first?.headers["mcp-protocol-version"]).toBe("2026-07-28");
    expect(rest.filter(({ body }) => body.includes("io.modelcontextprotocol/clientCapabilities"))).toEqual(
      [],
    );
    expect(
      rest.filter(({ body }) => /pollIntervalMs|ttlMs|tasks\/update|subscriptions\/listen/.test(body)),
    ).toEqual([]);
    const used = requests.map(({ headers }) => headers["authorization"]);
    expect(new Set(used).size).toBe(requests.length);
    expect(used.every((value) => /^Bearer token-\d+$/.test(value ?? ""))).toBe(true);
  });

  it("many first requests at once make one session", async () => {
    const { url } = await startOfficial();
    const requests: { method: string; headers: Record<string, string>; body: string }[] = [];
    const connection = connect(url, { fetch: noting(requests) });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => connection.request("tools/call", { name: "plain" }, requestOptions)),
    );
    expect(answers.map(({ content }) => content)).toEqual(Array(8).fill([{ type: "text", text: "plain" }]));
    expect(requests.filter(({ body }) => body.includes('"method":"initialize"'))).toHaveLength(1);
  });

  it("a session that the server has forgotten is opened anew", async () => {
    const { url } = await startOfficial();
    const requests: { method: string; headers: Record<string, string>; body: string }[] = [];
    let lose = false;
    const losing = (async (target: string, init: RequestInit) => {
      const headers = new Headers(init.headers);
      // The server's own words for a session that it does not know: it is asked with another id.
      if (lose && headers.has("mcp-session-id")) headers.set("mcp-session-id", "forgotten");
      if (init.body !== undefined && String(init.body as string).includes('"initialize"')) lose = false;
      return noting(requests)(target, { ...init, headers });
    }) as unknown as HttpConnectionOptions["fetch"];
    const connection = connect(url, { fetch: losing });
    const tasks = new TaskClient({ retry: { minDelayMs: 50, maxDelayMs: 200 } });
    cleanups.push(() => tasks.close());
    await tasks.connect("old", connection);
    const call = await tasks.callTool("old", { name: "later" });
    if (call.kind !== "task") throw new Error("expected a task");
    lose = true;
    expect(await call.task.result()).toMatchObject({ content: [{ text: "late" }] });
    expect(requests.filter(({ body }) => body.includes('"method":"initialize"'))).toHaveLength(2);
  });

  it('earlier: "never" leaves it at EraNotSupportedError, and sends no initialize', async () => {
    const { url } = await startOfficial();
    const requests: { method: string; headers: Record<string, string>; body: string }[] = [];
    const connection = connect(url, {
      earlier: "never",
      fetch: noting(requests),
    });
    const error = await rejection(connection.request("tools/call", { name: "plain" }, requestOptions));
    expect(error).toBeInstanceOf(EraNotSupportedError);
    expect(requests).toHaveLength(1);
    expect(() => httpConnection(url, { earlier: "sometimes" as "never" })).toThrow(/earlier must be/);
  });

  it('earlier: "only" asks for nothing else, and is asked for nothing else', async () => {
    const { url } = await startOfficial();
    const requests: { method: string; headers: Record<string, string>; body: string }[] = [];
    const connection = connect(url, {
      earlier: "only",
      fetch: noting(requests),
    });
    const tasks = new TaskClient();
    cleanups.push(() => tasks.close());
    await tasks.connect("old", connection);
    const call = await tasks.callTool("old", { name: "must" });
    expect(call.kind).toBe("task");
    if (call.kind === "task") expect(await call.task.result()).toMatchObject({ content: [{ text: "done" }] });
    expect(requests.filter(({ body }) => body.includes("2026-07-28"))).toEqual([]);
  });
});

describe("where there is no session to be had", () => {
  async function startPlain(
    answer: (initialize: boolean) => number,
  ): Promise<{ url: string; seen: string[]; server: Server }> {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += String(chunk)));
      request.on("end", () => {
        seen.push(body);
        const status = answer(body.includes('"initialize"'));
        if (status === 0) return void request.socket.destroy();
        response.writeHead(status, { "content-type": "text/html" }).end("<p>no</p>");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    cleanups.push(() => new Promise<void>((resolve) => void server.close(() => resolve())));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, seen, server };
  }

  it("a URL with no MCP behind it stays EraNotSupportedError, and is not asked to initialize again and again", async () => {
    const { url, seen } = await startPlain(() => 404);
    const connection = connect(url);
    for (let i = 0; i < 3; i += 1) {
      const error = await rejection(connection.request("tools/call", { name: "plain" }, requestOptions));
      expect(error).toBeInstanceOf(EraNotSupportedError);
    }
    expect(seen.filter((body) => body.includes('"initialize"'))).toHaveLength(1);
  });

  it("a server that breaks down in between is a ConnectionError, and the call has not run", async () => {
    const { url } = await startPlain((initialize) => (initialize ? 0 : 400));
    const error = await rejection(connect(url).request("tools/call", { name: "plain" }, requestOptions));
    expect(error).toBeInstanceOf(ConnectionError);
    expect((error as ConnectionError).mayHaveRun).toBe(false);
  });

  it("a request's own limits hold while the session is being opened, and so does close()", async () => {
    let initializing = 0;
    let leftInitializing = 0;
    const silent = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += String(chunk)));
      request.on("end", () => {
        if (body.includes('"initialize"')) {
          initializing += 1;
          response.on("close", () => (leftInitializing += 1));
        } else response.writeHead(400).end();
      });
    });
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    cleanups.push(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const connection = connect(`http://127.0.0.1:${(silent.address() as AddressInfo).port}/mcp`);
    const ask = (more: object): Promise<unknown> =>
      rejection(connection.request("tools/call", { name: "plain" }, { ...requestOptions, ...more }));
    const late = await ask({ timeoutMs: 300 });
    expect(late).toBeInstanceOf(ConnectionError);
    expect((late as ConnectionError).mayHaveRun).toBe(false);
    const stop = new AbortController();
    const aborted = ask({ signal: stop.signal });
    const reason = new Error("enough");
    stop.abort(reason);
    expect(await aborted).toBe(reason);
    const closed = ask({});
    await expect.poll(() => initializing).toBe(1);
    await connection.close();
    expect(await closed).toBeInstanceOf(ClientClosedError);
    // Nothing is left waiting at the server, and so nothing keeps the process alive.
    await expect.poll(() => leftInitializing).toBe(1);
  });
});
