/** A server that answered the question for its name with 503 and Retry-After was polled all the same. */
import { expect, test } from "vitest";
import { ConnectionError } from "../../src/index.js";
import { scriptedConnection } from "../../src/testing/index.js";
import { asks, form, handle, rig, virtualClock } from "../engine/support.js";

test("Retry-After is obeyed, whatever request it answers", async () => {
  const clock = virtualClock();
  const scripted = scriptedConnection(
    { "tools/call": handle(), "tasks/get": asks({ a: form("a") }) },
    { clock },
  );
  const busy = new ConnectionError("busy", { mayHaveRun: true, status: 503, retryAfterMs: 60_000 });
  const connection = { ...scripted, requests: scripted.requests, discover: () => Promise.reject(busy) };
  const run = await rig({}, { clock, connection: connection as never, onInputRequest: () => undefined });
  await run.within(run.client.callTool("srv", { name: "build" }));
  await clock.advance(1500);
  // The question of the first poll is shown, and asks who puts it.
  expect(scripted.requestsOf("tasks/get")).toHaveLength(1);
  await clock.advance(58_000);
  expect(scripted.requestsOf("tasks/get")).toHaveLength(1);
  await clock.advance(10_000);
  expect(scripted.requestsOf("tasks/get").length).toBeGreaterThan(1);
});
