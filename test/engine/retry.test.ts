/** Field cases of retries and backoff. */
import { describe, expect, test } from "vitest";
import { ConnectionError, EraNotSupportedError, MissingCapabilityError, RpcError } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { memoryStore } from "../../src/store/memory.js";
import type { ScriptedRequest } from "../../src/testing/index.js";
import {
  ack,
  asks,
  done,
  form,
  gaps,
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
const busy = (retryAfterMs?: number): ConnectionError =>
  new ConnectionError("HTTP 429", { mayHaveRun: false, status: 429, retryAfterMs });
const reset = (): ConnectionError => new ConnectionError("reset", { mayHaveRun: true });

test("F056: the newest hint of every answer counts", async () => {
  const hints = [1000, 5000, 1000];
  const answers = hints.map((pollIntervalMs) => state({ pollIntervalMs }));
  const run = await rig({ "tools/call": handle(), "tasks/get": [...answers, done()] });
  await run.within((await startTask(run)).result());
  expect(gaps(run.times("tasks/get"))).toEqual(hints);
});

describe("F059: 429", () => {
  test("while polling is transient, with growing delays", async () => {
    const run = await rig({ "tools/call": handle(), "tasks/get": [busy(), busy(), busy(), done()] });
    expect(await run.within((await startTask(run)).result())).toEqual(text("done"));
    const delays = gaps(run.times("tasks/get"));
    expect(delays.every((delay, i) => i === 0 || delay > delays[i - 1]!)).toBe(true);
  });

  // The design wins over the case: 429 is certain not to have run, so the call is sent again.
  test("on tools/call is sent again, not before the server allows", async () => {
    const run = await rig({ "tools/call": [busy(7000), text("ok")] });
    expect(await run.within(run.client.callTool("srv", tool))).toEqual({
      kind: "result",
      result: text("ok"),
    });
    const [first, second] = run.times("tools/call");
    expect(second! - first!).toBeGreaterThanOrEqual(7000);
  });

  test("with more patience asked for than the caller has is told at once", async () => {
    const run = await rig({ "tools/call": busy(120_000) });
    const call = run.within(run.client.callTool("srv", tool, { timeoutMs: 60_000 }));
    await expect(call).rejects.toMatchObject({ status: 429, retryAfterMs: 120_000 });
    expect(run.clock.monotonic()).toBeLessThan(1000);
  });
});

test("F061: an abort ends a long wait that the server asked for, and no timer of it is left", async () => {
  const run = await rig({ "tools/call": busy(50_000) });
  const caller = new AbortController();
  const call = run.client.callTool("srv", tool, { signal: caller.signal });
  call.catch(() => undefined);
  await run.clock.advance(1000);
  const reason = new Error("enough");
  caller.abort(reason);
  await expect(call).rejects.toBe(reason);
  expect(run.clock.monotonic()).toBe(1000);
  await run.clock.advance(120_000);
  expect(run.connection.requestsOf("tools/call")).toHaveLength(1);
  expect(run.clock.timers).toBe(0);
});

test("F062: a JSON-RPC error of tools/call is the call's own failure: no repetition", async () => {
  const run = await rig({
    "tools/call": new RpcError({ code: -32602, message: "no such argument", data: [1] }),
  });
  const call = run.within(run.client.callTool("srv", tool, { onUnknownOutcome: "retry" }));
  await expect(call).rejects.toMatchObject({ rpcCode: -32602, message: "no such argument", data: [1] });
  expect(run.connection.requests).toHaveLength(1);
});

describe("F064: the backoff survives a restart", () => {
  test("the first poll of the next process is not before the stored time", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const first = await rig(
      { "tools/call": handle(), "tasks/get": reset() },
      { clock, store, instance: "host" },
    );
    await startTask(first);
    await clock.advance(40_000);
    const failures = first.told.of("retry").at(-1)!;
    expect(failures.attempt).toBeGreaterThanOrEqual(5);
    const lastAt = first.times("tasks/get").at(-1)!;
    const second = await rig({ "tasks/get": state() }, { clock, store, instance: "host" });
    await clock.advance(120_000);
    expect(second.times("tasks/get")[0]).toBeGreaterThanOrEqual(lastAt + failures.delayMs);
  });

  test("a wall clock that went back by a year does not park it", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const first = await rig(
      { "tools/call": handle(), "tasks/get": reset() },
      { clock, store, instance: "host" },
    );
    await startTask(first);
    await clock.advance(40_000);
    clock.jump(-365 * 86_400_000);
    const second = await rig({ "tasks/get": state() }, { clock, store, instance: "host" });
    await clock.advance(100_000);
    expect(second.times("tasks/get").length).toBeGreaterThan(0);
  });

  test("after an orderly close the interval goes on where it was", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const slow = { pollIntervalMs: 60_000 };
    const first = await rig(
      { "tools/call": handle(slow), "tasks/get": state(slow) },
      { clock, store, instance: "host" },
    );
    await startTask(first);
    await clock.advance(50_000);
    await first.within(first.client.close());
    const second = await rig({ "tasks/get": state(slow) }, { clock, store, instance: "host" });
    await clock.advance(130_000);
    expect(second.times("tasks/get")).toEqual([60_000, 120_000, 180_000]);
  });
});

