/** Two clients over one store: what one knows must not be lost to the other, and people are asked for one answer. */
import { describe, expect, test } from "vitest";
import {
  ConnectionError,
  InputAlreadyAnsweredError,
  InvalidInputResponseError,
  type Settled,
} from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { memoryStore } from "../../src/store/memory.js";
import type { KeyValueStore } from "../../src/store/types.js";
import type { FakeClock } from "../../src/testing/index.js";
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
const no: JsonObject = { action: "decline" };
const wait = (clock: FakeClock, delayMs: number): Promise<void> =>
  new Promise((resolve) => clock.setTimer(delayMs, resolve));

/** The kinds of store: one that compares before it sets, one that cannot, and a plain Map through Keyv. */
const stores = [
  ["with compare-and-set", (clock: FakeClock) => memoryStore(clock)],
  ["without", plainStore],
  ["that is a Map", () => new Map<string, unknown>()],
] as const;

function plainStore(clock: FakeClock): KeyValueStore {
  const { setIfAbsent: _absent, setIfUnchanged: _unchanged, ...rest } = memoryStore(clock);
  return rest;
}

describe.each(stores)("a store %s", (_kind, makeStore) => {
  test("a process that starts while a call is in flight does not lose its handle", async () => {
    const clock = virtualClock();
    const store = makeStore(clock);
    const call = async (): Promise<JsonObject> => {
      await wait(clock, 5000);
      return handle();
    };
    const a = await rig({ "tools/call": call, "tasks/get": done() }, { clock, store, leaseMs: 0 });
    const waiting = a.client.callTool("srv", tool, { callId: "c1" });
    await clock.advance(100);
    // Without leases it cannot know that the other one lives: for it the call's fate is unknown.
    const b = await rig(
      { "tools/call": text("twice"), "tools/list": { tools: [] } },
      { clock, store, leaseMs: 0 },
    );
    await clock.advance(100);
    expect(b.connection.requestsOf("tools/call")).toEqual([]);
    const answer = await a.within(waiting);
    expect(answer.kind).toBe("task");
    const c = await rig({ "tasks/get": done("for c") }, { clock, store, leaseMs: 0 });
    expect((await c.client.task("c1"))?.taskId).toBe("task-secret-1");
  });

  test("when a repeatable call is sent by both, one handle stands and is tracked by both", async () => {
    const clock = virtualClock();
    const store = makeStore(clock);
    const call = (taskId: string, delayMs: number) => async (): Promise<JsonObject> => {
      await wait(clock, delayMs);
      return handle({ taskId });
    };
    const get = ({ params }: { params: JsonObject }): JsonObject =>
      done("one", { taskId: params["taskId"]! });
    const options = { callId: "c1", onUnknownOutcome: "retry" } as const;
    const a = await rig(
      { "tools/call": call("task-a", 3000), "tasks/get": get },
      { clock, store, leaseMs: 0 },
    );
    const first = a.client.callTool("srv", tool, options);
    await clock.advance(100);
    const b = await rig(
      { "tools/call": call("task-b", 5000), "tasks/get": get },
      { clock, store, leaseMs: 0 },
    );
    const second = b.client.callTool("srv", tool, options);
    await a.within(Promise.all([first, second]));
    const tasks = [await a.client.task("c1"), await b.client.task("c1")];
    expect(tasks.map((task) => task?.taskId)).toEqual(["task-a", "task-a"]);
    for (const task of tasks) expect(await a.within(task!.result())).toEqual(text("one"));
  });

  test("a repetition that did not run does not take the other's task away", async () => {
    const clock = virtualClock();
    const store = makeStore(clock);
    const options = { callId: "c1", onUnknownOutcome: "retry" } as const;
    const call = async (): Promise<JsonObject> => {
      await wait(clock, 1000);
      return handle();
    };
    const refused = async (): Promise<Error> => {
      await wait(clock, 3000);
      return new ConnectionError("refused", { mayHaveRun: false });
    };
    const a = await rig({ "tools/call": call, "tasks/get": state() }, { clock, store, leaseMs: 0 });
    const first = a.client.callTool("srv", tool, options);
    await clock.advance(100);
    const b = await rig({ "tools/call": refused, "tasks/get": done() }, { clock, store, leaseMs: 0 });
    await a.within(first);
    await clock.advance(5000);
    expect(b.connection.requestsOf("tools/call")).toHaveLength(1);
    const task = await makeClient(clock, { store }).task("c1");
    expect(task?.taskId).toBe("task-secret-1");
  });

  test("an answer given here is sent by the process that is connected", async () => {
    const clock = virtualClock();
    const store = makeStore(clock);
    const script = { "tools/call": handle(), "tasks/get": asks({ k: form() }), "tasks/update": ack };
    const a = await rig(script, { clock, store });
    const { id } = await startTask(a);
    await clock.advance(2000);
    const b = makeClient(clock, { store });
    await b.respond(id, "k", yes);
    await expect(b.respond(id, "k", no)).rejects.toBeInstanceOf(InputAlreadyAnsweredError);
    await clock.advance(5000);
    await expect((await a.client.task(id))!.respond("k", no)).rejects.toBeInstanceOf(
      InputAlreadyAnsweredError,
    );
    expect(a.connection.requestsOf("tasks/update").map(({ params }) => params["inputResponses"])).toEqual([
      { k: yes },
    ]);
  });

  test("of two answers one stands, and the other process is told", async () => {
    const clock = virtualClock();
    const store = makeStore(clock);
    const script = { "tools/call": handle(), "tasks/get": asks({ k: form() }), "tasks/update": ack };
    const a = await rig(script, { clock, store, storeWatchMs: 60_000 });
    const task = await startTask(a);
    await clock.advance(1500);
    await makeClient(clock, { store }).respond(task.id, "k", yes);
    // This process has not looked into the store since.
    await expect(task.respond("k", no)).rejects.toBeInstanceOf(InputAlreadyAnsweredError);
    await clock.advance(5000);
    expect(a.connection.requestsOf("tasks/update").map(({ params }) => params["inputResponses"])).toEqual([
      { k: yes },
    ]);
  });

  test("a cancel asked for here is sent by the process that is connected", async () => {
    const clock = virtualClock();
    const store = makeStore(clock);
    const cancelled = state({ status: "cancelled" });
    const script = {
      "tools/call": handle(),
      "tasks/get": () => (a.connection.requestsOf("tasks/cancel").length > 0 ? cancelled : state()),
      "tasks/cancel": ack,
    };
    const a = await rig(script, { clock, store });
    const { id } = await startTask(a);
    const task = await makeClient(clock, { store }).task(id);
    await a.within(task!.cancel(), 60_000);
    expect(a.connection.requestsOf("tasks/cancel")).toHaveLength(1);
    expect(await a.within(task!.settled(), 60_000)).toMatchObject({ status: "cancelled" });
  });

  test("a handle in a process that is not connected follows to the end; the outcome is delivered by the other", async () => {
    const clock = virtualClock();
    const store = makeStore(clock);
    const delivered: string[] = [];
    const note = (who: string) => (_: Settled) => void delivered.push(who);
    const a = await rig(
      { "tools/call": handle(), "tasks/get": [state(), state({ statusMessage: "half" }), done()] },
      { clock, store, onSettled: note("a") },
    );
    const { id } = await startTask(a);
    const b = makeClient(clock, { store, onSettled: note("b") });
    const task = await b.task(id);
    const seen: (string | undefined)[] = [];
    const reading = (async () => {
      for await (const { status, statusMessage } of task!.updates()) seen.push(statusMessage ?? status);
    })();
    expect(await a.within(task!.result())).toEqual(text("done"));
    await a.within(reading);
    expect(seen[0]).toBe("working");
    expect(seen.at(-1)).toBe("completed");
    expect(delivered).toEqual(["a"]);
  });
});

test("an answer to a question that was withdrawn meanwhile is refused, not swallowed", async () => {
  const clock = virtualClock();
  const store = testStore(clock);
  const a = await rig(
    { "tools/call": handle(), "tasks/get": [asks({ k: form() }), state()] },
    { clock, store },
  );
  const task = await startTask(a);
  await clock.advance(1500);
  // The withdrawal is on its way into a slow store when the answer comes.
  store.slowMs = 2000;
  await clock.advance(1000);
  expect(task.pendingInputs).toHaveLength(1);
  await expect(a.within(task.respond("k", yes))).rejects.toBeInstanceOf(InvalidInputResponseError);
});
