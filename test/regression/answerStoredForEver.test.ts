/** The retries of an answer that the store took, yet seemed to refuse, went on after the client was closed. */
import { expect, test } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import type { KeyValueStore } from "../../src/store/types.js";
import type { FakeClock } from "../../src/testing/index.js";
import { asks, form, handle, rig, virtualClock, yes } from "../engine/support.js";

/** Every write is done; while it refuses, it says that it was not. */
function lyingStore(clock: FakeClock): KeyValueStore & { refuses: boolean } {
  const inner = memoryStore(clock);
  const store = {
    ...inner,
    refuses: false,
    async setIfUnchanged(key: string, seen: string, value: string, ttlMs: number | undefined) {
      const done = await inner.setIfUnchanged(key, seen, value, ttlMs);
      if (store.refuses) throw new Error("the answer of the store was lost");
      return done;
    },
  };
  return store;
}

test("closing ends the storing of an answer whose question is open no more", async () => {
  const clock = virtualClock();
  const store = lyingStore(clock);
  const run = await rig(
    { "tools/call": handle(), "tasks/get": asks({ a: form() }), "tasks/update": "hang" },
    {
      clock,
      store,
      retry: { minDelayMs: 60_000 },
      onInputRequest: () => {
        store.refuses = true;
        return yes;
      },
    },
  );
  await run.within(run.client.callTool("srv", { name: "build" }));
  await clock.advance(10_000);
  store.refuses = false;
  await clock.advance(3000);
  const closed = run.client.close({ timeoutMs: 1 });
  await clock.advance(2);
  await closed;
  expect(clock.timers).toBe(0);
});

test("so does a call that vanishes because the store refuses its next round", async () => {
  const clock = virtualClock();
  const store = lyingStore(clock);
  const question = { resultType: "input_required", inputRequests: { a: form() }, requestState: "state-1" };
  const run = await rig(
    { "tools/call": question },
    {
      clock,
      store,
      onInputRequest: () => {
        store.refuses = true;
        return yes;
      },
    },
  );
  const calling = run.client.callTool("srv", { name: "build" });
  await expect(run.within(calling)).rejects.toThrow("The store failed");
  const closed = run.client.close({ timeoutMs: 1 });
  await clock.advance(2);
  await closed;
  expect(clock.timers).toBe(0);
});
