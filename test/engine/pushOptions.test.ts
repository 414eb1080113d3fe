/** The option `push`: what it takes, and how wrong values are refused. */
import { expect, test } from "vitest";
import { resolveOptions } from "../../src/client/options.js";
import { TaskClient } from "../../src/index.js";

test("a word, or an object with defaults", () => {
  const defaults = {
    mode: "auto",
    idleMs: 90_000,
    ackTimeoutMs: 10_000,
    minLifeMs: 30_000,
    maxFailures: 5,
    cooldownMs: 300_000,
    safetyPollMs: 60_000,
  };
  expect(resolveOptions({}).push).toEqual(defaults);
  expect(resolveOptions({ push: "off" }).push).toEqual({ ...defaults, mode: "off" });
  expect(resolveOptions({ push: { idleMs: 5000 } }).push).toEqual({ ...defaults, idleMs: 5000 });
});

test.each([
  [{ push: "sometimes" }, /^push: .*"sometimes"/],
  [{ push: true }, /^push: .*true/],
  [{ push: null }, /^push: .*null/],
  [{ push: { mode: "on" } }, /^push\.mode: .*"on"/],
  [{ push: { idleMs: 0 } }, /^push\.idleMs: .*0/],
  [{ push: { maxFailures: 1.5 } }, /^push\.maxFailures: .*1\.5/],
  [{ push: { idle: 1 } }, /^push: unknown option "idle"/],
])("%j is refused by name", (options, message) => {
  expect(() => new TaskClient(options as never)).toThrow(message);
});
