/** Every wait that ended by its `timeoutMs` left a listener on the caller's signal, and a reaction on the outcome. */
import { expect, onTestFinished, test } from "vitest";
import { raceSignal } from "../../src/internal/abort.js";
import { TaskClient, WaitTimeoutError } from "../../src/index.js";
import { scriptedConnection } from "../../src/testing/index.js";

test("waits that time out leave no listener on the caller's signal", async () => {
  const connection = scriptedConnection({
    "tools/call": { resultType: "task", taskId: "task-secret-1", status: "working", ttlMs: null },
  });
  const client = new TaskClient({ poll: { defaultIntervalMs: 3_600_000 } });
  onTestFinished(() => client.close());
  await client.connect("srv", connection);
  const call = await client.callTool("srv", { name: "deploy" });
  if (call.kind !== "task") throw new Error("expected a task");
  const { signal, added } = countedSignal();
  for (let i = 0; i < 20; i += 1) {
    await expect(call.task.result({ signal, timeoutMs: 1 })).rejects.toThrow(WaitTimeoutError);
  }
  expect(added.size).toBe(0);
});

test("short waits for one long promise share one reaction, and still hear of its end", async () => {
  let reactions = 0;
  let resolve: (value: string) => void = () => undefined;
  const long = new Promise<string>((done) => (resolve = done));
  const then = long.then.bind(long);
  void Object.defineProperty(long, "then", {
    value: (...args: Parameters<typeof then>) => {
      reactions += 1;
      return then(...args);
    },
  });
  for (let i = 0; i < 100; i += 1) {
    const controller = new AbortController();
    const wait = raceSignal(long, controller.signal);
    controller.abort(new Error("enough"));
    await expect(wait).rejects.toThrow("enough");
  }
  expect(reactions).toBe(1);
  const waits = [raceSignal(long, new AbortController().signal), raceSignal(long, undefined)];
  resolve("the end");
  expect(await Promise.all(waits)).toEqual(["the end", "the end"]);
  expect(await raceSignal(long, new AbortController().signal)).toBe("the end");
});

function countedSignal(): { signal: AbortSignal; added: Set<unknown> } {
  const { signal } = new AbortController();
  const added = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    added.add(args[1]);
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    added.delete(args[1]);
    remove(...args);
  };
  return { signal, added };
}
