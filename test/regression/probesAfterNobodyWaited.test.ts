/** The time for a probe passed while every task was in a backoff of its own: then all that came next asked the dead server at once. */
import { expect, test } from "vitest";
import { type JsonObject } from "../../src/internal/json.js";
import type { ScriptedRequest } from "../../src/testing/index.js";
import { handle, rig, state } from "../engine/support.js";

test("whoever comes after a probe that nobody waited for asks alone", async () => {
  const taskId = (request: ScriptedRequest): string => request.params["taskId"] as string;
  let isUp = true;
  const run = await rig(
    {
      "tools/call": (_request: ScriptedRequest, n: number): JsonObject =>
        handle({ taskId: `task-${n}`, pollIntervalMs: 2000 }),
      "tasks/get": (request) => (isUp ? state({ taskId: taskId(request), pollIntervalMs: 2000 }) : "hang"),
    },
    { poll: { jitter: 0 }, push: "off", requestTimeoutMs: 30_000 },
  );
  for (let n = 0; n < 10; n += 1) await run.within(run.client.callTool("srv", { name: "build" }));
  await run.clock.advance(4000);
  isUp = false;
  // All are under way until they time out together, and are in their backoff when the first probe is due.
  await run.clock.advance(33_000);
  const before = run.times("tasks/get").length;
  await run.clock.advance(25_000);
  expect(run.told.of("serverDown")).toHaveLength(1);
  expect(run.times("tasks/get").length - before).toBe(1);
});
