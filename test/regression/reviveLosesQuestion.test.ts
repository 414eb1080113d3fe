/** A task that was given up with a question open never asked it again after resume(). */
import { expect, test } from "vitest";
import { ack, asks, done, form, handle, rig, startTask, text, virtualClock, yes } from "../engine/support.js";

const poll = { giveUpAfterMs: 3500 };

test("its question is open again, and can be answered", async () => {
  const clock = virtualClock();
  const get = (): ReturnType<typeof done> =>
    run.connection.requestsOf("tasks/update").length > 0 ? done() : asks({ k: form() });
  const script = { "tools/call": handle(), "tasks/get": get, "tasks/update": ack };
  const run = await rig(script, { clock, poll });
  const task = await startTask(run);
  expect(await run.within(task.settled())).toMatchObject({ reason: "gave-up" });
  expect(run.told.of("inputWithdrawn")).toHaveLength(1);
  expect(await run.client.pendingInputs()).toEqual([]);
  const [again] = await run.client.resume();
  await clock.advance(1500);
  expect(again!.pendingInputs).toHaveLength(1);
  await again!.respond("k", yes);
  expect(await run.within(again!.result())).toEqual(text("done"));
});

test("resume() while its giving up is still being delivered goes on with it", async () => {
  const clock = virtualClock();
  const get = (): ReturnType<typeof done> => (clock.monotonic() > 8500 ? done() : asks({ k: form() }));
  const delivered: string[] = [];
  const run = await rig(
    { "tools/call": handle(), "tasks/get": get },
    {
      clock,
      poll,
      async onSettled(settled) {
        delivered.push(settled.status);
        await new Promise<void>((resolve) => clock.setTimer(2000, resolve));
      },
    },
  );
  const task = await startTask(run);
  await run.within(task.settled());
  const [first] = await run.client.resume();
  expect(first!.status).not.toBe("lost");
  await clock.advance(3000);
  expect((await run.client.task(task.id))!.status).not.toBe("lost");
  await run.within(first!.settled());
  await run.client.resume();
  await clock.advance(20_000);
  expect((await run.client.task(task.id))!.status).toBe("completed");
  expect(delivered.filter((status) => status === "completed")).toHaveLength(1);
});
