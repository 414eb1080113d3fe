/** The second process: finds the task in the store, and is told its outcome. It never calls the tool. */
import assert from "node:assert/strict";
import { TaskClient, httpConnection, type Settled } from "mcp-taskrail";
import { lmdbStore } from "mcp-taskrail/lmdb";

const [url = "", folder = ""] = process.argv.slice(2);
const delivered: Settled[] = [];

const store = lmdbStore(folder);
const tasks = new TaskClient({
  store,
  // Runs at least once per call until it resolves: the place to write the outcome into the conversation.
  onSettled: (settled) => void delivered.push(settled),
});
const [task, ...others] = await tasks.connect("reports", httpConnection(url));
assert.ok(task !== undefined && others.length === 0, "one task is in the store");
assert.equal(task.id, "monthly-report");
assert.deepEqual(task.context, { conversation: 7 });
console.log(`resume.ts: found "${task.id}" of conversation 7, status ${task.status}`);

const result = await task.result();
assert.deepEqual(result.content, [{ type: "text", text: "report of 4 steps" }]);
console.log("resume.ts: got the result");

// An agent loop that plays its turn again gets the same outcome; the tool is not called again.
const again = await tasks.callTool(
  "reports",
  { name: "report", arguments: { steps: 4, stepMs: 500 } },
  { callId: "monthly-report", waitMs: 10_000 },
);
assert.equal(again.kind, "result");
assert.deepEqual(tasks.stats().requests["tools/call"] ?? 0, 0);
console.log("resume.ts: called once more with the same callId: answered from the store");

// What is under way is finished first: the delivery of the outcome, here.
await tasks.close();
assert.deepEqual(
  delivered.map(({ id, status, context }) => ({ id, status, context })),
  [{ id: "monthly-report", status: "completed", context: { conversation: 7 } }],
);
await store.disconnect();
