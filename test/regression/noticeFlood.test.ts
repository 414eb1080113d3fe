/** A server that pushed faster than the store could write filled memory without bound, and its task's end and polls queued behind. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/internal/json.js";
import type { KeyValueStore } from "../../src/store/types.js";
import { memoryStore } from "../../src/store/memory.js";
import { pushRig } from "../engine/pushSupport.js";
import { form, startTask, state, text, virtualClock } from "../engine/support.js";

const NOTICES = 5000;

/** A store whose writes take a while. */
function slowStore(
  clock: ReturnType<typeof virtualClock>,
  ms: number,
): { store: KeyValueStore; writes: () => number } {
  const inner = memoryStore(clock);
  let writes = 0;
  const slow = async (): Promise<void> => {
    writes += 1;
    await new Promise<void>((resolve) => void clock.setTimer(ms, resolve));
  };
  const store: KeyValueStore = {
    ...inner,
    async set(...write) {
      await slow();
      return inner.set(...write);
    },
    async setIfUnchanged(...write) {
      await slow();
      return inner.setIfUnchanged(...write);
    },
  };
  return { store, writes: () => writes };
}

const later = (n: number): string => new Date(Date.UTC(2026, 7, 1) + n).toISOString();

test("a flood of notices costs no more writes than polls could, and the end is taken at once", async () => {
  const clock = virtualClock();
  const { store, writes } = slowStore(clock, 50);
  const run = await pushRig(clock, [{}], { push: "always", store });
  const task = await startTask(run);
  const settled = task.settled();
  await clock.advance(1000);
  const before = writes();
  for (let n = 0; n < NOTICES; n += 1) {
    run.stream.push(
      state({ taskId: "task-0", pollIntervalMs: 5000, statusMessage: `at ${n}`, lastUpdatedAt: later(n) }),
    );
  }
  await clock.advance(2000);
  // Eight at once, then one every poll.minIntervalMs (100).
  expect(writes() - before).toBeLessThanOrEqual(28);
  expect(task.snapshot.statusMessage).toBe(`at ${NOTICES - 1}`);
  for (let n = 0; n < NOTICES; n += 1) {
    run.stream.push(
      state({ taskId: "task-0", statusMessage: `then ${n}`, lastUpdatedAt: later(NOTICES + n) }),
    );
  }
  run.change({ status: "completed", result: text("done") });
  const began = clock.monotonic();
  expect(await run.within(settled)).toMatchObject({ status: "completed" });
  expect(clock.monotonic() - began).toBeLessThanOrEqual(10 * 50);
});

test("a poll is not held up by what is pushed", async () => {
  const clock = virtualClock();
  const { store } = slowStore(clock, 50);
  const run = await pushRig(clock, [{}], { push: "always", store });
  const task = await startTask(run);
  const settled = task.settled();
  await clock.advance(1000);
  for (let n = 0; n < NOTICES; n += 1) {
    run.stream.push(
      state({ taskId: "task-0", pollIntervalMs: 5000, statusMessage: `at ${n}`, lastUpdatedAt: later(n) }),
    );
  }
  run.changeQuietly({ status: "completed", result: text("done") });
  await run.within(settled, 10_000);
  expect(run.times("tasks/get")[0]).toBeLessThanOrEqual(6000);
});

test("questions that change with every notice are put to people no faster than polls could put them", async () => {
  const asked: JsonObject[] = [];
  const run = await pushRig(virtualClock(), [{}], {
    push: "always",
    onInputRequest(request) {
      asked.push({ key: request.key });
      return undefined;
    },
  });
  const settled = (await startTask(run)).settled();
  settled.catch(() => undefined);
  await run.clock.advance(1000);
  for (let n = 0; n < NOTICES; n += 1) {
    run.stream.push(
      state({
        taskId: "task-0",
        status: "input_required",
        inputRequests: { [`k${n}`]: form(`Question ${n}?`) },
        lastUpdatedAt: later(n),
      }),
    );
  }
  await run.clock.advance(1000);
  expect(asked.length).toBeLessThanOrEqual(18);
  expect(asked.at(-1)).toEqual({ key: `k${NOTICES - 1}` });
});
