/**
 * An answer that another process gave in place of a refused one was seen at the next poll only, or never: who looked after
 * the task looked into the store for open questions only. And where the other one's wall clock was behind, its
 * answer counted as the one that had been refused, and was lost.
 */
import { expect, test } from "vitest";
import { RpcError } from "../../src/index.js";
import { ack, asks, form, handle, makeClient, rig, startTask, virtualClock, yes } from "../engine/support.js";
import { memoryStore } from "../../src/store/memory.js";
import type { FakeClock } from "../../src/testing/index.js";

const no = { action: "decline" };
const HOUR_MS = 3_600_000;

test.each([
  ["whose clock is right", 0],
  ["whose clock is an hour behind", HOUR_MS],
])("the answer of a process %s is sent", async (_what, behindMs) => {
  const clock = virtualClock();
  const theirs: FakeClock = { ...clock, now: () => clock.now() - behindMs };
  const store = memoryStore(clock);
  const refused = new RpcError({ code: -32602, message: "not that" });
  const script = {
    "tools/call": handle(),
    "tasks/get": asks({ k: form() }, { pollIntervalMs: 120_000 }),
    "tasks/update": [refused, ack],
  };
  const run = await rig(script, { clock, store });
  const task = await startTask(run);
  await clock.advance(1500);
  await run.within(task.respond("k", yes));
  await clock.advance(1200);
  expect(run.connection.requestsOf("tasks/update")).toHaveLength(1);
  await makeClient(theirs, { store }).respond(task.id, "k", no);
  await clock.advance(10_000);
  expect(run.connection.requestsOf("tasks/update").map(({ params }) => params["inputResponses"])).toEqual([
    { k: yes },
    { k: no },
  ]);
});
