/** Who waits for a call: timeouts, aborts, late handles, several callers with one id. */
import { describe, expect, test } from "vitest";
import { ConnectionError, WaitTimeoutError, type TaskHandle } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { memoryStore } from "../../src/store/memory.js";
import {
  ack,
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
  type Rig,
} from "./support.js";

const tool = { name: "deploy", arguments: { env: "prod" } };
const refused = (): ConnectionError => new ConnectionError("refused", { mayHaveRun: false });

/** An answer after a while of virtual time. */
const after = (run: () => Rig, delayMs: number, answer: JsonObject) => async (): Promise<JsonObject> => {
  await new Promise<void>((resolve) => run().clock.setTimer(delayMs, resolve));
  return answer;
};

describe("a timeout", () => {
  test("F025: a handle that comes after it is recorded, reported and tracked", async () => {
    const script = { "tools/call": after(() => run, 2000, handle()), "tasks/get": done() };
    const run: Rig = await rig(script);
    const error: unknown = await run.within(
      run.client.callTool("srv", tool, { timeoutMs: 1000 }).catch((reason: unknown) => reason),
    );
    expect(error).toBeInstanceOf(WaitTimeoutError);
    expect(run.clock.monotonic()).toBe(1000);
    await run.clock.advance(1500);
    expect(run.told.of("created")).toMatchObject([{ late: true }]);
    const { task } = error as WaitTimeoutError<TaskHandle>;
    expect(await run.within(task!.result())).toEqual(text("done"));
    expect(run.connection.requestsOf("tasks/cancel")).toEqual([]);
  });

  test('F025: with onLateHandle "cancel" the late task is cancelled once', async () => {
    const script = {
      "tools/call": after(() => run, 2000, handle()),
      "tasks/get": state(),
      "tasks/cancel": ack,
    };
    const run: Rig = await rig(script, { onLateHandle: "cancel" });
    await run.within(run.client.callTool("srv", tool, { timeoutMs: 1000 }).catch(() => undefined));
    await run.clock.advance(9000);
    expect(run.connection.requestsOf("tasks/cancel")).toHaveLength(1);
    expect(await run.client.tasks()).toHaveLength(1);
  });

  test('with onLateHandle "cancel" a handle that comes in time is not cancelled', async () => {
    const run = await rig({ "tools/call": handle(), "tasks/get": state() }, { onLateHandle: "cancel" });
    await startTask(run, {}, tool);
    await run.clock.advance(5000);
    expect(run.connection.requestsOf("tasks/cancel")).toEqual([]);
  });

  test("asking again with the same callId after a timeout waits anew, and gets the task", async () => {
    const script = { "tools/call": after(() => run, 2500, handle()), "tasks/get": done() };
    const run: Rig = await rig(script);
    const options = { callId: "c1", timeoutMs: 1000 };
    for (let n = 0; n < 2; n += 1) {
      const call = run.within(run.client.callTool("srv", tool, options));
      await expect(call).rejects.toBeInstanceOf(WaitTimeoutError);
    }
    expect(run.clock.monotonic()).toBe(2000);
    const task = await startTask(run, options, tool);
    expect(task.taskId).toBe("task-secret-1");
    expect(run.told.of("created")).toMatchObject([{ late: false }]);
    expect(run.connection.requestsOf("tools/call")).toHaveLength(1);
  });

  test("every caller of one id has its own", async () => {
    const script = { "tools/call": after(() => run, 3000, handle()) };
    const run: Rig = await rig(script);
    const hasty = run.client.callTool("srv", tool, { callId: "c1", timeoutMs: 1000 });
    const patient = run.client.callTool("srv", tool, { callId: "c1", timeoutMs: 10_000 });
    hasty.catch(() => undefined);
    expect(await run.within(patient)).toMatchObject({ kind: "task" });
    await expect(hasty).rejects.toBeInstanceOf(WaitTimeoutError);
  });

  test("a call that another process is sending is waited for no longer", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const second = await rig({}, { clock, store });
    const first = await rig({ "tools/call": "hang" }, { clock, store });
    void first.client.callTool("srv", tool, { callId: "c1" }).catch(() => undefined);
    await clock.advance(10);
    const call = second.within(second.client.callTool("srv", tool, { callId: "c1", timeoutMs: 1000 }), 5000);
    await expect(call).rejects.toBeInstanceOf(WaitTimeoutError);
    expect(second.connection.requests).toEqual([]);
  });

  test("progress starts it anew; time in which people answer does not count", async () => {
    const call = async (request: { options: { onNotice?: unknown } }, n: number): Promise<JsonObject> => {
      if (n > 0) return text("ok");
      const onNotice = request.options.onNotice as (notice: object) => void;
      for (let step = 0; step < 5; step += 1) {
        await new Promise<void>((resolve) => run.clock.setTimer(800, resolve));
        onNotice({ method: "notifications/progress", params: { progress: step } });
      }
      return { resultType: "input_required", inputRequests: { k: form() } };
    };
    const progress: unknown[] = [];
    const run: Rig = await rig({ "tools/call": call });
    const waiting = run.client.callTool("srv", tool, {
      timeoutMs: 1000,
      onProgress: (one) => void progress.push(one),
    });
    await run.clock.advance(60_000);
    const [request] = await run.client.pendingInputs();
    await run.client.respond(request!.id, "k", yes);
    expect(await run.within(waiting)).toEqual({ kind: "result", result: text("ok") });
    expect(progress).toHaveLength(5);
  });

  test("attempts that are refused end in it, with what the last one met", async () => {
    const run = await rig({ "tools/call": refused() });
    const call = run.within(run.client.callTool("srv", tool, { timeoutMs: 10_000 }));
    await expect(call).rejects.toMatchObject({ code: "CONNECTION", message: "refused" });
    expect(run.clock.monotonic()).toBeLessThanOrEqual(11_000);
    expect(run.connection.requestsOf("tools/call").length).toBeGreaterThan(2);
    expect(await run.client.tasks()).toEqual([]);
  });
});

