/** Field cases of cancellation and abort. */
import { setMaxListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { InvalidResponseError, RpcError, type TaskInputRequest } from "../../src/index.js";
import { ack, asks, done, form, handle, rig, startTask, state, text } from "./support.js";

const tool = { name: "deploy", arguments: {} };

test("F011: a handle with an unusable ttl is a task all the same, and can be cancelled", async () => {
  const script = { "tools/call": handle({ ttlMs: "60000" }), "tasks/get": state(), "tasks/cancel": ack };
  const run = await rig(script);
  const task = await startTask(run);
  expect(task.taskId).toBe("task-secret-1");
  await run.within(task.cancel());
  expect(run.connection.requestsOf("tasks/cancel")[0]?.params).toMatchObject({ taskId: "task-secret-1" });
});

test("F011: a handle without a status names its task in the error, for adopt and cancel", async () => {
  const { status: _status, ...broken } = handle();
  const run = await rig({ "tools/call": broken, "tasks/get": state(), "tasks/cancel": ack });
  const error: unknown = await run.within(
    run.client.callTool("srv", tool).catch((reason: unknown) => reason),
  );
  expect(error).toBeInstanceOf(InvalidResponseError);
  const { taskId } = error as InvalidResponseError;
  const task = await run.client.adopt("srv", taskId!);
  await run.within(task.cancel());
  expect(run.connection.requestsOf("tasks/cancel")[0]?.params).toMatchObject({ taskId: "task-secret-1" });
});

test("F031: an acknowledgement with a state in it changes no state", async () => {
  const script = {
    "tools/call": handle(),
    "tasks/get": [state(), state(), done("really")],
    "tasks/cancel": { ...state({ status: "completed", result: text("no") }) },
  };
  const run = await rig(script);
  const task = await startTask(run);
  await run.within(task.cancel());
  expect(task.status).toBe("working");
  expect(await run.within(task.result())).toEqual(text("really"));
});

test("F130: polls go on while a prompt is open; a cancel withdraws it at once, and nothing is asked again", async () => {
  const shown: TaskInputRequest[] = [];
  const onInputRequest = async (request: TaskInputRequest): Promise<undefined> => {
    shown.push(request);
    await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
  };
  const script = { "tools/call": handle(), "tasks/get": asks({ k: form() }), "tasks/cancel": ack };
  const run = await rig(script, { onInputRequest });
  const task = await startTask(run);
  await run.clock.advance(5500);
  expect(run.times("tasks/get")).toHaveLength(5);
  const cancelled = task.cancel();
  await run.clock.advance(0);
  expect(shown[0]?.signal.aborted).toBe(true);
  await cancelled;
  expect(run.times("tasks/cancel")).toEqual([5500]);
  await run.clock.advance(30_000);
  expect(shown).toHaveLength(1);
});

describe("F154: a caller's abort ends its wait at once, wherever that stands, and sends nothing", () => {
  test.each([
    ["between polls", state(), 1500],
    ["during a poll", "hang" as const, 1500],
    ["while people are asked", asks({ k: form() }), 1500],
  ])("%s", async (_where, get, atMs) => {
    const run = await rig({ "tools/call": handle(), "tasks/get": get }, { onInputRequest: () => undefined });
    const task = await startTask(run);
    const caller = new AbortController();
    const waits = [task.result({ signal: caller.signal }), task.settled({ signal: caller.signal })];
    for (const wait of waits) wait.catch(() => undefined);
    await run.clock.advance(atMs);
    const reason = new Error("enough");
    caller.abort(reason);
    for (const wait of waits) await expect(wait).rejects.toBe(reason);
    expect(run.clock.monotonic()).toBe(atMs);
    expect(run.connection.requestsOf("tasks/cancel")).toEqual([]);
    // The task lives on, for whoever else waits.
    run.connection.script("tasks/get", done());
    expect(await run.within(task.result())).toEqual(text("done"));
  });

  test("an aborted signal sends nothing at all", async () => {
    const run = await rig({ "tools/call": handle() });
    const reason = new Error("before");
    await expect(run.client.callTool("srv", tool, { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
    expect(run.connection.requests).toEqual([]);
    expect(await run.client.tasks()).toEqual([]);
  });
});

test("F155: a task that completes in spite of its cancellation is completed, and it is told that a cancel was asked for", async () => {
  const script = { "tools/call": handle(), "tasks/get": [state(), done("too late")], "tasks/cancel": ack };
  const run = await rig(script);
  const task = await startTask(run);
  await run.within(task.cancel());
  expect(await run.within(task.settled())).toMatchObject({
    status: "completed",
    result: text("too late"),
    cancelRequested: true,
  });
});

test("F155: forget() leaves nothing behind: no record, no poll", async () => {
  const run = await rig({ "tools/call": handle(), "tasks/get": state(), "tasks/cancel": ack });
  const task = await startTask(run);
  await run.within(task.cancel());
  await run.within(task.forget());
  const polls = run.times("tasks/get").length;
  await run.clock.advance(60_000);
  expect(run.times("tasks/get")).toHaveLength(polls);
  expect(await run.client.tasks()).toEqual([]);
  expect(run.clock.timers).toBe(0);
});

test("F157, F158: waits leave no timer and no listener behind, on one signal and over many polls", async () => {
  const run = await rig({ "tools/call": handle(), "tasks/get": state() });
  const task = await startTask(run);
  await run.clock.advance(1);
  const timers = run.clock.timers;
  const { signal, added } = countedSignal();
  for (let n = 0; n < 200; n += 1) {
    await expect(run.within(task.result({ signal, timeoutMs: 50 }))).rejects.toMatchObject({
      code: "WAIT_TIMEOUT",
    });
  }
  expect(added()).toBe(0);
  expect(run.clock.timers).toBeLessThanOrEqual(timers);
  const reading = task.updates({ signal })[Symbol.asyncIterator]();
  await reading.next();
  await reading.return?.();
  expect(added()).toBe(0);
  const waits = Array.from({ length: 100 }, () => task.result({ signal, timeoutMs: 1e9 }));
  for (const wait of waits) wait.catch(() => undefined);
  await run.clock.advance(1);
  expect(run.clock.timers).toBeGreaterThan(100);
  signal.abortNow();
  await Promise.allSettled(waits);
  expect(run.clock.timers).toBeLessThanOrEqual(timers);
});

test("F158: a call's signal has no listener left once the call is answered", async () => {
  const run = await rig({ "tools/call": handle(), "tasks/get": done() });
  const { signal, added } = countedSignal();
  for (let n = 0; n < 20; n += 1) await startTask(run, { signal });
  for (let n = 0; n < 20; n += 1) {
    run.connection.script("tools/call", text("ok"));
    await run.within(run.client.callTool("srv", tool, { signal, waitMs: 1000 }));
  }
  expect(added()).toBe(0);
});

describe("F160: cancel is idempotent", () => {
  test("three at once are one request; one after the acknowledgement is sent once more, harmlessly", async () => {
    const run = await rig({ "tools/call": handle(), "tasks/get": state(), "tasks/cancel": ack });
    const task = await startTask(run);
    await run.within(Promise.all([task.cancel(), task.cancel(), task.cancel()]));
    expect(run.connection.requestsOf("tasks/cancel")).toHaveLength(1);
    await run.within(task.cancel());
    expect(run.connection.requestsOf("tasks/cancel")).toHaveLength(2);
  });

  test("a server that says that the task is over already: resolves, and the polls find out how", async () => {
    const over = new RpcError({ code: -32602, message: "terminal" });
    const run = await rig({ "tools/call": handle(), "tasks/get": done(), "tasks/cancel": over });
    const task = await startTask(run);
    await run.within(task.cancel());
    expect(await run.within(task.result())).toEqual(text("done"));
    expect(run.told.of("error")).toEqual([]);
  });

  test("of a task that is over sends nothing", async () => {
    const run = await rig({ "tools/call": handle(), "tasks/get": done() });
    const task = await startTask(run);
    await run.within(task.result());
    await task.cancel();
    expect(run.connection.requestsOf("tasks/cancel")).toEqual([]);
  });
});

/** A signal that counts its listeners. */
function countedSignal(): { signal: AbortSignal & { abortNow: () => void }; added: () => number } {
  const controller = new AbortController();
  let count = 0;
  const { signal } = controller;
  setMaxListeners(0, signal);
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  const known = new Set<unknown>();
  signal.addEventListener = (type: string, listener: never, options?: never): void => {
    known.add(listener);
    count = known.size;
    add(type, listener, options);
  };
  signal.removeEventListener = (type: string, listener: never): void => {
    known.delete(listener);
    count = known.size;
    remove(type, listener);
  };
  return { signal: Object.assign(signal, { abortNow: () => controller.abort() }), added: () => count };
}
