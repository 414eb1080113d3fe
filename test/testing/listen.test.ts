import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/internal/json.js";
import { fakeClock, startTaskServer, type TaskServerOptions } from "../../src/testing/index.js";
import { ask, send, startTask } from "./wire.js";

const options: TaskServerOptions = { push: true, strict: "refuse", pollIntervalMs: 60_000, keepAliveMs: 0 };

interface Stream {
  /** Messages so far. */
  readonly messages: JsonObject[];
  readonly text: () => string;
  /** Resolves at the end of the stream, true when it broke. */
  readonly broke: Promise<boolean>;
  close(): void;
}

async function listen(url: string, taskIds: string[], id = "listen-1"): Promise<Stream> {
  const controller = new AbortController();
  const response = await fetch(url, {
    method: "POST",
    signal: controller.signal,
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "subscriptions/listen",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id,
      method: "subscriptions/listen",
      params: {
        notifications: { taskIds },
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "wire", version: "1" },
          "io.modelcontextprotocol/clientCapabilities": {
            extensions: { "io.modelcontextprotocol/tasks": {} },
            elicitation: {},
          },
        },
      },
    }),
  });
  const messages: JsonObject[] = [];
  let text = "";
  const read = async (): Promise<boolean> => {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk, { stream: true });
        const whole = text.slice(0, text.lastIndexOf("\n\n") + 2);
        messages.splice(0);
        for (const line of whole.split("\n")) {
          if (line.startsWith("data: ")) messages.push(JSON.parse(line.slice(6)) as JsonObject);
        }
      }
      return false;
    } catch {
      return true;
    }
  };
  return { messages, text: () => text, broke: read(), close: () => controller.abort() };
}

const subscription = { "io.modelcontextprotocol/subscriptionId": "listen-1" };
const statuses = (stream: Stream): unknown[] =>
  stream.messages.flatMap(({ params }) => (params as JsonObject | undefined)?.["status"] ?? []);

describe("subscriptions/listen", () => {
  test("acknowledges the ids it has, then tells each change with the full task", async () => {
    const clock = fakeClock();
    await using server = await startTaskServer({ ...options, clock });
    const { taskId } = await startTask(server.url, "deploy", { ms: 5000, afterMs: 5000 });
    const stream = await listen(server.url, [taskId, "unknown"]);
    await clock.advance(5000);
    await expect.poll(() => statuses(stream)).toEqual(["input_required"]);
    expect(stream.messages[0]).toEqual({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { taskIds: [taskId] }, _meta: subscription },
    });
    expect(stream.messages[1]).toMatchObject({
      method: "notifications/tasks",
      params: { taskId, inputRequests: { approval: {} }, ttlMs: 3_600_000, _meta: subscription },
    });
    const inputResponses = { approval: { action: "accept", content: { approve: true } } };
    await ask(server.url, "tasks/update", { taskId, inputResponses });
    await clock.advance(5000);
    await expect.poll(() => statuses(stream)).toEqual(["input_required", "working", "completed"]);
    expect(stream.messages[3]).toMatchObject({
      params: { result: { content: [{ text: "deployed to prod" }] } },
    });
    stream.close();
  });

  test("F076: the poll that must follow an acknowledgement is no violation", async () => {
    await using server = await startTaskServer(options);
    const { taskId } = await startTask(server.url, "never");
    const stream = await listen(server.url, [taskId]);
    expect((await send(server.url, "tasks/get", { taskId })).status).toBe(200);
    expect((await send(server.url, "tasks/get", { taskId })).status).toBe(429);
    stream.close();
  });

  test("a cancel is told, and a server that closes ends the stream gracefully", async () => {
    const server = await startTaskServer(options);
    const { taskId } = await startTask(server.url, "cancellable");
    const stream = await listen(server.url, [taskId]);
    await ask(server.url, "tasks/cancel", { taskId });
    await expect.poll(() => statuses(stream)).toEqual(["cancelled"]);
    await server.close();
    expect(await stream.broke).toBe(false);
    expect(stream.messages.at(-1)).toEqual({
      jsonrpc: "2.0",
      id: "listen-1",
      result: { resultType: "complete", _meta: subscription },
    });
  });

  test("quiet streams get comments, and a crash breaks them without a result", async () => {
    const server = await startTaskServer({ ...options, keepAliveMs: 5 });
    const { taskId } = await startTask(server.url, "never");
    const stream = await listen(server.url, [taskId]);
    await expect.poll(() => stream.text()).toContain(": keep-alive\n\n");
    await server.crash();
    expect(await stream.broke).toBe(true);
    expect(stream.messages).toHaveLength(1);
  });

  test("scripted streams: unacknowledged, for nothing, silent, dropped", async () => {
    await using server = await startTaskServer(options);
    const { taskId } = await startTask(server.url, "deploy", { ms: 1 });
    server.addFault({ kind: "stream", ack: false, endAfterMs: 5, end: "end", silent: true });
    const unacknowledged = await listen(server.url, [taskId]);
    expect([await unacknowledged.broke, unacknowledged.messages]).toEqual([false, []]);
    server.addFault({ kind: "stream", accept: "none", endAfterMs: 5, end: "result" });
    const none = await listen(server.url, [taskId]);
    expect(await none.broke).toBe(false);
    expect(none.messages).toMatchObject([{ params: { notifications: { taskIds: [] } } }, { result: {} }]);
    server.addFault({ kind: "stream", endAfterMs: 5 });
    expect(await (await listen(server.url, [taskId])).broke).toBe(true);
  });

  test("without the option the method does not exist; without the capability it is refused", async () => {
    await using without = await startTaskServer();
    expect(await send(without.url, "subscriptions/listen")).toMatchObject({
      status: 404,
      body: { error: { code: -32601 } },
    });
    await using server = await startTaskServer(options);
    const refused = await send(
      server.url,
      "subscriptions/listen",
      { notifications: { taskIds: ["t"] } },
      { capabilities: {} },
    );
    expect(refused.body.error?.code).toBe(-32021);
  });
});
