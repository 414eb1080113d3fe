/** A close that came while onSettled was running was reported as a failure of onSettled. */
import { expect, test } from "vitest";
import { done, handle, rig, startTask, virtualClock } from "../engine/support.js";

test("the handler that resolves after the close is not blamed", async () => {
  const clock = virtualClock();
  const errors: string[] = [];
  let begun = 0;
  const a = await rig(
    { "tools/call": handle(), "tasks/get": done() },
    {
      clock,
      async onSettled() {
        begun += 1;
        await new Promise<void>((resolve) => clock.setTimer(10_000, resolve));
      },
    },
  );
  a.client.on("error", ({ error }) => errors.push(error.message));
  await startTask(a);
  await clock.advance(5000);
  expect(begun).toBe(1);
  const closed = a.client.close({ timeoutMs: 1000 });
  await clock.advance(1500);
  await closed;
  await clock.advance(20_000);
  expect({ begun, errors }).toEqual({ begun: 1, errors: [] });
});

test("one that fails then is", async () => {
  const clock = virtualClock();
  const errors: string[] = [];
  const a = await rig(
    { "tools/call": handle(), "tasks/get": done() },
    {
      clock,
      async onSettled() {
        await new Promise<void>((resolve) => clock.setTimer(10_000, resolve));
        throw new Error("the host's own store is down");
      },
    },
  );
  a.client.on("error", ({ error }) => errors.push(error.message));
  await startTask(a);
  await clock.advance(20_000);
  expect(errors[0]).toMatch("onSettled failed");
});
