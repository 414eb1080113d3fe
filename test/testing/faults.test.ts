import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/internal/json.js";
import {
  fakeClock,
  spawnTaskServer,
  startTaskServer,
  type Fault,
  type FaultKind,
  type SpawnedTaskServer,
} from "../../src/testing/index.js";
import { ask, send, startTask } from "./wire.js";

let server: SpawnedTaskServer;
beforeAll(async () => {
  server = await spawnTaskServer({ pollIntervalMs: 1 });
});
afterAll(() => server.stop());
beforeEach(() => server.clearFaults());

const count = (): ReturnType<typeof send> => send(server.url, "tools/call", { name: "count", arguments: {} });
const counted = async (): Promise<number> => (await server.counters()).calls["count"] ?? 0;
const add = (fault: Fault): Promise<void> => server.addFault(fault);

describe("faults that answer something else", () => {
  const kinds: [FaultKind & { processed?: boolean }, Partial<{ status: number; text: string | RegExp }>][] = [
    [
      { kind: "status", status: 503 },
      { status: 503, text: "" },
    ],
    [
      { kind: "status", status: 404, body: { error: "session" } },
      { status: 404, text: '{"error":"session"}' },
    ],
    [
      { kind: "rateLimit", retryAfter: 7 },
      { status: 429, text: "" },
    ],
    [{ kind: "unauthorized" }, { status: 401 }],
    [{ kind: "html" }, { status: 200, text: /<h1>/ }],
    [{ kind: "empty" }, { status: 200, text: "" }],
    [
      { kind: "rpcError", code: -32603, data: { a: 1 } },
      { status: 200, text: /-32603.*\{"a":1\}/ },
    ],
  ];

  test.each(kinds)("%j does not run the request, unless it is processed", async (kind, expected) => {
    const before = await counted();
    await add({ ...kind, method: "tools/call" });
    const answer = await count();
    expect(answer.status).toBe(expected.status);
    if (typeof expected.text === "string") expect(answer.text).toBe(expected.text);
    else if (expected.text !== undefined) expect(answer.text).toMatch(expected.text);
    expect(await counted()).toBe(before);
    expect(server.log().at(-1)).toMatchObject({ answer: `fault:${kind.kind}`, processed: false });

    await add({ ...kind, method: "tools/call", processed: true } as Fault);
    expect((await count()).status).toBe(expected.status);
    expect(await counted()).toBe(before + 1);
    expect(server.log().at(-1)).toMatchObject({ answer: `fault:${kind.kind}`, processed: true });
  });

  test("headers travel: Retry-After, WWW-Authenticate and given ones", async () => {
    await add({ kind: "rateLimit", retryAfter: 7 });
    expect((await count()).headers.get("retry-after")).toBe("7");
    await add({ kind: "unauthorized" });
    expect((await count()).headers.get("www-authenticate")).toMatch(/^Bearer/);
    await add({ kind: "status", status: 503, headers: { "retry-after": "1", "x-a": "b" } });
    expect((await count()).headers.get("x-a")).toBe("b");
  });

  test("a reset before, and one after the request ran: the answer is lost", async () => {
    const before = await counted();
    await add({ kind: "reset", method: "tools/call" });
    await expect(count()).rejects.toThrow();
    expect(await counted()).toBe(before);
    await add({ kind: "reset", method: "tools/call", processed: true });
    await expect(count()).rejects.toThrow();
    expect(await counted()).toBe(before + 1);
    expect(server.log().at(-1)).toMatchObject({ status: 0, processed: true });
  });

  test("a lost answer of a call leaves its task behind, which the log names", async () => {
    await add({ kind: "reset", name: "never", processed: true });
    await expect(startTask(server.url, "never")).rejects.toThrow();
    const taskId = server.log().at(-1)?.taskId;
    expect((await server.tasks()).at(-1)).toMatchObject({ taskId, tool: "never" });
  });

  test("a hang is logged and never answered", async () => {
    await add({ kind: "hang", method: "tools/call" });
    const controller = new AbortController();
    const hanging = send(server.url, "tools/call", { name: "echo" }, { signal: controller.signal });
    hanging.catch(() => undefined);
    await expect.poll(() => server.log().at(-1)?.answer).toBe("fault:hang");
    controller.abort();
    await expect(hanging).rejects.toThrow();
  });

  test("a delay, before or after the request ran, keeps the rest waiting", async () => {
    const clock = fakeClock();
    await using here = await startTaskServer({ clock });
    here.addFault({ kind: "delay", ms: 30_000 });
    here.addFault({ kind: "status", status: 502 });
    const call = (): ReturnType<typeof send> => send(here.url, "tools/call", { name: "count" });
    const early = call();
    await expect.poll(() => clock.timers).toBe(1);
    expect([here.log().length, here.counters().calls]).toEqual([0, {}]);
    await clock.advance(30_000);
    expect((await early).status).toBe(502);

    here.addFault({ kind: "delay", ms: 30_000, processed: true });
    const late = call();
    await expect.poll(() => clock.timers).toBe(1);
    expect([here.log().length, here.counters().calls]).toEqual([2, { count: 1 }]);
    await clock.advance(30_000);
    expect((await late).body.result?.["resultType"]).toBe("complete");
  });
});

