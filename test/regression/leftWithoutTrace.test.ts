/** A process whose signs of life the store refused closed, and its calls were nobody's while another one lived. */
import { expect, test } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import type { KeyValueStore } from "../../src/store/types.js";
import { done, handle, rig, startTask, state, virtualClock } from "../engine/support.js";

test("who never came onto the roster says at the end that it leaves calls behind", async () => {
  const clock = virtualClock();
  const inner = memoryStore(clock);
  let refuses = true;
  const check = (key: string): void => {
    if (refuses && key.endsWith("!roster")) throw new Error("no");
  };
  const store: KeyValueStore = {
    ...inner,
    setIfAbsent: async (key, ...args) => (check(key), inner.setIfAbsent(key, ...args)),
    setIfUnchanged: async (key, ...args) => (check(key), inner.setIfUnchanged(key, ...args)),
  };
  const b = await rig({ "tasks/get": done() }, { clock, store: inner });
  const a = await rig({ "tools/call": handle(), "tasks/get": state() }, { clock, store });
  await startTask(a);
  await clock.advance(2000);
  refuses = false;
  const closed = a.client.close({ timeoutMs: 100 });
  await clock.advance(200);
  await closed;
  await clock.advance(20_000);
  expect(b.told.of("settled")).toMatchObject([{ status: "completed" }]);
});
