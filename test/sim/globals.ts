/**
 * Owns that nothing reaches the machine while a world runs: timers, clocks, chance and digests of the platform are the
 * world's. It gives everything back afterwards.
 */
import { createHash } from "node:crypto";
import type { Random } from "./random.js";
import { START_MS, type Time } from "./time.js";

const realImmediate = setImmediate;

/** Lets everything run that is ready. Nothing in a world waits for more than microtasks. */
export function drain(): Promise<void> {
  return new Promise((resolve) => realImmediate(resolve));
}

/** Replaces the platform's sources of chance and time until the answered function is called. */
export function takeGlobals(time: Time, random: Random): () => void {
  const undo: (() => void)[] = [];
  const put = (target: object, name: string, value: unknown): void => {
    const before = Object.getOwnPropertyDescriptor(target, name);
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
    undo.push(() => {
      if (before === undefined) Reflect.deleteProperty(target, name);
      else Object.defineProperty(target, name, before);
    });
  };
  const stops = new WeakMap<object, () => void>();
  // p-retry waits here. Whose wait it is shows the step that it is made in.
  put(globalThis, "setTimeout", (run: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]) => {
    const timer = { unref: () => timer, ref: () => timer };
    stops.set(
      timer,
      time.timer(delayMs, () => run(...args), time.current),
    );
    return timer;
  });
  put(globalThis, "clearTimeout", (timer: unknown) => {
    if (typeof timer === "object" && timer !== null) stops.get(timer)?.();
  });
  put(globalThis, "setInterval", () => {
    throw new Error("the product uses no intervals");
  });
  put(Date, "now", () => START_MS + time.now + (time.current?.wallOffsetMs ?? 0));
  put(performance, "now", () => time.now - (time.current?.missedMs ?? 0));
  put(Math, "random", () => random.next());
  put(AbortSignal, "timeout", (delayMs: number) => {
    const controller = new AbortController();
    time.timer(delayMs, () => controller.abort(new DOMException("", "TimeoutError")), time.current);
    return controller.signal;
  });
  put(crypto, "getRandomValues", (array: Uint8Array) => {
    for (let at = 0; at < array.length; at += 1) array[at] = random.int(0, 255);
    return array;
  });
  put(crypto, "randomUUID", () => {
    const hex = Array.from({ length: 32 }, () => random.int(0, 15).toString(16)).join("");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  });
  // The platform's digest ends on another thread, at no moment that virtual time knows.
  put(crypto.subtle, "digest", (_name: string, data: ArrayBuffer | ArrayBufferView) => {
    const bytes =
      data instanceof ArrayBuffer
        ? new Uint8Array(data)
        : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const digest = createHash("sha256").update(bytes).digest();
    return Promise.resolve(new Uint8Array(digest).buffer);
  });
  return () => {
    for (const run of undo.reverse()) run();
  };
}
