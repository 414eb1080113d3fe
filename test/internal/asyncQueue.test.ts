import { describe, expect, test, vi } from "vitest";
import { createAsyncQueue, type AsyncQueue } from "../../src/internal/asyncQueue.js";

async function readAll<T>(queue: AsyncQueue<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of queue) values.push(value);
  return values;
}

const reader = <T>(queue: AsyncQueue<T>): AsyncIterator<T> => queue[Symbol.asyncIterator]();

describe("createAsyncQueue", () => {
  test("hands over in order, then the end; what comes after the end is dropped", async () => {
    const queue = createAsyncQueue<number>(10);
    for (const value of [1, 2, 3]) queue.push(value);
    queue.end();
    queue.push(4);
    queue.fail(new Error("too late"));
    expect(await readAll(queue)).toEqual([1, 2, 3]);
    expect(await reader(queue).next()).toEqual({ done: true, value: undefined });
  });

  test("keeps the newest when the reader does not keep up", async () => {
    const queue = createAsyncQueue<number>(3);
    for (let value = 0; value < 100_000; value += 1) queue.push(value);
    queue.end();
    expect(await readAll(queue)).toEqual([99_997, 99_998, 99_999]);
  });

  test("a value that is undefined is a value", async () => {
    const queue = createAsyncQueue<undefined>(3);
    queue.push(undefined);
    expect(await reader(queue).next()).toEqual({ done: false, value: undefined });
  });

  test("an error comes after what was unread, and once", async () => {
    const queue = createAsyncQueue<number>(3);
    const error = new Error("boom");
    queue.push(1);
    queue.fail(error);
    const read = reader(queue);
    expect(await read.next()).toEqual({ done: false, value: 1 });
    await expect(read.next()).rejects.toBe(error);
    expect(await read.next()).toEqual({ done: true, value: undefined });
  });

  test("who waits gets the value, the end or the error as it comes", async () => {
    const ended = createAsyncQueue<number>(3);
    const [first, second] = [reader(ended).next(), reader(ended).next()];
    ended.push(1);
    ended.end();
    expect(await first).toEqual({ done: false, value: 1 });
    expect(await second).toEqual({ done: true, value: undefined });
    const failed = createAsyncQueue<number>(3);
    const waiting = reader(failed).next();
    failed.fail("reason");
    await expect(waiting).rejects.toBe("reason");
  });

  test("several next() at once are answered in their order, none is forgotten", async () => {
    const queue = createAsyncQueue<number>(3);
    const read = reader(queue);
    const steps = [read.next(), read.next(), read.next(), read.next()];
    queue.push(1);
    queue.push(2);
    queue.fail(new Error("boom"));
    const results = await Promise.allSettled(steps);
    expect(
      results.map((result) => (result.status === "fulfilled" ? (result.value.value as unknown) : "error")),
    ).toEqual([1, 2, "error", undefined]);
    expect(await read.next()).toEqual({ done: true, value: undefined });
  });

  test("onReturn runs once, however the reading ends", async () => {
    const ways: ((queue: AsyncQueue<number>) => Promise<unknown>)[] = [
      async (queue) => {
        queue.push(1);
        for await (const _ of queue) break;
      },
      async (queue) => {
        queue.end();
        await readAll(queue);
      },
      async (queue) => {
        queue.fail(new Error("boom"));
        await reader(queue)
          .next()
          .catch(() => undefined);
      },
      async (queue) => {
        const waiting = reader(queue).next();
        await reader(queue).return?.();
        expect(await waiting).toEqual({ done: true, value: undefined });
      },
    ];
    for (const end of ways) {
      const onReturn = vi.fn();
      const queue = createAsyncQueue<number>(3, onReturn);
      await end(queue);
      await reader(queue).return?.();
      expect(onReturn).toHaveBeenCalledTimes(1);
    }
  });
});
