/** `callTool` of a wrapped SDK client: what it answers, what it rejects with, and what may end it early. */
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { ProtocolError, SdkError } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { CallOutcomeUnknownError, TaskCancelledError, TaskLostError } from "../../src/index.js";
import type { TaskServer, TestTool } from "../../src/testing/index.js";
import { rejection, startServer } from "../connection/sdk/support.js";
import { startOfficial, startRaw, stopServers } from "../helpers/legacy.js";
import {
  hostOne,
  hostTwo,
  httpOne,
  httpTwo,
  newOne,
  newTwo,
  wrappedOne,
  wrappedTwo,
  type Host,
} from "./withTasksSupport.js";

let official: string;
beforeAll(async () => {
  ({ url: official } = await startOfficial());
});
afterAll(stopServers);

const text = (value: string): object => ({ content: [{ type: "text", text: value }] });
const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
const typed = (name: string, result: object): TestTool =>
  ({ name, outputSchema: schema, steps: [{ kind: "complete", result }] }) as TestTool;
const TYPED: TestTool[] = [
  typed("typed", { ...text("ok"), structuredContent: { n: 1 } }),
  typed("mistyped", { ...text("ok"), structuredContent: { n: "one" } }),
  typed("untyped", text("ok")),
  typed("typed_error", { ...text("no"), isError: true }),
];

describe("1.x, on a server of 2025-11-25", () => {
  const plain = async (): Promise<Host<unknown>> => {
    const client = newOne();
    await client.connect(httpOne(official));
    onTestFinished(() => client.close());
    return hostOne(client);
  };

  test("an immediate result is what the plain client gets", async () => {
    const [ours, theirs] = [await wrappedOne(official), await plain()];
    expect(await ours.call({ name: "plain" })).toEqual(await theirs.call({ name: "plain" }));
  });

  test.each(["may", "must"])("the tool %s becomes a task, and its result is the answer", async (name) => {
    const { call, client } = await wrappedOne(official);
    expect(await call({ name })).toEqual(text("done"));
    expect(await client.taskClient.tasks()).toHaveLength(1);
  });

  test("a tool that the SDK refuses to call, once it is listed, is called all the same", async () => {
    const [ours, theirs] = [await wrappedOne(official), await plain()];
    await (theirs.client as ReturnType<typeof newOne>).listTools();
    expect(await rejection(theirs.call({ name: "must" }))).toMatchObject({ code: -32600 });
    await ours.client.listTools();
    expect(await ours.call({ name: "must" })).toEqual(text("done"));
  });

  test("a tool's own error is a result", async () => {
    const { call } = await wrappedOne(official);
    expect(await call({ name: "fails" })).toEqual({ ...text("it went wrong"), isError: true });
  });

  test("a JSON-RPC error, of the call and of its task, is the SDK's McpError", async () => {
    const server = await startRaw({
      errors: { "tools/call": [{ code: -32055, message: "no", data: { a: 1 } }] },
    });
    const { call } = await wrappedOne(server.url);
    const error = await rejection(call({ name: "never" }));
    expect(error).toBeInstanceOf(McpError);
    expect(error).toMatchObject({ code: -32055, data: { a: 1 } });
    const ended = { status: "failed", error: { code: -32056, message: "broken", data: { b: 2 } } };
    const failed = await rejection(call({ name: "must", arguments: { task: ended } }));
    expect(failed).toBeInstanceOf(McpError);
    expect(failed).toMatchObject({ code: -32056, data: { b: 2 } });
  });

  test("the host's own `task` option stays the SDK's", async () => {
    const { client } = await wrappedOne(official);
    const answer = await client.callTool({ name: "may", task: { ttl: 60_000 } });
    expect(answer).toHaveProperty("task.taskId");
    expect(await client.taskClient.tasks()).toEqual([]);
    const stream = client.experimental.tasks.callToolStream({ name: "may" }, undefined);
    const kinds: string[] = [];
    for await (const { type } of stream) kinds.push(type);
    expect(kinds.at(-1)).toBe("result");
  });

  test("F026: the tools change while they are listed: the next call works", async () => {
    const tools = [{ name: "must", inputSchema: { type: "object" }, execution: { taskSupport: "required" } }];
    const server = await startRaw({ tools: [], toolsAfter: tools });
    const { call } = await wrappedOne(server.url);
    const task = { status: "completed", result: text("done") };
    expect(await call({ name: "must", arguments: { task } })).toEqual(text("done"));
    expect(await call({ name: "must", arguments: { task } })).toEqual(text("done"));
  });

  test("F010: the server sees the words of its own revision, and of the host's declarations no more than before", async () => {
    const server = await startRaw();
    const { call } = await wrappedOne(server.url);
    await call({ name: "must", arguments: { task: { status: "completed", result: text("done") } } });
    const log = JSON.stringify(await server.control("log"));
    expect(log).toContain('"tasks/result"');
    for (const foreign of [
      "tasks/update",
      "io.modelcontextprotocol/tasks",
      "pollIntervalMs",
      "mcp-taskrail/",
    ]) {
      expect(log).not.toContain(foreign);
    }
  });
});

