/**
 * A process that answers a question of a call that another one looks after has read the record, and then writes it: what
 * the owner had stored in between was replaced by the copy. A call that was being sent looked unsent (and was sent again
 * after a crash), an answer to a newer question was closed and never sent, and an answer counted for the next round.
 */
import { expect, test } from "vitest";
import { ConnectionError } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { memoryStore } from "../../src/store/memory.js";
import type { FakeClock } from "../../src/testing/index.js";
import {
  ack,
  asks,
  form,
  handle,
  rig,
  startTask,
  stoppable,
  text,
  virtualClock,
  yes,
} from "../engine/support.js";
import { heldWrites } from "./heldWrites.js";

const tool = { name: "deploy", arguments: { env: "prod" } };
const round: JsonObject = { resultType: "input_required", inputRequests: { k: form() }, requestState: "1" };

/** Its writes are refused by nobody, and come late. */
function late(clock: FakeClock) {
  const inner = memoryStore(clock);
  return { inner, held: heldWrites(inner) };
}

test("a call that is being sent is not sent again", async () => {
  const clock = virtualClock();
  const { inner, held } = late(clock);
  const own = stoppable(inner);
  let answer: (response: JsonObject) => void = () => undefined;
  const a = await rig(
    { "tools/call": [round, () => new Promise<JsonObject>(() => undefined)] },
    {
      clock,
      store: own.store,
      onInputRequest: () => new Promise<JsonObject>((resolve) => (answer = resolve)),
    },
  );
  void a.client.callTool("srv", tool, { callId: "c1" }).catch(() => undefined);
  await clock.advance(1000);
  const b = await rig(
    { "tools/list": { tools: [] }, "tools/call": text("again") },
    { clock, store: held.store },
  );
  held.hold();
  const responded = b.client.respond("c1", "k", yes);
  await clock.advance(100);
  answer(yes);
  await clock.advance(100);
  expect(a.connection.requestsOf("tools/call")).toHaveLength(2);
  held.letGo();
  await responded;
  own.stop();
  await clock.advance(60_000);
  expect(b.connection.requestsOf("tools/call")).toEqual([]);
  expect(b.told.of("settled")).toMatchObject([{ status: "lost", reason: "call-outcome-unknown" }]);
});

test("a newer question's answer is sent", async () => {
  const clock = virtualClock();
  const { inner, held } = late(clock);
  const open: Record<string, JsonObject> = { one: form("One?") };
  let answer: (response: JsonObject) => void = () => undefined;
  let isDown = true;
  const a = await rig(
    {
      "tools/call": handle(),
      "tasks/get": () => Promise.resolve(asks({ ...open })),
      "tasks/update": () =>
        isDown
          ? Promise.reject(new ConnectionError("busy", { status: 503, mayHaveRun: true }))
          : Promise.resolve(ack),
    },
    {
      clock,
      store: inner,
      onInputRequest: ({ key }) =>
        key === "one" ? undefined : new Promise<JsonObject>((resolve) => (answer = resolve)),
    },
  );
  const { id } = await startTask(a);
  await clock.advance(2000);
  const b = await rig({}, { clock, store: held.store });
  held.hold();
  const responded = b.client.respond(id, "one", yes);
  await clock.advance(100);
  open["two"] = form("Two?");
  await clock.advance(2000);
  answer(yes);
  await clock.advance(100);
  held.letGo();
  await responded;
  await clock.advance(10_000);
  isDown = false;
  await clock.advance(120_000);
  const sent = a.connection.requestsOf("tasks/update").at(-1)?.params["inputResponses"];
  expect(Object.keys(sent as JsonObject).sort()).toEqual(["one", "two"]);
});

test("an answer to one round is none to the next", async () => {
  const clock = virtualClock();
  const { inner, held } = late(clock);
  const answers: ((response: JsonObject) => void)[] = [];
  const a = await rig(
    { "tools/call": [round, round, text("ran")] },
    {
      clock,
      store: inner,
      onInputRequest: () => new Promise<JsonObject>((resolve) => void answers.push(resolve)),
    },
  );
  void a.client.callTool("srv", tool, { callId: "c1" }).catch(() => undefined);
  await clock.advance(1000);
  const b = await rig({}, { clock, store: held.store });
  held.hold();
  const responded = b.client.respond("c1", "k", yes).catch((error: unknown) => error);
  await clock.advance(100);
  answers[0]?.({ action: "decline" });
  await clock.advance(100);
  expect(answers).toHaveLength(2);
  held.letGo();
  expect(await responded).toMatchObject({ code: "INVALID_INPUT_RESPONSE" });
  await clock.advance(10_000);
  expect(a.connection.requestsOf("tools/call")).toHaveLength(2);
});
