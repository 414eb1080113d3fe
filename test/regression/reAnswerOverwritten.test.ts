/** An answer that another process gave in place of a refused one was overwritten by the process that knew of the refusal. */
import { expect, test } from "vitest";
import { RpcError } from "../../src/index.js";
import { ack, asks, form, handle, makeClient, rig, startTask, virtualClock, yes } from "../engine/support.js";
import { memoryStore } from "../../src/store/memory.js";

test("the new answer is sent", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const no = { action: "decline" };
  const refused = new RpcError({ code: -32602, message: "not that" });
  let polls = 0;
  const get = (): ReturnType<typeof asks> => asks({ k: form() }, { statusMessage: `poll ${(polls += 1)}` });
  const script = { "tools/call": handle(), "tasks/get": get, "tasks/update": [refused, ack] };
  const a = await rig(script, { clock, store });
  const task = await startTask(a);
  await clock.advance(1500);
  await task.respond("k", yes);
  await clock.advance(1200);
  expect(a.connection.requestsOf("tasks/update")).toHaveLength(1);
  await makeClient(clock, { store }).respond(task.id, "k", no);
  await clock.advance(10_000);
  expect(a.connection.requestsOf("tasks/update").map(({ params }) => params["inputResponses"])).toEqual([
    { k: yes },
    { k: no },
  ]);
});