describe("an abort", () => {
  test("F161: before the answer: rejects with its reason; a late handle is tracked", async () => {
    const script = { "tools/call": after(() => run, 500, handle()), "tasks/get": done() };
    const run: Rig = await rig(script);
    const caller = new AbortController();
    const call = run.client.callTool("srv", tool, { signal: caller.signal });
    call.catch(() => undefined);
    await run.clock.advance(100);
    const reason = new Error("the user left");
    caller.abort(reason);
    await expect(call).rejects.toBe(reason);
    await run.clock.advance(5000);
    expect(run.told.of("created")).toMatchObject([{ late: true }]);
    expect(run.told.of("settled")).toMatchObject([{ status: "completed" }]);
  });

  test("of one caller leaves the others alone", async () => {
    const script = {
      "tools/call": [{ resultType: "input_required", inputRequests: { k: form() } }, text("ok")],
    };
    const run = await rig(script);
    const leaving = new AbortController();
    const first = run.client.callTool("srv", tool, { callId: "c1" });
    await run.clock.advance(10);
    const second = run.client.callTool("srv", tool, { callId: "c1", signal: leaving.signal });
    second.catch(() => undefined);
    await run.clock.advance(10);
    leaving.abort();
    await expect(second).rejects.toMatchObject({ name: "AbortError" });
    await run.client.respond("c1", "k", yes);
    expect(await run.within(first)).toEqual({ kind: "result", result: text("ok") });
  });

  test("while people are asked before there is a task: the call is over, and nobody is asked any more", async () => {
    const signals: AbortSignal[] = [];
    const script = { "tools/call": { resultType: "input_required", inputRequests: { k: form() } } };
    const run = await rig(script, { onInputRequest: ({ signal }) => void signals.push(signal) });
    const caller = new AbortController();
    const call = run.client.callTool("srv", tool, { signal: caller.signal });
    call.catch(() => undefined);
    await run.clock.advance(10);
    caller.abort();
    await run.clock.advance(10);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(run.told.of("settled")).toMatchObject([{ status: "cancelled" }]);
  });

  test("before a question came: nobody is asked for a caller that is gone", async () => {
    const question = { resultType: "input_required", inputRequests: { k: form() } };
    const run: Rig = await rig(
      { "tools/call": after(() => run, 500, question) },
      { onInputRequest: () => yes },
    );
    const caller = new AbortController();
    const call = run.client.callTool("srv", tool, { signal: caller.signal });
    call.catch(() => undefined);
    await run.clock.advance(100);
    caller.abort();
    await run.clock.advance(5000);
    expect(run.told.of("input")).toEqual([]);
    expect(run.connection.requestsOf("tools/call")).toHaveLength(1);
  });

  test("while a server asks for patience only: the call is not sent again", async () => {
    const run = await rig({ "tools/call": { resultType: "input_required", requestState: "s" } });
    const caller = new AbortController();
    const call = run.client.callTool("srv", tool, { signal: caller.signal });
    call.catch(() => undefined);
    await run.clock.advance(500);
    caller.abort();
    await run.clock.advance(60_000);
    expect(run.connection.requestsOf("tools/call")).toHaveLength(1);
  });

  test("after an aborted attempt that did not run, the call is not sent again", async () => {
    const late = async (): Promise<Error> => {
      await new Promise<void>((resolve) => run.clock.setTimer(500, resolve));
      return refused();
    };
    const run: Rig = await rig({ "tools/call": late });
    const caller = new AbortController();
    const call = run.client.callTool("srv", tool, { signal: caller.signal });
    call.catch(() => undefined);
    await run.clock.advance(100);
    caller.abort();
    await run.clock.advance(60_000);
    expect(run.connection.requestsOf("tools/call")).toHaveLength(1);
    expect(await run.client.tasks()).toEqual([]);
  });
});

