/** With a server out of reach, a task came to its host's limit only when it was its turn to probe the server. */
import { expect, test } from "vitest";
import { ConnectionError } from "../../src/index.js";
import { done, handle, rig, startTask, state, virtualClock } from "../engine/support.js";

test("many tasks of a server that is gone are all given up at the limit", async () => {
  const clock = virtualClock();
  let n = 0;
  const call = (): ReturnType<typeof handle> => handle({ taskId: `task-secret-${(n += 1)}` });
  const gone = new ConnectionError("refused", { mayHaveRun: false });
  const options = { clock, poll: { giveUpAfterMs: 20_000 } };
  const run = await rig({ "tools/call": call, "tasks/get": gone }, options);
  const tasks = [];
  for (let i = 0; i < 20; i += 1) tasks.push(await startTask(run));
  await clock.advance(90_000);
  expect(tasks.map(({ status }) => status)).toEqual(tasks.map(() => "lost"));
});

test("a poll that is under way at the limit may still bring the end", async () => {
  const clock = virtualClock();
  const slow = async (): Promise<ReturnType<typeof done>> => {
    await new Promise<void>((resolve) => clock.setTimer(2000, resolve));
    return done();
  };
  const options = { clock, poll: { giveUpAfterMs: 3000 } };
  const run = await rig({ "tools/call": handle(), "tasks/get": [state(), slow] }, options);
  const task = await startTask(run);
  expect(await run.within(task.settled())).toMatchObject({ status: "completed" });
});
