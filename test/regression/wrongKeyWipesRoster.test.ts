/**
 * A process that was given another encryption key took the roster of processes, which it could not read, for an empty
 * one and replaced it: all others looked as if they had gone, and took each other's calls.
 */
import { expect, test } from "vitest";
import { encryptedStore } from "../../src/store/encrypted.js";
import { memoryStore } from "../../src/store/memory.js";
import type { JsonObject } from "../../src/internal/json.js";
import { handle, rig, startTask, state, text, virtualClock } from "../engine/support.js";

test("it says so, and the others go on", async () => {
  const clock = virtualClock();
  const inner = memoryStore(clock);
  const as = (key: number) => ({ clock, store: encryptedStore(inner, new Uint8Array(32).fill(key)) });
  const script = (taskId: string) => ({ "tools/call": handle({ taskId }), "tasks/get": state({ taskId }) });
  let answer: (result: JsonObject) => void = () => undefined;
  const a = await rig(
    { "tools/call": () => new Promise<JsonObject>((resolve) => (answer = resolve)) },
    as(1),
  );
  const call = a.client.callTool("srv", { name: "deploy", arguments: {} }, { callId: "c1" });
  const b = await rig({ ...script("task-2"), "tools/list": { tools: [] } }, as(1));
  await startTask(b);
  await clock.advance(10_000);
  const wrong = await rig(script("task-3"), as(2));
  await startTask(wrong);
  await clock.advance(40_000);
  expect(b.told.of("settled")).toEqual([]);
  answer(text("ran"));
  expect(await a.within(call)).toEqual({ kind: "result", result: text("ran") });
  expect(wrong.told.of("error").map(({ error }) => error.message)).toContainEqual(
    expect.stringMatching(/roster of processes cannot be read.*another key/),
  );
});
