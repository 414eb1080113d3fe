import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { fakeClock, startTaskServer, type TaskServer, type TestTool } from "../../src/testing/index.js";
import { ask, pollUntil, send, startTask, terminal } from "./wire.js";

const folders: string[] = [];
function file(): string {
  const folder = mkdtempSync(join(tmpdir(), "task-server-test-"));
  folders.push(folder);
  return join(folder, "state.json");
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const name = {
  method: "elicitation/create",
  params: { message: "Name?", requestedSchema: { type: "object" } },
};
const answer = { action: "accept", content: { name: "ada" } };

test("a server says who it is told to be", async () => {
  const serverInfo = { name: "shop", title: "The Shop", version: "3" };
  await using server = await startTaskServer({ serverInfo });
  const { body } = await send(server.url, "server/discover");
  expect(body.result?.["_meta"]).toEqual({ "io.modelcontextprotocol/serverInfo": serverInfo });
});

describe("tools of one's own", () => {
  test("an async function runs in a task: progress, question, result", async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const greet: TestTool = {
      name: "greet_slowly",
      async run({ task, ask: put }) {
        task.progress("asking");
        const given = await put("name", name);
        task.progress("writing");
        await released;
        return { content: [], structuredContent: { given } };
      },
    };
    await using server = await startTaskServer({ tools: [greet], pollIntervalMs: 1 });
    const { taskId } = await startTask(server.url, "greet_slowly");
    expect(await pollUntil(server.url, taskId, "input_required")).toMatchObject({
      statusMessage: "asking",
      inputRequests: { name },
    });
    await ask(server.url, "tasks/update", { taskId, inputResponses: { name: answer } });
    expect(await pollUntil(server.url, taskId, "working")).toMatchObject({ statusMessage: "writing" });
    release();
    expect((await pollUntil(server.url, taskId, ...terminal))["result"]).toMatchObject({
      structuredContent: { given: answer },
    });
  });

  test("fail ends it as failed, an exception as a tool error", async () => {
    const tools: TestTool[] = [
      { name: "refuse", run: async ({ fail }) => fail({ code: -32001, message: "no", data: [1] }) },
      { name: "throw", run: () => Promise.reject(new Error("broken")) },
    ];
    await using server = await startTaskServer({ tools, pollIntervalMs: 1 });
    const refused = await startTask(server.url, "refuse");
    expect(await pollUntil(server.url, refused.taskId, ...terminal)).toMatchObject({
      status: "failed",
      error: { code: -32001, message: "no", data: [1] },
    });
    const thrown = await startTask(server.url, "throw");
    expect(await pollUntil(server.url, thrown.taskId, ...terminal)).toMatchObject({
      status: "completed",
      result: { isError: true, content: [{ text: "broken" }] },
    });
  });

  test("a cancel aborts its signal: rejecting is cancelled, resolving is completed", async () => {
    const tools: TestTool[] = [
      { name: "obey", run: async ({ sleep }) => (await sleep(60_000), { content: [] }) },
      {
        name: "finish",
        run: async ({ sleep }) => (await sleep(60_000).catch(() => undefined), { content: [] }),
      },
    ];
    await using server = await startTaskServer({ tools, pollIntervalMs: 1 });
    for (const [tool, status] of [
      ["obey", "cancelled"],
      ["finish", "completed"],
    ] as const) {
      const { taskId } = await startTask(server.url, tool);
      await ask(server.url, "tasks/cancel", { taskId });
      expect((await pollUntil(server.url, taskId, ...terminal))["status"]).toBe(status);
    }
  });

  test("after a crash the function runs again, and answered questions resolve at once", async () => {
    const stateFile = file();
    let runs = 0;
    const twice: TestTool = {
      name: "twice",
      async run({ ask: put }) {
        runs += 1;
        const first = await put("first", name);
        const second = await put("second", name);
        return { content: [], structuredContent: { first, second } };
      },
    };
    const before = await startTaskServer({ tools: [twice], stateFile, pollIntervalMs: 1 });
    const { taskId } = await startTask(before.url, "twice");
    await ask(before.url, "tasks/update", { taskId, inputResponses: { first: answer } });
    await before.crash();

    await using after = await startTaskServer({ tools: [twice], stateFile, pollIntervalMs: 1 });
    const open = await pollUntil(after.url, taskId, "input_required");
    expect([runs, Object.keys(open["inputRequests"] ?? {})]).toEqual([2, ["second"]]);
    await ask(after.url, "tasks/update", { taskId, inputResponses: { second: { action: "decline" } } });
    expect((await pollUntil(after.url, taskId, ...terminal))["result"]).toMatchObject({
      structuredContent: { first: answer, second: { action: "decline" } },
    });
  });

  test("a call tool decides by itself, and a tool replaces the built-in one of its name", async () => {
    const tools: TestTool[] = [
      {
        name: "echo",
        call: ({ earlierCalls }) => ({ kind: "result", result: { content: [], earlierCalls } }),
      },
      { name: "no", call: () => ({ kind: "error", error: { code: -32099, message: "never" } }) },
      { name: "bug", call: () => Promise.reject(new Error("a bug")) },
    ];
    await using server = await startTaskServer({ tools });
    expect(await ask(server.url, "tools/call", { name: "echo" })).toMatchObject({ earlierCalls: 0 });
    expect((await send(server.url, "tools/call", { name: "no" })).body.error?.code).toBe(-32099);
    expect((await send(server.url, "tools/call", { name: "bug" })).body.error?.code).toBe(-32603);
  });
});

