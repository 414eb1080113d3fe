/** Field cases of restarts: what a next process finds, and what it does with it. */
import { describe, expect, test } from "vitest";
import { ConnectionError, RpcError, type Settled } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { memoryStore } from "../../src/store/memory.js";
import { scriptedConnection, type ScriptedRequest } from "../../src/testing/index.js";
import {
  ack,
  asks,
  done,
  form,
  handle,
  makeClient,
  rig,
  startTask,
  state,
  testStore,
  text,
  virtualClock,
  yes,
} from "./support.js";

const tool = { name: "deploy", arguments: { env: "prod" } };

test("F113: whenever a process ends after the handle came, the next one finds it", async () => {
  for (const atMs of [0, 1, 999, 1000, 1001, 5000]) {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const first = await rig(
      { "tools/call": handle(), "tasks/get": "hang" },
      { clock, store, instance: "host" },
    );
    const { id } = await startTask(first);
    await clock.advance(atMs);
    const second = await rig({ "tasks/get": done() }, { clock, store, instance: "host" });
    expect(await second.within((await second.client.task(id))!.result())).toEqual(text("done"));
  }
});

describe("F115: a task of an earlier process that is not wanted any more", () => {
  test("is cancelled at the server with one request, and goes on to its true end", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const options = { clock, store, instance: "host" };
    const { id } = await startTask(await rig({ "tools/call": handle(), "tasks/get": "hang" }, options));
    const script = { "tasks/get": [state(), done("it had an effect")], "tasks/cancel": ack };
    const second = await rig(script, options);
    const task = (await second.client.task(id))!;
    await second.within(task.cancel());
    expect(await second.within(task.settled())).toMatchObject({ status: "completed", cancelRequested: true });
    expect(second.connection.requestsOf("tasks/cancel")).toHaveLength(1);
  });

  test("stays on record as to be cancelled while the server is out of reach, also for the next process", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const options = { clock, store, instance: "host" };
    const refused = new ConnectionError("refused", { mayHaveRun: false });
    const { id } = await startTask(await rig({ "tools/call": handle(), "tasks/get": "hang" }, options));
    const second = await rig({ "tasks/get": refused, "tasks/cancel": refused }, options);
    const task = (await second.client.task(id))!;
    const told: string[] = [];
    task.cancel().then(
      () => told.push("confirmed"),
      () => told.push("not confirmed"),
    );
    await clock.advance(60_000);
    // Not told as done, not lost, and tried on.
    expect([told, task.status, task.cancelRequested]).toEqual([[], "working", true]);
    const closed = second.client.close({ timeoutMs: 10 });
    await clock.advance(20);
    await closed;
    expect(told).toEqual(["not confirmed"]);
    const script = { "tasks/get": [state(), state({ status: "cancelled" })], "tasks/cancel": ack };
    const third = await rig(script, options);
    const again = (await third.client.task(id))!;
    expect(again.cancelRequested).toBe(true);
    expect(await third.within(again.settled())).toMatchObject({ status: "cancelled" });
    expect(third.connection.requestsOf("tasks/cancel")).toHaveLength(1);
  });
});

test("F116: refused credentials while polling repeat the poll alone", async () => {
  const refused = new ConnectionError("HTTP 401", { mayHaveRun: false, status: 401 });
  const run = await rig({ "tools/call": handle(), "tasks/get": [state(), state(), refused, done()] });
  expect(await run.within((await startTask(run)).result())).toEqual(text("done"));
  expect(run.connection.requestsOf("tools/call")).toHaveLength(1);
  expect(run.connection.requestsOf("tasks/get")).toHaveLength(4);
});

