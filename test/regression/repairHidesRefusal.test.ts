/** A call that the server refused for its headers ended as "may have run", because the listing that was to mend it failed. */
import { expect, test } from "vitest";
import { ConnectionError, RpcError } from "../../src/index.js";
import { rig } from "../engine/support.js";

test("the refusal is what the caller hears, and nothing is kept", async () => {
  const mismatch = new RpcError({ code: -32020, message: "Header mismatch" });
  const broken = new ConnectionError("broke off", { mayHaveRun: true });
  const run = await rig({ "tools/call": mismatch, "tools/list": broken });
  const call = run.within(run.client.callTool("srv", { name: "deploy" }, { callId: "c1" }));
  await expect(call).rejects.toMatchObject({ code: "RPC", rpcCode: -32020 });
  expect(await run.client.tasks()).toEqual([]);
});
