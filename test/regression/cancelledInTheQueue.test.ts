/** A call that was cancelled while it waited for its turn was rejected with the platform's AbortError, which is no error of the taxonomy. */
import { expect, test } from "vitest";
import { TaskCancelledError } from "../../src/index.js";
import { rig, text } from "../engine/support.js";

test("a call that is cancelled before it was sent is rejected as cancelled", async () => {
  const release: (() => void)[] = [];
  const run = await rig(
    {
      "tools/call": () =>
        new Promise((resolve) => release.push(() => resolve({ resultType: "complete", ...text("first") }))),
    },
    { concurrency: 1 },
  );
  const first = run.client.callTool("srv", { name: "build" });
  await run.clock.advance(10);
  const second = run.client.callTool("srv", { name: "deploy" }, { callId: "second" });
  const ended = second.catch((error: unknown) => error);
  await run.clock.advance(10);
  const handle = await run.within(run.client.task("second").then((found) => ({ found })));
  await run.within(handle.found?.cancel() ?? Promise.reject(new Error("the call is not listed")));
  expect(await run.within(ended)).toBeInstanceOf(TaskCancelledError);
  release[0]?.();
  await expect(run.within(first)).resolves.toMatchObject({ kind: "result" });
  // It never reached the server.
  expect(run.times("tools/call")).toHaveLength(1);
});
