/** Field cases of the wire as the engine sees it: what is a task, what is a result, what is neither. */
import { describe, expect, test } from "vitest";
import { InvalidResponseError, RpcError, TaskFailedError } from "../../src/index.js";
import { memoryStore } from "../../src/store/memory.js";
import {
  ack,
  asks,
  done,
  form,
  handle,
  rig,
  startTask,
  state,
  testStore,
  text,
  virtualClock,
  yes,
} from "./support.js";

const tool = { name: "deploy", arguments: { env: "prod" } };

describe("F001: the answer to tools/call", () => {
  test("a task is a handle, flat or nested as an older draft had it", async () => {
    const { resultType: _type, ...fields } = handle();
    for (const answer of [handle(), { resultType: "task", task: fields }]) {
      const run = await rig({ "tools/call": answer });
      expect((await startTask(run)).taskId).toBe("task-secret-1");
    }
  });

  test("a handle that does not say so is an error that names the task, never an empty success", async () => {
    const { resultType: _type, ...disguised } = handle();
    const run = await rig({ "tools/call": disguised });
    const error: unknown = await run.within(
      run.client.callTool("srv", tool).catch((reason: unknown) => reason),
    );
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect((error as InvalidResponseError).taskId).toBe("task-secret-1");
    expect(JSON.stringify(error) + String(error)).not.toContain("task-secret-1");
  });

  test("an ordinary result is a result, and nothing of it is left in the store", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    const answer = { resultType: "complete", ...text("ok"), isError: true, _meta: { a: 1 } };
    const run = await rig({ "tools/call": answer }, { clock, store });
    expect(await run.within(run.client.callTool("srv", tool))).toEqual({ kind: "result", result: answer });
    expect(await store.dump()).toBe("");
  });

  test("an answer outside the protocol is told as that; the call is not sent again", async () => {
    for (const answer of [
      { resultType: "dream" },
      { content: "no list" },
      { resultType: "input_required" },
    ]) {
      const run = await rig({ "tools/call": answer, "tools/list": { tools: [] } });
      const call = run.within(run.client.callTool("srv", tool));
      await expect(call).rejects.toBeInstanceOf(InvalidResponseError);
      expect(run.connection.requestsOf("tools/call")).toHaveLength(1);
    }
  });
});

describe("F014: a task in answer to anything but tools/call", () => {
  test("tools/list: an invalid answer, and no record", async () => {
    const run = await rig({ "tools/list": handle() });
    await expect(run.within(run.client.listTools("srv"))).rejects.toBeInstanceOf(InvalidResponseError);
    expect(await run.client.tasks()).toEqual([]);
  });

  test("tasks/update and tasks/cancel: no acknowledgement; sent again until there is one", async () => {
    const script = {
      "tools/call": handle(),
      "tasks/get": asks({ k: form() }),
      "tasks/update": [handle(), ack],
      "tasks/cancel": [handle(), ack],
    };
    const run = await rig(script, { onInputRequest: () => yes, answerGraceMs: 1e9 });
    const task = await startTask(run);
    await run.clock.advance(10_000);
    expect(run.connection.requestsOf("tasks/update")).toHaveLength(2);
    await run.within(task.cancel());
    expect(run.connection.requestsOf("tasks/cancel")).toHaveLength(2);
    expect(await run.client.tasks()).toHaveLength(1);
  });

  // The wire page wins over the case: some servers say "task" in answer to tasks/get, and that is accepted.
  test("tasks/get: accepted, since it is about the task that was asked for", async () => {
    const run = await rig({
      "tools/call": handle(),
      "tasks/get": [handle(), done("ok", { resultType: "task" })],
    });
    expect(await run.within((await startTask(run)).result())).toEqual(text("ok"));
  });
});

