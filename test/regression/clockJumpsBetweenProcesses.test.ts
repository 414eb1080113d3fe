/** A wall clock that had jumped ahead while no process ran made running tasks "expired" at the first poll. */
import { expect, onTestFinished, test } from "vitest";
import { TaskClient } from "../../src/index.js";
import { memoryStore } from "../../src/store/memory.js";
import { fakeClock, scriptedConnection } from "../../src/testing/index.js";

const HOUR_MS = 3_600_000;
const task = { taskId: "task-secret-1", status: "working", ttlMs: HOUR_MS, pollIntervalMs: 1000 };

test("a task that the server shows as running goes on; the time to live counts anew in the new process", async () => {
  const clock = fakeClock();
  const store = memoryStore(clock);
  const script = { "tools/call": { resultType: "task", ...task }, "tasks/get": task };
  const first = new TaskClient({ store, clock, random: () => 0 });
  await first.connect("srv", scriptedConnection(script, { clock }));
  await clock.runUntil(first.callTool("srv", { name: "deploy" }, { callId: "c1" }), HOUR_MS);
  await clock.runUntil(first.close(), 60_000);

  clock.jump(20 * HOUR_MS);
  const second = new TaskClient({ store, clock, random: () => 0 });
  onTestFinished(() => second.close({ timeoutMs: 1 }));
  const connection = scriptedConnection(script, { clock });
  const [handle] = await second.connect("srv", connection);
  await clock.advance(HOUR_MS / 2);
  expect(handle?.status).toBe("working");
  expect(connection.requestsOf("tasks/get").length).toBeGreaterThan(1000);
  await clock.advance(HOUR_MS);
  expect(handle?.status).toBe("lost");
}, 60_000);
