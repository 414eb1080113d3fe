/**
 * A call was cancelled between two rounds by a process that had read it a moment before its owner sent the next one: it
 * was told as cancelled, and the task that the server had made of it was nobody's.
 */
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/internal/json.js";
import { memoryStore } from "../../src/store/memory.js";
import { ack, form, handle, rig, state, virtualClock, yes } from "../engine/support.js";
import { heldWrites } from "./heldWrites.js";

test("the task is there, and is cancelled", async () => {
  const clock = virtualClock();
  const inner = memoryStore(clock);
  const held = heldWrites(inner);
  let answer: (response: JsonObject) => void = () => undefined;
  let give: (answered: JsonObject) => void = () => undefined;
  const round: JsonObject = { resultType: "input_required", inputRequests: { k: form() } };
  const a = await rig(
    {
      "tools/call": [round, () => new Promise<JsonObject>((resolve) => (give = resolve))],
      "tasks/cancel": ack,
      "tasks/get": state({ status: "cancelled" }),
    },
    {
      clock,
      store: inner,
      onInputRequest: () => new Promise<JsonObject>((resolve) => (answer = resolve)),
    },
  );
  const params = { name: "deploy", arguments: { env: "prod" } };
  const call = a.client.callTool("srv", params, { callId: "c1" });
  await clock.advance(1000);
  const b = await rig({}, { clock, store: held.store });
  const followed = (await b.client.task("c1"))!;
  held.hold();
  const cancelled = followed.cancel();
  await clock.advance(100);
  answer(yes);
  await clock.advance(100);
  held.letGo();
  await clock.advance(100);
  give(handle());
  expect(await a.within(call)).toMatchObject({ kind: "task" });
  await b.within(cancelled, 10_000);
  expect(a.connection.requestsOf("tasks/cancel")).toHaveLength(1);
  expect(await b.within(followed.settled())).toMatchObject({ status: "cancelled" });
});
