/**
 * A server without a state of its own asked the same question again in the next round before a task (a wrong code, say):
 * nobody was asked, and the first answer went out again and again.
 */
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/internal/json.js";
import { form, rig, text, virtualClock } from "../engine/support.js";

const code = (n: number): JsonObject => ({ action: "accept", content: { ok: n > 1 } });

test.each([[undefined], ["the same state"]])("people are asked in every round (%s)", async (requestState) => {
  const clock = virtualClock();
  const asks = (key: string): JsonObject => ({
    resultType: "input_required",
    inputRequests: { [key]: form("The code?") },
    ...(requestState === undefined ? {} : { requestState }),
  });
  let shown = 0;
  const run = await rig(
    { "tools/call": [asks("code"), asks("code"), asks("other"), text("ran")] },
    { clock, onInputRequest: () => code((shown += 1)) },
  );
  const call = run.client.callTool("srv", { name: "deploy", arguments: {} }, { callId: "c1" });
  expect(await run.within(call)).toEqual({ kind: "result", result: text("ran") });
  expect(shown).toBe(3);
  expect(run.connection.requestsOf("tools/call").map(({ params }) => params["inputResponses"])).toEqual([
    undefined,
    { code: code(1) },
    { code: code(2) },
    { other: code(3) },
  ]);
  const task = (await run.client.task("c1"))!;
  expect(task.answers.map(({ key }) => key)).toEqual(["code", "code", "other"]);
});