describe("faults that spoil the answer", () => {
  test("wrong content type, wrong id, replaced result", async () => {
    await add({ kind: "wrongType" });
    expect((await count()).headers.get("content-type")).toBe("text/plain");
    await add({ kind: "wrongId" });
    expect((await count()).body.id).toBe("not-this-one");
    await add({ kind: "wrongId", id: null });
    expect((await count()).body.id).toBe("not-this-one");
    await add({ kind: "replace", result: 5 });
    expect((await count()).body.result).toBe(5);
  });

  test("truncated JSON, with and without a broken connection", async () => {
    await add({ kind: "truncated" });
    const cut = await count();
    expect(cut.status).toBe(200);
    expect(() => JSON.parse(cut.text) as unknown).toThrow(SyntaxError);
    await add({ kind: "truncated", abort: true });
    await expect(count()).rejects.toThrow();
  });

  test("raw text says what JSON values cannot", async () => {
    await add({
      kind: "raw",
      text: '{"jsonrpc":"2.0","id":%ID%,"result":{"resultType":"complete","n":1e400}}',
    });
    const { text } = await count();
    expect(text).toContain('"id":"r-1"');
    expect(text).toContain("1e400");
  });

  test("an older draft's nested handle, and task as the type of a poll", async () => {
    await add({ kind: "nested", method: "tools/call" });
    const nested = await ask(server.url, "tools/call", { name: "never" });
    expect(nested).toMatchObject({ resultType: "task", task: { status: "working" } });
    expect(nested).not.toHaveProperty("taskId");
    const { taskId } = nested["task"] as { taskId: string };
    await add({ kind: "taskType", method: "tasks/get" });
    expect(await ask(server.url, "tasks/get", { taskId })).toMatchObject({ resultType: "task", taskId });
  });

  test("members left out, replaced and added", async () => {
    const task = await startTask(server.url, "never");
    await add({ kind: "omit", fields: ["ttlMs", "createdAt"], method: "tasks/get" });
    const without = await ask(server.url, "tasks/get", task);
    expect(without).not.toHaveProperty("ttlMs");
    expect(without).not.toHaveProperty("createdAt");
    await add({ kind: "patch", fields: { pollIntervalMs: "5", extra: [1] }, method: "tasks/get" });
    expect(await ask(server.url, "tasks/get", task)).toMatchObject({ pollIntervalMs: "5", extra: [1] });
  });

  test("F127: an acknowledgement that is forgotten", async () => {
    const { taskId } = await startTask(server.url, "deploy");
    const inputResponses = { approval: { action: "decline" } };
    await add({ kind: "ackOnly", method: "tasks/update" });
    expect(await ask(server.url, "tasks/update", { taskId, inputResponses })).toEqual({
      resultType: "complete",
    });
    expect((await ask(server.url, "tasks/get", { taskId }))["status"]).toBe("input_required");
  });

  test.each<[JsonObject, RegExp]>([
    [{}, /^event: message\ndata: \{.*\}\n\n$/],
    [{ eol: "\r\n" }, /^event: message\r\ndata: \{.*\}\r\n\r\n$/],
    [{ eol: "\r" }, /^event: message\rdata: \{.*\}\r\r$/],
    [{ comments: 1 }, /^: keep-alive\n\ndata:\n\nevent: ping\n\nevent: message\n/],
    [{ byteByByte: true }, /^event: message\ndata: \{.*\}\n\n$/],
    [{ drop: "end" }, /^$/],
  ])("an event stream in the style %j", async (style, expected) => {
    await add({ kind: "sse", ...style });
    const answer = await count();
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    expect(answer.text).toMatch(expected);
  });

  test("an event stream with a byte-order mark, and one that breaks", async () => {
    await add({ kind: "sse", bom: true });
    const response = await fetch(server.url, {
      method: "POST",
      body: '{"jsonrpc":"2.0","id":1,"method":"server/discover"}',
    });
    expect([...new Uint8Array(await response.arrayBuffer()).slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    await add({ kind: "sse", drop: "abort" });
    await expect(count()).rejects.toThrow();
  });
});

describe("which requests are hit", () => {
  const poll = async (taskId: string): Promise<number> =>
    (await send(server.url, "tasks/get", { taskId })).status;

  test("nth and times count the matching requests", async () => {
    const { taskId } = await startTask(server.url, "never");
    await add({ kind: "status", status: 500, method: "tasks/get", nth: 2, times: 2 });
    const statuses: number[] = [];
    for (let i = 0; i < 5; i += 1) statuses.push(await poll(taskId));
    expect(statuses).toEqual([200, 500, 500, 200, 200]);
  });

  test("by task, by the task's tool, by the number of answers", async () => {
    const one = await startTask(server.url, "never");
    const two = await startTask(server.url, "two_questions");
    await add({ kind: "status", status: 501, taskId: one.taskId, times: -1 });
    await add({ kind: "status", status: 502, name: "two_questions", method: "tasks/get", times: -1 });
    await add({ kind: "rpcError", code: -32602, minKeys: 2, times: -1 });
    expect([await poll(one.taskId), await poll(two.taskId)]).toEqual([501, 502]);
    const name = { action: "accept", content: { name: "a" } };
    const size = { action: "accept", content: { size: "small" } };
    const update = (inputResponses: JsonObject): ReturnType<typeof send> =>
      send(server.url, "tasks/update", { taskId: two.taskId, inputResponses });
    expect((await update({ name, size })).body.error?.code).toBe(-32602);
    expect((await update({ name })).body.result).toBeDefined();
  });

  test("a fault that another one hides is kept for the next request", async () => {
    const { taskId } = await startTask(server.url, "never");
    await add({ kind: "status", status: 503, method: "tasks/get" });
    await add({ kind: "status", status: 504, method: "tasks/get" });
    expect([await poll(taskId), await poll(taskId), await poll(taskId)]).toEqual([503, 504, 200]);
  });
});
