/** A process that learned from another one that its call had become a task never polled it. */
import { expect, test } from "vitest";
import { asks, done, form, handle, rig, text, virtualClock, yes } from "../engine/support.js";
import { memoryStore } from "../../src/store/memory.js";
import type { JsonObject } from "../../src/internal/json.js";
import { ConnectionError } from "../../src/index.js";

test("a task that another process made of a call that both were asked for is polled here too", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const ask: JsonObject = { resultType: "input_required", inputRequests: { k: form() }, requestState: "s" };
  const a = await rig({ "tools/call": ask, "tasks/get": done() }, { clock, store, leaseMs: 0 });
  const call = a.client.callTool("srv", { name: "deploy" }, { callId: "c1" });
  await clock.advance(500);
  const b = await rig({ "tools/call": handle(), "tasks/get": "hang" }, { clock, store, leaseMs: 0 });
  await b.client.respond("c1", "k", yes);
  const answer = await a.within(call, 10_000);
  if (answer.kind !== "task") throw new Error("expected a task");
  // The other process goes away before it sees the end.
  const closed = b.client.close({ timeoutMs: 1 });
  await clock.advance(2);
  await closed;
  expect(await a.within(answer.task.result(), 10_000)).toEqual(text("done"));
});

test("so is one whose call was thought to be lost here", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  let answer: (result: JsonObject) => void = () => undefined;
  const answered = new Promise<JsonObject>((resolve) => (answer = resolve));
  const a = await rig({ "tools/call": () => answered, "tasks/get": "hang" }, { clock, store, leaseMs: 0 });
  const call = a.client.callTool("srv", { name: "deploy" }, { callId: "c1" });
  await clock.advance(500);
  // While this one looks up whether the tool may be called again, the other one gets its handle.
  const list = async (): Promise<Error> => {
    answer(handle());
    await call;
    return new ConnectionError("refused", { mayHaveRun: false });
  };
  const b = await rig({ "tools/list": list, "tasks/get": done() }, { clock, store, leaseMs: 0 });
  await clock.advance(500);
  const closed = a.client.close({ timeoutMs: 1 });
  await clock.advance(2);
  await closed;
  const task = await b.client.task("c1");
  expect(await b.within(task!.result(), 10_000)).toEqual(text("done"));
});

test("a cancelled call whose fate is unknown is not sent again", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const a = await rig({ "tools/call": "hang" }, { clock, store, leaseMs: 0 });
  const call = a.client.callTool("srv", { name: "deploy" }, { callId: "c1", onUnknownOutcome: "retry" });
  call.catch(() => undefined);
  await clock.advance(500);
  (await a.client.task("c1"))!.cancel().catch(() => undefined);
  const closed = a.client.close({ timeoutMs: 1 });
  await clock.advance(2);
  await closed;
  const b = await rig({ "tools/call": asks({}) }, { clock, store, leaseMs: 0 });
  await clock.advance(5000);
  expect(b.connection.requestsOf("tools/call")).toEqual([]);
  expect((await b.client.task("c1"))?.status).toBe("lost");
});
