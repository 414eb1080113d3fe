/** What a stream of `subscriptions/listen` may bring over HTTP, and how it may end. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { httpConnection } from "../../src/connection/http.js";
import type { HttpConnectionOptions } from "../../src/connection/httpOptions.js";
import type { Connection, Notice } from "../../src/connection/types.js";
import {
  ClientClosedError,
  ConnectionError,
  EraNotSupportedError,
  InvalidResponseError,
  MissingCapabilityError,
  RpcError,
} from "../../src/errors.js";
import { META_SUBSCRIPTION_ID, TASKS_EXTENSION } from "../../src/protocol/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { startRawServer, type RawServer, type ScriptedResponse, type Step } from "../helpers/rawServer.js";
import { errorText, json, rejection, requestOptions, resultText, sse } from "./support.js";

let server: RawServer;
beforeAll(async () => {
  server = await startRawServer();
});
afterAll(() => server.stop());

let paths = 0;
const IDS = ["task-one", "task-two"];

const event = (message: JsonObject): string => `data: ${JSON.stringify(message)}\n\n`;
const notice = (method: string, params: JsonObject, id = "{{id}}"): string =>
  event({ jsonrpc: "2.0", method, params: { ...params, _meta: { [META_SUBSCRIPTION_ID]: id } } });
const ack = (taskIds?: readonly string[]): string =>
  notice("notifications/subscriptions/acknowledged", {
    notifications: taskIds === undefined ? {} : { taskIds: [...taskIds] },
  });
const tasks = (taskId: string, more: JsonObject = {}, id?: string): string =>
  notice("notifications/tasks", { taskId, status: "working", ...more }, id);
const end = `data: ${resultText({ resultType: "complete" })}\n\n`;

interface Heard {
  readonly acknowledged: (readonly string[])[];
  readonly notices: Notice[];
  life: number;
  readonly over: Promise<void>;
  stop(reason: unknown): void;
  readonly path: string;
}

async function listen(
  responses: ScriptedResponse | ScriptedResponse[],
  options: HttpConnectionOptions = {},
): Promise<Heard & { connection: Connection }> {
  paths += 1;
  const path = `/listen/${paths}`;
  const connection = httpConnection(await server.script(path, ...[responses].flat()), options);
  return Object.assign(open(connection), { connection, path });
}

function open(connection: Connection): Omit<Heard, "path"> {
  const controller = new AbortController();
  const heard = { acknowledged: [] as (readonly string[])[], notices: [] as Notice[], life: 0 };
  if (connection.listen === undefined) throw new Error("this connection cannot listen");
  const over = connection.listen(IDS, {
    ...requestOptions,
    signal: controller.signal,
    onAcknowledged: (taskIds) => heard.acknowledged.push(taskIds),
    onNotice: (one) => heard.notices.push(one),
    onLife: () => (heard.life += 1),
  });
  over.catch(() => undefined);
  return Object.assign(heard, { over, stop: (reason: unknown) => controller.abort(reason) });
}

const stream = (...texts: string[]): ScriptedResponse => sse(...texts.map((text): Step => ({ text })));

describe("subscriptions/listen", () => {
  it("F077, F004: names the task ids and the capability, and has no Mcp-Name", async () => {
    const heard = await listen(stream(ack(IDS), end));
    await heard.over;
    const [request] = await server.log(heard.path);
    const body = JSON.parse(request!.body) as { params: Record<string, JsonObject> };
    expect(body.params["notifications"]).toEqual({ taskIds: IDS });
    const capabilities = body.params["_meta"]!["io.modelcontextprotocol/clientCapabilities"];
    expect(capabilities).toMatchObject({ extensions: { [TASKS_EXTENSION]: {} } });
    expect(request!.headers).toMatchObject({
      "mcp-method": "subscriptions/listen",
      "mcp-protocol-version": "2026-07-28",
    });
    expect(request!.headers).not.toHaveProperty("mcp-name");
    expect(body.params["_meta"]).not.toHaveProperty("progressToken");
  });

  it("tells the acknowledgement, then the notices, and resolves at the result", async () => {
    const heard = await listen(stream(ack(["task-two"]), tasks("task-two"), tasks("task-one"), end));
    await heard.over;
    expect(heard.acknowledged).toEqual([["task-two"]]);
    expect(heard.notices.map(({ params }) => params["taskId"])).toEqual(["task-two", "task-one"]);
  });

  it.each([
    ["absent", ack()],
    ["not a list", notice("notifications/subscriptions/acknowledged", { notifications: { taskIds: "x" } })],
    ["without any filter", notice("notifications/subscriptions/acknowledged", {})],
    ["of ids that nobody asked for", ack(["task-three"])],
  ])("takes an acknowledgement as one of none: %s", async (_what, text) => {
    const heard = await listen(stream(text, end));
    await heard.over;
    expect(heard.acknowledged).toEqual([[]]);
  });

  it("ignores notices of another subscription and what comes before the acknowledgement", async () => {
    const heard = await listen(
      stream(
        tasks("task-one", { statusMessage: "early" }),
        ack(IDS),
        ack([]),
        tasks("task-one", { statusMessage: "of another" }, "another-listen"),
        event({ jsonrpc: "2.0", method: "notifications/tasks", params: { taskId: "task-one" } }),
        event({ jsonrpc: "2.0", id: 7, method: "ping" }),
        end,
      ),
    );
    await heard.over;
    expect(heard.acknowledged).toEqual([IDS]);
    // The one without a mark is of this stream: there is no other on it.
    expect(heard.notices.map(({ params }) => params)).toEqual([{ taskId: "task-one" }]);
  });

  it("F091: comments, empty data and named events are life and nothing else", async () => {
    const gated = sse(
      { text: ack(IDS) },
      { gate: "comments" },
      { text: ": keepalive\n\ndata:\n\nevent: ping\n\nevent: ping\ndata: x\n\n" },
      { gate: "end" },
      { text: end },
    );
    const heard = await listen(gated);
    await expect.poll(() => heard.acknowledged.length).toBe(1);
    const before = heard.life;
    await server.release("comments");
    await expect.poll(() => heard.life).toBeGreaterThan(before);
    await server.release("end");
    await heard.over;
    expect(heard.notices).toEqual([]);
  });

  it.each(["\n", "\r\n", "\r"])("F088: the same notices for every split point (%j)", async (eol) => {
    const text = [ack(IDS), tasks("task-one", { statusMessage: "größe ✓" }), end].join("");
    const heard = await listen(sse({ everyByte: text.replaceAll("\n", eol) }));
    await heard.over;
    expect(heard.notices.map(({ params }) => params["statusMessage"])).toEqual(["größe ✓"]);
  });

  it("F089: a byte-order mark in two chunks costs nothing", async () => {
    const heard = await listen(
      sse({ base64: "77s=" }, { gate: "rest-of-mark" }, { base64: "vw==" }, { text: ack(IDS) + end }),
    );
    await server.release("rest-of-mark");
    await heard.over;
    expect(heard.acknowledged).toEqual([IDS]);
  });
});

describe("how a stream ends", () => {
  it("F073: a result before the acknowledgement resolves, as a stream and as JSON", async () => {
    for (const answer of [stream(end), json(resultText({ resultType: "complete" }))]) {
      const heard = await listen(answer);
      await heard.over;
      expect(heard.acknowledged).toEqual([]);
    }
  });

  it("F071: notifications/cancelled for the listen id is a drop; for another id it is nothing", async () => {
    const cancelled = (requestId: string): string =>
      event({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
    const dropped = await listen(stream(ack(IDS), cancelled("{{id}}"), tasks("task-one")));
    expect(await rejection(dropped.over)).toBeInstanceOf(ConnectionError);
    expect(dropped.notices).toEqual([]);
    const other = await listen(stream(ack(IDS), cancelled("another"), tasks("task-one"), end));
    await other.over;
    expect(other.notices).toHaveLength(1);
  });

  it("an end without the result, and a broken connection, are drops", async () => {
    const ended = await listen(stream(ack(IDS)));
    expect(await rejection(ended.over)).toBeInstanceOf(ConnectionError);
    const broken = await listen(sse({ text: ack(IDS) }, { destroy: true }));
    expect(await rejection(broken.over)).toBeInstanceOf(ConnectionError);
  });

  it.each([
    ["no JSON", "data: {oops\n\n"],
    ["the answer to another request", event({ jsonrpc: "2.0", id: "someone", result: {} })],
  ])("what cannot be read ends it: %s", async (_what, text) => {
    const heard = await listen(stream(ack(IDS), text, tasks("task-one")));
    expect(await rejection(heard.over)).toBeInstanceOf(InvalidResponseError);
  });

  it("F092: one event is bounded, the stream as a whole is not", async () => {
    const params = { taskId: "task-one", statusMessage: "x".repeat(900) };
    const long = event({ jsonrpc: "2.0", method: "notifications/tasks", params });
    const many = sse({ text: ack(IDS) }, { repeat: { text: long, writes: 20 } }, { text: end });
    const heard = await listen(many, { maxResponseBytes: 2000 });
    await heard.over;
    expect(heard.notices).toHaveLength(20);
    const endless = sse(
      { text: `${ack(IDS)}data: ` },
      { repeat: { text: "x".repeat(1024), writes: 65_536 } },
    );
    const refused = await listen(endless, { maxResponseBytes: 1024 * 1024 });
    expect(await rejection(refused.over)).toBeInstanceOf(InvalidResponseError);
  });

  it("the signal ends it with its own reason, closing the connection too, and the server sees both", async () => {
    const heard = await listen(sse({ text: ack(IDS) }, { hang: true }));
    await expect.poll(() => heard.acknowledged.length).toBe(1);
    const reason = new Error("enough");
    heard.stop(reason);
    expect(await rejection(heard.over)).toBe(reason);
    await expect.poll(async () => (await server.log(heard.path))[0]?.closed).toBe(true);
    const again = open(heard.connection);
    await expect.poll(() => again.acknowledged.length).toBe(1);
    await heard.connection.close();
    expect(await rejection(again.over)).toBeInstanceOf(ClientClosedError);
  });

  it("F074: no request timeout ends a quiet stream", async () => {
    const heard = await listen(sse({ text: ack(IDS) }, { gate: "quiet" }, { text: end }), { timeoutMs: 20 });
    await expect.poll(() => heard.acknowledged.length).toBe(1);
    // A request of the same connection does run out of time meanwhile.
    const hanging = heard.connection.request("tasks/get", { taskId: "t" }, requestOptions);
    expect(await rejection(hanging)).toBeInstanceOf(ConnectionError);
    await server.release("quiet");
    await heard.over;
  });
});

describe("refusals", () => {
  it.each([
    [-32601, RpcError],
    [-32602, RpcError],
    [-32021, MissingCapabilityError],
  ])("error %i", async (code, kind) => {
    for (const answer of [
      json(errorText({ code, message: "no" }), 400),
      stream(`data: ${errorText({ code, message: "no" })}\n\n`),
    ]) {
      const heard = await listen(answer);
      expect(await rejection(heard.over)).toBeInstanceOf(kind);
    }
  });

  it("shows no task id, whatever the server writes", async () => {
    const heard = await listen(
      json(errorText({ code: -32602, message: "unknown: task-one", data: ["task-two"] }), 400),
    );
    const error = (await rejection(heard.over)) as RpcError;
    expect(JSON.stringify([error.message, error.data])).not.toMatch(/task-(one|two)/);
  });

  it("401, 403 and 429 with Retry-After, an earlier era, and 202", async () => {
    for (const status of [401, 403]) {
      const heard = await listen({ status });
      expect(await rejection(heard.over)).toMatchObject({ code: "CONNECTION", status });
    }
    const limited = await listen({ status: 429, headers: { "retry-after": "7" } });
    expect(await rejection(limited.over)).toMatchObject({ status: 429, retryAfterMs: 7000 });
    expect(await rejection((await listen({ status: 400 })).over)).toBeInstanceOf(EraNotSupportedError);
    expect(await rejection((await listen({ status: 202 })).over)).toBeInstanceOf(InvalidResponseError);
  });

  it("F095: asks for fresh headers at every opening", async () => {
    let token = 0;
    const heard = await listen(stream(ack(IDS), end), {
      headers: () => ({ authorization: `Bearer token-${(token += 1)}` }),
    });
    await heard.over;
    await open(heard.connection).over;
    const log = await server.log(heard.path);
    expect(log.map(({ headers }) => headers["authorization"])).toEqual(["Bearer token-1", "Bearer token-2"]);
  });
});
