/* eslint-disable @typescript-eslint/unbound-method -- whose functions these are is what is compared */
/** Our requests beside those of the SDK client on one transport: neither notices the other. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { createInterceptor } from "../../../src/connection/sdk/sdkInterceptor.js";
import { createSdkSession } from "../../../src/connection/sdk/sdkSession.js";
import { systemClock } from "../../../src/internal/clock.js";
import { sdkConnection, type Connection, type McpTransportLike } from "../../../src/index.js";
import { ClientOne, newClientTwo, requestOptions, startServer } from "./support.js";

const CALLS = 50;
/** What went over the wire, as text. */
type Wire = string[];
interface Host {
  readonly transport: McpTransportLike & { onmessage?: unknown; onclose?: unknown; onerror?: unknown };
  readonly errors: unknown[];
  readonly wire: Wire;
  readonly connection: () => Connection;
  call(n: number): Promise<unknown>;
}

/** 1.x in memory: everything that passes is written down below the SDK. */
async function oneInMemory(): Promise<Host> {
  const server = new McpServer({ name: "plain", version: "1.0.0" });
  server.registerTool(
    "echo",
    { inputSchema: { text: z.string() } },
    ({ text }, { sendNotification, _meta }) => {
      if (_meta?.progressToken === undefined) return { content: [{ type: "text", text }] };
      const { progressToken } = _meta;
      return sendNotification({
        method: "notifications/progress",
        params: { progressToken, progress: 1 },
      }).then(() => ({ content: [{ type: "text", text }] }));
    },
  );
  const [near, far] = InMemoryTransport.createLinkedPair() as [Transport, Transport];
  const wire: Wire = [];
  const send = near.send.bind(near);
  far.send = recorded(wire, far.send.bind(far));
  near.send = recorded(wire, send);
  await server.connect(far);
  const client = new ClientOne({ name: "host", version: "1.0.0" });
  const errors: unknown[] = [];
  client.onerror = (error) => errors.push(error);
  await client.connect(near);
  onTestFinished(() => client.close());
  return {
    transport: near,
    errors,
    wire,
    connection: () => sdkConnection(client),
    call: (n) =>
      client.callTool({ name: "echo", arguments: { text: `${n}` } }, undefined, {
        onprogress: () => undefined,
      }),
  };
}

function recorded(wire: Wire, send: Transport["send"]): Transport["send"] {
  return (message, options) => {
    wire.push(JSON.stringify(message));
    return send(message, options);
  };
}

/** 2.x over HTTP: everything that passes is written down at its `fetch`. */
async function twoOverHttp(): Promise<Host> {
  const server = await startServer();
  const wire: Wire = [];
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    async fetch(url, init) {
      const response = await fetch(url, init);
      const text = await response.text();
      if (typeof init?.body === "string") wire.push(init.body, text);
      return new Response(text, { status: response.status, headers: response.headers });
    },
  });
  const client = newClientTwo();
  const errors: unknown[] = [];
  client.onerror = (error) => errors.push(error);
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    transport,
    errors,
    wire,
    connection: () => sdkConnection(client),
    call: (n) => client.callTool({ name: "echo", arguments: { text: `${n}` } }),
  };
}

const generations = [
  ["1.x in memory", oneInMemory],
  ["2.x over HTTP", twoOverHttp],
] as const;

