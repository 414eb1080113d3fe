import { describe, expect, test } from "vitest";
import { createScheduler } from "../../src/engine/scheduler.js";
import { fakeClock } from "../../src/testing/index.js";

const setUp = () => {
  const clock = fakeClock();
  return { clock, scheduler: createScheduler(clock) };
};

describe("createScheduler", () => {
  test("runs each key once, in the order of the due times, with one timer for all", async () => {
    const { clock, scheduler } = setUp();
    const ran: number[] = [];
    const delays = [50, 10, 40, 30, 20, 10];
    delays.forEach((delayMs, i) => scheduler.schedule(Symbol(i), delayMs, () => void ran.push(delayMs)));
    expect([clock.timers, scheduler.size]).toEqual([1, 6]);
    await clock.advance(100);
    expect(ran).toEqual([10, 10, 20, 30, 40, 50]);
    expect([clock.timers, scheduler.size]).toEqual([0, 0]);
  });

  test("a key has one due time: the last one that was set", async () => {
    const { clock, scheduler } = setUp();
    const key = Symbol("key");
    const ran: string[] = [];
    scheduler.schedule(key, 10, () => void ran.push("first"));
    scheduler.schedule(key, 50, () => void ran.push("second"));
    expect(scheduler.dueIn(key)).toBe(50);
    await clock.advance(20);
    expect([ran, scheduler.dueIn(key)]).toEqual([[], 30]);
    await clock.advance(30);
    expect([ran, scheduler.dueIn(key)]).toEqual([["second"], undefined]);
  });

  test("what runs may schedule, move and cancel others that are due at the same moment", async () => {
    const { clock, scheduler } = setUp();
    const [a, b, c, d] = [Symbol("a"), Symbol("b"), Symbol("c"), Symbol("d")];
    const ran: string[] = [];
    scheduler.schedule(a, 10, () => {
      ran.push("a");
      scheduler.cancel(b);
      scheduler.schedule(c, 5, () => void ran.push("moved c"));
      scheduler.schedule(d, 0, () => void ran.push("d"));
    });
    scheduler.schedule(b, 10, () => void ran.push("b"));
    scheduler.schedule(c, 10, () => void ran.push("c"));
    await clock.advance(20);
    expect(ran).toEqual(["a", "d", "moved c"]);
  });

  test("F053: wall-clock jumps move nobody", async () => {
    const { clock, scheduler } = setUp();
    const ran: number[] = [];
    scheduler.schedule(Symbol("key"), 1000, () => void ran.push(clock.monotonic()));
    clock.jump(-86_400_000);
    clock.jump(2 * 86_400_000);
    await clock.advance(2000);
    expect(ran).toEqual([1000]);
  });

  test.each([NaN, -1, 0])("a delay of %s is none", async (delayMs) => {
    const { clock, scheduler } = setUp();
    let ran = false;
    scheduler.schedule(Symbol("key"), delayMs, () => (ran = true));
    await clock.advance(0);
    expect(ran).toBe(true);
  });

  test("cancelled and stopped ones leave no timer, and nothing runs after a stop", async () => {
    const { clock, scheduler } = setUp();
    const key = Symbol("key");
    let ran = 0;
    scheduler.schedule(key, 10, () => (ran += 1));
    scheduler.cancel(key);
    scheduler.cancel(key);
    expect(clock.timers).toBe(0);
    scheduler.schedule(key, 10, () => (ran += 1));
    scheduler.stop();
    scheduler.schedule(key, 10, () => (ran += 1));
    await clock.advance(100);
    expect([ran, clock.timers, scheduler.size]).toEqual([0, 0, 0]);
  });

  test("random schedules run as a plain list would", async () => {
    const { clock, scheduler } = setUp();
    let seed = 42;
    const random = (): number => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
    const keys = Array.from({ length: 50 }, (_, i) => Symbol(i));
    const due = new Map<symbol, number>();
    const ran: [symbol, number][] = [];
    const expected: [symbol, number][] = [];
    for (let step = 0; step < 2000; step += 1) {
      const key = keys[Math.floor(random() * keys.length)]!;
      if (random() < 0.2) {
        scheduler.cancel(key);
        due.delete(key);
      } else {
        const delayMs = Math.floor(random() * 1000);
        due.set(key, clock.monotonic() + delayMs);
        scheduler.schedule(key, delayMs, () => void ran.push([key, clock.monotonic()]));
      }
      if (random() < 0.1) {
        const until = clock.monotonic() + 50;
        for (const [each, at] of due) if (at <= until) expected.push([each, at]);
        for (const [each, at] of due) if (at <= until) due.delete(each);
        await clock.advance(50);
      }
    }
    const sorted = (list: [symbol, number][]): string[] =>
      list.map(([key, at]) => `${at} ${key.description}`).sort();
    expect(sorted(ran)).toEqual(sorted(expected));
    expect(ran.map(([, at]) => at)).toEqual([...ran.map(([, at]) => at)].sort((x, y) => x - y));
  });
});
