/** The handle that hosts hold, and how outcomes reach them. */
import { inspect } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { ClientClosedError, TaskClient, type Settled, type TaskHandle } from "../../src/index.js";
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

const steps = ["one", "two", "three"].map((statusMessage) => state({ statusMessage }));

describe("updates()", () => {
  async function read(task: TaskHandle, signal?: AbortSignal): Promise<string[]> {
    const seen: string[] = [];
    for await (const { status, statusMessage } of task.updates({ signal }))
      seen.push(statusMessage ?? status);
    return seen;
  }

  test("every reader gets the current state first, every change, and the end", async () => {
    const run = await rig({ "tools/call": handle(), "tasks/get": [...steps, done()] });
    const task = await startTask(run);
    const early = [read(task), read(task)];
    await run.clock.advance(2500);
    const late = read(task);
    await run.within(task.result());
    for (const reader of early) expect(await reader).toEqual(["working", "one", "two", "three", "completed"]);
    expect(await late).toEqual(["two", "three", "completed"]);
    expect(await read(task)).toEqual(["completed"]);
  });

  test("a reader that leaves, or aborts, ends its own reading alone", async () => {
    const run = await rig({ "tools/call": handle(), "tasks/get": [...steps, done()] });
    const task = await startTask(run);
    const patient = read(task);
    for await (const snapshot of task.updates()) {
      expect(snapshot.status).toBe("working");
      break;
    }
    const caller = new AbortController();
    const reason = new Error("enough");
    const aborted = read(task, caller.signal);
    aborted.catch(() => undefined);
    await run.clock.advance(1500);
    caller.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    await run.within(task.result());
    expect(await patient).toHaveLength(5);
  });

  test("ends with ClientClosedError when the client closes, after what was unread", async () => {
    const run = await rig({ "tools/call": handle(), "tasks/get": steps });
    const task = await startTask(run);
    const reader = task.updates()[Symbol.asyncIterator]();
    await run.clock.advance(1500);
    await run.within(run.client.close());
    expect((await reader.next()).value).toMatchObject({ status: "working" });
    expect((await reader.next()).value).toMatchObject({ statusMessage: "one" });
    await expect(reader.next()).rejects.toBeInstanceOf(ClientClosedError);
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });
});

test("waiting is shared: any number of waiters, before and after the end, one poll each interval", async () => {
  const run = await rig({ "tools/call": handle(), "tasks/get": [state(), done()] });
  const task = await startTask(run);
  const other = (await run.client.task(task.id))!;
  const waits = [task.result(), task.result(), other.result()];
  expect(await run.within(Promise.all(waits))).toEqual([text("done"), text("done"), text("done")]);
  expect(await task.result()).toEqual(text("done"));
  expect(run.times("tasks/get")).toEqual([1000, 2000]);
});

test("a handle is not a promise, and prints all but the secrets of the task", async () => {
  const run = await rig({ "tools/call": handle() });
  const task = await startTask(run);
  expect((task as { then?: unknown }).then).toBeUndefined();
  expect(inspect(task, { depth: 5, showHidden: true }) + JSON.stringify({ task })).not.toContain(
    "task-secret-1",
  );
  // A log needs to tell one call from another.
  expect(inspect(task)).toBe(`TaskHandle ${JSON.stringify(task)}`);
  expect(JSON.parse(JSON.stringify(task))).toEqual({
    id: task.id,
    server: "srv",
    tool: "deploy",
    status: "working",
  });
  expect(task).toMatchObject({ server: "srv", tool: "deploy", context: undefined, pendingInputs: [] });
  expect(task.snapshot).toMatchObject({ status: "working", ttlMs: null, pollIntervalMs: 1000 });
});

describe("onSettled", () => {
  test("fails, then works: told each time, delivered once, with growing delays", async () => {
    let n = 0;
    const onSettled = vi.fn((_: Settled): void => {
      n += 1;
      if (n <= 3) throw new TypeError("not now");
    });
    const run = await rig({ "tools/call": handle(), "tasks/get": done() }, { onSettled });
    const task = await startTask(run, { context: 7 });
    await run.clock.advance(60_000);
    expect(onSettled).toHaveBeenCalledTimes(4);
    expect(run.told.of("error")).toHaveLength(3);
    expect(run.told.of("settled")).toHaveLength(1);
    await run.clock.advance(600_000);
    expect(onSettled).toHaveBeenCalledTimes(4);
    expect(await task.settled()).toMatchObject({ status: "completed", context: 7, cancelRequested: false });
  });

  test("hears of ordinary results and of failed calls too", async () => {
    const settled: string[] = [];
    const onSettled = ({ status }: Settled): void => void settled.push(status);
    const run = await rig({ "tools/call": [text("ok"), handle({ status: "cancelled" })] }, { onSettled });
    await run.within(run.client.callTool("srv", { name: "read" }));
    await startTask(run);
    await run.clock.advance(10);
    expect(settled).toEqual(["completed", "cancelled"]);
  });

  test("one task's handler that hangs does not hold up the others", async () => {
    const settled: unknown[] = [];
    const onSettled = ({ context }: Settled): Promise<void> | void =>
      context === "hangs" ? new Promise(() => undefined) : void settled.push(context);
    const script = {
      "tools/call": (_: unknown, i: number) => handle({ status: "cancelled", taskId: `task-${i}` }),
    };
    const run = await rig(script, { onSettled });
    await startTask(run, { context: "hangs" });
    await startTask(run, { context: "second" });
    await run.clock.advance(10);
    expect(settled).toEqual(["second"]);
    await run.within(run.client.close({ timeoutMs: 100 }), 1000);
  });
});

