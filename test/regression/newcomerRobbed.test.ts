/**
 * Of two processes that took over a dead one's calls, the one whose look at the roster was older took what the other
 * had just claimed: both showed the question.
 */
import { expect, test } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import type { KeyValueStore } from "../../src/store/types.js";
import { asks, form, handle, rig, startTask, virtualClock } from "../engine/support.js";

test("a claim that comes after another's leaves the call to it, although that one is not known yet", async () => {
  const clock = virtualClock();
  const inner = memoryStore(clock);
  const script = { "tools/call": handle(), "tasks/get": asks({ k: form() }) };
  const shown: string[] = [];
  /** The first claims of "slow" wait: it has read the roster by then, and "fast" is not on it. */
  let held = false;
  let go: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (go = resolve));
  const slow: KeyValueStore = {
    ...inner,
    async setIfUnchanged(key, seen, value, ttlMs) {
      if (held && !key.endsWith("!roster")) await gate;
      return inner.setIfUnchanged(key, seen, value, ttlMs);
    },
  };
  const own: { severed?: Promise<void> } = {};
  const first = await rig(script, {
    clock,
    store: {
      ...inner,
      get: async (key) => (await own.severed, inner.get(key)),
      setIfUnchanged: async (...args) => (await own.severed, inner.setIfUnchanged(...args)),
      setIfAbsent: async (...args) => (await own.severed, inner.setIfAbsent(...args)),
    },
  });
  await startTask(first);
  const a = await rig(script, { clock, store: slow, onInputRequest: () => void shown.push("slow") });
  await clock.advance(2500);
  const b = await rig(script, {
    clock,
    store: inner,
    onInputRequest() {
      shown.push("fast");
      go();
      return undefined;
    },
  });
  own.severed = new Promise(() => undefined);
  held = true;
  await clock.advance(100_000);
  expect(shown).toEqual(["fast"]);
  expect(a.times("tasks/get")).toEqual([]);
  expect(b.times("tasks/get").length).toBeGreaterThan(50);
});
