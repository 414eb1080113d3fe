/** A process that was stopped with a call in its queue sent it when it woke, after another one had taken it over and sent it. */
import { expect, test } from "vitest";
import { ConnectionError } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { memoryStore } from "../../src/store/memory.js";
import { handle, rig, state, stoppable, text, virtualClock } from "../engine/support.js";

const LEASE_MS = 15_000;

test("a call whose server asked for patience is sent by the process that has it then, and by no other", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const own = stoppable(store);
  let calls = 0;
  const executed: string[] = [];
  const call = (name: string) => (): JsonObject | Error => {
    calls += 1;
    if (calls === 1)
      return new ConnectionError("busy", { mayHaveRun: false, status: 429, retryAfterMs: 2 * LEASE_MS });
    executed.push(name);
    return handle();
  };
  const a = await rig({ "tools/call": call("a"), "tasks/get": state() }, { clock, store: own.store });
  a.client.callTool("srv", { name: "deploy" }, { callId: "c1", timeoutMs: 600_000 }).catch(() => undefined);
  await clock.advance(1000);
  const b = await rig({ "tools/call": call("b"), "tasks/get": state() }, { clock, store });
  own.stop();
  await clock.advance(3 * LEASE_MS);
  own.goOn();
  await clock.advance(4 * LEASE_MS);
  expect(executed).toEqual(["b"]);
  expect((await b.client.task("c1"))?.taskId).toBe("task-secret-1");
});

test("so is a call that queued, when its process does not know yet that it was taken for dead", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const executed: string[] = [];
  const call =
    (process: string) =>
    async ({ params }: { params: JsonObject }): Promise<JsonObject> => {
      const name = params["name"] as string;
      executed.push(`${process} ${name}`);
      await new Promise<void>((resolve) => clock.setTimer(13_000, resolve));
      return text(name);
    };
  const a = await rig({ "tools/call": call("a") }, { clock, store, concurrency: 1 });
  for (const name of ["first", "second"]) {
    a.client.callTool("srv", { name }, { callId: name, timeoutMs: 600_000 }).catch(() => undefined);
    await clock.advance(100);
  }
  await clock.advance(2300);
  await rig({ "tools/call": call("b"), "tools/list": { tools: [] } }, { clock, store });
  await clock.advance(7600);
  // Signs of life at 10 s and 12.5 s are between: who looks next finds nobody, and the first call ends after that.
  for await (const [key] of store.entries("")) if (key.endsWith("!roster")) await store.delete(key);
  await clock.advance(60_000);
  expect(executed).toEqual(["a first", "b second"]);
});
