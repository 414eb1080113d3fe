/**
 * What was planned for the far future and cancelled stayed in memory until then: with `poll.giveUpAfterMs` of a day every
 * poll left such a plan behind.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { createScheduler } from "../../src/engine/scheduler.js";
import { fakeClock } from "../../src/testing/index.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

test("they are let go of, and what is left runs in its order", async () => {
  const clock = fakeClock();
  const scheduler = createScheduler(clock);
  const ran: number[] = [];
  for (const n of [3, 1, 2]) scheduler.schedule(Symbol(), n * 1000, () => void ran.push(n));
  const limit = Symbol();
  const kept: WeakRef<object>[] = [];
  for (let polls = 0; polls < 1000; polls += 1) {
    const run = (): void => void ran.push(polls);
    kept.push(new WeakRef(run));
    scheduler.schedule(limit, 86_400_000, run);
    scheduler.cancel(limit);
    if (polls % 100 === 0) await clock.advance(1);
  }
  collect();
  expect(kept.filter((each) => each.deref() !== undefined).length).toBeLessThan(200);
  await clock.advance(86_400_000);
  expect(ran).toEqual([1, 2, 3]);
});
