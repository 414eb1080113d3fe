/** A filter whose `context` refers to itself ended in a RangeError; one that JSON cannot carry silently matched nothing. */
import { expect, onTestFinished, test } from "vitest";
import { TaskClient, type TaskFilter } from "../../src/index.js";
import { scriptedConnection } from "../../src/testing/index.js";

async function clientWithTask(): Promise<TaskClient> {
  const client = new TaskClient({ push: "off" });
  onTestFinished(() => client.close({ timeoutMs: 1 }));
  const handle = { resultType: "task", taskId: "t-1", status: "working", ttlMs: null };
  await client.connect("srv", scriptedConnection({ "tools/call": handle }));
  await client.callTool("srv", { name: "deploy" }, { context: { user: "u" } });
  return client;
}

const itself: Record<string, unknown> = { user: "u" };
itself["self"] = itself;

test.each([
  ["refers to itself", itself],
  ["holds a bigint", { user: 1n }],
  ["is NaN", NaN],
])("a context that %s is a TypeError that names it", async (_what, context) => {
  const client = await clientWithTask();
  const filter = { context } as TaskFilter;
  await expect(client.tasks(filter)).rejects.toThrow(/^context: expected JSON/);
  await expect(client.pendingInputs(filter)).rejects.toThrow(TypeError);
});

test("contexts that are JSON, and functions, find what they name", async () => {
  const client = await clientWithTask();
  expect(await client.tasks({ context: { user: "u" } })).toHaveLength(1);
  expect(await client.tasks({ context: { user: "other" } })).toHaveLength(0);
  expect(await client.tasks({ context: () => true })).toHaveLength(1);
});
