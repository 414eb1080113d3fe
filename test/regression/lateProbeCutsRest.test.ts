/** A probe of an outage that was over failed late, in the next outage, and cut the rest short that the server had asked for. */
import { expect, test } from "vitest";
import { ConnectionError } from "../../src/index.js";
import { handle, rig, state, text } from "../engine/support.js";

test("the late failure of an earlier probe leaves Retry-After as it is", async () => {
  const lost = new ConnectionError("reset", { mayHaveRun: true });
  const busy = new ConnectionError("busy", { mayHaveRun: false, status: 503, retryAfterMs: 60_000 });
  const run = await rig(
    {
      "tools/call": [handle(), text("up again"), busy],
      // The second one is the probe; it hangs until it times out.
      "tasks/get": [lost, "hang", state()],
    },
    { poll: { jitter: 0 }, push: "off", requestTimeoutMs: 10_000, retry: { minDelayMs: 1000 } },
  );
  await run.within(run.client.callTool("srv", { name: "build" }));
  await run.clock.advance(3000);
  expect(run.times("tasks/get")).toHaveLength(2);
  await run.within(run.client.callTool("srv", { name: "build" }));
  const refused = run.client.callTool("srv", { name: "build" }, { timeoutMs: 5000 });
  await expect(run.within(refused)).rejects.toThrow();
  const askedAt = run.clock.monotonic();
  await run.clock.advance(55_000);
  expect(run.times("tasks/get")).toHaveLength(2);
  await run.clock.advance(30_000);
  expect(run.times("tasks/get")[2]).toBeGreaterThanOrEqual(askedAt + 55_000);
});
