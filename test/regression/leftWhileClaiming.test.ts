/**
 * A process that took over more calls than it could claim within a lease took itself off the roster meanwhile, as one
 * that looks after nothing: all that it had claimed was free again.
 */
import { expect, test } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import type { KeyValueStore } from "../../src/store/types.js";
import { handle, rig, startTask, state, virtualClock } from "../engine/support.js";

test("it lives under the name that it claims with", async () => {
  const clock = virtualClock();
  const inner = memoryStore(clock);
  let slow = true;
  const store: KeyValueStore = {
    ...inner,
    async setIfUnchanged(key, ...args) {
      const done = await inner.setIfUnchanged(key, ...args);
      if (slow && !key.endsWith("!roster")) {
        await new Promise<void>((resolve) => clock.setTimer(40_000, resolve));
      }
      return done;
    },
  };
  const script = { "tools/call": handle(), "tasks/get": state() };
  const a = await rig(script, { clock, store: inner });
  await startTask(a);
  await rig(script, { clock, store });
  const closed = a.client.close({ timeoutMs: 100 });
  await clock.advance(200);
  await closed;
  await clock.advance(30_000);
  let owner: unknown;
  let roster = "";
  for await (const [key, value] of inner.entries("")) {
    if (key.endsWith("!roster")) roster = value as string;
    else owner = (JSON.parse(value as string) as { owner?: string }).owner;
  }
  expect(JSON.parse(roster)).toMatchObject({ owners: [[owner, {}]] });
  slow = false;
});
