/**
 * A process that was stopped in mid-call learned that another one had told its call as of unknown fate, before the handle
 * of its own request came: the handle was dropped, and its task went on at the server with nobody to watch it.
 */
import { expect, test } from "vitest";
import type { Settled } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { memoryStore } from "../../src/store/memory.js";
import { done, handle, rig, startTask, state, stoppable, text, virtualClock } from "../engine/support.js";

test.each([
  ["a handle", handle(), 1],
  ["a result", text("done"), 0],
])("%s that comes after all is taken up, and its outcome told", async (_what, late, polls) => {
  const clock = virtualClock();
  const inner = memoryStore(clock);
  const own = stoppable(inner);
  const told: string[] = [];
  const onSettled = ({ status }: Settled): void => void told.push(status);
  let answer: (result: JsonObject) => void = () => undefined;
  const a = await rig(
    {
      "tools/call": () => new Promise<JsonObject>((resolve) => (answer = resolve)),
      "tasks/get": done(),
    },
    { clock, store: own.store, onSettled },
  );
  const call = a.client.callTool("srv", { name: "deploy" }, { callId: "c1", timeoutMs: 600_000 });
  call.catch(() => undefined);
  await clock.advance(1000);
  // Busy with something else, and so still there when the first one comes back.
  const b = await rig(
    {
      "tools/call": handle({ taskId: "task-secret-2" }),
      "tasks/get": ({ params }: { params: JsonObject }) =>
        params["taskId"] === "task-secret-1" ? done() : state({ taskId: "task-secret-2" }),
      "tools/list": { tools: [] },
    },
    { clock, store: inner, onSettled },
  );
  await startTask(b);
  await clock.advance(6000);
  own.stop();
  await clock.advance(45_000);
  expect(told).toEqual(["lost"]);
  own.goOn();
  await clock.advance(20_000);
  await expect(a.within(call, 10)).rejects.toMatchObject({ code: "CALL_OUTCOME_UNKNOWN" });
  answer(late);
  await clock.advance(20_000);
  expect(told).toEqual(["lost", "completed"]);
  expect(a.times("tasks/get")).toHaveLength(polls);
  const replayed = await b.within(
    b.client.callTool("srv", { name: "deploy" }, { callId: "c1", waitMs: 1000 }),
  );
  expect(replayed).toEqual({ kind: "result", result: text("done") });
});
