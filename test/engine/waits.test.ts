/** How long a host waits beyond the handle: `waitMs`, and what the end of the client does to every wait. */
import { describe, expect, test } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import {
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

describe("waitMs", () => {
  test.each([
    ["a task that ends in time is a result", 5000, done("quick"), { kind: "result", result: text("quick") }],
    ["one that does not is handed over", 500, state(), { kind: "task" }],
  ])("%s", async (_what, waitMs, get, expected) => {
    const run = await rig({ "tools/call": handle(), "tasks/get": get });
    expect(await run.within(run.client.callTool("srv", tool, { waitMs }))).toMatchObject(expected);
    expect(run.clock.monotonic()).toBeLessThanOrEqual(waitMs);
  });

  test("a failed task rejects as its result would", async () => {
    const failed = state({ status: "failed", error: { code: -32000, message: "boom" } });
    const run = await rig({ "tools/call": handle(), "tasks/get": failed });
    const call = run.within(run.client.callTool("srv", tool, { waitMs: 5000 }));
    await expect(call).rejects.toMatchObject({ code: "TASK_FAILED", rpcCode: -32000 });
  });

  test("a call that still asks people is handed over, and goes on", async () => {
    const script = {
      "tools/call": [{ resultType: "input_required", inputRequests: { k: form() } }, handle()],
      "tasks/get": done(),
    };
    const run = await rig(script, { onLateHandle: "cancel" });
    const task = await startTask(run, { waitMs: 5000 }, tool);
    expect(task.status).toBe("input_required");
    await task.respond("k", yes);
    expect(await run.within(task.result())).toEqual(text("done"));
    expect(run.told.of("created")).toMatchObject([{ late: false }]);
    expect(run.connection.requestsOf("tasks/cancel")).toEqual([]);
  });

  test("an abort in it ends the wait, not the task", async () => {
    const run = await rig({ "tools/call": handle(), "tasks/get": [state(), state(), asks({}), done()] });
    const caller = new AbortController();
    const call = run.client.callTool("srv", tool, { waitMs: 60_000, signal: caller.signal });
    call.catch(() => undefined);
    await run.clock.advance(1500);
    caller.abort();
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
    await run.clock.advance(10_000);
    expect(run.told.of("settled")).toMatchObject([{ status: "completed" }]);
  });
});

describe("a client that is closed", () => {
  test("ends every wait with ClientClosedError, and nothing runs on", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const script = { "tools/call": [handle(), "hang" as const], "tasks/get": state() };
    const run = await rig(script, { clock, store });
    const task = await startTask(run, { callId: "t" }, tool);
    const waits = [task.result(), task.settled(), run.client.callTool("srv", tool, { callId: "hangs" })];
    for (const wait of waits) wait.catch(() => undefined);
    await clock.advance(100);
    await run.within(run.client.close({ timeoutMs: 3000 }));
    for (const wait of waits) await expect(wait).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
    expect(clock.monotonic()).toBeLessThanOrEqual(3100);
    const polls = run.times("tasks/get").length;
    await clock.advance(60_000);
    expect(run.times("tasks/get")).toHaveLength(polls);
    const after = await run.client.task("t");
    await expect(run.within(after!.result(), 10_000)).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
    await expect(run.client.callTool("srv", tool)).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
    // What it left behind goes on elsewhere.
    const next = await rig({ "tasks/get": done() }, { clock, store });
    expect(await next.within((await next.client.task("t"))!.result())).toEqual(text("done"));
  });

  test("is bounded by its timeout when the store hangs", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    const run = await rig({ "tools/call": handle(), "tasks/get": state() }, { clock, store });
    await startTask(run, {}, tool);
    store.slowMs = 1e9;
    await run.within(run.client.close({ timeoutMs: 2000 }), 2000);
    expect(clock.monotonic()).toBeLessThanOrEqual(2000);
    expect(await makeClient(clock, { store }).tasks()).toHaveLength(1);
  });
});
