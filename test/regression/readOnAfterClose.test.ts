/**
 * A look at what a process had left behind went on reading the store after `close()`. Over Redis that opened the connection
 * again that the host had just ended, and the process did not end.
 */
import { expect, test } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import type { KeyValueStore } from "../../src/store/types.js";
import { handle, rig, startTask, state, virtualClock } from "../engine/support.js";

const RECORD_MS = 300;

test("nothing of the client reads the store once it is closed", async () => {
  const clock = virtualClock();
  const inner = memoryStore(clock);
  const script = { "tools/call": handle(), "tasks/get": state() };
  const other = await rig(script, { clock, store: inner });
  for (let n = 0; n < 5; n += 1) await startTask(other);

  let isClosed = false;
  let isReading = false;
  const late: string[] = [];
  const noted = (what: string): void => void (isClosed && late.push(what));
  const store: KeyValueStore = {
    ...inner,
    get: (key) => (noted("get"), inner.get(key)),
    set: (...args) => (noted("set"), inner.set(...args)),
    setIfUnchanged: (...args) => (noted("setIfUnchanged"), inner.setIfUnchanged(...args)),
    async *entries(prefix) {
      for await (const entry of inner.entries(prefix)) {
        noted("entries");
        isReading = true;
        await new Promise<void>((resolve) => clock.setTimer(RECORD_MS, resolve));
        yield entry;
      }
    },
  };
  const run = rig(script, { clock, store });
  await clock.advance(20 * RECORD_MS);
  const { client } = await run;
  isReading = false;
  const left = other.client.close();
  await clock.advance(1000);
  await left;
  for (let waits = 0; !isReading && waits < 1000; waits += 1) await clock.advance(100);
  expect(isReading).toBe(true);

  const closed = client.close().then(() => (isClosed = true));
  await clock.advance(60_000);
  await closed;
  expect(late).toEqual([]);
});