test("F019, F020: params carry what this revision has and nothing more; no other method is used", async () => {
  const script = {
    "tools/call": handle(),
    "tasks/get": [asks({ k: form() }), state(), state(), done()],
    "tasks/update": ack,
    "tasks/cancel": ack,
  };
  const run = await rig(script, { onInputRequest: () => yes });
  const task = await startTask(run, { meta: { traceparent: "00-1-2-03" }, waitMs: 10 }, tool);
  await run.clock.advance(2500);
  await run.within(task.cancel());
  await run.within(task.result());
  const sent = new Map(run.connection.requests.map(({ method, params }) => [method, params]));
  expect(Object.fromEntries(sent)).toEqual({
    "tools/call": tool,
    "tasks/get": { taskId: "task-secret-1" },
    "tasks/update": { taskId: "task-secret-1", inputResponses: { k: yes } },
    "tasks/cancel": { taskId: "task-secret-1" },
  });
  expect(run.connection.requestsOf("tools/call")[0]?.options.meta).toEqual({ traceparent: "00-1-2-03" });
});

describe("F029: a failure is one class with the same fields, however it is learned", () => {
  const error = { code: -32000, message: "boom", data: { a: 1 } };
  const failed = { status: "failed", error };

  test("from the handle, a poll, and after a restart", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const seeded = await rig({ "tools/call": handle(failed) });
    const polled = await rig({ "tools/call": handle(), "tasks/get": state(failed) }, { clock, store });
    const tasks = [await startTask(seeded), await startTask(polled, { callId: "c1" })];
    await clock.advance(2000);
    const resumed = await rig({}, { clock, store });
    tasks.push((await resumed.client.task("c1"))!);
    for (const task of tasks) {
      const reason: unknown = await seeded.within(task.result().catch((caught: unknown) => caught));
      expect(reason).toBeInstanceOf(TaskFailedError);
      expect(reason).toMatchObject({ code: "TASK_FAILED", rpcCode: -32000, message: "boom", data: { a: 1 } });
      expect(await task.settled()).toMatchObject({ status: "failed", error });
    }
  });

  test("a failed call without a task is an RpcError, now and when its id is replayed", async () => {
    const run = await rig({ "tools/call": new RpcError(error) });
    for (let n = 0; n < 2; n += 1) {
      const call = run.within(run.client.callTool("srv", tool, { callId: "c1" }));
      await expect(call).rejects.toMatchObject({
        code: "RPC",
        rpcCode: -32000,
        message: "boom",
        data: { a: 1 },
      });
    }
  });

  test("a failure that is confirmed without its error is a failure; a completion without its result is not one", async () => {
    const bare = await rig({ "tools/call": handle(), "tasks/get": state({ status: "failed" }) });
    await expect(bare.within((await startTask(bare)).result())).rejects.toBeInstanceOf(TaskFailedError);
    const run = await rig({ "tools/call": handle(), "tasks/get": state({ status: "completed" }) });
    const task = await startTask(run);
    await run.clock.advance(60_000);
    expect(task.status).toBe("working");
    expect(run.told.of("error").map(({ error: told }) => told.code)).toContain("INVALID_RESPONSE");
    expect(run.told.of("updated").map(({ snapshot }) => snapshot.status)).toEqual(["working"]);
    run.connection.script("tasks/get", done("at last"));
    expect(await run.within(task.result())).toEqual(text("at last"));
  });
});

test("a seed that is over already is a task whose result is there at once, and is not polled", async () => {
  const run = await rig({ "tools/call": handle({ status: "completed", result: text("at once") }) });
  const task = await startTask(run);
  expect(await run.within(task.result())).toEqual(text("at once"));
  expect(run.told.all.map(({ name }) => name)).toEqual(["created", "settled"]);
  expect(run.connection.requestsOf("tasks/get")).toEqual([]);
});

test("a result with isError is a result", async () => {
  const result = { ...text("no such file"), isError: true };
  const run = await rig({ "tools/call": handle(), "tasks/get": state({ status: "completed", result }) });
  expect(await run.within((await startTask(run)).result())).toEqual(result);
});

test("a status of a later revision is shown as it is, and polled on", async () => {
  const run = await rig({ "tools/call": handle(), "tasks/get": [state({ status: "paused" }), done()] });
  const task = await startTask(run);
  await run.clock.advance(1500);
  expect(task.status).toBe("paused");
  expect(await run.within(task.result())).toEqual(text("done"));
});
