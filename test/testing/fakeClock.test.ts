import { describe, expect, test } from "vitest";
import { sleep } from "../../src/internal/clock.js";
import { fakeClock } from "../../src/testing/index.js";

describe("fakeClock", () => {
  test("timers run in their order, each at its own instant", async () => {
    const clock = fakeClock({ nowMs: 1000 });
    const seen: [string, number, number][] = [];
    const at = (name: string) => () => seen.push([name, clock.monotonic(), clock.now()]);
    clock.setTimer(30, at("c"));
    clock.setTimer(10, at("a"));
    clock.setTimer(10, at("b"));
    await clock.advance(20);
    expect(seen).toEqual([
      ["a", 10, 1010],
      ["b", 10, 1010],
    ]);
    expect(clock.monotonic()).toBe(20);
    expect(clock.timers).toBe(1);
    expect(clock.nextInMs).toBe(10);
  });

  test("a timer that a timer sets through promises and WebCrypto runs within the same advance", async () => {
    const clock = fakeClock();
    const ticks: number[] = [];
    const loop = async (): Promise<void> => {
      for (;;) {
        await sleep(clock, 100);
        await crypto.subtle.digest("SHA-256", new Uint8Array(8));
        ticks.push(clock.monotonic());
      }
    };
    void loop();
    await clock.advance(350);
    expect(ticks).toEqual([100, 200, 300]);
  });

  test("a jump moves the wall clock alone", async () => {
    const clock = fakeClock({ nowMs: 0 });
    let fired = false;
    clock.setTimer(100, () => (fired = true));
    clock.jump(3_600_000);
    await clock.advance(0);
    expect([clock.now(), clock.monotonic(), fired]).toEqual([3_600_000, 0, false]);
    clock.jump(-7_200_000);
    expect(clock.now()).toBe(-3_600_000);
  });

  test("a stopped timer never runs, and hostile delays are bounded", async () => {
    const clock = fakeClock();
    const fired: string[] = [];
    clock.setTimer(5, () => fired.push("stopped"))();
    clock.setTimer(Number.NaN, () => fired.push("nan"));
    clock.setTimer(-5, () => fired.push("negative"));
    clock.setTimer(Infinity, () => fired.push("infinite"));
    await clock.advance(2 ** 40);
    expect(fired).toEqual(["nan", "negative"]);
    expect(clock.timers).toBe(1);
  });

  test("runUntil answers the promise's value, or its error", async () => {
    const clock = fakeClock();
    await expect(
      clock.runUntil(
        sleep(clock, 90_000).then(() => "late"),
        100_000,
      ),
    ).resolves.toBe("late");
    expect(clock.monotonic()).toBe(90_000);
    const failing = sleep(clock, 1).then(() => Promise.reject(new Error("no")));
    await expect(clock.runUntil(failing, 10)).rejects.toThrow("no");
  });

  test("runUntil gives up at its limit, and when nothing is left to wait for", async () => {
    const clock = fakeClock();
    clock.setTimer(50, () => undefined);
    await expect(clock.runUntil(() => false, 49)).rejects.toThrow("within 49 ms");
    expect(clock.monotonic()).toBe(0);
    await expect(clock.runUntil(() => false, 50)).rejects.toThrow("no timer is pending");
  });
});
