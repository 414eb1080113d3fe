/**
 * What a process left behind while another one was just connecting was seen by neither its reading of the store, which
 * was past, nor its look for what is left behind, which was for connected servers.
 */
import { expect, test } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import type { KeyValueStore } from "../../src/store/types.js";
import { done, handle, makeClient, listen, rig, startTask, state, virtualClock } from "../engine/support.js";
import { scriptedConnection } from "../../src/testing/index.js";

test("it is looked after once the server is connected", async () => {
  const clock = virtualClock();
  const inner = memoryStore(clock);
  let slow = false;
  const store: KeyValueStore = {
    ...inner,
    async *entries(prefix) {
      const rows = [];
      for await (const row of inner.entries(prefix)) rows.push(row);
      if (slow) await new Promise<void>((resolve) => clock.setTimer(20_000, resolve));
      yield* rows;
    },
  };
  const a = await rig({ "tools/call": handle(), "tasks/get": state() }, { clock, store: inner });
  const client = makeClient(clock, { store });
  const told = listen(client, clock);
  const connect = (name: string): Promise<unknown> =>
    client.connect(name, scriptedConnection({ "tasks/get": done() }, { clock }));
  await connect("other");
  slow = true;
  const connecting = connect("srv");
  await clock.advance(1000);
  slow = false;
  await startTask(a);
  const closed = a.client.close({ timeoutMs: 100 });
  await clock.advance(200);
  await closed;
  await clock.runUntil(connecting, 60_000);
  await clock.advance(20_000);
  expect(told.of("settled")).toMatchObject([{ status: "completed" }]);
});
