/** The twelve promises of the design, each as an invariant, in virtual time over a scripted server. */
import { describe, expect, test } from "vitest";
import {
  CallIdConflictError,
  CallOutcomeUnknownError,
  ConnectionError,
  InvalidResponseError,
  RpcError,
  StoreError,
  TaskFailedError,
  type Settled,
  type TaskHandle,
  type ToolCall,
} from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { memoryStore } from "../../src/store/memory.js";
import { done, gaps, handle, rig, state, testStore, text, virtualClock } from "../engine/support.js";

const deploy = { name: "deploy", arguments: { env: "prod" } };
const lost = (): ConnectionError => new ConnectionError("reset", { mayHaveRun: true });

function taskOf(call: ToolCall): TaskHandle {
  if (call.kind !== "task") throw new Error("expected a task");
  return call.task;
}

describe("Promise 1: No handle is lost", () => {
  test("a task handle is in the store before anybody is told of it", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    const { client, within } = await rig({ "tools/call": handle() }, { clock, store, instance: "host" });
    let storedWhenTold = false;
    client.on("created", () => (storedWhenTold = store.writes.at(-1)?.includes("task-secret-1") === true));
    await within(client.callTool("srv", deploy));
    expect(storedWhenTold).toBe(true);
  });

  test("a process that dies right after the handle came loses nothing", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const first = await rig(
      { "tools/call": handle(), "tasks/get": "hang" },
      { clock, store, instance: "host" },
    );
    const { id } = taskOf(await first.within(first.client.callTool("srv", deploy)));
    const second = await rig({ "tasks/get": done() }, { clock, store, instance: "host" });
    const task = await second.client.task(id);
    expect(await second.within(task!.result())).toEqual(text("done"));
  });

  test("a store that refuses the handle: callTool rejects with it, and the runtime goes on in memory", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    store.refuses = (value) => value.includes("task-secret-1");
    const { client, within, told } = await rig(
      { "tools/call": handle(), "tasks/get": done() },
      { clock, store, instance: "host" },
    );
    const error: unknown = await within(client.callTool("srv", deploy).catch((reason: unknown) => reason));
    expect(error).toBeInstanceOf(StoreError);
    const { task } = error as StoreError<TaskHandle>;
    expect(task?.taskId).toBe("task-secret-1");
    expect(await within(task!.result())).toEqual(text("done"));
    expect(told.of("error").length).toBeGreaterThan(0);
  });
});

describe("Promise 2: No call is sent twice", () => {
  test("the intent is journaled before tools/call goes out", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    let journal = "";
    const call = async (): Promise<JsonObject> => {
      journal = await store.dump();
      return text("at once");
    };
    const { client, within } = await rig({ "tools/call": call }, { clock, store, instance: "host" });
    await within(client.callTool("srv", deploy));
    expect(journal).toContain('"phase":"calling"');
    expect(journal).toContain('"inFlight":true');
  });

  test("every repetition is journaled as one: a process that dies in it leaves an unknown fate", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    const journals: string[] = [];
    const call = async (_: unknown, n: number): Promise<JsonObject | Error> => {
      journals.push(await store.dump());
      return n < 2 ? new ConnectionError("refused", { mayHaveRun: false }) : text("ok");
    };
    const { client, within } = await rig({ "tools/call": call }, { clock, store, instance: "host" });
    const answer = client.callTool("srv", deploy);
    await clock.advance(10);
    expect(await store.dump()).toContain('"inFlight":false');
    await within(answer);
    expect(journals).toHaveLength(3);
    for (const journal of journals) expect(journal).toContain('"inFlight":true');
  });

  test("a journal that cannot be written: nothing is sent", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    store.refuses = () => true;
    const { client, connection, within } = await rig(
      { "tools/call": handle() },
      { clock, store, instance: "host" },
    );
    await expect(within(client.callTool("srv", deploy))).rejects.toBeInstanceOf(StoreError);
    expect(connection.requests).toEqual([]);
  });

  test("an answer that was lost ends as outcome unknown, here and after a restart", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const first = await rig(
      { "tools/call": lost(), "tools/list": { tools: [] } },
      { clock, store, instance: "host" },
    );
    const failed = first.within(first.client.callTool("srv", deploy, { callId: "c1" }));
    await expect(failed).rejects.toBeInstanceOf(CallOutcomeUnknownError);
    const second = await rig({ "tools/call": text("again") }, { clock, store, instance: "host" });
    await expect(
      second.within(second.client.callTool("srv", deploy, { callId: "c1" })),
    ).rejects.toBeInstanceOf(CallOutcomeUnknownError);
    expect([first, second].flatMap((one) => one.connection.requestsOf("tools/call"))).toHaveLength(1);
  });

  test("a process that died with the call in flight: the next one does not send it", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const first = await rig({ "tools/call": "hang" }, { clock, store, instance: "host" });
    void first.client.callTool("srv", deploy).catch(() => undefined);
    await clock.advance(10);
    const settled: Settled[] = [];
    const onSettled = (one: Settled): void => void settled.push(one);
    const second = await rig({ "tools/list": { tools: [] } }, { clock, store, instance: "host", onSettled });
    await clock.advance(10);
    expect(settled).toMatchObject([{ status: "lost", reason: "call-outcome-unknown" }]);
    expect(second.connection.requestsOf("tools/call")).toHaveLength(0);
  });

  const annotated = (annotations: JsonObject): JsonObject => ({
    tools: [{ name: "deploy", inputSchema: { type: "object" }, annotations }],
  });
  test.each([
    ["nothing was sent", new ConnectionError("refused", { mayHaveRun: false }), { tools: [] }, "fail"],
    ["429", new ConnectionError("busy", { mayHaveRun: false, status: 429 }), { tools: [] }, "fail"],
    ["idempotentHint", lost(), annotated({ idempotentHint: true }), "fail"],
    ["readOnlyHint", lost(), annotated({ readOnlyHint: true }), "fail"],
    ["onUnknownOutcome", lost(), { tools: [] }, "retry"],
  ] as const)("it is sent again where that is harmless: %s", async (_why, error, list, onUnknownOutcome) => {
    const script = { "tools/call": [error, text("ok")], "tools/list": list };
    const { client, connection, within } = await rig(script);
    const answer = await within(client.callTool("srv", deploy, { onUnknownOutcome }));
    expect(answer).toEqual({ kind: "result", result: text("ok") });
    expect(connection.requestsOf("tools/call")).toHaveLength(2);
  });
});