describe("state", () => {
  test("a handle that went out is in the file, and so is every applied answer", async () => {
    const stateFile = file();
    const ids: string[] = [];
    for (let i = 0; i < 10; i += 1) {
      const server = await startTaskServer({ stateFile });
      const { taskId } = await startTask(server.url, "deploy");
      await ask(server.url, "tasks/update", { taskId, inputResponses: { approval: { action: "cancel" } } });
      ids.push(taskId);
      await server.crash();
    }
    await using server = await startTaskServer({ stateFile });
    expect(server.tasks().map(({ taskId }) => taskId)).toEqual(ids);
    expect(server.counters()).toMatchObject({ calls: { deploy: 10 }, tasksCreated: 10, answersApplied: 10 });
  });

  test("concurrent requests share writes, and all of them are kept", async () => {
    const stateFile = file();
    const server = await startTaskServer({ stateFile });
    const handles = await Promise.all(Array.from({ length: 40 }, () => startTask(server.url, "never")));
    await server.crash();
    await using again = await startTaskServer({ stateFile });
    expect(new Set(again.tasks().map(({ taskId }) => taskId))).toEqual(
      new Set(handles.map(({ taskId }) => taskId)),
    );
  });

  test("request states and polls go on after a restart", async () => {
    const stateFile = file();
    const before = await startTaskServer({ stateFile });
    const first = await ask(before.url, "tools/call", { name: "round_trip", arguments: {} });
    await before.close();
    await using after = await startTaskServer({ stateFile });
    const again = await ask(after.url, "tools/call", {
      name: "round_trip",
      arguments: {},
      requestState: first["requestState"],
      inputResponses: { round_1: { action: "accept", content: { name: "ada" } } },
    });
    expect(again["resultType"]).toBe("task");
  });

  test("an unreadable state file is an error, not a fresh start", async () => {
    const stateFile = file();
    writeFileSync(stateFile, '{"v":1,');
    await expect(startTaskServer({ stateFile })).rejects.toThrow(SyntaxError);
  });

  test("on a fake clock a task goes on when told", async () => {
    const clock = fakeClock();
    await using server = await startTaskServer({ clock, ttlMs: 100_000 });
    const { taskId } = await startTask(server.url, "slow", { ms: 60_000 });
    const status = async (): Promise<unknown> =>
      (await send(server.url, "tasks/get", { taskId })).body.result?.["status"];
    await clock.advance(59_999);
    expect(await status()).toBe("working");
    await clock.advance(1);
    expect(await status()).toBe("completed");
    await clock.advance(40_000);
    expect((await send(server.url, "tasks/get", { taskId })).body.error?.code).toBe(-32602);
  });
});

describe("principals", () => {
  const as = (token: string): { headers: Record<string, string> } => ({
    headers: { authorization: `Bearer ${token}` },
  });

  test("F175: a task exists for its own token only, also after a restart", async () => {
    const stateFile = file();
    const tokens = ["one", "two"];
    const start = (): Promise<TaskServer> => startTaskServer({ stateFile, tokens });
    const before = await start();
    const { taskId } = (await send(before.url, "tools/call", { name: "never" }, as("one"))).body.result ?? {};
    await before.crash();
    await using server = await start();
    const get = (token: string): ReturnType<typeof send> =>
      send(server.url, "tasks/get", { taskId: taskId ?? "" }, as(token));
    expect((await get("one")).body.result?.["taskId"]).toBe(taskId);
    expect((await get("two")).body.error?.code).toBe(-32602);
    expect((await get("three")).status).toBe(401);
    expect((await send(server.url, "server/discover")).status).toBe(401);
  });
});

describe("the end of a server", () => {
  test("close waits for running answers and refuses new ones; crash breaks them", async () => {
    const closing = await startTaskServer();
    const running = ask(closing.url, "tools/call", { name: "inline", arguments: { steps: 1, stepMs: 50 } });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await closing.close();
    expect((await running)["resultType"]).toBe("complete");
    await expect(send(closing.url, "server/discover")).rejects.toThrow();
    await closing.close();

    const crashing = await startTaskServer();
    crashing.addFault({ kind: "hang" });
    const hanging = send(crashing.url, "server/discover");
    hanging.catch(() => undefined);
    await expect.poll(() => crashing.log().length).toBe(1);
    await crashing.crash();
    await expect(hanging).rejects.toThrow();
  });

  test("a client that closes the request stops what runs in it", async () => {
    const seen: unknown[] = [];
    const wait: TestTool = {
      name: "wait",
      call: ({ signal, sleep }) => {
        signal.addEventListener("abort", () => seen.push("aborted"));
        return sleep(60_000).then(() => ({ kind: "result", result: { content: [] } }));
      },
    };
    await using server = await startTaskServer({ tools: [wait] });
    const controller = new AbortController();
    const call = send(server.url, "tools/call", { name: "wait" }, { signal: controller.signal });
    call.catch(() => undefined);
    await expect.poll(() => server.counters().calls["wait"]).toBe(1);
    controller.abort();
    await expect.poll(() => seen).toEqual(["aborted"]);
  });
});