describe("F118: a record holds what a next process needs", () => {
  test("the same outcome from store and connection alone; connect() answers what is not over", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const first = await rig(
      { "tools/call": handle({ statusMessage: "half" }) },
      { clock, store, instance: "host" },
    );
    const { id } = await startTask(first, { context: { chat: 7 } });
    const copy = memoryStore(clock);
    for await (const [key, value] of store.entries("")) await copy.set(key, value as string, undefined);
    const second = await rig({ "tasks/get": done() }, { clock, instance: "host", store: copy });
    const [task] = await second.client.tasks({ context: { chat: 7 } });
    expect(task).toMatchObject({
      id,
      server: "srv",
      tool: "deploy",
      statusMessage: "half",
      context: { chat: 7 },
    });
    expect(await second.within(task!.result())).toEqual(text("done"));
  });

  test("a record of a later version is reported and left; the others go on", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    const first = await rig(
      { "tools/call": (_: unknown, n: number) => handle({ taskId: `task-${n}` }) },
      { clock, store, instance: "host" },
    );
    await startTask(first, { callId: "newer" });
    await startTask(first, { callId: "readable" });
    const line = (await store.dump()).split("\n").find((one) => one.includes('"newer"'))!;
    const [key, value] = [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)];
    await store.set(key, value.replace('"v":1', '"v":99'), undefined);
    const before = await store.get(key);
    const second = await rig(
      { "tasks/get": done("ok", { taskId: "task-1" }) },
      { clock, store, instance: "host" },
    );
    expect(await second.within((await second.client.task("readable"))!.result())).toEqual(text("ok"));
    expect(second.told.of("error").map(({ error }) => error.code)).toEqual(["STORE"]);
    expect(await store.get(key)).toBe(before);
    await expect(
      second.within(second.client.callTool("srv", tool, { callId: "newer" })),
    ).rejects.toMatchObject({
      code: "STORE",
    });
  });
});

// The design wins over the case: the outcome stays until it was delivered and for retentionMs after.
test("F119: no arguments and no answers are left in the store after the end, and nothing at all after retentionMs", async () => {
  const clock = virtualClock();
  const store = testStore(clock);
  const question = form("Which?", { which: { type: "string" } });
  const script = {
    "tools/call": handle(),
    "tasks/get": [asks({ k: question }), done("outcome")],
    "tasks/update": ack,
  };
  const onInputRequest = (): JsonObject => ({ action: "accept", content: { which: "answer-secret" } });
  const run = await rig(script, {
    clock,
    store,
    onInputRequest,
    retentionMs: 60_000,
    onSettled: () => undefined,
  });
  await run.within(
    (await startTask(run, {}, { name: "deploy", arguments: { env: "argument-secret" } })).result(),
  );
  await clock.advance(1000);
  expect(await store.dump()).not.toMatch(/argument-secret|answer-secret/);
  await clock.advance(60_000);
  expect(await store.dump()).toBe("");
});

test("F121: however often polls fail, the handle stays and the task goes on", async () => {
  const failing = new ConnectionError("HTTP 503", { mayHaveRun: true, status: 503 });
  const run = await rig({ "tools/call": handle(), "tasks/get": failing });
  const task = await startTask(run);
  await run.clock.advance(86_400_000);
  expect(run.told.of("retry").length).toBeGreaterThan(100);
  expect([task.status, task.taskId]).toEqual(["working", "task-secret-1"]);
  run.connection.script("tasks/get", done());
  expect(await run.within(task.result())).toEqual(text("done"));
});

describe("F122: 404 on a task request", () => {
  test.each([
    ["a page of a proxy", new ConnectionError("HTTP 404", { mayHaveRun: true, status: 404 })],
    ["no JSON", new ConnectionError("HTTP 404, text/html", { mayHaveRun: true, status: 404 })],
  ])("with %s is transient", async (_what, error) => {
    const run = await rig({ "tools/call": handle(), "tasks/get": [error, error, error, done()] });
    expect(await run.within((await startTask(run)).result())).toEqual(text("done"));
  });

  test("with -32602 in it: the task is not known", async () => {
    const gone = new RpcError({ code: -32602, message: "?" }, { status: 404 });
    const run = await rig({ "tools/call": handle(), "tasks/get": gone });
    await expect(run.within((await startTask(run)).result())).rejects.toMatchObject({ reason: "unknown" });
  });
});

test("F124: the local id says nothing of the task id, and finds the task after a restart", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const first = await rig({ "tools/call": handle() }, { clock, store, instance: "host" });
  const { id } = await startTask(first);
  expect(id).not.toContain("task-secret-1");
  const second = await rig({ "tasks/get": done() }, { clock, store, instance: "host" });
  expect((await second.client.task(id))?.taskId).toBe("task-secret-1");
});

test("F125: one task id from two servers is two tasks; the end of one is not the other's", async () => {
  const mine = { taskId: "t1" };
  const run = await rig({ "tools/call": handle(mine), "tasks/get": done("mine", mine) });
  const script = { "tools/call": handle(mine), "tasks/get": state(mine) };
  const other = scriptedConnection(script, { clock: run.clock, identity: "other" });
  await run.client.connect("other", other);
  const task = await startTask(run);
  const call = await run.within(run.client.callTool("other", tool));
  expect(await run.within(task.result())).toEqual(text("mine"));
  await run.clock.advance(5000);
  expect(call.kind === "task" && call.task.status).toBe("working");
  expect(await run.client.tasks()).toHaveLength(2);
  expect((await run.client.adopt("other", "t1")).server).toBe("other");
});

