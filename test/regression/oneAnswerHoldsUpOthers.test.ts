/** F128: a server that failed over one answer by another error than -32602 got the same batch again and again: the good answers never arrived. */
import { expect, test } from "vitest";
import { RpcError } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import type { ScriptedRequest } from "../../src/testing/index.js";
import { ack, asks, form, handle, rig, startTask, yes } from "../engine/support.js";

test.each([-32603, -32600, -32000, -1])(
  "%i: the others go alone, and the bad one is tried on",
  async (code) => {
    const taken = new Set<string>();
    const update = ({ params }: ScriptedRequest): JsonObject | Error => {
      const keys = Object.keys(params["inputResponses"] as object);
      if (keys.includes("bad")) return new RpcError({ code, message: "cannot read that" });
      for (const key of keys) taken.add(key);
      return ack;
    };
    const script = {
      "tools/call": handle(),
      "tasks/get": asks({ bad: form(), good: form(), fine: form() }),
      "tasks/update": update,
    };
    const run = await rig(script, { onInputRequest: () => yes, answerGraceMs: 1e9 });
    await startTask(run);
    await run.clock.advance(30_000);
    expect([...taken].sort()).toEqual(["fine", "good"]);
    const sent = run.connection.requestsOf("tasks/update");
    expect(Object.keys(sent.at(-1)?.params["inputResponses"] as object)).toEqual(["bad"]);
    // With growing delays, not in a storm.
    expect(sent.length).toBeLessThan(15);
  },
);
