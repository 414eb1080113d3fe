/**
 * A process that looked for calls that were left behind, or was asked for one by its id, kept what it had read of other
 * processes' calls for ever: their end is told elsewhere, and nobody let go of it here.
 */
import { expect, test } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import { done, handle, makeClient, rig, startTask, state, virtualClock } from "../engine/support.js";

test("what has ended is let go of", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  let calls = 0;
  let isDone = false;
  const script = {
    "tools/call": () => Promise.resolve(handle({ taskId: `task-${(calls += 1)}`, pollIntervalMs: 5000 })),
    "tasks/get": ({ params }: { params: Record<string, unknown> }) => {
      const more = { taskId: params["taskId"] as string, pollIntervalMs: 5000 };
      return Promise.resolve(isDone ? done("done", more) : state(more));
    },
  };
  const options = { clock, store, onSettled: () => undefined, retentionMs: 60_000 };
  const a = await rig(script, options);
  const b = await rig({}, options);
  const page = makeClient(clock, { store });
  for (let n = 0; n < 5; n += 1) {
    const { id } = await startTask(a);
    expect(await page.task(id)).toMatchObject({ status: "working" });
  }
  // Longer than b waits between two looks for what was left behind.
  await clock.advance(310_000);
  expect(b.client.stats().live.tracking).toBe(5);
  isDone = true;
  await clock.advance(310_000);
  for (const client of [a.client, b.client, page]) expect(client.stats().live.tracking).toBe(0);
});
