import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { approvalsOf, createTasksStore, type TasksState } from "../../src/approvals/index.js";
import { spawnTaskServer, type SpawnedTaskServer } from "../../src/testing/index.js";
import type { HostInput } from "./host.js";
import { spawnHost, type SpawnedHost } from "./spawnHost.js";
import { openEvents, post, refusal, shows, stateOf, taskOf } from "./support.js";

const ADA = { "x-user": "ada/Ada" };
const yes = { action: "accept", content: { approve: true } };

// Hosts that start on a busy machine take their time.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

let folder: string;
let server: SpawnedTaskServer;
let hosts: SpawnedHost[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "approvals-"));
  server = await spawnTaskServer({ pollIntervalMs: 20 });
  hosts = [];
});

afterEach(async () => {
  for (const host of hosts) await host.kill();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(more: Partial<HostInput> = {}): Promise<SpawnedHost> {
  const host = await spawnHost({
    serverUrl: server.url,
    storePath: join(folder, "store"),
    scopes: ["ada"],
    ...more,
  });
  hosts.push(host);
  return host;
}

const isAsked = (state: TasksState): boolean => approvalsOf(state).length > 0;

describe.each(["hono", "node"] as const)("mounted in %s", (mount) => {
  it("the host is killed with an open question: the page goes back to live by itself and still shows it", async () => {
    const host = await start({ mount });
    const store = createTasksStore(host.url, { headers: ADA });
    const seen: string[] = [];
    store.subscribe(() => {
      const { connection } = store.getSnapshot();
      if (seen.at(-1) !== connection) seen.push(connection);
    });
    const id = await host.call("ada", "deploy", { env: "prod" });
    await stateOf(store, isAsked);
    await host.kill();
    const lost = await stateOf(store, ({ connection }) => connection === "reconnecting");
    // What was there stays in sight.
    expect(approvalsOf(lost)).toHaveLength(1);
    expect(lost.problem).toMatch(/\w/);
    expect(await store.answer(id, "approval", yes)).toMatchObject({ kind: "failed" });
    await host.restart();
    const live = await stateOf(store, ({ connection }) => connection === "live");
    expect(live.problem).toBeUndefined();
    expect(approvalsOf(live)).toMatchObject([{ task: { id }, input: { key: "approval" } }]);
    // The same answer again: nobody could say what became of the first.
    expect(await store.answer(id, "approval", yes)).toMatchObject({ kind: "answered" });
    const over = await stateOf(store, ({ tasks }) => tasks[0]?.outcome !== undefined);
    expect(over.tasks).toMatchObject([{ id, status: "completed", answers: [{ by: "Ada" }] }]);
    expect(seen.filter((each) => each !== "reconnecting")).toEqual(["connecting", "live", "live"]);
    store.close();
  });

  it("every page and every stream gets the question; who answers first closes it for all", async () => {
    const host = await start({ mount });
    const first = createTasksStore(host.url, { headers: ADA });
    const second = createTasksStore(host.url, { headers: { "x-user": "ada/Bea" } });
    const stops = [first, second].map((store) => store.subscribe(() => undefined));
    const id = await host.call("ada", "deploy", { env: "prod" });
    await Promise.all([stateOf(first, isAsked), stateOf(second, isAsked)]);
    const outcomes = await Promise.all([
      first.answer(id, "approval", yes),
      second.answer(id, "approval", { action: "decline" }),
    ]);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(["already-answered", "answered"]);
    for (const store of [first, second]) expect(approvalsOf(store.getSnapshot())).toEqual([]);
    const over = await stateOf(second, ({ tasks }) => tasks[0]?.outcome !== undefined);
    expect(over.tasks[0]?.answers).toHaveLength(1);
    for (const stop of stops) stop();
    first.close();
    second.close();
  });
});

it("two hosts on one store: asked at one, shown and answered at the other, closed at the first", async () => {
  const working = await start();
  const showing = await start({ connects: false });
  const here = await openEvents(working.url, ADA);
  const there = await openEvents(showing.url, ADA);
  await here.next();
  await there.next();
  const id = await working.call("ada", "deploy", { env: "prod" });
  const shown = await there.until(shows((task) => task.id === id && task.inputs.length === 1));
  const version = taskOf(shown)?.inputs[0]?.version;
  const answered = await post(showing.url, "answer", { id, key: "approval", version, response: yes }, ADA);
  expect(answered.status).toBe(200);
  const first = (await answered.json()) as { answeredAt: string };
  await here.until(shows((task) => task.id === id && task.answers.length === 1 && task.inputs.length === 0));
  const other = await post(
    working.url,
    "answer",
    { id, key: "approval", version, response: yes },
    { "x-user": "ada/Bea" },
  );
  expect(await refusal(other)).toMatchObject({ status: 409, by: "Ada", answeredAt: first.answeredAt });
  await there.until(shows((task) => task.id === id && task.outcome?.status === "completed"));
  await here.close();
  await there.close();
});

it("the client of the host is closed: the stream ends, and the page says so and comes back later", async () => {
  const host = await start();
  const store = createTasksStore(host.url, { headers: ADA });
  store.subscribe(() => undefined);
  await stateOf(store, ({ connection }) => connection === "live");
  await host.control({ op: "close", scope: "ada" });
  const lost = await stateOf(store, ({ problem }) => problem === "The host is closing");
  expect(lost.connection).toBe("reconnecting");
  store.close();
});

it("streams that end to be authorised again are opened again without a word to the page", async () => {
  // Longer than what counts as a good life.
  const host = await start({ maxStreamMs: 6500 });
  let opened = 0;
  const store = createTasksStore(host.url, {
    headers: ADA,
    fetch(url, init) {
      if (url.endsWith("/events")) opened += 1;
      return fetch(url, init);
    },
  });
  const seen = new Set<string>();
  store.subscribe(() => seen.add(store.getSnapshot().connection));
  await stateOf(store, ({ connection }) => connection === "live");
  await expect.poll(() => opened, { timeout: 60_000 }).toBeGreaterThanOrEqual(2);
  expect([...seen]).toEqual(["connecting", "live"]);
  store.close();
});
