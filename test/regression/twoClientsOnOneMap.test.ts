/** Two clients on one Map both took a call as theirs, and both took their answer to a question as the one that stands. */
import { expect, onTestFinished, test } from "vitest";
import { InputAlreadyAnsweredError, TaskClient } from "../../src/index.js";
import { toKeyValueStore } from "../../src/store/keyValue.js";
import { scriptedConnection, type ScriptedConnection } from "../../src/testing/index.js";

const task = { taskId: "task-secret-1", status: "working", ttlMs: null, pollIntervalMs: 20 };
const question = {
  method: "elicitation/create",
  params: { message: "Which?", requestedSchema: { type: "object", properties: { v: { type: "string" } } } },
};
const script = {
  "tools/call": { resultType: "task", ...task },
  "tasks/get": { ...task, status: "input_required", inputRequests: { which: question } },
  "tasks/update": {},
};

async function connected(store: Map<string, unknown>): Promise<[TaskClient, ScriptedConnection]> {
  const client = new TaskClient({ store, poll: { minIntervalMs: 10 } });
  onTestFinished(() => client.close({ timeoutMs: 10 }));
  const connection = scriptedConnection(script);
  await client.connect("srv", connection);
  return [client, connection];
}

test("one call id at the same instant is sent once", async () => {
  const store = new Map<string, unknown>();
  const clients = await Promise.all([connected(store), connected(store), connected(store)]);
  const calls = clients.map(([client]) => client.callTool("srv", { name: "deploy" }, { callId: "one" }));
  for (const call of await Promise.all(calls)) expect(call).toMatchObject({ kind: "task" });
  expect(clients.flatMap(([, connection]) => connection.requestsOf("tools/call"))).toHaveLength(1);
});

test("of two answers at the same instant one stands, and the other is told so", async () => {
  const store = new Map<string, unknown>();
  const [first] = await connected(store);
  const asked = new Promise((resolve) => first.on("input", resolve));
  await first.callTool("srv", { name: "deploy" }, { callId: "one" });
  await asked;
  const [second] = await connected(store);
  const answers = [first, second].map((client, i) =>
    client.respond("one", "which", { action: "accept", content: { v: `v${i}` } }),
  );
  const outcomes = await Promise.allSettled(answers);
  const refused = outcomes.filter((outcome) => outcome.status === "rejected");
  expect(refused.map(({ reason }) => reason as unknown)).toEqual([expect.any(InputAlreadyAnsweredError)]);
});

test("the conditional writes of a Map", async () => {
  const store = toKeyValueStore(new Map());
  const writes = ["a", "b", "c"].map((value) => (async () => store.setIfAbsent?.("key", value, undefined))());
  expect((await Promise.all(writes)).filter(Boolean)).toHaveLength(1);
  const now = (await store.get("key")) ?? "";
  const changes = ["d", "e"].map((value) =>
    (async () => store.setIfUnchanged?.("key", now, value, undefined))(),
  );
  expect((await Promise.all(changes)).filter(Boolean)).toHaveLength(1);
  expect(await store.setIfUnchanged?.("key", now, "f", undefined)).toBe(false);
  await store.set("gone", "old", 1);
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await store.setIfAbsent?.("gone", "new", undefined)).toBe(true);
  expect(await store.get("gone")).toBe("new");
});
