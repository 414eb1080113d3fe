/** A probe that hung through the server's return counted, at its end, as the probe of the next outage: two went out at once. */
import { expect, test } from "vitest";
import { ConnectionError } from "../../src/index.js";
import { createServerLane } from "../../src/engine/serverLane.js";
import type { JsonObject } from "../../src/internal/json.js";
import { scriptedConnection } from "../../src/testing/index.js";
import { virtualClock } from "../engine/support.js";

const refused = (): ConnectionError => new ConnectionError("refused", { mayHaveRun: false });

test("the end of an earlier outage's probe starts no second probe", async () => {
  const clock = virtualClock();
  const ends: ((end: JsonObject | Error) => void)[] = [];
  const script = {
    "tasks/get": () => new Promise<JsonObject | Error>((resolve) => ends.push(resolve)),
    "tools/call": () => ({ resultType: "complete" }),
  };
  const lane = createServerLane(
    "srv",
    scriptedConnection(script, { clock }),
    {
      clock,
      random: () => 0,
      retry: { minDelayMs: 1000, factor: 2, maxDelayMs: 60_000, authRetryMs: 60_000, refusedRetryMs: 60_000 },
      concurrency: 16,
      clientInfo: { name: "test", version: "1" },
      capabilities: {},
    },
    { tell: () => undefined, count: () => undefined },
  );
  const ask = (): void =>
    void lane.request({ method: "tasks/get", params: {}, timeoutMs: 600_000 }).catch(() => undefined);
  const end = async (at: number, how: JsonObject | Error): Promise<void> => {
    ends[at]?.(how);
    await clock.advance(1);
  };

  ask();
  await clock.advance(1);
  await end(0, refused());
  ask();
  await clock.advance(5000);
  expect(ends).toHaveLength(2);
  // The probe of the first outage hangs. A host's own call finds the server there.
  await lane.request({ method: "tools/call", params: {}, timeoutMs: 1000, direct: true });
  ask();
  await clock.advance(1);
  await end(2, refused());
  ask();
  ask();
  await clock.advance(5000);
  // The probe of the second outage is under way when the first one's fails at last.
  expect(ends).toHaveLength(4);
  await end(1, refused());
  await clock.advance(120_000);
  expect(ends).toHaveLength(4);
  expect(lane.up).toBe(false);
  await end(3, { resultType: "complete" });
  await clock.advance(1000);
  expect(lane.up).toBe(true);
  expect(ends).toHaveLength(5);
  lane.stop();
});
