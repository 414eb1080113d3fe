/** The first poll of a handle that is over, or asks already, came at once: before the hint of the handle (F034). */
import { expect, test } from "vitest";
import { TaskClient } from "../../src/index.js";
import { fakeClock, scriptedConnection } from "../../src/testing/index.js";

const AT = "2026-08-01T00:00:00Z";
const task = (status: string): Record<string, string | number | null> => ({
  taskId: "task-secret-1",
  status,
  createdAt: AT,
  lastUpdatedAt: AT,
  ttlMs: null,
  pollIntervalMs: 5000,
});

test.each(["working", "input_required", "completed"])(
  "a handle that is %s is polled after its interval",
  async (status) => {
    const clock = fakeClock();
    const result = { content: [{ type: "text", text: "done" }] };
    const connection = scriptedConnection(
      {
        "tools/call": { resultType: "task", ...task(status) },
        "tasks/get": { resultType: "complete", ...task("completed"), result },
      },
      { clock },
    );
    const client = new TaskClient({ clock, random: () => 0, onInputRequest: () => undefined });
    await client.connect("srv", connection);
    const call = await clock.runUntil(client.callTool("srv", { name: "deploy" }), 60_000);
    const calledAtMs = clock.monotonic();
    if (call?.kind !== "task") throw new Error("expected a task");
    expect(await clock.runUntil(call.task.result(), 60_000)).toEqual(result);
    const polls = connection.requestsOf("tasks/get").map(({ atMs }) => atMs - calledAtMs);
    expect(polls).toEqual([5000]);
  },
);