describe("a cancel before there is a task", () => {
  test("ends the attempts of a call that did not run", async () => {
    const slowly = async (): Promise<Error> => {
      await new Promise<void>((resolve) => run.clock.setTimer(500, resolve));
      return refused();
    };
    const run: Rig = await rig({ "tools/call": slowly });
    const call = run.client.callTool("srv", tool, { callId: "c1" });
    call.catch(() => undefined);
    await run.clock.advance(100);
    const task = await run.client.task("c1");
    await run.within(task!.cancel(), 10_000);
    await run.clock.advance(60_000);
    await expect(call).rejects.toMatchObject({ code: "CONNECTION" });
    expect(run.connection.requestsOf("tools/call")).toHaveLength(1);
  });

  test("is sent as soon as the handle is there", async () => {
    const script = {
      "tools/call": after(() => run, 500, handle()),
      "tasks/get": state(),
      "tasks/cancel": ack,
    };
    const run: Rig = await rig(script);
    const call = run.client.callTool("srv", tool, { callId: "c1" });
    await run.clock.advance(100);
    const task = await run.client.task("c1");
    await run.within(task!.cancel(), 10_000);
    expect(await call).toMatchObject({ kind: "task" });
    expect(run.times("tasks/cancel")).toEqual([500]);
  });

  test("is not undone by a restart: the next process does not send the call", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    const slowly = async (): Promise<Error> => {
      await new Promise<void>((resolve) => clock.setTimer(500, resolve));
      return refused();
    };
    const first = await rig({ "tools/call": slowly }, { clock, store });
    void first.client.callTool("srv", tool, { callId: "c1" }).catch(() => undefined);
    await clock.advance(100);
    const task = await first.client.task("c1");
    void task!.cancel().catch(() => undefined);
    await clock.advance(10);
    // The record as a process left it that died between "it did not run" and removing it.
    const [key, value] = splitOnce(await store.dump());
    await store.set(key, value.replace('"inFlight":true', '"inFlight":false'), undefined);
    const second = await rig({ "tools/call": text("sent all the same") }, { clock, store });
    await clock.advance(1000);
    expect(second.connection.requestsOf("tools/call")).toEqual([]);
  });
});

function splitOnce(line: string): [key: string, value: string] {
  const at = line.indexOf(" ");
  return [line.slice(0, at), line.slice(at + 1)];
}