describe("Promise 3: A call id is answered once", () => {
  test("a replayed call gets its task, its result and its failure; the tool is not called again", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const answers = [
      handle(),
      text("at once"),
      new RpcError({ code: -32000, message: "no", data: { why: 1 } }),
    ];
    const first = await rig(
      { "tools/call": answers, "tasks/get": state() },
      { clock, store, instance: "host" },
    );
    const ids = ["task", "result", "failure"];
    for (const callId of ids) {
      await first.within(first.client.callTool("srv", deploy, { callId }).catch(() => undefined));
    }
    const second = await rig({ "tasks/get": done("late") }, { clock, store, instance: "host" });
    for (const { client, within } of [first, second]) {
      const task = taskOf(await within(client.callTool("srv", deploy, { callId: "task" })));
      expect(task.taskId).toBe("task-secret-1");
      const result = await within(client.callTool("srv", deploy, { callId: "result" }));
      expect(result).toEqual({ kind: "result", result: text("at once") });
      const failure = within(client.callTool("srv", deploy, { callId: "failure" }));
      await expect(failure).rejects.toMatchObject({ code: "RPC", rpcCode: -32000, data: { why: 1 } });
    }
    expect(first.connection.requestsOf("tools/call")).toHaveLength(3);
    expect(second.connection.requestsOf("tools/call")).toHaveLength(0);
  });

  test("the same id with another tool or other arguments is a conflict", async () => {
    const { client, within } = await rig({ "tools/call": text("ok") });
    await within(client.callTool("srv", deploy, { callId: "c1" }));
    for (const other of [
      { ...deploy, name: "destroy" },
      { ...deploy, arguments: {} },
    ]) {
      const again = within(client.callTool("srv", other, { callId: "c1" }));
      await expect(again).rejects.toBeInstanceOf(CallIdConflictError);
    }
  });
});

describe("Promise 4: A failing network never fails a task", () => {
  const failures = [
    lost(),
    new ConnectionError("refused", { mayHaveRun: false }),
    ...[408, 425, 429, 500, 502, 503, 504, 404].map(
      (status) => new ConnectionError("HTTP", { mayHaveRun: status !== 429, status }),
    ),
    new InvalidResponseError("not JSON", { status: 200 }),
    new RpcError({ code: -32603, message: "internal" }),
    { resultType: "complete" },
    { resultType: "nonsense" },
  ];
  test("whatever goes wrong with the polls, delays grow and the task ends as the server says", async () => {
    const script = { "tools/call": handle(), "tasks/get": [...failures, done("after all")] };
    const { client, within, told } = await rig(script);
    const task = taskOf(await within(client.callTool("srv", deploy)));
    expect(await within(task.result(), 86_400_000)).toEqual(text("after all"));
    const delays = told.of("retry").map((retry) => retry.delayMs);
    expect(delays).toHaveLength(failures.length);
    expect(Math.max(...delays)).toBeLessThanOrEqual(60_000);
    expect(delays.at(-1)).toBeGreaterThan(delays[0]!);
  });

  test("only the server says that a task failed", async () => {
    const failed = state({ status: "failed", error: { code: -32000, message: "boom" } });
    const { client, within } = await rig({ "tools/call": handle(), "tasks/get": [lost(), failed] });
    const task = taskOf(await within(client.callTool("srv", deploy)));
    await expect(within(task.result())).rejects.toBeInstanceOf(TaskFailedError);
  });
});