describe("2.x, on a server of 2026-07-28", () => {
  let server: TaskServer;
  beforeAll(async () => {
    const { startTaskServer } = await import("../../src/testing/index.js");
    server = await startTaskServer({ strict: "refuse", pollIntervalMs: 20, tools: TYPED, push: true });
  });
  afterAll(() => server.close());
  const plain = async (): Promise<Host<ReturnType<typeof newTwo>>> => {
    const client = newTwo();
    await client.connect(httpTwo(server.url));
    onTestFinished(() => client.close());
    return hostTwo(client);
  };

  test("an immediate result is what the plain client gets", async () => {
    const [ours, theirs] = [await wrappedTwo(server.url), await plain()];
    const echo = { name: "echo", arguments: { text: "hi", more: [1] } };
    expect(await ours.call(echo)).toEqual(await theirs.call(echo));
  });

  test("a task's result is the answer; the plain client rejects", async () => {
    const [ours, theirs] = [await wrappedTwo(server.url), await plain()];
    const slow = { name: "slow", arguments: { ms: 60, text: "late" } };
    expect(await ours.call(slow)).toMatchObject({ ...text("late"), structuredContent: { ms: 60 } });
    expect(await rejection(theirs.call({ name: "cancellable" }))).toBeInstanceOf(ProtocolError);
    expect(server.violations()).toEqual([]);
  });

  test("a tool's own error is a result; a failed task rejects as the SDK's ProtocolError", async () => {
    const { call } = await wrappedTwo(server.url);
    expect(await call({ name: "fail_result" })).toMatchObject({ isError: true });
    const failed = await rejection(
      call({ name: "fail_rpc", arguments: { code: -32050, message: "full", data: { a: 1 } } }),
    );
    expect(failed).toBeInstanceOf(ProtocolError);
    expect(failed).toMatchObject({ code: -32050, data: { a: 1 } });
    expect((failed as Error).message).toContain("full");
  });

  test("Promise 2: a task that failed with the number of a header mismatch has run: the SDK's own repetition calls nothing", async () => {
    const { call, client } = await wrappedTwo(server.url);
    await client.listTools();
    const before = server.counters().calls["fail_rpc"] ?? 0;
    const failed = await rejection(call({ name: "fail_rpc", arguments: { code: -32020, message: "gone" } }));
    expect(failed).toBeInstanceOf(ProtocolError);
    expect(failed).toMatchObject({ code: -32020 });
    expect(server.counters().calls["fail_rpc"]).toBe(before + 1);
    expect(await client.taskClient.tasks()).toHaveLength(1);
  });

  test("the call's own JSON-RPC error is what the plain client gets", async () => {
    const [ours, theirs] = [await wrappedTwo(server.url), await plain()];
    const [one, two] = [
      await rejection(ours.call({ name: "no_such_tool" })),
      await rejection(theirs.call({ name: "no_such_tool" })),
    ];
    expect(one).toBeInstanceOf(ProtocolError);
    expect({ ...(one as object), message: String(one) }).toEqual({
      ...(two as object),
      message: String(two),
    });
  });

  test("a cancelled task, and one that is lost, reject with our own errors", async () => {
    const { call, client } = await wrappedTwo(server.url);
    const cancelled = rejection(call({ name: "cancellable" }));
    await expect.poll(async () => (await client.taskClient.tasks()).length).toBe(1);
    for (const task of await client.taskClient.tasks()) await task.cancel();
    expect(await cancelled).toBeInstanceOf(TaskCancelledError);
    const lost = await rejection(call({ name: "short_lived", arguments: { ttlMs: 100 } }));
    expect(lost).toBeInstanceOf(TaskLostError);
  });

  test("a call whose fate nobody knows rejects with our own error, and is not sent again", async () => {
    const { call } = await wrappedTwo(server.url);
    const before = server.counters().calls["count"] ?? 0;
    server.addFault({ kind: "reset", processed: true, method: "tools/call", name: "count" });
    expect(await rejection(call({ name: "count" }))).toBeInstanceOf(CallOutcomeUnknownError);
    expect(server.counters().calls["count"]).toBe(before + 1);
  });

  describe("F028: the check against the output schema", () => {
    test.each([
      ["typed", undefined],
      ["typed_error", undefined],
      ["mistyped", -32602],
      ["untyped", -32600],
    ])("%s: as the SDK does it", async (name, code) => {
      const { call, client } = await wrappedTwo(server.url);
      await client.listTools();
      if (code === undefined) {
        expect(await call({ name })).toMatchObject({ content: [{ type: "text" }] });
        return;
      }
      const error = await rejection(call({ name }));
      expect(error).toBeInstanceOf(ProtocolError);
      expect(error).toMatchObject({ code });
    });

    test.each([
      ["mistyped", -32602],
      ["untyped", -32600],
    ])("%s: the same after a restart, where nobody has listed anything", async (name, code) => {
      const store = new Map();
      const call = { name, _meta: { "mcp-taskrail/callId": `call-${name}` } };
      const first = await wrappedTwo(server.url, { store });
      await first.client.listTools();
      const before = await rejection(first.call(call));
      await first.client.close();
      const calls = server.counters().calls[name];
      const second = await wrappedTwo(server.url, { store });
      const after = await rejection(second.call(call));
      expect(after).toBeInstanceOf(ProtocolError);
      expect(after).toMatchObject({ code });
      expect(before).toMatchObject({ code });
      expect(server.counters().calls[name]).toBe(calls);
    });
  });
});

