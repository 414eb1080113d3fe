/**
 * A call that came while its process, idle for a while, was just taking itself off the roster was stored under a name
 * that nobody lived by: the next process that connected took it and gave it up in mid-flight.
 */
import { expect, test } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import type { JsonObject } from "../../src/internal/json.js";
import type { KeyValueStore } from "../../src/store/types.js";
import { done, handle, rig, startTask, text, virtualClock } from "../engine/support.js";

test("it is stored under the name that the process lives by", async () => {
  const clock = virtualClock();
  const inner = memoryStore(clock);
  let slowMs = 0;
  const store: KeyValueStore = {
    ...inner,
    async setIfUnchanged(key, ...args) {
      const done = await inner.setIfUnchanged(key, ...args);
      if (slowMs > 0 && key.endsWith("!roster")) {
        await new Promise<void>((resolve) => clock.setTimer(slowMs, resolve));
      }
      return done;
    },
  };
  let answer: JsonObject | (() => Promise<JsonObject>) = handle();
  const slow = async (): Promise<JsonObject> => {
    await new Promise<void>((resolve) => clock.setTimer(30_000, resolve));
    return text("ran");
  };
  const a = await rig(
    {
      "tools/call": () => (typeof answer === "function" ? answer() : Promise.resolve(answer)),
      "tasks/get": done(),
    },
    { clock, store },
  );
  const task = await startTask(a);
  await a.within(task.result());
  slowMs = 1000;
  // It leaves with the first look at which nothing was needed for a lease.
  let roster = "";
  for (let waits = 0; waits < 300 && !/"owners":\[\]/.test(roster); waits += 1) {
    await clock.advance(100);
    for await (const [key, value] of inner.entries("")) if (key.endsWith("!roster")) roster = value as string;
  }
  expect(roster).toMatch(/"owners":\[\]/);
  answer = slow;
  const call = a.client.callTool("srv", { name: "deploy", arguments: { env: "prod" } }, { callId: "c1" });
  await clock.advance(3000);
  const b = await rig({ "tools/list": { tools: [] } }, { clock, store: inner });
  await clock.advance(3000);
  expect(b.told.of("settled")).toEqual([]);
  expect(await a.within(call)).toEqual({ kind: "result", result: text("ran") });
});
