/** What a process saw of another one's call stayed as it was when it first looked. */
import { expect, test } from "vitest";
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
  text,
  virtualClock,
  yes,
} from "../engine/support.js";
import { memoryStore } from "../../src/store/memory.js";
import type { JsonObject } from "../../src/internal/json.js";

test("questions, states and ends of another process's tasks are seen each time one looks", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const get = [state(), asks({ k: form() }), state({ statusMessage: "half" }), done()];
  const a = await rig({ "tools/call": handle(), "tasks/get": get }, { clock, store });
  const b = makeClient(clock, { store });
  const { id } = await startTask(a);
  expect(await b.pendingInputs()).toEqual([]);
  await clock.advance(2500);
  expect(await b.pendingInputs()).toMatchObject([{ id, key: "k" }]);
  await clock.advance(1000);
  expect(await b.pendingInputs()).toEqual([]);
  expect((await b.task(id))?.statusMessage).toBe("half");
  await clock.advance(1000);
  expect((await b.tasks()).map(({ status }) => status)).toEqual(["completed"]);
});

test("a call that another process finished is not sent by one that looked at it before", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const slow = async (): Promise<JsonObject> => {
    await new Promise<void>((resolve) => clock.setTimer(1000, resolve));
    return handle();
  };
  const options = { callId: "c1", onUnknownOutcome: "retry" } as const;
  const a = await rig({ "tools/call": slow, "tasks/get": done() }, { clock, store });
  const call = a.client.callTool("srv", { name: "deploy" }, options);
  await clock.advance(500);
  const bClient = makeClient(clock, { store });
  expect((await bClient.task("c1"))?.status).toBe("working");
  await a.within(call);
  const { connection } = await rig({}, { clock, store: memoryStore(clock) });
  connection.script("tasks/get", done());
  const [task] = await bClient.connect("srv", connection);
  expect(await a.within(task!.result(), 10_000)).toEqual(text("done"));
  expect(connection.requestsOf("tools/call")).toEqual([]);
});

test("a cancel by a process that looked while the call was asking does not hide the task it became", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const ask: JsonObject = { resultType: "input_required", inputRequests: { k: form() }, requestState: "s" };
  const script = { "tools/call": [ask, handle()], "tasks/get": state(), "tasks/cancel": ack };
  const a = await rig(script, { clock, store });
  const call = a.client.callTool("srv", { name: "deploy" }, { callId: "c1" });
  await clock.advance(500);
  const b = makeClient(clock, { store, storeWatchMs: 3_600_000 });
  const seen = await b.task("c1");
  await a.client.respond("c1", "k", yes);
  await a.within(call);
  const cancelled = seen!.cancel();
  await clock.advance(30_000);
  expect(a.connection.requestsOf("tasks/cancel")).not.toHaveLength(0);
  expect((await a.client.task("c1"))?.taskId).toBe("task-secret-1");
  cancelled.catch(() => undefined);
});

test("who waits for another process's call hears when its record is gone", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const a = await rig({ "tools/call": handle(), "tasks/get": state() }, { clock, store });
  const task = await startTask(a);
  const b = makeClient(clock, { store });
  const result = (await b.task(task.id))!.result();
  const ended = expect(a.within(result, 60_000)).rejects.toMatchObject({ code: "STORE" });
  await task.forget();
  await ended;
  expect(await b.tasks()).toEqual([]);
});
