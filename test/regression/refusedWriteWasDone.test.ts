/**
 * A store that says no, and yet has done it: an answer of a handler was reported as already answered, and a journaled
 * call that was told as not sent stayed behind, for nobody to look after.
 */
import { expect, test } from "vitest";
import { ConnectionError, StoreError } from "../../src/index.js";
import { memoryStore } from "../../src/store/memory.js";
import type { KeyValueStore } from "../../src/store/types.js";
import type { FakeClock } from "../../src/testing/index.js";
import { ack, asks, done, form, handle, rig, startTask, text, virtualClock, yes } from "../engine/support.js";

/** Every write is done; while `lies`, those of `what` are answered with a failure. */
function lyingStore(clock: FakeClock, what: string): KeyValueStore & { lies: boolean } {
  const inner = memoryStore(clock);
  const told = <T>(value: string, answer: T): T => {
    if (store.lies && value.includes(what)) throw new Error("the reply was lost");
    return answer;
  };
  const store = {
    ...inner,
    lies: true,
    setIfAbsent: async (key: string, value: string, ttlMs: number | undefined) =>
      told(value, await inner.setIfAbsent(key, value, ttlMs)),
    setIfUnchanged: async (key: string, seen: string, value: string, ttlMs: number | undefined) =>
      told(value, await inner.setIfUnchanged(key, seen, value, ttlMs)),
  };
  return store;
}

test("an answer that was stored is sent, and nothing is said of it", async () => {
  const clock = virtualClock();
  const store = lyingStore(clock, '"state":"answered"');
  const script = { "tools/call": handle(), "tasks/get": asks({ k: form() }), "tasks/update": ack };
  const run = await rig(script, { clock, store, onInputRequest: () => yes });
  await startTask(run);
  await clock.advance(1500);
  store.lies = false;
  await clock.advance(20_000);
  const sent = run.connection.requestsOf("tasks/update").map(({ params }) => params["inputResponses"]);
  expect(sent[0]).toEqual({ k: yes });
  const codes = run.told.of("error").map(({ error }) => error.code);
  expect(codes).not.toContain("INPUT_ALREADY_ANSWERED");
});

test("a call that was told as not sent leaves no record behind, and its id can be used at once", async () => {
  const clock = virtualClock();
  const store = lyingStore(clock, '"phase":"calling"');
  const run = await rig({ "tools/call": text("ran"), "tasks/get": done() }, { clock, store });
  const call = () => run.client.callTool("srv", { name: "deploy" }, { callId: "c1" });
  await expect(call()).rejects.toBeInstanceOf(StoreError);
  store.lies = false;
  expect(await run.within(call())).toEqual({ kind: "result", result: text("ran") });
  expect(run.connection.requestsOf("tools/call")).toHaveLength(1);
  store.lies = true;
  await expect(run.client.callTool("srv", { name: "deploy" }, { callId: "c2" })).rejects.toThrow();
  store.lies = false;
  await clock.advance(60_000);
  expect(await run.client.task("c2")).toBeUndefined();
});

test("a call that did not run, and whose record the store would not remove, is removed later", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const refusing = { on: true };
  const guarded: KeyValueStore = {
    ...store,
    async delete(key) {
      if (refusing.on) throw new Error("not now");
      await store.delete(key);
    },
  };
  const settled: unknown[] = [];
  const refused = new ConnectionError("refused", { mayHaveRun: false });
  const options = { clock, store: guarded, onSettled: (one: unknown) => void settled.push(one) };
  const run = await rig({ "tools/call": [refused, text("ran")] }, options);
  const call = () => run.client.callTool("srv", { name: "deploy" }, { callId: "c1", timeoutMs: 100 });
  await expect(run.within(call())).rejects.toBe(refused);
  // Another process comes and goes: nobody takes the record for a call.
  await rig({}, { clock, store });
  await clock.advance(20_000);
  expect(settled).toEqual([]);
  refusing.on = false;
  run.connection.script("tools/call", text("ran"));
  expect(await run.within(call())).toEqual({ kind: "result", result: text("ran") });
});
