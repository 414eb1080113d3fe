/** Owns how long the browser tests wait for what must come true: long enough for a busy machine. */
import { expect } from "vitest";

/** `expect`, again and again until it holds. */
export const until = <Value>(read: () => Value) => expect.poll(read, { timeout: 10_000, interval: 30 });