describe("Promise 5: Polite", () => {
  test("two polls are never closer than the latest interval; jitter only lengthens", async () => {
    const hints = [1000, 5000, 700, 2000];
    let n = 0;
    const get = (): JsonObject => (n < hints.length ? state({ pollIntervalMs: hints[n++]! }) : done());
    const random = (): number => ((n * 7919) % 10) / 10;
    const { client, within, times } = await rig(
      { "tools/call": handle({ pollIntervalMs: 3000 }), "tasks/get": get },
      { random },
    );
    await within(taskOf(await within(client.callTool("srv", deploy))).result());
    const waits = [times("tasks/get")[0]!, ...gaps(times("tasks/get"))];
    [3000, ...hints].forEach((least, i) => {
      expect(waits[i]).toBeGreaterThanOrEqual(least);
      expect(waits[i]).toBeLessThanOrEqual(least * 1.1);
    });
  });

  test("Retry-After is obeyed, also when other answers come in meanwhile", async () => {
    const clock = virtualClock();
    const busy = new ConnectionError("busy", { mayHaveRun: false, status: 429, retryAfterMs: 7000 });
    let n = 0;
    const get = async (): Promise<JsonObject | Error> => {
      n += 1;
      if (n === 1) return busy;
      // Sent before the 429 was read, answered after it.
      if (n === 2) await new Promise<void>((resolve) => clock.setTimer(50, resolve));
      return state();
    };
    const script = {
      "tools/call": (_: unknown, i: number) => handle({ taskId: `task-${i}` }),
      "tasks/get": get,
    };
    const { client, within, times } = await rig(script, { clock });
    await within(client.callTool("srv", deploy));
    await within(client.callTool("srv", deploy));
    await clock.advance(10_000);
    const first = times("tasks/get")[0]!;
    const later = times("tasks/get").filter((at) => at > first);
    expect(Math.min(...later)).toBeGreaterThanOrEqual(first + 7000);
  });
});

describe("Promise 6: Terminal is final", () => {
  test("the first terminal snapshot is stored before it is shown", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    const { client, within, told } = await rig(
      { "tools/call": handle(), "tasks/get": done() },
      { clock, store, instance: "host" },
    );
    store.refuses = (value) => value.includes('"outcome"') && clock.monotonic() < 60_000;
    const task = taskOf(await within(client.callTool("srv", deploy)));
    await clock.advance(50_000);
    expect(task.status).toBe("working");
    expect(told.of("settled")).toEqual([]);
    expect(await within(task.result())).toEqual(text("done"));
    expect(clock.monotonic()).toBeGreaterThanOrEqual(60_000);
    expect(await store.dump()).toContain('"status":"completed"');
  });

  test("nothing replaces an outcome, also when two processes watch", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const failed = state({ status: "failed", error: { code: -32000, message: "boom" } });
    const a = await rig(
      { "tools/call": handle(), "tasks/get": done("first") },
      { clock, store, instance: "host" },
    );
    const task = taskOf(await a.within(a.client.callTool("srv", deploy)));
    const b = await rig({ "tasks/get": failed }, { clock, store, instance: "host" });
    const other = await b.client.task(task.id);
    await a.within(task.settled());
    expect(await b.within(other!.settled())).toMatchObject({ status: "completed", result: text("first") });
  });

  test("stale snapshots change nothing", async () => {
    const newer = { lastUpdatedAt: "2026-08-01T00:01:00Z" };
    const script = {
      "tools/call": handle(),
      "tasks/get": [state({ ...newer, statusMessage: "new" }), state({ statusMessage: "old" })],
    };
    const { client, within, clock, told } = await rig(script);
    const task = taskOf(await within(client.callTool("srv", deploy)));
    await clock.advance(2100);
    expect(task.statusMessage).toBe("new");
    expect(told.of("updated").map((event) => event.snapshot.statusMessage)).toEqual([undefined, "new"]);
  });
});
