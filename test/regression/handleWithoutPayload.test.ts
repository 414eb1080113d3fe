/** A handle of a task that was over already was reported as faulty: "result is missing", though no handle carries one. */
import { expect, test } from "vitest";
import { TaskClient } from "../../src/index.js";
import { fakeClock, scriptedConnection } from "../../src/testing/index.js";

const AT = "2026-08-01T00:00:00Z";

test.each([
  ["completed", { result: { content: [{ type: "text", text: "done" }] } }],
  ["failed", { error: { code: -32000, message: "The disk is full" } }],
] as const)("a handle that is %s is in order without its payload", async (status, payload) => {
  const clock = fakeClock();
  const task = { taskId: "t-1", status, createdAt: AT, lastUpdatedAt: AT, ttlMs: null, pollIntervalMs: 1000 };
  const connection = scriptedConnection(
    {
      "tools/call": { resultType: "task", ...task },
      "tasks/get": { resultType: "complete", ...task, ...payload },
    },
    { clock },
  );
  const client = new TaskClient({ clock, random: () => 0 });
  const errors: string[] = [];
  client.on("error", ({ error }) => errors.push(error.message));
  await client.connect("srv", connection);
  const call = await clock.runUntil(client.callTool("srv", { name: "deploy" }), 60_000);
  if (call?.kind !== "task") throw new Error("expected a task");
  expect(await clock.runUntil(call.task.settled(), 60_000)).toMatchObject({ status, ...payload });
  expect(errors).toEqual([]);
});
