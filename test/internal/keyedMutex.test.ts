import { expect, test } from "vitest";
import { keyedMutex } from "../../src/internal/keyedMutex.js";

test("tasks of one key run one after the other, in order; other keys do not wait", async () => {
  const mutex = keyedMutex();
  const log: string[] = [];
  let release = (): void => {};
  const blocked = new Promise<void>((resolve) => {
    release = resolve;
  });
  const first = mutex.run("a", async () => {
    log.push("a1 begins");
    await blocked;
    log.push("a1 ends");
    return 1;
  });
  const second = mutex.run("a", async () => log.push("a2"));
  const third = mutex.run("a", async () => log.push("a3"));
  await mutex.run("b", async () => log.push("b"));
  release();
  expect(await first).toBe(1);
  await Promise.all([second, third]);
  expect(log).toEqual(["a1 begins", "b", "a1 ends", "a2", "a3"]);
  expect(mutex.size).toBe(0);
});

test("a rejection reaches its caller alone and does not hold up the next", async () => {
  const mutex = keyedMutex();
  const failing = mutex.run("a", () => Promise.reject(new Error("no")));
  const next = mutex.run("a", async () => "done");
  await expect(failing).rejects.toThrow("no");
  expect(await next).toBe("done");
  expect(mutex.size).toBe(0);
});
