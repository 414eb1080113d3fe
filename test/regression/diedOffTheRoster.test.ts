/** A process that the store did not take on its roster died with a call: no departure was seen, and nobody took it over. */
import { expect, test } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import type { KeyValueStore } from "../../src/store/types.js";
import { done, handle, rig, startTask, state, virtualClock } from "../engine/support.js";

test("its calls are found all the same, after some leases", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const b = await rig({ "tasks/get": done() }, { clock, store });
  let isDead: Promise<void> | undefined = undefined;
  const refused = async (key: string): Promise<void> => {
    await isDead;
    if (key.endsWith("!roster")) throw new Error("not now");
  };
  const own: KeyValueStore = {
    ...store,
    get: async (key) => (await isDead, store.get(key)),
    setIfAbsent: async (key, ...rest) => (await refused(key), store.setIfAbsent(key, ...rest)),
    setIfUnchanged: async (key, ...rest) => (await refused(key), store.setIfUnchanged(key, ...rest)),
  };
  const a = await rig({ "tools/call": handle(), "tasks/get": state() }, { clock, store: own });
  await startTask(a);
  isDead = new Promise(() => undefined);
  await clock.advance(320_000);
  expect(b.told.of("settled")).toMatchObject([{ status: "completed" }]);
});
