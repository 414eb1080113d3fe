/** Field cases of the time to live: whose clock counts, and what its end means. */
import { describe, expect, test } from "vitest";
import { ConnectionError, RpcError } from "../../src/index.js";
import { memoryStore } from "../../src/store/memory.js";
import { done, handle, makeClient, rig, startTask, state, text, virtualClock } from "./support.js";

const unknown = new RpcError({ code: -32602, message: "Aufgabe nicht gefunden" });

test("F016: odd timestamps and unknown keys: the backstop is finite and counts from the local receipt", async () => {
  for (const createdAt of ["20251125T103000Z", "2025-11-25T10:30:00", "yesterday"]) {
    const odd = { createdAt, lastUpdatedAt: createdAt, ttlMs: 60_000, _meta: { a: 1 }, b: 2, c: 3, d: 4 };
    const clock = virtualClock();
    const run = await rig({ "tools/call": handle(odd), "tasks/get": state(odd) }, { clock });
    const task = await startTask(run);
    expect(task.expiresAt?.getTime()).toBe(clock.now() + 60_000);
    await clock.advance(59_000);
    expect(task.status).toBe("working");
    await clock.advance(5000);
    expect(run.told.of("settled")).toMatchObject([{ status: "lost", reason: "expired" }]);
  }
});

test("F017: a poll without a ttl keeps the last one; a handle without one is unlimited", async () => {
  const { ttlMs: _ttl, ...silent } = state();
  const limited = await rig({ "tools/call": handle({ ttlMs: 60_000 }), "tasks/get": silent });
  await startTask(limited);
  await limited.clock.advance(70_000);
  expect(limited.told.of("settled")).toMatchObject([{ status: "lost", reason: "expired" }]);

  const { ttlMs: _none, ...unlimited } = handle();
  const run = await rig({ "tools/call": unlimited, "tasks/get": silent });
  const task = await startTask(run);
  await run.clock.advance(600_000);
  expect([task.status, task.expiresAt]).toEqual(["working", undefined]);
});

test("F109: a ttl that becomes unlimited keeps the record readable beyond the first one", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const options = { clock, store, retentionMs: 1 };
  const first = await rig(
    { "tools/call": handle({ ttlMs: 60_000 }), "tasks/get": state({ ttlMs: null }) },
    options,
  );
  const { id } = await startTask(first);
  await clock.advance(1500);
  const closed = first.client.close({ timeoutMs: 1 });
  await clock.advance(24 * 3_600_000);
  await closed;
  expect((await makeClient(clock, { store }).task(id))?.status).toBe("working");
});

describe("F163: -32602 is judged by our own clock, not by its text", () => {
  test("after the end: expired", async () => {
    const slow = { ttlMs: 60_000, pollIntervalMs: 33_000 };
    const run = await rig({ "tools/call": handle(slow), "tasks/get": unknown });
    const task = await startTask(run);
    // The first look decides nothing.
    await run.clock.advance(65_000);
    expect(task.status).toBe("working");
    await expect(run.within(task.result())).rejects.toMatchObject({ code: "TASK_LOST", reason: "expired" });
    expect(run.times("tasks/get")).toEqual([33_000, 66_000]);
  });

  test("long before the end a second look confirms it: unknown", async () => {
    const run = await rig({ "tools/call": handle({ ttlMs: 3_600_000 }), "tasks/get": unknown });
    const task = await startTask(run);
    await expect(run.within(task.result())).rejects.toMatchObject({ code: "TASK_LOST", reason: "unknown" });
    expect(run.times("tasks/get")).toEqual([1000, 2000]);
  });

  test("a server that was wrong once (it had just been restarted) loses nothing", async () => {
    const run = await rig({ "tools/call": handle(), "tasks/get": [unknown, state(), unknown, done()] });
    expect(await run.within((await startTask(run)).result())).toEqual(text("done"));
  });
});

describe("F164: the backstop is recomputed from every snapshot", () => {
  test("extended: still polled", async () => {
    const get = () => state({ ttlMs: run.clock.monotonic() < 50_000 ? 60_000 : 300_000 });
    const run: Awaited<ReturnType<typeof rig>> = await rig({
      "tools/call": handle({ ttlMs: 60_000 }),
      "tasks/get": get,
    });
    const task = await startTask(run);
    await run.clock.advance(100_000);
    expect(task.status).toBe("working");
    expect(run.times("tasks/get").at(-1)).toBe(100_000);
  });

  test("shortened: expires", async () => {
    const run = await rig({ "tools/call": handle({ ttlMs: 60_000 }), "tasks/get": state({ ttlMs: 10_000 }) });
    const task = await startTask(run);
    await run.clock.advance(13_000);
    await expect(run.within(task.result())).rejects.toMatchObject({ code: "TASK_LOST", reason: "expired" });
  });
});

describe("F166: the server's clock is not ours", () => {
  test.each([10 * 60_000, -10 * 60_000])("createdAt is off by %i ms", async (offMs) => {
    const clock = virtualClock();
    const at = new Date(clock.now() + offMs).toISOString();
    const off = { createdAt: at, lastUpdatedAt: at, ttlMs: 60_000 };
    const run = await rig({ "tools/call": handle(off), "tasks/get": state(off) }, { clock });
    const task = await startTask(run);
    await clock.advance(55_000);
    expect(task.status).toBe("working");
    await clock.advance(10_000);
    expect(run.told.of("settled")).toMatchObject([{ reason: "expired" }]);
  });

  test("a server whose clock went back is believed after a few polls", async () => {
    const before = state({ lastUpdatedAt: "2026-08-01T02:00:00Z" });
    const after = state({ lastUpdatedAt: "2026-08-01T01:00:00Z", statusMessage: "after" });
    const run = await rig({ "tools/call": handle(), "tasks/get": [before, after] });
    const task = await startTask(run);
    await run.clock.advance(10_000);
    expect(task.statusMessage).toBe("after");
  });
});

test("a server that is out of reach takes its tasks with it only long after their end", async () => {
  const refused = new ConnectionError("refused", { mayHaveRun: false });
  const run = await rig({ "tools/call": handle({ ttlMs: 60_000 }), "tasks/get": refused });
  const task = await startTask(run);
  await run.clock.advance(600_000);
  expect(task.status).toBe("working");
  await expect(run.within(task.result())).rejects.toMatchObject({ code: "TASK_LOST", reason: "expired" });
});

test("a task that was asleep with its process for longer than its ttl is looked at before it is given up", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const first = await rig(
    { "tools/call": handle({ ttlMs: 60_000 }), "tasks/get": state() },
    { clock, store },
  );
  const { id } = await startTask(first);
  const closed = first.client.close({ timeoutMs: 1 });
  await clock.advance(600_000);
  await closed;
  const second = await rig({ "tasks/get": done("in time", { ttlMs: 60_000 }) }, { clock, store });
  expect(await second.within((await second.client.task(id))!.result())).toEqual(text("in time"));
});
