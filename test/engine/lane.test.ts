/** The way to one server: outages found by one probe, floors of Retry-After, places in order, one request per task. */
import { describe, expect, test } from "vitest";
import { ConnectionError, RpcError, type TaskHandle } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { scriptedConnection, type ScriptedRequest } from "../../src/testing/index.js";
import { ack, asks, done, form, gaps, handle, rig, state, text, yes, type Rig } from "./support.js";

const refused = (): ConnectionError => new ConnectionError("refused", { mayHaveRun: false });
const taskId = (request: ScriptedRequest): string => request.params["taskId"] as string;
const numbered = (_request: ScriptedRequest, n: number): JsonObject => handle({ taskId: `task-${n}` });

async function start(run: Rig, count: number): Promise<TaskHandle[]> {
  const tasks: TaskHandle[] = [];
  for (let i = 0; i < count; i += 1) {
    const call = await run.within(run.client.callTool("srv", { name: "build" }));
    if (call.kind === "task") tasks.push(call.task);
  }
  return tasks;
}

describe("an outage", () => {
  test("50 tasks, the server refuses: one request per backoff step, and all go on when it is back", async () => {
    let isUp = true;
    const get = (request: ScriptedRequest): JsonObject | Error =>
      isUp ? state({ taskId: taskId(request) }) : refused();
    const run = await rig({ "tools/call": numbered, "tasks/get": get });
    await start(run, 50);
    await run.clock.advance(5000);
    isUp = false;
    const downAt = run.clock.monotonic();
    await run.clock.advance(1100);
    const first = run.times("tasks/get").filter((at) => at > downAt).length;
    // No more than were admitted before the first failure was known.
    expect(first).toBeLessThanOrEqual(16);
    const before = run.times("tasks/get").length;
    await run.clock.advance(300_000);
    const probes = run.times("tasks/get").slice(before);
    const steps = gaps(probes);
    for (const step of steps) expect(step).toBeGreaterThanOrEqual(1000);
    // 2, 4, 8, 16, 32 s, then each minute: the failures under way at the beginning count as one.
    expect(steps[0]).toBeLessThanOrEqual(5000);
    expect(probes.length).toBeLessThanOrEqual(10);
    expect(run.told.of("serverDown")).toHaveLength(1);

    isUp = true;
    const backAt = run.clock.monotonic();
    await run.clock.advance(65_000);
    const served = run.connection.requestsOf("tasks/get").filter((request) => request.atMs > backAt);
    expect(new Set(served.map(taskId)).size).toBe(50);
    expect(run.told.of("serverUp")).toHaveLength(1);
  });

  test("F055: Retry-After is a floor for this server, not for another", async () => {
    const busy = new ConnectionError("busy", { mayHaveRun: false, status: 429, retryAfterMs: 7000 });
    const run = await rig({ "tools/call": numbered, "tasks/get": [busy, state({ taskId: "task-0" })] });
    const other = scriptedConnection(
      { "tools/call": handle(), "tasks/get": state() },
      { clock: run.clock, identity: "other" },
    );
    await run.client.connect("other", other);
    await start(run, 1);
    await run.within(run.client.callTool("other", { name: "build" }));
    await run.clock.advance(8100);
    expect(run.times("tasks/get")).toEqual([1000, 8000]);
    expect(other.requestsOf("tasks/get")).toHaveLength(8);
  });

  test("F055: also beside a JSON-RPC error, which is no outage", async () => {
    const busy = new RpcError({ code: -32603, message: "busy" }, { status: 503, retryAfterMs: 7000 });
    const still = state({ taskId: "task-0" });
    const run = await rig({ "tools/call": numbered, "tasks/get": [busy, still, busy, still] });
    await start(run, 1);
    await run.clock.advance(17_500);
    expect(run.times("tasks/get")).toEqual([1000, 8000, 9000, 16_000, 17_000]);
    expect(run.told.of("serverDown")).toEqual([]);
  });

  test("F055: who waits for Retry-After is not let in by a success that was under way", async () => {
    const busy = new ConnectionError("busy", { mayHaveRun: false, status: 429, retryAfterMs: 7000 });
    const get = async (request: ScriptedRequest): Promise<JsonObject | Error> => {
      if (request.atMs >= 8000) return state({ taskId: taskId(request) });
      if (taskId(request) === "task-0") return busy;
      // Under way when the server asks for rest, answered while others wait for the end of it.
      await new Promise<void>((resolve) => run.clock.setTimer(3000, resolve));
      return state({ taskId: taskId(request) });
    };
    const call = (_: ScriptedRequest, n: number): JsonObject =>
      handle({ taskId: `task-${n}`, pollIntervalMs: n === 2 ? 2000 : 1000 });
    const run: Rig = await rig({ "tools/call": call, "tasks/get": get });
    await start(run, 3);
    await run.clock.advance(7999);
    expect(run.times("tasks/get")).toEqual([1000, 1000]);
    await run.clock.advance(2000);
    expect(new Set(run.connection.requestsOf("tasks/get").map(taskId)).size).toBe(3);
  });

  test.each([401, 403])("HTTP %i pauses the server; any success lets all go on", async (status) => {
    let isLocked = true;
    const locked = new ConnectionError("no", { mayHaveRun: false, status });
    const get = (request: ScriptedRequest): JsonObject | Error =>
      isLocked ? locked : state({ taskId: taskId(request) });
    const run = await rig({ "tools/call": numbered, "tasks/get": get }, { retry: { authRetryMs: 30_000 } });
    await start(run, 3);
    await run.clock.advance(20_000);
    expect(run.told.of("serverDown")).toMatchObject([{ server: "srv", reason: "auth" }]);
    expect(run.times("tasks/get").length).toBeLessThanOrEqual(3);
    isLocked = false;
    // A host's own call does not wait for the pause to end, and its success ends it.
    await start(run, 1);
    const before = run.times("tasks/get").length;
    await run.clock.advance(3000);
    expect(run.times("tasks/get").length).toBeGreaterThanOrEqual(before + 3);
    expect(run.told.of("serverUp")).toHaveLength(1);
  });

  test("one poison task whose polls answer 500 does not stop the others", async () => {
    const poison = new ConnectionError("HTTP 500", { mayHaveRun: true, status: 500 });
    const get = (request: ScriptedRequest): JsonObject | Error =>
      taskId(request) === "task-0" ? poison : state({ taskId: taskId(request) });
    const run = await rig({ "tools/call": numbered, "tasks/get": get });
    await start(run, 5);
    await run.clock.advance(600_000);
    const polls = run.connection.requestsOf("tasks/get");
    const ofPoison = polls.filter((request) => taskId(request) === "task-0");
    // Backoff for the poison one; hardly a loss for the others (600 polls each at best).
    expect(ofPoison.length).toBeLessThanOrEqual(20);
    expect((polls.length - ofPoison.length) / 4).toBeGreaterThan(550);
  });

  test("a JSON-RPC error shows that the server is there", async () => {
    const internal = new RpcError({ code: -32603, message: "internal" });
    const run = await rig({ "tools/call": numbered, "tasks/get": internal });
    await start(run, 4);
    await run.clock.advance(60_000);
    expect(run.told.of("serverDown")).toEqual([]);
  });
});

