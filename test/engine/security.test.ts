/** Field cases of hostile servers and shared stores: keys, floods, other people's records. */
import { describe, expect, test } from "vitest";
import { CallIdConflictError, ConnectionError, type TaskInputRequest } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
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
  text,
  testStore,
  virtualClock,
  yes,
} from "./support.js";

describe("F175: records belong to one server and one principal", () => {
  test("another principal sees nothing, resumes nothing, answers nothing, and may use the same callId", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const u1 = await rig(
      { "tools/call": handle(), "tasks/get": asks({ k: form() }) },
      { clock, store, instance: "host", scope: "u1" },
    );
    await startTask(u1, { callId: "c1" });
    await clock.advance(1500);
    const u2 = await rig({ "tools/call": text("mine") }, { clock, store, instance: "host", scope: "u2" });
    await clock.advance(5000);
    expect(u2.connection.requests).toEqual([]);
    expect([await u2.client.tasks(), await u2.client.pendingInputs(), await u2.client.resume()]).toEqual([
      [],
      [],
      [],
    ]);
    await expect(u2.client.respond("c1", "k", yes)).rejects.toBeInstanceOf(TypeError);
    const other = { name: "other", arguments: {} };
    expect(await u2.within(u2.client.callTool("srv", other, { callId: "c1" }))).toMatchObject({
      kind: "result",
    });
    await expect(u1.within(u1.client.callTool("srv", other, { callId: "c1" }))).rejects.toBeInstanceOf(
      CallIdConflictError,
    );
  });

  test.each([
    ["a", "a:b"],
    ["a:b", "a"],
    [" ", "  "],
    ["A", "a"],
  ])("scopes %j and %j are two", async (mine, theirs) => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const first = await rig({ "tools/call": handle() }, { clock, store, instance: "host", scope: mine });
    await startTask(first, { callId: "c1" });
    const second = await rig({}, { clock, store, instance: "host", scope: theirs });
    expect(await second.client.tasks()).toEqual([]);
  });

  test("messages of errors that quote the server's text have the task id taken out", async () => {
    const echo = new ConnectionError("HTTP 500", { mayHaveRun: true, status: 500 });
    const run = await rig({
      "tools/call": handle(),
      "tasks/get": [echo, state({ taskId: "stranger" }), done()],
    });
    await run.within((await startTask(run)).result());
    for (const { error } of run.told.of("error")) expect(error.message).not.toContain("task-secret-1");
  });
});

describe("F176: keys that the server chose", () => {
  const KEYS = ["__proto__", "constructor", "toString", "", " ", "a.b", "😀", "x".repeat(10_240)];

  test("are questions like all others, and their answers are own members of what is sent", async () => {
    const requests = JSON.parse(
      `{${KEYS.map((key) => `${JSON.stringify(key)}:${JSON.stringify(form(key))}`).join()}}`,
    ) as JsonObject;
    const shown: string[] = [];
    const onInputRequest = ({ key }: TaskInputRequest): JsonObject => {
      shown.push(key);
      return yes;
    };
    const script = { "tools/call": handle(), "tasks/get": asks(requests), "tasks/update": ack };
    const run = await rig(script, { onInputRequest, answerGraceMs: 1e9 });
    await startTask(run);
    await run.clock.advance(5000);
    expect(shown.sort()).toEqual([...KEYS].sort());
    const sent = run.connection
      .requestsOf("tasks/update")
      .flatMap(({ params }) => Object.keys(JSON.parse(JSON.stringify(params["inputResponses"])) as object));
    expect(sent.sort()).toEqual([...KEYS].sort());
    expect(({} as { action?: unknown }).action).toBeUndefined();
  });

  test("task ids of any shape and length are sent back unchanged, also after a restart", async () => {
    for (const taskId of [
      "__proto__",
      "tâsk",
      " x",
      "x\r\ny",
      "=?base64?eA==?=",
      "../x",
      "y".repeat(10_240),
    ]) {
      const clock = virtualClock();
      const store = memoryStore(clock);
      const first = await rig({ "tools/call": handle({ taskId }) }, { clock, store, instance: "host" });
      const { id } = await startTask(first);
      const second = await rig({ "tasks/get": done("ok", { taskId }) }, { clock, store, instance: "host" });
      expect(await second.within((await second.client.task(id))!.result())).toEqual(text("ok"));
      expect(second.connection.requestsOf("tasks/get")[0]?.params).toEqual({ taskId });
    }
  });
});

describe("F178: floods", () => {
  test("10,000 questions at once: a bounded number is shown and kept, the rest comes up as they are answered", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    const open = new Map(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, form(`${i}`)]));
    const script = {
      "tools/call": handle(),
      "tasks/get": () => asks(Object.fromEntries(open)),
      "tasks/update": ({ params }: { params: JsonObject }) => {
        for (const key of Object.keys(params["inputResponses"] as object)) open.delete(key);
        return ack;
      },
    };
    const run = await rig(script, { clock, store, instance: "host" });
    const task = await startTask(run);
    await clock.advance(10_500);
    expect(task.pendingInputs).toHaveLength(256);
    expect(run.told.of("input")).toHaveLength(256);
    expect(run.told.of("error")).toHaveLength(1);
    // One write for the questions, none for the polls that repeat them.
    expect(store.writes.length).toBeLessThanOrEqual(4);
    expect(Math.max(...store.writes.map(({ length }) => length))).toBeLessThan(200_000);
    await task.respond("k0", yes);
    await clock.advance(3000);
    expect(task.pendingInputs).toHaveLength(256);
    expect(task.pendingInputs.map(({ key }) => key)).toContain("k256");
  });

  test("many status changes: a reader that does not keep up costs bounded memory and gets the newest", async () => {
    let n = 0;
    const get = (): JsonObject => {
      n += 1;
      return n > 2000 ? done() : state({ pollIntervalMs: 1, statusMessage: `step ${n}` });
    };
    const script = { "tools/call": handle({ pollIntervalMs: 1 }), "tasks/get": get };
    const run = await rig(script, { poll: { minIntervalMs: 1 } });
    const task = await startTask(run);
    const reader = task.updates()[Symbol.asyncIterator]();
    await run.within(task.result());
    const read: (string | undefined)[] = [];
    for (let step = await reader.next(); step.done !== true; step = await reader.next()) {
      read.push(step.value.statusMessage ?? step.value.status);
    }
    expect(read).toHaveLength(256);
    expect(read.at(-1)).toBe("completed");
    expect(read.at(-2)).toBe("step 2000");
  });

  test("a long status message is cut, an error message too; neither reaches the store in full", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    const long = "x".repeat(5_000_000);
    const failed = state({ status: "failed", error: { code: -32000, message: long } });
    const script = { "tools/call": handle({ statusMessage: long }), "tasks/get": failed };
    const run = await rig(script, { clock, store, instance: "host" });
    const task = await startTask(run);
    expect(task.statusMessage?.length).toBeLessThanOrEqual(8192);
    await run.within(task.settled());
    expect(Math.max(...store.writes.map(({ length }) => length))).toBeLessThan(50_000);
  });

  test("a flood of different warnings is not a flood of events", async () => {
    let n = 0;
    const get = (): JsonObject => {
      n += 1;
      return { ...state(), [`resultType`]: `nonsense-${n}` };
    };
    const run = await rig({ "tools/call": handle(), "tasks/get": get });
    await startTask(run);
    await run.clock.advance(86_400_000 / 4);
    expect(run.told.of("error").length).toBeLessThanOrEqual(51);
  });
});
