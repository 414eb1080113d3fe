/** A resumed call, with what people had answered for it, was dropped when the store refused the intent to send it. */
import { expect, test } from "vitest";
import { done, form, handle, rig, testStore, text, virtualClock, yes } from "../engine/support.js";
import type { JsonObject } from "../../src/internal/json.js";

test("it is sent when the store is back", async () => {
  const clock = virtualClock();
  const store = testStore(clock);
  const ask: JsonObject = { resultType: "input_required", inputRequests: { k: form() }, requestState: "s" };
  const a = await rig({ "tools/call": ask }, { clock, store });
  a.client.callTool("srv", { name: "deploy" }, { callId: "c1" }).catch(() => undefined);
  await clock.advance(500);
  const closed = a.client.close({ timeoutMs: 1 });
  await clock.advance(2);
  await closed;
  const b = await rig({ "tools/call": handle(), "tasks/get": done() }, { clock, store });
  store.refuses = (value) => value.includes('"phase":"calling"');
  await b.client.respond("c1", "k", yes);
  await clock.advance(5000);
  expect(b.connection.requestsOf("tools/call")).toEqual([]);
  store.refuses = () => false;
  await clock.advance(60_000);
  const task = await b.client.task("c1");
  expect(await b.within(task!.result())).toEqual(text("done"));
});
