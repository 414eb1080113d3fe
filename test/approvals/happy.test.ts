import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { approvalsOf, createTasksStore } from "../../src/approvals/index.js";
import { spawnTaskServer, type SpawnedTaskServer } from "../../src/testing/index.js";
import { spawnHost, type SpawnedHost } from "./spawnHost.js";
import { stateOf } from "./support.js";

let folder: string;
let server: SpawnedTaskServer;
let host: SpawnedHost;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "approvals-"));
  server = await spawnTaskServer({ pollIntervalMs: 20 });
  host = await spawnHost({ serverUrl: server.url, storePath: join(folder, "store"), scopes: ["ada"] });
});

afterAll(async () => {
  await host.kill();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

it("shows a question in the page, takes the answer, shows the outcome", async () => {
  const store = createTasksStore(host.url, { headers: { "x-user": "ada/Ada" } });
  const live = await stateOf(store, ({ connection }) => connection === "live");
  expect(live.loaded).toBe(true);
  const stop = store.subscribe(() => undefined);
  const id = await host.call("ada", "deploy", { env: "prod" });
  const asked = await stateOf(store, (state) => approvalsOf(state).length === 1);
  const [approval] = approvalsOf(asked);
  expect(approval).toMatchObject({
    task: { id, tool: "deploy", server: "ci", status: "input_required" },
    input: { key: "approval", kind: "elicitation-form", message: "Deploy to prod?" },
  });
  const outcome = await store.answer(id, "approval", { action: "accept", content: { approve: true } });
  expect(outcome).toMatchObject({ kind: "answered" });
  expect(approvalsOf(store.getSnapshot())).toEqual([]);
  const over = await stateOf(store, ({ tasks }) => tasks[0]?.outcome !== undefined);
  expect(over.tasks[0]).toMatchObject({
    status: "completed",
    answers: [{ key: "approval", action: "accept", by: "Ada", source: "respond" }],
  });
  expect((await store.load(id)).result).toMatchObject({ content: [{ text: "deployed to prod" }] });
  stop();
  store.close();
});
