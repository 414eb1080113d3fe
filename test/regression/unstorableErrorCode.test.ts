/** F029: a failure whose code JSON reads as infinity (1e400) was stored as null, and its record could not be read again. */
import { describe, expect, test } from "vitest";
import { RpcError, TaskFailedError } from "../../src/index.js";
import { memoryStore } from "../../src/store/memory.js";
import { handle, rig, startTask, state, virtualClock } from "../engine/support.js";

describe.each(["1e400", "-1e400"])("a code of %s", (written) => {
  const code = JSON.parse(written) as number;

  test("of a task: the same failure before and after a restart", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const failed = state({ status: "failed", error: { code, message: "boom", data: { a: 1 } } });
    const first = await rig({ "tools/call": handle(), "tasks/get": failed }, { clock, store });
    const task = await startTask(first, { callId: "c1" });
    const before: unknown = await first.within(task.result().catch((error: unknown) => error));
    const second = await rig({}, { clock, store });
    const again = await second.client.task("c1");
    const after: unknown = await second.within(again!.result().catch((error: unknown) => error));
    for (const error of [before, after]) {
      expect(error).toBeInstanceOf(TaskFailedError);
      expect(error).toMatchObject({ rpcCode: -32603, message: "boom", data: { a: 1 } });
    }
    expect(second.told.of("error")).toEqual([]);
  });

  test("of a call: it is answered once, also after a restart", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const tool = { name: "deploy", arguments: {} };
    const failing = { "tools/call": new RpcError({ code, message: "no" }) };
    const first = await rig(failing, { clock, store });
    const call = first.client.callTool("srv", tool, { callId: "c1" });
    await expect(first.within(call)).rejects.toMatchObject({ message: "no" });
    const second = await rig(failing, { clock, store });
    const again = second.client.callTool("srv", tool, { callId: "c1" });
    await expect(second.within(again)).rejects.toMatchObject({ rpcCode: -32603, message: "no" });
    expect(second.connection.requestsOf("tools/call")).toEqual([]);
  });
});