describe.each(["1.x", "2.x"])("progress and limits, %s", (generation) => {
  /** The same moves on either: a task that works for so long, and one that never ends. */
  async function host(): Promise<{
    host: Host<{ taskClient: { tasks(): Promise<{ status: string }[]> } }>;
    never: { name: string; arguments: Record<string, unknown> };
    cancelled: () => Promise<number>;
    /** What the server heard of requests that were given up. */
    givenUp: () => Promise<number>;
    timeoutCode: unknown;
  }> {
    return generation === "1.x" ? hostLegacy() : hostModern();
  }
  let options: Parameters<typeof wrappedTwo>[1] = {};

  async function hostLegacy(): ReturnType<typeof host> {
    const server = await startRaw();
    return {
      host: await wrappedOne(server.url, options),
      never: { name: "must", arguments: {} },
      cancelled: async () => (await server.received("tasks/cancel")).length,
      givenUp: async () => (await server.received("notifications/cancelled")).length,
      timeoutCode: -32001,
    };
  }

  async function hostModern(): ReturnType<typeof host> {
    const server = await startServer();
    return {
      host: await wrappedTwo(server.url, options),
      never: { name: "cancellable", arguments: {} },
      cancelled: async () => server.tasks().filter(({ cancelRequested }) => cancelRequested).length,
      givenUp: async () => server.log().filter(({ method }) => method === "notifications/cancelled").length,
      timeoutCode: "REQUEST_TIMEOUT",
    };
  }

  test("an abort rejects as the SDK does, and leaves the task alone", async () => {
    options = {};
    const { host: ours, never, cancelled, givenUp } = await host();
    const ending = new AbortController();
    const called = rejection(ours.call(never, { signal: ending.signal }));
    await expect
      .poll(async () => (await ours.client.taskClient.tasks())[0]?.status, { timeout: 10_000 })
      .toBe("working");
    ending.abort("enough");
    const error = await called;
    expect(error).toBeInstanceOf(generation === "1.x" ? McpError : SdkError);
    expect(String(error)).toContain("enough");
    expect((await ours.client.taskClient.tasks())[0]?.status).toBe("working");
    expect(await cancelled()).toBe(0);
    // The request of the SDK client that it gave up never went out; a later exchange shows that no word of it did.
    await (ours.client as unknown as { listTools: () => Promise<unknown> }).listTools();
    expect(await givenUp()).toBe(0);
  });

  test("with onAbort cancel, the task is cancelled", async () => {
    options = { onAbort: "cancel" };
    const { host: ours, never, cancelled } = await host();
    const ending = new AbortController();
    const called = rejection(ours.call(never, { signal: ending.signal }));
    await expect
      .poll(async () => (await ours.client.taskClient.tasks())[0]?.status, { timeout: 10_000 })
      .toBe("working");
    ending.abort("enough");
    await called;
    await expect.poll(cancelled, { timeout: 10_000 }).toBe(1);
  });

  test("a signal that is aborted already sends nothing", async () => {
    options = {};
    const { host: ours, never } = await host();
    const error = await rejection(ours.call(never, { signal: AbortSignal.abort("before") }));
    expect(String(error)).toContain("before");
    expect(await ours.client.taskClient.tasks()).toEqual([]);
  });

  test("`timeout` is not for the task: one that lives longer is waited for", async () => {
    const answer =
      generation === "1.x"
        ? (await wrappedOne(official)).call({ name: "later" }, { timeout: 1200 })
        : (await wrappedTwo((await startServer()).url)).call(
            { name: "slow", arguments: { ms: 1500, text: "late" } },
            { timeout: 1200 },
          );
    expect(await answer).toMatchObject(text("late"));
  });

  test("`maxTotalTimeout` ends the wait for everything, and leaves the task alone", async () => {
    options = { onAbort: "cancel" };
    const { host: ours, never, cancelled, timeoutCode } = await host();
    const error = await rejection(ours.call(never, { maxTotalTimeout: 1000 }));
    expect(error).toMatchObject({ code: timeoutCode });
    expect(String(error)).toContain("Maximum total timeout exceeded");
    expect((await ours.client.taskClient.tasks())[0]?.status).toBe("working");
    expect(await cancelled()).toBe(0);
  });
});

