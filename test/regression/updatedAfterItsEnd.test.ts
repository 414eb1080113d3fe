/**
 * A process that the store had refused the handle of a task saw its end, told it, and stored it when the store was back:
 * what another process had written of the task meanwhile was told as an update, after the end.
 */
import { expect, test } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import type { KeyValueStore } from "../../src/store/types.js";
import type { TaskRecord } from "../../src/task/record.js";
import { done, handle, rig, virtualClock } from "../engine/support.js";

test("nothing is told of a task that is over", async () => {
  const clock = virtualClock();
  const inner = memoryStore(clock);
  let isFull = true;
  const store: KeyValueStore = {
    ...inner,
    async setIfUnchanged(key, seen, value, ttlMs) {
      if (!isFull || !value.includes('"taskId"')) return inner.setIfUnchanged(key, seen, value, ttlMs);
      if (value.includes('"phase":"settled"')) {
        // The other one has seen the same end in other words, and is first.
        const record = JSON.parse(value) as TaskRecord;
        const seenThere = { ...record, snapshot: { ...record.snapshot, statusMessage: "their words" } };
        await inner.set(key, JSON.stringify(seenThere), ttlMs);
        isFull = false;
      }
      throw new Error("the disk is full");
    },
  };
  const run = await rig({ "tools/call": handle(), "tasks/get": done() }, { clock, store });
  await run.client.callTool("srv", { name: "deploy" }, { callId: "c1" }).catch(() => undefined);
  await clock.advance(60_000);
  expect(isFull).toBe(false);
  const told = run.told.all.map(({ name }) => name);
  expect(told).toContain("settled");
  expect(told.slice(told.indexOf("settled"))).not.toContain("updated");
});
