/** Politeness (promise 5), judged by the clock of a server in another process: in one run, over kill -9, over a close. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { spawnTaskServer, type SpawnedTaskServer } from "../../src/testing/index.js";
import type { HostInput } from "./host.js";
import { gapsOf, tooShort, type Gap } from "./pace.js";
import { compilePrograms, type Ended, type Programs } from "./programs.js";

const DEFAULT_MS = 80;
const HOST = "test/process/host.ts";

let programs: Programs;
beforeAll(() => {
  programs = compilePrograms();
});
afterAll(() => programs.remove());

const hints = (intervals: readonly number[], ms: number) => ({
  tool: "hints",
  arguments: { intervals: [...intervals], ms },
});
const report = (steps: number, stepMs: number) => ({ tool: "report", arguments: { steps, stepMs } });

/** Twenty tasks, ten of which change their interval with every answer, each in its own way. */
const twenty = Array.from({ length: 10 }, (_, i) => [
  hints([50 + 10 * i, 200, 60, 150 - 5 * i, 90, 250], 1500 + 40 * i),
  report(5, 200 + 20 * i),
]).flat();

function expectNothingSaid(ended: Ended): void {
  // An unhandled rejection would end the process with code 1 and a stack.
  expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: "" });
}

function expectPolite(server: SpawnedTaskServer, gaps: readonly Gap[]): void {
  expect(tooShort(gaps)).toEqual([]);
  // The server's own rule, which counts from the moment in which it sent the answer.
  expect(server.violations()).toEqual([]);
}

async function withServer<T>(
  options: Parameters<typeof spawnTaskServer>[0],
  run: (server: SpawnedTaskServer, input: (more: Partial<HostInput>) => HostInput) => Promise<T>,
): Promise<T> {
  await using server = await spawnTaskServer({ strict: true, pollIntervalMs: DEFAULT_MS, ...options });
  const storePath = join(programs.folder, `store-${server.port}`);
  return await run(server, (more) => ({ story: "polls", url: server.url, storePath, ...more }));
}

describe("twenty tasks at once", () => {
  it("are never polled before the interval that the last answer showed, nor before the handle's (F034)", async () => {
    await withServer({}, async (server, input) => {
      const ended = await programs.start(HOST, input({ calls: twenty })).ended;
      expectNothingSaid(ended);
      const gaps = gapsOf(server.log(), { defaultMs: DEFAULT_MS });
      expect(new Set(gaps.map(({ taskId }) => taskId)).size).toBe(20);
      // A busy machine polls less often than it may; that every task was polled is sure.
      expect(gaps.length).toBeGreaterThan(20);
      // Intervals that grew, and intervals that shrank, were both in force.
      const inForce = gaps.filter(({ tool }) => tool === "hints").map(({ intervalMs }) => intervalMs);
      expect(new Set(inForce).size).toBeGreaterThan(10);
      expectPolite(server, gaps);
    });
  });

  it("are polled an interval after the answer, not after the request, where answers are slow", async () => {
    const heldBackMs = 120;
    const slow = { kind: "delay", ms: heldBackMs, processed: true, method: "tasks/get", times: -1 } as const;
    await withServer({ faults: [slow] }, async (server, input) => {
      const ended = await programs.start(HOST, input({ calls: twenty })).ended;
      expectNothingSaid(ended);
      const gaps = gapsOf(server.log(), { defaultMs: DEFAULT_MS, heldBackMs });
      expect(gaps.filter((gap) => gap.heldBackMs > 0).length).toBeGreaterThan(0);
      expectPolite(server, gaps);
    });
  });
});

describe("a restart", () => {
  const LONG_MS = 1500;
  // Longer than a restart takes: a process that polled at once would be caught.
  const calls = Array.from({ length: 20 }, (_, i) => hints([60 + 5 * i, LONG_MS], 5000));

  it("after kill -9 does not come before the interval in force", async () => {
    await withServer({}, async (server, input) => {
      const first = programs.start(HOST, input({ calls, intervalMs: LONG_MS }));
      await first.line("steady");
      await first.kill();
      const pollsBefore = server.log().filter(({ method }) => method === "tasks/get").length;
      const second = await programs.start(HOST, input({})).ended;
      expectNothingSaid(second);
      expect(second.stdout).toContain("found 20");
      const gaps = gapsOf(server.log(), { defaultMs: DEFAULT_MS });
      expect(gaps.length).toBeGreaterThanOrEqual(pollsBefore + 20);
      expectPolite(server, gaps);
    });
  });

  it("after a close does not come before the interval in force", async () => {
    await withServer({}, async (server, input) => {
      const first = await programs.start(HOST, input({ story: "closes", calls, intervalMs: LONG_MS })).ended;
      expectNothingSaid(first);
      const second = await programs.start(HOST, input({})).ended;
      expectNothingSaid(second);
      expect(second.stdout).toContain("found 20");
      expectPolite(server, gapsOf(server.log(), { defaultMs: DEFAULT_MS }));
    });
  });

  it("in the same process, over and over, does not come before the interval in force", async () => {
    await withServer({}, async (server, input) => {
      const tasks = Array.from({ length: 20 }, (_, i) => hints([100 + 10 * i], 1500));
      const ended = await programs.start(HOST, input({ story: "reopens", calls: tasks, times: 12 })).ended;
      expectNothingSaid(ended);
      const gaps = gapsOf(server.log(), { defaultMs: DEFAULT_MS });
      expect(gaps.length).toBeGreaterThanOrEqual(20);
      expectPolite(server, gaps);
    });
  });
});