describe("adopt", () => {
  test("the same task gives the same handle, before and after a restart, and is looked at at once", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const script = { "tasks/get": ({ params }: ScriptedRequest) => state({ taskId: params["taskId"]! }) };
    const first = await rig(script, { clock, store, instance: "host" });
    const tasks = await Promise.all([first.client.adopt("srv", "t1"), first.client.adopt("srv", "t1")]);
    expect(tasks[0].id).toBe(tasks[1].id);
    await clock.advance(500);
    expect(first.times("tasks/get")).toEqual([0]);
    const second = await rig(script, { clock, store, instance: "host" });
    expect((await second.client.adopt("srv", "t1")).id).toBe(tasks[0].id);
    expect(await second.client.tasks()).toHaveLength(1);
  });

  test("a task that came of a call here is that call's", async () => {
    const run = await rig({ "tools/call": handle(), "tasks/get": state() });
    const task = await startTask(run);
    expect((await run.client.adopt("srv", "task-secret-1")).id).toBe(task.id);
  });

  test("one that nobody knows is lost after a second look", async () => {
    const run = await rig({ "tasks/get": new RpcError({ code: -32602, message: "?" }) });
    const task = await run.client.adopt("srv", "t1");
    expect(await run.within(task.settled())).toMatchObject({ status: "lost", reason: "unknown" });
  });
});

describe("questions before there is a task", () => {
  const question = { resultType: "input_required", inputRequests: { k: form() }, requestState: "opaque-1" };

  test("survive a restart; the answer goes out with the state exactly as it was", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const first = await rig({ "tools/call": question }, { clock, store, instance: "host" });
    void first.client.callTool("srv", tool, { callId: "c1" }).catch(() => undefined);
    await clock.advance(100);
    await first.within(first.client.close());
    const settled: Settled[] = [];
    const second = await rig(
      { "tools/call": text("ok") },
      { clock, store, instance: "host", onSettled: (one) => void settled.push(one) },
    );
    expect((await second.client.pendingInputs()).map(({ key }) => key)).toEqual(["k"]);
    await second.client.respond("c1", "k", yes);
    await clock.advance(100);
    expect(settled).toMatchObject([{ id: "c1", status: "completed", result: text("ok") }]);
    expect(second.connection.requestsOf("tools/call").map(({ params }) => params)).toEqual([
      { ...tool, inputResponses: { k: yes }, requestState: "opaque-1" },
    ]);
  });

  test("repeat in rounds, each with its own state or none, and end in a task", async () => {
    const { requestState: _state, ...stateless } = question;
    const run = await rig({ "tools/call": [question, stateless, handle()] }, { onInputRequest: () => yes });
    expect((await startTask(run, {}, tool)).taskId).toBe("task-secret-1");
    expect(run.connection.requestsOf("tools/call").map(({ params }) => params)).toEqual([
      tool,
      { ...tool, inputResponses: { k: yes }, requestState: "opaque-1" },
      { ...tool, inputResponses: { k: yes } },
    ]);
    expect(run.told.of("input")).toHaveLength(2);
  });

  test("a server that only ever asks again is in a circle, and that ends", async () => {
    const run = await rig({ "tools/call": question }, { onInputRequest: () => yes });
    const call = run.within(run.client.callTool("srv", tool));
    await expect(call).rejects.toMatchObject({ code: "INVALID_RESPONSE" });
    expect(run.connection.requestsOf("tools/call").length).toBeLessThanOrEqual(101);
  });
});

test("resume() before connect() delivers outcomes, and can be repeated", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const failing = (): void => {
    throw new Error("the database is down");
  };
  const first = await rig(
    { "tools/call": handle(), "tasks/get": done() },
    { clock, store, instance: "host", onSettled: failing },
  );
  await startTask(first);
  await clock.advance(2000);
  const closed = first.client.close({ timeoutMs: 1 });
  await clock.advance(2);
  await closed;
  const settled: Settled[] = [];
  const second = makeClient(clock, { store, onSettled: (one) => void settled.push(one) });
  expect(await second.resume()).toHaveLength(1);
  await second.resume();
  await clock.advance(100);
  await second.resume();
  await clock.advance(100);
  expect(settled).toHaveLength(1);
});
