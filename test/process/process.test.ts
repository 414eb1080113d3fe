/** What a client means to the processes around it: when they end, what two of them on one store see, what a kill leaves. */
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  spawnTaskServer,
  type SpawnedTaskServer,
  type SpawnTaskServerOptions,
} from "../../src/testing/index.js";
import type { HostInput } from "./host.js";
import { gapsOf, tooShort } from "./pace.js";
import { compilePrograms, type Ended, type Programs, type Running } from "./programs.js";

const POLL_MS = 60;

let programs: Programs;
let server: SpawnedTaskServer;
let storePath: string;

beforeAll(() => {
  programs = compilePrograms();
});
afterAll(() => programs.remove());
beforeEach(async () => {
  await startServer();
});
afterEach(() => server.stop());

async function startServer(options: SpawnTaskServerOptions = {}): Promise<void> {
  server = await spawnTaskServer({ strict: true, pollIntervalMs: POLL_MS, ...options });
  storePath = join(programs.folder, `store-${server.port}`);
}

function start(input: Omit<HostInput, "url" | "storePath">): Running {
  return programs.start("test/process/host.ts", { url: server.url, storePath, ...input });
}

function expectNothingSaid(ended: Ended): void {
  // An unhandled rejection would end the process with code 1 and a stack.
  expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: "" });
}

const requests = (method: string) => server.log().filter((entry) => entry.method === method);
const minute = { tool: "slow", arguments: { ms: 60_000 } };

describe("the end of a process", () => {
  it("comes by itself where nobody waits for the tasks; they live on at the server (F047)", async () => {
    const ended = await start({ story: "leaves", calls: [minute, minute, minute] }).ended;
    expectNothingSaid(ended);
    expect(ended.stdout).toContain("tracking 3");
    const tasks = await server.tasks();
    expect(tasks.map(({ status, cancelRequested }) => [status, cancelRequested])).toEqual(
      tasks.map(() => ["working", false]),
    );
    expect(tasks).toHaveLength(3);
  });

  it("does not come before the result that somebody waits for", async () => {
    const ended = await start({
      story: "waits",
      calls: [{ tool: "slow", arguments: { ms: 700, text: "done" } }],
    }).ended;
    expectNothingSaid(ended);
    expect(ended.stdout).toContain('results [[{"type":"text","text":"done"}]]');
    expect(requests("tasks/get").length).toBeGreaterThan(1);
  });

  it("does not come before the result either while the server is away", async () => {
    const waiting = start({
      story: "waits",
      calls: [{ tool: "slow", arguments: { ms: 300, text: "done" } }],
    });
    await waiting.line("tracking");
    await server.kill();
    await server.restart();
    const ended = await waiting.ended;
    expectNothingSaid(ended);
    expect(ended.stdout).toContain('"text":"done"');
    expect(requests("tools/call")).toHaveLength(1);
  });
});

describe("close", () => {
  it("ends within its bound under a call that is never answered, and leaves tasks alive", async () => {
    await server.addFault({ kind: "hang", method: "tools/call", name: "inline" });
    const ended = await start({ story: "closesHung", calls: [minute] }).ended;
    expectNothingSaid(ended);
    expect(ended.stdout).toContain('closed ["CLIENT_CLOSED","CLIENT_CLOSED"]');
    expect(await server.tasks()).toMatchObject([{ status: "working", cancelRequested: false }]);
    expect(requests("tasks/cancel")).toEqual([]);
  });
});

describe("two processes on one store", () => {
  const deploy = { tool: "deploy", arguments: { env: "prod", ms: 0, afterMs: 100 } };
  const approve = (note: string) => ({ action: "accept", content: { approve: true, note } });

  it("one is connected and asked, the other answers and finds the outcome", async () => {
    const connected = start({ story: "defers", calls: [deploy] });
    const { id, key } = JSON.parse(await connected.line("asked")) as { id: string; key: string };
    const callsBefore = server.log().filter(({ method }) => method === "server/discover").length;
    const other = await start({ story: "answers", answer: { id, key, value: approve("from elsewhere") } })
      .ended;
    expectNothingSaid(other);
    expect(other.stdout).toContain("answered");
    expect(other.stdout).toContain("deployed to prod");
    const ended = await connected.ended;
    expectNothingSaid(ended);
    expect(ended.stdout).toContain("deployed to prod");
    // Sent once, by the one that is connected.
    expect(
      requests("tasks/update").map(({ applied, params }) => [applied, params["inputResponses"]]),
    ).toEqual([[[key], { [key]: approve("from elsewhere") }]]);
    expect(requests("server/discover")).toHaveLength(callsBefore);
    expect(requests("tools/call")).toHaveLength(1);
  });

  it("two answer at once: one value goes out, the other is refused", async () => {
    const connected = start({ story: "defers", calls: [deploy] });
    const { id, key } = JSON.parse(await connected.line("asked")) as { id: string; key: string };
    const others = ["first", "second", "third"].map((note) =>
      start({ story: "answers", answer: { id, key, value: approve(note) } }),
    );
    const ends = await Promise.all(others.map(({ ended }) => ended));
    ends.forEach(expectNothingSaid);
    expectNothingSaid(await connected.ended);
    const answered = ends.filter(({ stdout }) => stdout.includes("answered"));
    expect(answered).toHaveLength(1);
    for (const { stdout } of ends) {
      if (!stdout.includes("answered")) {
        // Too late by a little, or by so much that the task was over.
        expect(stdout).toMatch(/refused (INPUT_ALREADY_ANSWERED|INVALID_INPUT_RESPONSE)/);
      }
      expect(stdout).toContain("deployed to prod");
    }
    const [task] = await server.tasks();
    const note =
      ["first", "second", "third"].find((_, i) => ends[i]?.stdout.includes("answered")) ?? "nobody";
    expect(task?.answers).toMatchObject([{ key, value: approve(note), conflicts: [] }]);
  });
});

describe("a thousand tasks", () => {
  const COUNT = 1000;
  const INTERVAL_MS = 1500;

  it("resume after kill -9 and all settle, with one request in flight per task (F050)", async () => {
    const calls = Array.from({ length: COUNT }, (_, i) => ({
      tool: "slow",
      arguments: { ms: 9000, pollIntervalMs: INTERVAL_MS, text: `dish ${i}` },
    }));
    // However long it takes to make them, the first process learns of no end.
    await server.addFault({ kind: "status", status: 503, method: "tasks/get", times: -1 });
    const first = start({ story: "polls", calls });
    await first.line("tracking");
    await first.kill();
    await server.clearFaults();
    const second = await start({ story: "polls" }).ended;
    expectNothingSaid(second);
    expect(second.stdout).toContain(`found ${COUNT}\ntracking ${COUNT}\n`);
    const dishes = [...second.stdout.matchAll(/dish (\d+)/g)].map(([, number]) => Number(number));
    expect(new Set(dishes).size).toBe(COUNT);
    expect(requests("tools/call")).toHaveLength(COUNT);
    // The server notes two polls of one task at one time, and those that come too early.
    expect(server.violations()).toEqual([]);
    expect(tooShort(gapsOf(server.log(), { defaultMs: INTERVAL_MS }))).toEqual([]);
  }, 180_000);
});
