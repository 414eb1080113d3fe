/** Leases: of several processes on one store one looks after a call, and the others take over when it is gone. */
import { describe, expect, test } from "vitest";
import type { Settled } from "../../src/index.js";
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
  stoppable,
  testStore,
  text,
  virtualClock,
  yes,
  type Rig,
} from "./support.js";

const LEASE_MS = 15_000;
const tool = { name: "deploy", arguments: { env: "prod" } };

async function close(run: Rig): Promise<void> {
  const closed = run.client.close({ timeoutMs: 100 });
  await run.clock.advance(200);
  await closed;
}

const asking = (more: JsonObject = {}) => ({
  "tools/call": handle(),
  "tasks/get": asks({ k: form() }),
  "tasks/update": ack,
  ...more,
});

const stores = [
  ["with compare-and-set", (clock: FakeClock): KeyValueStore => memoryStore(clock)],
  [
    "without",
    (clock: FakeClock): KeyValueStore => {
      const { setIfAbsent: _absent, setIfUnchanged: _unchanged, ...rest } = memoryStore(clock);
      return rest;
    },
  ],
] as const;

describe.each(stores)("a store %s", (_kind, makeStore) => {
  test("one process polls and asks; the other follows the store", async () => {
    const clock = virtualClock();
    const store = makeStore(clock);
    const shown: string[] = [];
    const as = (name: string) => ({ clock, store, onInputRequest: () => void shown.push(name) });
    const a = await rig(asking(), as("a"));
    const { id } = await startTask(a);
    const b = await rig(asking(), as("b"));
    await clock.advance(120_000);
    expect(shown).toEqual(["a"]);
    expect(a.times("tasks/get").length).toBeGreaterThan(100);
    expect(b.times("tasks/get")).toEqual([]);
    // Anyone may answer; who looks after the call sends it.
    expect(await b.client.pendingInputs()).toHaveLength(1);
    await b.client.respond(id, "k", yes);
    await clock.advance(3000);
    expect(a.connection.requestsOf("tasks/update")).toHaveLength(1);
    expect(b.connection.requestsOf("tasks/update")).toHaveLength(0);
    a.connection.script("tasks/get", done());
    const followed = (await b.client.task(id))!;
    expect(await b.within(followed.result(), 20_000)).toEqual(text("done"));
    expect(b.times("tasks/get")).toEqual([]);
  });

  test("after an orderly close the other one goes on at its next look", async () => {
    const clock = virtualClock();
    const store = makeStore(clock);
    const a = await rig(asking(), { clock, store });
    await startTask(a);
    const shown: string[] = [];
    const b = await rig(asking({ "tasks/get": [asks({ k: form() }), done()] }), {
      clock,
      store,
      onInputRequest: ({ key }) => void shown.push(key),
    });
    await clock.advance(2000);
    expect(shown).toEqual([]);
    await close(a);
    await clock.advance(LEASE_MS / 3 + 3000);
    expect(shown).toEqual(["k"]);
    expect(b.told.of("settled")).toMatchObject([{ status: "completed" }]);
  });

  test("a process that is gone without a word is replaced within twice its lease; so are calls nobody else knew", async () => {
    const clock = virtualClock();
    const store = makeStore(clock);
    const settled: Settled[] = [];
    const b = await rig(
      { "tasks/get": done() },
      { clock, store, onSettled: (one) => void settled.push(one) },
    );
    const own = stoppable(store);
    const a = await rig({ "tools/call": handle(), "tasks/get": state() }, { clock, store: own.store });
    const { id } = await startTask(a);
    await clock.advance(7000);
    own.stop();
    await clock.advance(LEASE_MS - 1);
    expect(settled).toEqual([]);
    await clock.advance(LEASE_MS + 3000);
    expect(settled).toMatchObject([{ id, status: "completed" }]);
    expect(b.times("tasks/get")).toHaveLength(1);
  });

  test.each(["closes", "is gone without a word"])(
    "F112: a process that claims a call and %s before its first poll leaves it to the next one",
    async (end) => {
      const clock = virtualClock();
      const store = makeStore(clock);
      const slow = { "tools/call": handle({ pollIntervalMs: 5000 }), "tasks/get": done() };
      const first = await rig(slow, { clock, store });
      const { id } = await startTask(first);
      await close(first);
      const own = stoppable(store);
      const claimer = await rig(slow, { clock, store: own.store });
      await clock.advance(100);
      expect(claimer.client.stats().live.tracking).toBe(1);
      const settled: Settled[] = [];
      const next = await rig(slow, { clock, store, onSettled: (one) => void settled.push(one) });
      if (end === "closes") await close(claimer);
      else own.stop();
      // At its next look, or once the lease has passed and was looked at again.
      await clock.advance(end === "closes" ? LEASE_MS / 3 + 6000 : 2 * LEASE_MS + 6000);
      expect(settled).toMatchObject([{ id, status: "completed" }]);
      expect(next.connection.requestsOf("tasks/get")).toHaveLength(1);
      expect(next.connection.requestsOf("tools/call")).toEqual([]);
    },
  );

  test("a call in flight is its process's: another one that starts does not give it up", async () => {
    const clock = virtualClock();
    const store = makeStore(clock);
    const slow = async (): Promise<JsonObject> => {
      await new Promise<void>((resolve) => clock.setTimer(40_000, resolve));
      return text("ran");
    };
    const a = await rig({ "tools/call": slow }, { clock, store });
    const call = a.client.callTool("srv", tool, { callId: "c1" });
    await clock.advance(1000);
    const b = await rig({ "tools/list": { tools: [] } }, { clock, store });
    await clock.advance(30_000);
    expect(b.told.of("settled")).toEqual([]);
    expect(await a.within(call)).toEqual({ kind: "result", result: text("ran") });
    const replayed = await b.within(b.client.callTool("srv", tool, { callId: "c1" }));
    expect(replayed).toEqual({ kind: "result", result: text("ran") });
    expect(b.connection.requestsOf("tools/call")).toEqual([]);
  });

  test("a later process of the same instance has the calls at once, and the earlier one lets go", async () => {
    const clock = virtualClock();
    const store = makeStore(clock);
    const shown: string[] = [];
    const withdrawn: string[] = [];
    const as = (name: string) => ({
      clock,
      store,
      instance: "worker-1",
      onInputRequest: ({ signal }: { signal: AbortSignal }) => {
        shown.push(name);
        signal.addEventListener("abort", () => withdrawn.push(name));
        return undefined;
      },
    });
    const a = await rig(asking(), as("old"));
    await startTask(a);
    await clock.advance(2000);
    const b = await rig(asking(), as("new"));
    await clock.advance(10);
    expect(shown).toEqual(["old", "new"]);
    await clock.advance(LEASE_MS);
    expect(withdrawn).toEqual(["old"]);
    const before = a.times("tasks/get").length;
    await clock.advance(60_000);
    expect(a.times("tasks/get")).toHaveLength(before);
    expect(b.times("tasks/get").length).toBeGreaterThan(60);
  });

  test("a process that was stopped for longer than its lease asks whose its calls are before it does anything", async () => {
    const clock = virtualClock();
    const store = makeStore(clock);
    const own = stoppable(store);
    const a = await rig({ "tools/call": handle(), "tasks/get": state() }, { clock, store: own.store });
    await startTask(a);
    await clock.advance(3000);
    const b = await rig({ "tasks/get": state() }, { clock, store });
    own.stop();
    await clock.advance(3 * LEASE_MS);
    expect(b.times("tasks/get").length).toBeGreaterThan(0);
    own.goOn();
    await clock.advance(LEASE_MS);
    const polls = a.times("tasks/get").length;
    await clock.advance(60_000);
    expect(a.times("tasks/get")).toHaveLength(polls);
    expect(a.client.stats().live.tracking + b.client.stats().live.tracking).toBe(2);
  });
});

