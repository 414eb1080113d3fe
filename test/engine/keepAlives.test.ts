/** The rhythm of a stream: what is learned from comments, and what is not learned from anything else. */
import { expect, test } from "vitest";
import { createKeepAlives } from "../../src/engine/keepAlives.js";
import { fakeClock } from "../../src/testing/index.js";

async function rhythm(idleMs: number, gapsMs: readonly number[], kind: "comment" | "message") {
  const clock = fakeClock();
  const keepAlives = createKeepAlives(clock, idleMs);
  for (const gapMs of [0, ...gapsMs]) {
    await clock.advance(gapMs);
    keepAlives.sign();
    if (kind === "message") keepAlives.message();
  }
  return keepAlives;
}

test("F070: three of the longest gaps between comments, never more than idleMs, never less than ten seconds", async () => {
  expect((await rhythm(90_000, [15_000, 15_000, 15_000, 15_000], "comment")).patienceMs).toBe(45_000);
  expect((await rhythm(90_000, [5000, 12_000, 5000, 5000], "comment")).patienceMs).toBe(36_000);
  expect((await rhythm(90_000, [60_000, 60_000, 60_000], "comment")).patienceMs).toBe(90_000);
  expect((await rhythm(90_000, [2000, 2000, 2000, 2000], "comment")).patienceMs).toBe(10_000);
  expect((await rhythm(4000, [2000, 2000, 2000, 2000], "comment")).patienceMs).toBe(4000);
});

test("two comments are no rhythm, nor are messages: a server without keep-alives is borne for idleMs", async () => {
  expect((await rhythm(90_000, [5000, 5000], "comment")).patienceMs).toBe(90_000);
  expect((await rhythm(90_000, [1000, 1000, 1000, 1000, 1000, 1000], "message")).patienceMs).toBe(90_000);
});

test("a message in pieces is one sign", async () => {
  const clock = fakeClock();
  const keepAlives = createKeepAlives(clock, 90_000);
  for (let i = 0; i < 20; i += 1) {
    await clock.advance(1000);
    keepAlives.sign();
    await clock.advance(300);
    keepAlives.sign();
    keepAlives.message();
  }
  expect(keepAlives.patienceMs).toBe(90_000);
});
