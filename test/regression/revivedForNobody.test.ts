/** `resume()` gave what another living process had given up back to that one, which took it for over. */
import { expect, test } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import { done, handle, rig, startTask, state, virtualClock } from "../engine/support.js";

test("who resumes a call that was given up looks after it", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const a = await rig(
    {
      "tools/call": [handle(), handle({ taskId: "task-2" })],
      "tasks/get": ({ params }) => Promise.resolve(state({ taskId: params["taskId"] as string })),
    },
    { clock, store, poll: { giveUpAfterMs: 20_000 } },
  );
  const { id } = await startTask(a);
  await clock.advance(15_000);
  // Something else keeps that process on the roster.
  await startTask(a);
  await clock.advance(8000);
  expect(a.told.of("settled")).toMatchObject([{ id, status: "lost", reason: "gave-up" }]);
  const b = await rig({ "tasks/get": done() }, { clock, store });
  await b.within(b.client.resume());
  await clock.advance(10_000);
  expect(b.told.of("settled").filter((one) => one.id === id && one.status === "completed")).toHaveLength(1);
});