test("of two processes that take over at once, one does, where the store can compare and set", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const own = stoppable(store);
  const a = await rig(asking(), { clock, store: own.store });
  await startTask(a);
  const shown: string[] = [];
  for (const name of ["b", "c", "d"]) {
    await rig(asking(), { clock, store, onInputRequest: () => void shown.push(name) });
  }
  await clock.advance(2000);
  own.stop();
  await clock.advance(3 * LEASE_MS);
  expect(shown).toHaveLength(1);
});

test("a cancellation from a process that is connected, but not in charge, goes out at once", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const script = { "tools/call": handle(), "tasks/get": state(), "tasks/cancel": ack };
  const a = await rig(script, { clock, store });
  const { id } = await startTask(a);
  const b = await rig(script, { clock, store });
  const task = (await b.client.task(id))!;
  await b.within(task.cancel(), 100);
  expect(b.connection.requestsOf("tasks/cancel")).toHaveLength(1);
  await clock.advance(9000);
  expect(a.connection.requestsOf("tasks/cancel")).toHaveLength(0);
});

test("the roster expires with those on it: who wakes later takes their calls all the same", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const b = await rig({ "tasks/get": done() }, { clock, store });
  const own = stoppable(store);
  const a = await rig({ "tools/call": handle(), "tasks/get": state() }, { clock, store: own.store });
  await startTask(a);
  await clock.advance(LEASE_MS / 2);
  own.stop();
  for await (const [key] of store.entries("")) if (key.endsWith("!roster")) await store.delete(key);
  await clock.advance(LEASE_MS);
  expect(b.told.of("settled")).toMatchObject([{ status: "completed" }]);
});

test("the roster names no call and costs no write while nothing is looked after", async () => {
  const clock = virtualClock();
  const store = testStore(clock);
  const a = await rig(
    { "tools/call": [handle({ taskId: "task-secret-1" }), text("x")], "tasks/get": done() },
    { clock, store },
  );
  const task = await startTask(a, { callId: "call-secret" });
  await a.within(task.result());
  await clock.advance(10 * LEASE_MS);
  let roster = "";
  for await (const [key, value] of store.entries!("")) if (key.endsWith("!roster")) roster = value as string;
  expect(roster).not.toMatch(/secret/);
  expect(JSON.parse(roster)).toMatchObject({ owners: [] });
});

test("leaseMs: 0, and a client without a store, write no roster and look after everything", async () => {
  const clock = virtualClock();
  const store = testStore(clock);
  const a = await rig({ "tools/call": handle(), "tasks/get": state() }, { clock, store, leaseMs: 0 });
  await startTask(a);
  const b = await rig({ "tasks/get": state() }, { clock, store, leaseMs: 0 });
  await clock.advance(10_000);
  expect(b.times("tasks/get").length).toBeGreaterThan(5);
  for await (const [key] of store.entries!("")) expect(key).not.toMatch(/roster/);
});

test.each([
  ["leaseMs", { leaseMs: -1 }],
  ["leaseMs", { leaseMs: Number.NaN }],
  ["instance", { instance: "" }],
])("a wrong %s is a TypeError that names it", (name, options) => {
  expect(() => makeClient(virtualClock(), { store: new Map<string, unknown>(), ...options })).toThrow(
    new RegExp(`^${name}: expected`),
  );
});