test("tasks() and pendingInputs() filter by server, tool, state and context", async () => {
  const script = {
    "tools/call": [
      handle({ taskId: "a" }),
      handle({ taskId: "b", status: "cancelled" }),
      handle({ taskId: "c" }),
    ],
    "tasks/get": ({ params }: { params: { taskId?: unknown } }) =>
      params.taskId === "c" ? asks({ k: form() }, { taskId: "c" }) : state({ taskId: "a" }),
    "tasks/update": ack,
  };
  const run = await rig(script);
  const [a, b] = [await startTask(run, { context: { chat: 1 } }), await startTask(run)];
  const c = await startTask(run, { context: { chat: 2 } }, { name: "approve" });
  await run.clock.advance(1500);
  const ids = async (filter: Parameters<TaskClient["tasks"]>[0]): Promise<string[]> =>
    (await run.client.tasks(filter)).map(({ id }) => id).sort();
  expect(await ids({})).toEqual([a.id, b.id, c.id].sort());
  expect(await ids({ state: "live" })).toEqual([a.id, c.id].sort());
  expect(await ids({ state: "settled" })).toEqual([b.id]);
  expect(await ids({ state: "input" })).toEqual([c.id]);
  expect(await ids({ tool: "approve" })).toEqual([c.id]);
  expect(await ids({ server: "other" })).toEqual([]);
  expect(await ids({ context: { chat: 1 } })).toEqual([a.id]);
  expect(await ids({ context: (context) => context === undefined })).toEqual([b.id]);
  expect((await run.client.pendingInputs({ tool: "approve" })).map(({ id }) => id)).toEqual([c.id]);
  expect(await run.client.pendingInputs({ tool: "deploy" })).toEqual([]);
});

test("a listener that throws stops nobody, and is told as an error once", async () => {
  const run = await rig({ "tools/call": handle(), "tasks/get": done() });
  run.client.on("created", () => {
    throw new Error("listener");
  });
  run.client.on("error", () => {
    throw new Error("even here");
  });
  const task = await startTask(run);
  expect(await run.within(task.result())).toEqual(text("done"));
  expect(run.told.of("error")).toHaveLength(1);
});

test("the store is written when something worth keeping changed, never once per poll", async () => {
  const clock = virtualClock();
  const store = testStore(clock);
  const run = await rig({ "tools/call": handle(), "tasks/get": state() }, { clock, store });
  await startTask(run);
  // The intent and the handle.
  expect(store.writes).toHaveLength(2);
  await clock.advance(600_000);
  expect(run.times("tasks/get")).toHaveLength(600);
  expect(store.writes).toHaveLength(2);
  expect(run.client.stats()).toMatchObject({ polls: 600, tasksCreated: 1, store: { writes: 2 } });
});

test("close() lets a call under way end, and what was answered is stored", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const call = async () => {
    await new Promise<void>((resolve) => clock.setTimer(3000, resolve));
    return handle();
  };
  const run = await rig({ "tools/call": call }, { clock, store, onInputRequest: () => yes });
  const waiting = run.client.callTool("srv", { name: "deploy" }, { callId: "c1" });
  await clock.advance(100);
  await run.within(run.client.close({ timeoutMs: 5000 }));
  expect(await waiting).toMatchObject({ kind: "task" });
  const next = await rig({ "tasks/get": done() }, { clock, store });
  expect(await next.within((await next.client.task("c1"))!.result())).toEqual(text("done"));
});

test("wrong options and arguments are TypeErrors that name them, before anything is sent", async () => {
  for (const options of [
    { scope: "" },
    { concurrency: 0 },
    { retentionMs: -1 },
    { poll: { minIntervalMs: 10, maxIntervalMs: 5 } },
    { retry: { factor: 0.5 } },
    { onSettled: "later" },
    { clock: {} },
    { onLateHandle: "ignore" },
  ]) {
    expect(() => new TaskClient(options as never)).toThrow(TypeError);
  }
  const run = await rig({});
  const bad = [
    run.client.callTool("nobody", { name: "t" }),
    run.client.callTool("srv", { name: "" }),
    run.client.callTool("srv", { name: "t", arguments: { when: new Date() } }),
    run.client.callTool("srv", { name: "t" }, { callId: "" }),
    run.client.callTool("srv", { name: "t" }, { timeoutMs: 0 }),
    run.client.callTool("srv", { name: "t" }, { context: (() => 1) as never }),
    run.client.adopt("srv", ""),
    run.client.connect("srv", run.connection),
  ];
  for (const each of bad) await expect(each).rejects.toBeInstanceOf(TypeError);
  expect(run.connection.requests).toEqual([]);
});
