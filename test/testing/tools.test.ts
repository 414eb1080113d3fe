import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isObject, type JsonObject } from "../../src/internal/json.js";
import { spawnTaskServer, type SpawnedTaskServer } from "../../src/testing/index.js";
import { ask, everything, pollUntil, send, startTask, terminal, words } from "./wire.js";

let server: SpawnedTaskServer;
beforeAll(async () => {
  server = await spawnTaskServer({ pollIntervalMs: 15, strict: "refuse", ttlMs: 50_000 });
});
afterAll(() => server.stop());

const accept = (content: JsonObject): JsonObject => ({ action: "accept", content });
const update = (taskId: string, inputResponses: JsonObject): Promise<JsonObject> =>
  ask(server.url, "tasks/update", { taskId, inputResponses });
const end = (taskId: string): Promise<JsonObject> => pollUntil(server.url, taskId, ...terminal);
const textOf = (task: JsonObject): unknown => {
  const result = task["result"];
  const content = isObject(result) ? (result["content"] as unknown[]) : [];
  return isObject(content[0]) ? content[0]["text"] : undefined;
};

describe("discovery and listing", () => {
  test("discover declares the tasks extension and nothing of the earlier generation", async () => {
    const found = await ask(server.url, "server/discover");
    expect(found).toMatchObject({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      cacheScope: "public",
    });
    expect(found["capabilities"]).toEqual({ tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } });
  });

  test("tools are listed in pages with a time to live, and an unknown cursor is refused", async () => {
    const first = await ask(server.url, "tools/list");
    expect((first["tools"] as unknown[]).length).toBe(20);
    expect(first["ttlMs"]).toBe(60_000);
    const second = await ask(server.url, "tools/list", { cursor: first["nextCursor"] ?? "" });
    expect(second["nextCursor"]).toBeUndefined();
    const names = [first, second].flatMap((page) =>
      (page["tools"] as { name: string }[]).map(({ name }) => name),
    );
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain("deploy");
    expect((await send(server.url, "tools/list", { cursor: "page:x" })).body.error?.code).toBe(-32602);
  });
});

describe("tools without a task", () => {
  test("echo answers at once", async () => {
    const result = await ask(server.url, "tools/call", { name: "echo", arguments: { text: "hi" } });
    expect(result).toMatchObject({ resultType: "complete", content: [{ type: "text", text: "hi" }] });
  });

  test("inline sends progress on the answer's stream, and none without a token", async () => {
    const call = { name: "inline", arguments: { steps: 3, stepMs: 1 } };
    const silent = await send(server.url, "tools/call", call);
    expect(silent.headers.get("content-type")).toBe("application/json");
    const told = await send(server.url, "tools/call", call, { meta: { progressToken: "p" } });
    expect(told.events).toHaveLength(4);
    expect(told.events[1]).toMatchObject({
      method: "notifications/progress",
      params: { progressToken: "p", progress: 2, total: 3, message: "step 2 of 3" },
    });
    expect(told.body.result?.["resultType"]).toBe("complete");
  });

  test("count shows whether a call ran twice", async () => {
    const count = async (): Promise<JsonObject> =>
      ask(server.url, "tools/call", { name: "count", arguments: {} });
    expect(await count()).toMatchObject({ structuredContent: { count: 1 } });
    expect(await count()).toMatchObject({ structuredContent: { count: 2 } });
  });

  test("an optional task tool works while a caller without the extension waits; a required one refuses", async () => {
    const wire = { capabilities: {} };
    const waited = await ask(server.url, "tools/call", { name: "slow", arguments: { ms: 5 } }, wire);
    expect(waited).toMatchObject({ resultType: "complete", content: [{ text: "slow is done" }] });
    const refused = await send(server.url, "tools/call", { name: "never", arguments: {} }, wire);
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } },
    });
  });

  test("unknown tools, methods and versions get the errors of the wire page", async () => {
    expect((await send(server.url, "tools/call", { name: "nope" })).body.error?.code).toBe(-32602);
    expect(await send(server.url, "tasks/list")).toMatchObject({
      status: 404,
      body: { error: { code: -32601 } },
    });
    const old = await send(
      server.url,
      "server/discover",
      {},
      {
        meta: { "io.modelcontextprotocol/protocolVersion": "1900-01-01" },
        headers: { "mcp-protocol-version": "1900-01-01" },
      },
    );
    expect(old).toMatchObject({
      status: 400,
      body: { error: { code: -32022, data: { supported: ["2026-07-28"], requested: "1900-01-01" } } },
    });
  });
});

