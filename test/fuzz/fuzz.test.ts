/** A short run of every target with a fixed seed; `npm run fuzz` is the long one. */
import { afterAll, describe, expect, test } from "vitest";
import { bytesOf, chunksOf, planOf, shrunk } from "./bytes.js";
import { Finding, refusal, structure } from "./guard.js";
import { PLANTED } from "./hostile.js";
import { MAX_GROWTH_MB } from "./heap.js";
import { fuzz, keepsTooMuch, oneSided, shares, targets } from "./runner.js";
import { startWatchdog } from "./watchdog.js";
import { InvalidResponseError } from "../../src/errors.js";
import fc from "fast-check";

const INPUTS = 20_000;
const SEED = 4711;

const watchdog = startWatchdog();
afterAll(async () => {
  await watchdog.stop();
});

describe(`${INPUTS} hostile inputs`, () => {
  const all = shares(targets, INPUTS);

  test.each(targets.map((target) => [target.name, target] as const))(
    "%s",
    async (_name, target) => {
      const report = await fuzz(target, { inputs: all.get(target) ?? 0, seed: SEED, watchdog });
      expect(report.failures).toEqual([]);
      // Garbage alone, or nothing but what is right, would prove nothing.
      expect(oneSided(report)).toBe(false);
      expect(report.grownMb).toBeLessThan(MAX_GROWTH_MB);
    },
    60_000,
  );

  test("are as many as that", () => {
    expect([...all.values()].reduce((sum, share) => sum + share, 0)).toBeGreaterThanOrEqual(INPUTS);
  });
});

describe("the fuzzer itself can fail", () => {
  test("a target that breaks is shrunk, and named with the command that runs it again", async () => {
    const broken = structure("broken", 1, fc.array(fc.integer()), (numbers) => {
      if (numbers.some((one) => one > 1000)) throw new RangeError("too large");
      return "accepted";
    });
    const { failures } = await fuzz(broken, { inputs: 500, seed: 1, watchdog });
    expect(failures).toHaveLength(1);
    expect(failures[0]?.input).toBe("[[1001]]");
    const path = /--path (\S+)$/.exec(failures[0]?.again ?? "")?.[1];
    const seed = Number(/--seed (-?\d+)/.exec(failures[0]?.again ?? "")?.[1]);
    const repeated = await fuzz(broken, { inputs: 500, seed, watchdog, path: path ?? "" });
    expect(repeated.failures[0]?.input).toBe("[[1001]]");
  });

  test("a target that keeps what its inputs leave is told from one that keeps nothing", async () => {
    const held: number[][] = [];
    const keeping = structure("keeping", 1, fc.integer(), (one) => {
      held.push(Array.from({ length: 16_384 }, () => one + 0.5));
      return "accepted";
    });
    const inputs = 200;
    const kept = await fuzz(keeping, { inputs, seed: 1, watchdog });
    expect(held).toHaveLength(inputs);
    expect(keepsTooMuch(kept)).toBe(true);
    held.length = 0;
    const passing = structure("passing", 1, fc.integer(), (one) =>
      Array.from({ length: 16_384 }, () => one + 0.5).length > 0 ? "accepted" : "refused",
    );
    expect(keepsTooMuch(await fuzz(passing, { inputs, seed: 1, watchdog }))).toBe(false);
  });

  test("bytes that break a reader are shrunk to the mutations that matter", async () => {
    const bases = [Buffer.from('{"a":1}')];
    const fails = async (plan: ReturnType<typeof planOf>): Promise<boolean> =>
      bytesOf(plan, bases).includes(0xff);
    const found = Array.from({ length: 5000 }, (_, seed) => planOf(seed, 1)).filter(
      (plan) => plan.mutations.length > 2 && bytesOf(plan, bases).includes(0xff),
    );
    expect(found.length).toBeGreaterThan(0);
    const [plan] = found;
    if (plan === undefined) throw new Error("no plan");
    const smallest = await shrunk(plan, fails);
    expect(smallest.mutations.length).toBeLessThan(plan.mutations.length);
    expect(await fails(smallest)).toBe(true);
    // Chunks are the bytes, whole and in order.
    expect(Buffer.concat(chunksOf(bytesOf(plan, bases), plan))).toEqual(bytesOf(plan, bases));
  });

  test("errors outside the taxonomy, nameless TypeErrors and shown secrets are findings", () => {
    expect(() => refusal(new RangeError("stack"))).toThrow(Finding);
    expect(() => refusal(new TypeError("x is not iterable"), { named: ["headers"] })).toThrow(Finding);
    expect(refusal(new TypeError("headers: expected an object"), { named: ["headers"] })).toBe("refused");
    expect(() => refusal(new InvalidResponseError(`no ${PLANTED}`))).toThrow(Finding);
    expect(refusal(new InvalidResponseError("no"))).toBe("refused");
  });
});
