/** A call that asked people waited for ever when another process removed its record. */
import { expect, test } from "vitest";
import { form, makeClient, rig, virtualClock } from "../engine/support.js";
import { memoryStore } from "../../src/store/memory.js";
import type { JsonObject } from "../../src/internal/json.js";

test("its caller is told, and its question is withdrawn", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const ask: JsonObject = { resultType: "input_required", inputRequests: { k: form() }, requestState: "s" };
  const shown: AbortSignal[] = [];
  const onInputRequest = ({ signal }: { signal: AbortSignal }): undefined => void shown.push(signal);
  const a = await rig({ "tools/call": ask }, { clock, store, onInputRequest });
  const call = a.client.callTool("srv", { name: "deploy" }, { callId: "c1" });
  const ended = expect(a.within(call, 60_000)).rejects.toMatchObject({ code: "CALL_OUTCOME_UNKNOWN" });
  await clock.advance(500);
  await (await makeClient(clock, { store }).task("c1"))!.forget();
  await ended;
  expect(shown.map(({ aborted }) => aborted)).toEqual([true]);
  expect(await a.client.tasks()).toEqual([]);
});
