import { existsSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import {
  spawnTaskServer,
  type SpawnedTaskServer,
  type SpawnTaskServerOptions,
} from "../../src/testing/index.js";
import { ask, pollUntil, send, startTask, terminal } from "./wire.js";

const servers: SpawnedTaskServer[] = [];
async function server(options: SpawnTaskServerOptions = {}): Promise<SpawnedTaskServer> {
  const started = await spawnTaskServer({ pollIntervalMs: 20, ...options });
  servers.push(started);
  return started;
}
afterEach(async () => {
  await Promise.all(servers.splice(0).map((one) => one.stop()));
});

test("a killed server knows tasks, answers and counters again, and its tasks went on meanwhile", async () => {
  const one = await server();
  const asked = await startTask(one.url, "two_questions");
  const running = await startTask(one.url, "slow", { ms: 1 });
  await ask(one.url, "tasks/update", {
    taskId: asked.taskId,
    inputResponses: { name: { action: "accept", content: { name: "ada" } } },
  });

  await one.kill();
  await expect(send(one.url, "server/discover")).rejects.toThrow();
  await one.restart();

  const kept = await ask(one.url, "tasks/get", { taskId: asked.taskId });
  expect(kept["status"]).toBe("input_required");
  expect(Object.keys(kept["inputRequests"] as object)).toEqual(["size"]);
  expect((await pollUntil(one.url, running.taskId, ...terminal))["status"]).toBe("completed");
  expect(await one.counters()).toEqual({
    calls: { two_questions: 1, slow: 1 },
    tasksCreated: 2,
    answersApplied: 1,
    answersConflicting: 0,
  });
  const methods = one.log().map(({ method }) => method);
  expect(methods.filter((method) => method === "tools/call")).toHaveLength(2);
  expect(one.log().map(({ seq }) => seq)).toEqual(one.log().map((_, i) => i + 1));
});

test("faults can be added and cleared from another process", async () => {
  const one = await server();
  const task = await startTask(one.url, "never");
  await one.addFault({ kind: "status", status: 503, method: "tasks/get", times: -1 });
  expect((await send(one.url, "tasks/get", { taskId: task.taskId })).status).toBe(503);
  await one.clearFaults();
  expect((await send(one.url, "tasks/get", { taskId: task.taskId })).status).toBe(200);
  expect(one.log().map(({ answer }) => answer)).toEqual(["task", "fault:status", "complete"]);
  expect((await one.tasks())[0]).toMatchObject({ tool: "never", status: "working", polls: 1 });
});

test("tools travel as plain data", async () => {
  const one = await server({
    tools: [
      { name: "mine", steps: [{ kind: "complete", result: { content: [], structuredContent: { a: 1 } } }] },
    ],
  });
  const task = await startTask(one.url, "mine");
  expect((await ask(one.url, "tasks/get", { taskId: task.taskId }))["result"]).toEqual({
    content: [],
    structuredContent: { a: 1 },
  });
});

test("stop ends the process and removes its temporary folder", async () => {
  const one = await server();
  expect(existsSync(one.logFile)).toBe(true);
  await one.stop();
  expect(existsSync(one.logFile)).toBe(false);
  expect(() => process.kill(one.pid, 0)).toThrow();
});

test("a server that cannot start says why", async () => {
  const one = await server();
  await expect(spawnTaskServer({ port: one.port })).rejects.toThrow(/EADDRINUSE/);
});