describe("places", () => {
  test("calls beyond the limit wait, and go first come, first served", async () => {
    let open = 0;
    let most = 0;
    const call = async (request: ScriptedRequest): Promise<JsonObject> => {
      open += 1;
      most = Math.max(most, open);
      await new Promise<void>((resolve) => run.clock.setTimer(100, resolve));
      open -= 1;
      return text(String((request.params["arguments"] as { n: number }).n));
    };
    const run: Rig = await rig({ "tools/call": call }, { concurrency: 3 });
    const calls = Array.from({ length: 10 }, (_, n) =>
      run.client.callTool("srv", { name: "t", arguments: { n } }),
    );
    await run.within(Promise.all(calls));
    expect(most).toBe(3);
    const order = run.connection.requestsOf("tools/call").map(({ params }) => params["arguments"]);
    expect(order).toEqual(Array.from({ length: 10 }, (_, n) => ({ n })));
  });

  test("a call whose caller leaves while it waits for its turn is not sent", async () => {
    const run = await rig({ "tools/call": ["hang", text("late")] }, { concurrency: 1 });
    const first = new AbortController();
    void run.client.callTool("srv", { name: "a" }, { signal: first.signal }).catch(() => undefined);
    await run.clock.advance(1);
    const second = new AbortController();
    const waiting = run.client.callTool("srv", { name: "b" }, { signal: second.signal });
    await run.clock.advance(1);
    second.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await run.clock.advance(600_000);
    const sent = run.connection.requestsOf("tools/call").map(({ params }) => params["name"]);
    expect(sent).toEqual(["a"]);
  });

  test("F050: at most one request in flight per task: get, update and cancel together", async () => {
    let open = 0;
    let most = 0;
    const slow = (answer: JsonObject) => async (): Promise<JsonObject> => {
      open += 1;
      most = Math.max(most, open);
      await new Promise<void>((resolve) => run.clock.setTimer(300, resolve));
      open -= 1;
      return answer;
    };
    const script = {
      "tools/call": handle({ pollIntervalMs: 100 }),
      "tasks/get": slow(asks({ a: form("a"), b: form("b") }, { pollIntervalMs: 100 })),
      "tasks/update": slow(ack),
      "tasks/cancel": slow(ack),
    };
    const run: Rig = await rig(script, { onInputRequest: () => yes });
    const [task] = await start(run, 1);
    await run.clock.advance(1000);
    const cancelled = task!.cancel();
    await run.clock.advance(5000);
    await cancelled;
    expect(run.connection.requestsOf("tasks/update").length).toBeGreaterThan(0);
    expect(most).toBe(1);
  });

  test("a poll that hangs yields to a cancel, and comes again", async () => {
    const script = { "tools/call": handle(), "tasks/get": ["hang", done()] as const, "tasks/cancel": ack };
    const run = await rig(script);
    const [task] = await start(run, 1);
    await run.clock.advance(1500);
    await run.within(task!.cancel(), 2000);
    expect(run.times("tasks/cancel")).toEqual([2500]);
    expect(await run.within(task!.result(), 5000)).toEqual(text("done"));
  });
});