describe("how tasks go", () => {
  test("the handle is flat, with times, hint and time to live, and nothing of the result", async () => {
    const handle = await startTask(server.url, "slow", { ms: 20_000 });
    expect(handle).toMatchObject({
      resultType: "task",
      status: "working",
      statusMessage: "Working",
      ttlMs: 50_000,
      pollIntervalMs: 15,
    });
    const createdAt = words(handle, "createdAt");
    expect(new Date(createdAt).toISOString()).toBe(createdAt);
    expect(handle.taskId.length).toBeGreaterThanOrEqual(32);
  });

  test("report changes its message with every step, and lastUpdatedAt with it", async () => {
    const { taskId } = await startTask(server.url, "report", { steps: 3, stepMs: 40 });
    const messages = new Set<unknown>();
    const times = new Set<unknown>();
    for (;;) {
      const task = await pollUntil(server.url, taskId, "working", "completed");
      messages.add(task["statusMessage"]);
      times.add(task["lastUpdatedAt"]);
      if (task["status"] === "completed") break;
    }
    expect([...messages].at(-1)).toBe("step 3 of 3");
    expect(times.size).toBeGreaterThan(messages.size - 1);
  });

  test("crawl answers what it read", async () => {
    const { taskId } = await startTask(server.url, "crawl", { pages: 2, stepMs: 1 });
    expect((await end(taskId))["result"]).toMatchObject({
      structuredContent: { pages: ["/page/1", "/page/2"] },
    });
  });

  test("a failed task has the JSON-RPC error, a tool error is a completed one", async () => {
    const rpc = await startTask(server.url, "fail_rpc", { code: -32050, message: "no", data: { a: 1 } });
    const failed = await end(rpc.taskId);
    expect(failed).toMatchObject({
      status: "failed",
      error: { code: -32050, message: "no", data: { a: 1 } },
    });
    expect(failed).not.toHaveProperty("result");
    const tool = await startTask(server.url, "fail_result", { text: "red" });
    expect(await end(tool.taskId)).toMatchObject({ status: "completed", result: { isError: true } });
  });

  test("cancel ends a cancellable task, after its lag, and is idempotent", async () => {
    const { taskId } = await startTask(server.url, "cancellable", { lagMs: 1500 });
    const ack = await ask(server.url, "tasks/cancel", { taskId });
    expect(Object.keys(ack).sort()).toEqual(["_meta", "resultType"]);
    await ask(server.url, "tasks/cancel", { taskId });
    expect((await ask(server.url, "tasks/get", { taskId }))["status"]).toBe("working");
    expect((await end(taskId))["status"]).toBe("cancelled");
  });

  test("a stubborn task completes all the same", async () => {
    const { taskId } = await startTask(server.url, "stubborn", { ms: 40 });
    await ask(server.url, "tasks/cancel", { taskId });
    expect(textOf(await end(taskId))).toBe("completed all the same");
  });

  test("a cancel after the end changes nothing", async () => {
    const { taskId } = await startTask(server.url, "slow", { ms: 0 });
    await ask(server.url, "tasks/cancel", { taskId });
    expect((await end(taskId))["status"]).toBe("completed");
  });

  test("a short-lived task is unknown after its time to live", async () => {
    const { taskId } = await startTask(server.url, "short_lived", { ttlMs: 60 });
    await new Promise((resolve) => setTimeout(resolve, 70));
    const gone = await send(server.url, "tasks/get", { taskId });
    expect([gone.status, gone.body.error?.code]).toEqual([200, -32602]);
    expect((await send(server.url, "tasks/cancel", { taskId })).body.error?.code).toBe(-32602);
    expect((await server.tasks()).find((task) => task.taskId === taskId)?.gone).toBe(true);
  });

  test("hints change with every answer", async () => {
    const { taskId, ...handle } = await startTask(server.url, "hints", {
      intervals: [5, 30, 6],
      ttls: [1000, null, 2000],
      ms: 5000,
    });
    const shown = [handle];
    for (let i = 0; i < 3; i += 1) {
      shown.push(await ask(server.url, "tasks/get", { taskId }));
    }
    expect(shown.map((one) => one["pollIntervalMs"])).toEqual([5, 30, 6, 6]);
    expect(shown.map((one) => one["ttlMs"])).toEqual([1000, null, 2000, 2000]);
  });

  test("flaky fails its first polls", async () => {
    const { taskId } = await startTask(server.url, "flaky", { failures: 2, status: 502 });
    const statuses: number[] = [];
    for (let i = 0; i < 3; i += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      statuses.push((await send(server.url, "tasks/get", { taskId })).status);
    }
    expect(statuses).toEqual([502, 502, 200]);
  });
});

