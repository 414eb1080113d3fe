/** Who called again with the id of a call that its caller had just aborted got that caller's abort. */
import { expect, test } from "vitest";
import { ConnectionError } from "../../src/index.js";
import { handle, makeClient, rig, state, testStore, virtualClock, form } from "../engine/support.js";
import { memoryStore } from "../../src/store/memory.js";
import type { JsonObject } from "../../src/internal/json.js";

const tool = { name: "deploy", arguments: { env: "prod" } };

test("it gets a call of its own", async () => {
  const clock = virtualClock();
  const refused = new ConnectionError("refused", { mayHaveRun: false });
  const store = memoryStore(clock);
  const remove = store.delete.bind(store);
  store.delete = async (key) => {
    await new Promise<void>((resolve) => clock.setTimer(500, resolve));
    return remove(key);
  };
  const run = await rig({ "tools/call": [refused, handle()], "tasks/get": state() }, { clock, store });
  const controller = new AbortController();
  const first = run.client.callTool("srv", tool, { callId: "c1", signal: controller.signal });
  first.catch(() => undefined);
  await clock.advance(100);
  controller.abort(new Error("the user left"));
  const second = await run.within(run.client.callTool("srv", tool, { callId: "c1" }));
  await expect(first).rejects.toThrow("the user left");
  expect(second.kind).toBe("task");
  expect(run.connection.requestsOf("tools/call")).toHaveLength(2);
});

test("a caller that leaves another process's call does not end it", async () => {
  const clock = virtualClock();
  const store = testStore(clock);
  const ask: JsonObject = { resultType: "input_required", inputRequests: { k: form() }, requestState: "s" };
  const a = await rig({ "tools/call": ask }, { clock, store });
  // Connected before the call was made, so that it is the other process's.
  const b = makeClient(clock, { store });
  await b.connect("srv", a.connection);
  const call = a.client.callTool("srv", tool, { callId: "c1" });
  call.catch(() => undefined);
  await clock.advance(500);
  const controller = new AbortController();
  const same = b.callTool("srv", tool, { callId: "c1", signal: controller.signal });
  same.catch(() => undefined);
  await clock.advance(500);
  controller.abort(new Error("the user left"));
  await expect(same).rejects.toThrow("the user left");
  await clock.advance(5000);
  expect((await a.client.task("c1"))?.status).toBe("input_required");
});
