/**
 * One operation on the roster that the store never answered ended a process's signs of life for good: its calls went
 * to others, and what it was to take over stayed where it was.
 */
import { expect, test } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import type { KeyValueStore } from "../../src/store/types.js";
import { handle, rig, startTask, state, virtualClock } from "../engine/support.js";

test.each(["get", "setIfUnchanged"] as const)("%s", async (what) => {
  const clock = virtualClock();
  const inner = memoryStore(clock);
  let hangs = 0;
  const maybe = async (key: string, operation: string): Promise<void> => {
    if (!key.endsWith("!roster") || operation !== what || hangs === 0) return;
    hangs -= 1;
    await new Promise(() => undefined);
  };
  const store: KeyValueStore = {
    ...inner,
    get: async (key) => (await maybe(key, "get"), inner.get(key)),
    setIfUnchanged: async (key, ...args) => (
      await maybe(key, "setIfUnchanged"),
      inner.setIfUnchanged(key, ...args)
    ),
  };
  const script = { "tools/call": handle(), "tasks/get": state() };
  const a = await rig(script, { clock, store });
  await startTask(a);
  await clock.advance(2000);
  hangs = 1;
  await clock.advance(60_000);
  expect(hangs).toBe(0);
  const beat = async (): Promise<number> => {
    for await (const [key, value] of inner.entries("")) {
      if (!key.endsWith("!roster")) continue;
      const { owners } = JSON.parse(value as string) as { owners: [string, { beat: number }][] };
      expect(owners).toHaveLength(1);
      return owners[0]![1].beat;
    }
    return 0;
  };
  const before = await beat();
  await clock.advance(20_000);
  expect(await beat()).toBeGreaterThan(before + 2);
  const polls = a.times("tasks/get");
  expect(polls.at(-1)).toBeGreaterThan(clock.monotonic() - 6000);
});