test("F065: a store that refuses one task's records does not stop the others", async () => {
  const clock = virtualClock();
  const store = testStore(clock);
  const id = ({ params }: ScriptedRequest): string => params["taskId"] as string;
  const call = (_: ScriptedRequest, n: number): JsonObject => handle({ taskId: `task-${n}` });
  const run = await rig(
    { "tools/call": call, "tasks/get": (one) => done("ok", { taskId: id(one) }) },
    { clock, store },
  );
  const tasks = [await startTask(run), await startTask(run), await startTask(run)];
  store.refuses = (value) => value.includes("task-0");
  await clock.advance(1500);
  expect(tasks.map(({ status }) => status)).toEqual(["working", "completed", "completed"]);
});

describe("refusals of the whole request", () => {
  const refusals = [
    new RpcError({ code: -32601, message: "Method not found" }),
    new RpcError({ code: -32020, message: "Header mismatch" }),
    new RpcError({ code: -32022, message: "Unsupported version" }),
    new EraNotSupportedError("initialize first"),
    // F005: the same error by either number.
    new MissingCapabilityError({ code: -32021, message: "Missing capability" }),
    new MissingCapabilityError({ code: -32003, message: "Missing capability" }),
  ];
  test.each(refusals)(
    "F005: on tasks/get it is reported once, repeated slowly, and never a lost task: $message",
    async (refusal) => {
      const run = await rig(
        { "tools/call": handle(), "tasks/get": refusal },
        { retry: { refusedRetryMs: 60_000 } },
      );
      const task = await startTask(run);
      await run.clock.advance(600_000);
      expect(run.times("tasks/get").length).toBeLessThanOrEqual(11);
      expect(run.times("tasks/get").length).toBeGreaterThan(3);
      expect(task.status).toBe("working");
      expect(run.told.of("error").map(({ error }) => error)).toEqual([refusal]);
      run.connection.script("tasks/get", done());
      expect(await run.within(task.result(), 130_000)).toEqual(text("done"));
    },
  );

  test("on tools/call it is told: nothing ran, nothing is kept", async () => {
    const run = await rig({ "tools/call": refusals[4]! });
    const call = run.within(run.client.callTool("srv", tool, { callId: "c1" }));
    await expect(call).rejects.toBeInstanceOf(MissingCapabilityError);
    expect(await run.client.tasks()).toEqual([]);
    run.connection.script("tools/call", text("ok"));
    expect(await run.within(run.client.callTool("srv", tool, { callId: "c1" }))).toMatchObject({
      kind: "result",
    });
  });

  test("-32020 on tools/call: the tools are listed again, and the call is sent once more", async () => {
    const listed = { tools: [{ name: "deploy", inputSchema: { type: "object" } }] };
    const run = await rig({ "tools/call": [refusals[1]!, text("ok")], "tools/list": listed });
    expect(await run.within(run.client.callTool("srv", tool))).toMatchObject({ kind: "result" });
    expect(run.connection.requests.map(({ method }) => method)).toEqual([
      "tools/call",
      "tools/list",
      "tools/call",
    ]);
    expect(run.connection.requestsOf("tools/call")[1]?.options.tool?.name).toBe("deploy");
  });
});

describe("answers that are refused", () => {
  test("F128: a server that refuses a batch gets the answers one by one; the bad one is reported", async () => {
    const invalid = new RpcError({ code: -32602, message: "bad" });
    const update = ({ params }: ScriptedRequest): JsonObject | Error =>
      "bad" in (params["inputResponses"] as object) ? invalid : ack;
    const script = {
      "tools/call": handle(),
      "tasks/get": asks({ good: form(), bad: form() }),
      "tasks/update": update,
    };
    const run = await rig(script, { onInputRequest: () => yes });
    await startTask(run);
    await run.clock.advance(5000);
    const sent = run.connection
      .requestsOf("tasks/update")
      .map(({ params }) => Object.keys(params["inputResponses"] as object));
    expect(sent.filter((keys) => keys.includes("good"))).not.toHaveLength(0);
    expect(sent.at(-1)).toEqual(["bad"]);
    expect(sent.length).toBeLessThanOrEqual(3);
    expect(run.told.of("error").map(({ error }) => error.code)).toEqual(["INPUT_NOT_TAKEN"]);
  });
});