describe("questions", () => {
  test("deploy waits for the approval and tells what was answered", async () => {
    const { taskId, status } = await startTask(server.url, "deploy", { env: "staging" });
    expect(status).toBe("input_required");
    const open = await ask(server.url, "tasks/get", { taskId });
    expect(open["inputRequests"]).toMatchObject({
      approval: { method: "elicitation/create", params: { mode: "form", message: "Deploy to staging?" } },
    });
    const ack = await update(taskId, { approval: accept({ approve: true, note: "go" }) });
    expect(Object.keys(ack).sort()).toEqual(["_meta", "resultType"]);
    expect((await end(taskId))["result"]).toMatchObject({
      content: [{ text: "deployed to staging" }],
      structuredContent: { deployed: true, answers: { approval: accept({ approve: true, note: "go" }) } },
    });
  });

  test("a decline is an answer too", async () => {
    const { taskId } = await startTask(server.url, "deploy");
    await update(taskId, { approval: { action: "decline" } });
    expect(textOf(await end(taskId))).toBe("not deployed to prod");
  });

  test("the first value of a key stands; repeats and conflicts are counted and logged", async () => {
    const { taskId } = await startTask(server.url, "two_questions");
    await update(taskId, { name: accept({ name: "ada" }) });
    await update(taskId, { name: accept({ name: "ada" }), other: accept({}) });
    await update(taskId, { name: accept({ name: "bob" }), size: accept({ size: "large" }) });
    const task = (await server.tasks()).find((one) => one.taskId === taskId);
    expect(task?.answers).toMatchObject([
      { key: "name", value: accept({ name: "ada" }), deliveries: 3, conflicts: [accept({ name: "bob" })] },
      { key: "size", deliveries: 1, conflicts: [] },
    ]);
    const updates = server.log().filter((one) => one.method === "tasks/update" && one.taskId === taskId);
    expect(
      updates.map(({ applied, repeated, conflicting, ignored }) => [applied, repeated, conflicting, ignored]),
    ).toEqual([
      [["name"], [], [], []],
      [[], ["name"], [], ["other"]],
      [["size"], [], ["name"], []],
    ]);
    expect((await end(taskId))["result"]).toMatchObject({
      structuredContent: { answers: { name: accept({ name: "ada" }), size: accept({ size: "large" }) } },
    });
  });

  test("sequential questions come one after the other", async () => {
    const { taskId } = await startTask(server.url, "two_questions", { sequential: true });
    const keys = async (): Promise<string[]> =>
      Object.keys((await ask(server.url, "tasks/get", { taskId }))["inputRequests"] ?? {});
    expect(await keys()).toEqual(["name"]);
    await update(taskId, { name: accept({ name: "ada" }) });
    expect(await keys()).toEqual(["size"]);
  });

  test("F128: one malformed answer refuses the whole update", async () => {
    const { taskId } = await startTask(server.url, "two_questions");
    const good = accept({ name: "ada" });
    for (const bad of [
      "large",
      accept({ size: 3 }),
      accept({}),
      { action: "bogus" },
      { action: "decline", content: {} },
    ]) {
      const refused = await send(server.url, "tasks/update", {
        taskId,
        inputResponses: { name: good, size: bad },
      });
      expect(refused.body.error?.code).toBe(-32602);
    }
    expect((await server.tasks()).find((one) => one.taskId === taskId)?.openKeys).toEqual(["name", "size"]);
  });

  test.each([
    [
      "ask_sampling",
      { role: "assistant", content: { type: "text", text: "ok" }, model: "m" },
      { text: "no role" },
    ],
    ["ask_roots", { roots: [{ uri: "file:///a" }] }, { roots: [{}] }],
    ["ask_url", { action: "accept" }, { action: "accept", content: {} }],
  ])("%s takes the answer of its kind, and no other", async (name, good, bad) => {
    const { taskId } = await startTask(server.url, name);
    const refused = await send(server.url, "tasks/update", { taskId, inputResponses: { answer: bad } });
    expect(refused.body.error?.code).toBe(-32602);
    await update(taskId, { answer: good });
    expect((await end(taskId))["result"]).toMatchObject({ structuredContent: { answers: { answer: good } } });
  });

  test.each([
    ["deploy", "elicitation", { elicitation: { form: {} } }],
    ["ask_sampling", "sampling", { sampling: {} }],
    ["ask_roots", "roots", { roots: {} }],
    ["ask_url", "elicitation", { elicitation: { url: {} } }],
  ])("%s refuses a caller that did not declare %s", async (name, capability, required) => {
    const { [capability]: _left, ...capabilities } = everything;
    const refused = await send(server.url, "tools/call", { name, arguments: {} }, { capabilities });
    expect([refused.status, refused.body.error]).toMatchObject([
      400,
      { code: -32021, data: { requiredCapabilities: required } },
    ]);
  });
});

