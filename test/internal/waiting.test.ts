/** Waiting under signals, for places, and for what is settled from outside. */
import { getEventListeners } from "node:events";
import { describe, expect, test, vi } from "vitest";
import { linkSignals, raceSignal } from "../../src/internal/abort.js";
import { createDeferred } from "../../src/internal/deferred.js";
import { createEmitter } from "../../src/internal/emitter.js";
import { createHold } from "../../src/internal/hold.js";
import { createLimiter } from "../../src/internal/limiter.js";
import { fakeClock } from "../../src/testing/index.js";

const listeners = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;
const never = (): Promise<never> => new Promise(() => undefined);

describe("raceSignal", () => {
  test("settles as the promise does, and leaves no listener", async () => {
    const { signal } = new AbortController();
    expect(await raceSignal(Promise.resolve(1), signal)).toBe(1);
    await expect(raceSignal(Promise.reject(new Error("boom")), signal)).rejects.toThrow("boom");
    expect(await raceSignal(Promise.resolve(2), undefined)).toBe(2);
    expect(listeners(signal)).toBe(0);
  });

  test("rejects with the signal's own reason, whatever it is", async () => {
    const controller = new AbortController();
    const raced = raceSignal(never(), controller.signal);
    controller.abort("reason");
    await expect(raced).rejects.toBe("reason");
    await expect(raceSignal(Promise.reject(new Error("unheard")), controller.signal)).rejects.toBe("reason");
    expect(listeners(controller.signal)).toBe(0);
  });

  test("F158: many waits for one long promise under one long signal leave nothing behind", async () => {
    const { signal } = new AbortController();
    const long = never();
    for (let n = 0; n < 1000; n += 1) {
      const short = new AbortController();
      const link = linkSignals(signal, short.signal);
      const raced = raceSignal(long, link.signal);
      short.abort();
      await expect(raced).rejects.toMatchObject({ name: "AbortError" });
      link.release();
    }
    expect(listeners(signal)).toBe(0);
  });
});

describe("linkSignals", () => {
  test("aborts with the first parent's reason, or its own, and not the parents", () => {
    const [a, b] = [new AbortController(), new AbortController()];
    const link = linkSignals(a.signal, undefined, b.signal);
    b.abort("b");
    a.abort("a");
    expect(link.signal.reason).toBe("b");
    const own = linkSignals(new AbortController().signal);
    own.abort("own");
    expect(own.signal.reason).toBe("own");
    expect(linkSignals(b.signal).signal.reason).toBe("b");
  });

  test("release takes the listeners away, and parents no longer reach it", () => {
    const parent = new AbortController();
    const link = linkSignals(parent.signal);
    expect(listeners(parent.signal)).toBe(1);
    link.release();
    expect(listeners(parent.signal)).toBe(0);
    parent.abort();
    expect(link.signal.aborted).toBe(false);
  });
});

describe("createLimiter", () => {
  test("lets in so many at once, first come first served", async () => {
    const limiter = createLimiter(2);
    const order: number[] = [];
    const releases: (() => void)[] = [];
    for (let n = 0; n < 5; n += 1) {
      void limiter.acquire().then((release) => {
        order.push(n);
        releases.push(release);
      });
    }
    await Promise.resolve();
    expect([limiter.active, limiter.queued, order]).toEqual([2, 3, [0, 1]]);
    for (let n = 0; n < 5; n += 1) {
      releases[n]?.();
      releases[n]?.();
      await Promise.resolve();
      await Promise.resolve();
      expect(limiter.active).toBeLessThanOrEqual(2);
    }
    expect([limiter.active, limiter.queued, order]).toEqual([0, 0, [0, 1, 2, 3, 4]]);
  });

  test("who aborts in the queue leaves it, with its reason, and is not let in", async () => {
    const limiter = createLimiter(1);
    const release = await limiter.acquire();
    const controller = new AbortController();
    const leaving = limiter.acquire(controller.signal);
    const staying = limiter.acquire(new AbortController().signal);
    controller.abort("enough");
    await expect(leaving).rejects.toBe("enough");
    expect(limiter.queued).toBe(1);
    release();
    await staying;
    expect(limiter.active).toBe(1);
    await expect(limiter.acquire(controller.signal)).rejects.toBe("enough");
  });

  test("a signal has no listener once its wait is over", async () => {
    const limiter = createLimiter(1);
    const { signal } = new AbortController();
    const release = await limiter.acquire(signal);
    const next = limiter.acquire(signal);
    release();
    (await next)();
    expect(listeners(signal)).toBe(0);
  });
});

describe("createDeferred", () => {
  test("only the first settling counts, and nobody needs to listen", async () => {
    const unheard = createDeferred<number>();
    unheard.reject(new Error("unheard"));
    unheard.resolve(1);
    expect(unheard.settled).toBe(true);
    await expect(unheard.promise).rejects.toThrow("unheard");
    const deferred = createDeferred<number>();
    expect(deferred.settled).toBe(false);
    deferred.resolve(1);
    deferred.resolve(2);
    expect(await deferred.promise).toBe(1);
  });
});

describe("createEmitter", () => {
  interface Events {
    ping: number;
  }

  test("tells all, isolated from each other, in their order; leaving while being told is fine", () => {
    const thrown: unknown[] = [];
    const emitter = createEmitter<Events>((error) => void thrown.push(error));
    const heard: string[] = [];
    emitter.on("ping", () => {
      throw new Error("first");
    });
    const leave = emitter.on("ping", (n) => {
      heard.push(`second ${n}`);
      leave();
    });
    emitter.on("ping", (n) => void heard.push(`third ${n}`));
    emitter.emit("ping", 1);
    emitter.emit("ping", 2);
    expect(heard).toEqual(["second 1", "third 1", "third 2"]);
    expect(thrown).toHaveLength(2);
  });

  test("one function added twice and taken away once stays once; counts are right", () => {
    const emitter = createEmitter<Events>(() => undefined);
    const listener = vi.fn();
    const leave = emitter.on("ping", listener);
    emitter.on("ping", listener);
    leave();
    leave();
    expect(emitter.count("ping")).toBe(1);
    emitter.emit("ping", 1);
    expect(listener).toHaveBeenCalledTimes(1);
    emitter.clear();
    expect(emitter.count("ping")).toBe(0);
  });
});

describe("createHold", () => {
  test("one timer while anybody waits, none when nobody does", async () => {
    const clock = fakeClock();
    const hold = createHold(clock);
    const [first, second] = [hold.take(), hold.take()];
    expect([hold.count, clock.timers]).toEqual([2, 1]);
    first();
    first();
    expect([hold.count, clock.timers]).toEqual([1, 1]);
    // Longer than the longest timer.
    await clock.advance(2 ** 32);
    expect(clock.timers).toBe(1);
    second();
    expect([hold.count, clock.timers]).toEqual([0, 0]);
    hold.take();
    expect(clock.timers).toBe(1);
  });
});
