/**
 * A process that was stopped in mid-call came back with the real outcome: it replaced the "nobody knows" of the process
 * that had taken over, and neither of them told it.
 */
import { expect, test } from "vitest";
import type { Settled } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { memoryStore } from "../../src/store/memory.js";
import { handle, rig, startTask, state, stoppable, text, virtualClock } from "../engine/support.js";

test("who has the outcome tells it", async () => {
  const clock = virtualClock();
  const inner = memoryStore(clock);
  const own = stoppable(inner);
  const told: string[] = [];
  const as = (name: string) => (settled: Settled) => void told.push(`${name} ${settled.status}`);
  let answer: (result: JsonObject) => void = () => undefined;
  const a = await rig(
    { "tools/call": () => new Promise<JsonObject>((resolve) => (answer = resolve)) },
    { clock, store: own.store, onSettled: as("a") },
  );
  const params = { name: "deploy", arguments: { env: "prod" } };
  const call = a.client.callTool("srv", params, { callId: "c1" });
  await clock.advance(1000);
  // Known to the first one, and busy with something else.
  const b = await rig(
    { "tools/call": handle(), "tasks/get": state(), "tools/list": { tools: [] } },
    { clock, store: inner, onSettled: as("b") },
  );
  await startTask(b);
  await clock.advance(6000);
  own.stop();
  await clock.advance(40_000);
  expect(told).toEqual(["b lost"]);
  own.goOn();
  answer(text("ran"));
  expect(await a.within(call)).toEqual({ kind: "result", result: text("ran") });
  await clock.advance(40_000);
  expect(told).toEqual(["b lost", "a completed"]);
});