describe("the multi round trip before a task", () => {
  const call = (params: JsonObject, wire = {}): ReturnType<typeof send> =>
    send(server.url, "tools/call", { name: "round_trip", ...params }, wire);

  test("goes through its rounds with the exact state, and ends in a task", async () => {
    const args = { rounds: 2 };
    const first = (await call({ arguments: args })).body.result ?? {};
    expect(first).toMatchObject({ resultType: "input_required", inputRequests: { round_1: {} } });
    const second = (
      await call({
        arguments: args,
        requestState: first["requestState"] ?? "",
        inputResponses: { round_1: accept({ name: "ada" }) },
      })
    ).body.result;
    expect(second).toMatchObject({ resultType: "input_required", inputRequests: { round_2: {} } });
    const third = (
      await call({
        arguments: args,
        requestState: second?.["requestState"] ?? "",
        inputResponses: { round_2: accept({ name: "bob" }) },
      })
    ).body.result;
    expect(third?.["resultType"]).toBe("task");
    expect(third).not.toHaveProperty("requestState");
    expect((await end(words(third, "taskId")))["result"]).toMatchObject({
      structuredContent: {
        answers: [{ round_1: accept({ name: "ada" }) }, { round_2: accept({ name: "bob" }) }],
      },
    });
  });

  test("a state that was changed, or is of another call, or lacks its answer, is refused", async () => {
    const first = (await call({ arguments: {} })).body.result ?? {};
    const requestState = words(first, "requestState");
    const inputResponses = { round_1: accept({ name: "ada" }) };
    const refusals = [
      await call({ arguments: {}, requestState: `${requestState}x`, inputResponses }),
      await call({ arguments: { ms: 1 }, requestState, inputResponses }),
      await call({ arguments: {}, requestState, inputResponses: {} }),
      await call({ arguments: {}, requestState, inputResponses: { round_1: 1 } }),
    ];
    expect(refusals.map(({ body }) => body.error?.code)).toEqual([-32602, -32602, -32602, -32602]);
    expect((await call({ arguments: {}, requestState, inputResponses })).body.result?.["resultType"]).toBe(
      "task",
    );
  });

  test("a state without questions, and questions without a state", async () => {
    const stateOnly = (await call({ arguments: { stateOnly: true } })).body.result ?? {};
    expect(stateOnly).not.toHaveProperty("inputRequests");
    const again = await call({
      arguments: { stateOnly: true },
      requestState: stateOnly["requestState"] ?? "",
    });
    expect(again.body.result?.["resultType"]).toBe("task");
    const stateless = (await call({ arguments: { stateless: true } })).body.result ?? {};
    expect(stateless).not.toHaveProperty("requestState");
    const answered = await call({
      arguments: { stateless: true },
      inputResponses: { round_1: accept({ name: "a" }) },
    });
    expect(answered.body.result?.["resultType"]).toBe("task");
  });

  test("questions of undeclared kinds are not put", async () => {
    const refused = await call({ arguments: {} }, { capabilities: { extensions: everything["extensions"] } });
    expect(refused.body.error?.code).toBe(-32021);
  });
});

test("no correct request above was counted as a violation", () => {
  // The answers and states that were wrong on purpose.
  const expected = new Set(["input-response", "request-state"]);
  expect(server.violations().filter(({ rule }) => !expected.has(rule))).toEqual([]);
});