describe("before the handle, 2.x", () => {
  test("`timeout` rejects as the SDK does; a late handle is taken", async () => {
    const server = await startServer({
      faults: [{ kind: "delay", ms: 1500, processed: true, method: "tools/call" }],
    });
    const { call, client } = await wrappedTwo(server.url);
    const error = await rejection(call({ name: "slow", arguments: { ms: 10 } }, { timeout: 700 }));
    expect(error).toBeInstanceOf(SdkError);
    expect(error).toMatchObject({ code: "REQUEST_TIMEOUT" });
    expect(String(error)).toContain("Request timed out");
    await expect
      .poll(async () => (await client.taskClient.tasks())[0]?.status, { timeout: 10_000 })
      .toBe("completed");
  });

  test("with onAbort cancel, a handle that comes after the abort is cancelled", async () => {
    const server = await startServer({
      faults: [{ kind: "delay", ms: 200, processed: true, method: "tools/call" }],
    });
    const { call, client } = await wrappedTwo(server.url, { onAbort: "cancel" });
    const ending = new AbortController();
    const called = rejection(call({ name: "cancellable" }, { signal: ending.signal }));
    await expect.poll(() => server.tasks().length, { timeout: 10_000 }).toBe(1);
    ending.abort("enough");
    await called;
    await expect
      .poll(async () => (await client.taskClient.tasks())[0]?.status, { timeout: 10_000 })
      .toBe("cancelled");
  });

  test("F023: progress keeps a call alive for longer than its timeout, and reaches onprogress", async () => {
    const server = await startServer();
    const { call } = await wrappedTwo(server.url);
    const told: { progress: number; message?: string }[] = [];
    const answer = await call(
      { name: "inline", arguments: { steps: 4, stepMs: 350 } },
      { timeout: 1000, onprogress: (progress) => told.push(progress) },
    );
    expect(answer).toMatchObject(text("4 steps"));
    expect(told.map(({ progress }) => progress)).toEqual([1, 2, 3, 4]);
    expect(told[0]).toEqual({ progress: 1, total: 4, message: "step 1 of 4" });
  });

  test("after the handle, status messages are progress that grows", async () => {
    const server = await startServer();
    const { call } = await wrappedTwo(server.url);
    const told: { progress: number; message?: string }[] = [];
    await call(
      { name: "report", arguments: { steps: 3, stepMs: 150 } },
      { onprogress: (progress) => told.push(progress) },
    );
    const messages = told.map(({ message }) => message);
    // A poll that comes late may miss one.
    const possible = ["step 1 of 3", "step 2 of 3", "step 3 of 3"].filter((each) => messages.includes(each));
    expect(messages).toEqual(possible);
    expect(messages.length).toBeGreaterThan(0);
    expect(told.map(({ progress }) => progress)).toEqual(messages.map((_message, n) => n + 1));
  });

  test("an onprogress that throws costs nothing", async () => {
    const server = await startServer();
    const { call } = await wrappedTwo(server.url);
    const onprogress = (): void => {
      throw new Error("host");
    };
    expect(await call({ name: "inline", arguments: { steps: 2 } }, { onprogress })).toMatchObject(
      text("2 steps"),
    );
    expect(await call({ name: "slow", arguments: { ms: 50 } }, { onprogress })).toMatchObject(
      text("slow is done"),
    );
  });
});
