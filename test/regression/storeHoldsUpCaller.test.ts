/** A caller of `callTool` could neither time out nor abort while the store did not answer. */
import { expect, test } from "vitest";
import { WaitTimeoutError } from "../../src/index.js";
import { memoryStore } from "../../src/store/memory.js";
import type { KeyValueStore } from "../../src/store/types.js";
import { rig, virtualClock } from "../engine/support.js";

const result = { content: [] };

/** A store whose new entries wait until `go` is called. */
function slowStore(): { store: KeyValueStore; go: () => void } {
  const clock = virtualClock();
  const inner = memoryStore(clock);
  let go: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (go = resolve));
  const store: KeyValueStore = {
    ...inner,
    setIfAbsent: (...args) => gate.then(() => inner.setIfAbsent(...args)),
  };
  return { store, go };
}

test("timeoutMs ends the wait; what is stored later is not sent and does not stay", async () => {
  const { store, go } = slowStore();
  const run = await rig({ "tools/call": result }, { store });
  const call = run.client.callTool("srv", { name: "deploy" }, { timeoutMs: 5000, callId: "c1" });
  await expect(run.within(call)).rejects.toThrow(WaitTimeoutError);
  expect(run.clock.monotonic()).toBe(5000);
  go();
  await run.clock.advance(60_000);
  expect(run.connection.requestsOf("tools/call")).toEqual([]);
  expect(await run.client.tasks()).toEqual([]);
  // The id is free again.
  const again = run.client.callTool("srv", { name: "deploy" }, { callId: "c1" });
  expect(await run.within(again)).toMatchObject({ kind: "result" });
});

test("so does the caller's signal, with its own reason", async () => {
  const { store, go } = slowStore();
  const run = await rig({ "tools/call": result }, { store });
  const controller = new AbortController();
  const call = run.client.callTool("srv", { name: "deploy" }, { signal: controller.signal });
  await run.clock.advance(10);
  controller.abort(new Error("enough"));
  await expect(run.within(call)).rejects.toThrow("enough");
  go();
  await run.clock.advance(60_000);
  expect(run.connection.requestsOf("tools/call")).toEqual([]);
  expect(await run.client.tasks()).toEqual([]);
});