const sorted = (wire: Wire, isOurs: boolean): string[] =>
  wire.filter((message) => /"(?:id|progressToken)":"mcp-taskrail-/.test(message) === isOurs).sort();

describe.each(generations)("%s", (_name, start) => {
  const burst = async (host: Host, connection?: Connection): Promise<unknown[]> => {
    const ours = (n: number): Promise<unknown> =>
      connection === undefined
        ? Promise.resolve()
        : connection.request(
            "tools/call",
            { name: "echo", arguments: { text: `ours ${n}` } },
            requestOptions,
          );
    const both = Array.from({ length: CALLS }, (_, n) => Promise.all([host.call(n), ours(n)]));
    return (await Promise.all(both)).map(([theirs]) => theirs);
  };

  test(`F002: ${CALLS} calls of the client beside ${CALLS} of ours: the same bytes, the same results`, async () => {
    const alone = await start();
    const expected = await burst(alone);
    const beside = await start();
    const results = await burst(beside, beside.connection());
    expect(results).toEqual(expected);
    expect(sorted(beside.wire, false)).toEqual(sorted(alone.wire, false));
    expect(sorted(beside.wire, true).length).toBeGreaterThanOrEqual(CALLS);
    expect(sorted(alone.wire, true)).toEqual([]);
    expect(beside.errors).toEqual([]);
  });

  test("F002: after close the transport is as it was", async () => {
    const { transport, connection, call } = await start();
    const before = { ...transport };
    const { onmessage, onclose, onerror, send } = transport;
    const open = connection();
    await open.request("tools/list", {}, requestOptions);
    expect(transport.onmessage).not.toBe(onmessage);
    expect(transport.send).toBe(send);
    await open.close();
    expect(transport.onmessage).toBe(onmessage);
    expect(transport.onclose).toBe(onclose);
    expect(transport.onerror).toBe(onerror);
    expect(transport.send).toBe(send);
    expect(Object.keys(transport)).toEqual(Object.keys(before));
    await call(0);
  });

  test("F002: what somebody else wrapped meanwhile is left to him, and ours passes on", async () => {
    const { transport, connection, call, errors } = await start();
    const open = connection();
    await open.request("tools/list", {}, requestOptions);
    const inner = transport.onmessage as (message: never, extra?: never) => void;
    const heard: unknown[] = [];
    const outer = (message: never, extra?: never): void => {
      heard.push(message);
      inner(message, extra);
    };
    transport.onmessage = outer;
    await open.close();
    expect(transport.onmessage).toBe(outer);
    await call(1);
    expect(heard.length).toBeGreaterThan(0);
    expect(errors).toEqual([]);
  });

  test("two connections over one client do not hear each other", async () => {
    const { connection, call, errors } = await start();
    const [first, second] = [connection(), connection()];
    const answers = await Promise.all(
      [first, second].flatMap((each, at) =>
        Array.from({ length: 10 }, (_, n) =>
          each.request("tools/call", { name: "echo", arguments: { text: `${at} ${n}` } }, requestOptions),
        ),
      ),
    );
    expect(answers.map(({ content }) => (content as { text: string }[])[0]?.text)).toEqual(
      [0, 1].flatMap((at) => Array.from({ length: 10 }, (_, n) => `${at} ${n}`)),
    );
    await first.close();
    await second.request("tools/list", {}, requestOptions);
    await call(1);
    await second.close();
    await call(2);
    expect(errors).toEqual([]);
  });

  test("an answer that nobody waits for any more is not the client's either", async () => {
    const { connection, errors, call } = await start();
    const open = connection();
    const ending = new AbortController();
    const asked = open.request(
      "tools/call",
      { name: "echo", arguments: { text: "late" } },
      {
        ...requestOptions,
        signal: ending.signal,
      },
    );
    asked.catch(() => undefined);
    await open.request("tools/list", {}, requestOptions).finally(() => ending.abort(new Error("enough")));
    await call(3);
    expect(errors).toEqual([]);
  });
});

test("a send that is taken over is put back too: 1.x, whose transport has its own", async () => {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const server = new McpServer({ name: "plain", version: "1.0.0" });
  await server.connect(far);
  const client = new ClientOne({ name: "host", version: "1.0.0" });
  await client.connect(near);
  onTestFinished(() => client.close());
  const session = createSdkSession(client, { clock: systemClock });
  createInterceptor(session);
  session.look();
  expect(Object.hasOwn(near, "send")).toBe(true);
  session.close();
  expect(Object.hasOwn(near, "send")).toBe(false);
  await client.ping();
});
