/** Owns what a host does with one call: calling, waiting, leaving, cancelling, forgetting. It looks at nothing but the public surface. */
import type { TaskHandle, ToolCall } from "../../src/index.js";
import type { HostProcess } from "./hostProcess.js";
import type { Observation } from "./observation.js";
import type { CallSpec } from "./scenario.js";
import type { World } from "./world.js";

/** What the arguments of calls bear, so that they are found where they should not be. */
export const ARGUMENT = "zq9argument";

/** What a host gives as the reason of its leaving. */
export const LEFT = "the host left";

export function callIdOf(spec: CallSpec): string {
  return `call-${spec.n}`;
}

/** Calls once. A call without an id is made once in the life of the world. */
export function startCall(world: World, process: HostProcess, spec: CallSpec): void {
  const { time } = world;
  const { view, client } = process;
  const once = onceOf(world);
  if (!spec.hasId && once.has(spec.n)) return;
  const isFirst = !once.has(spec.n);
  once.add(spec.n);
  if (!world.touch(view, "call")) return;
  world.observe({ kind: "asked for", process: view, spec });
  const controller = new AbortController();
  if (spec.abortAfterMs !== undefined && isFirst && world.fault("abort", 4)) {
    const leave = (): void => {
      world.observe({ kind: "left", process: view, n: spec.n, how: "abort" });
      controller.abort(new Error(LEFT));
    };
    time.after(spec.abortAfterMs, leave, view);
  }
  const isShort = world.fault("timeout");
  const calling = client.callTool(
    `srv${spec.server}`,
    { name: spec.tool, arguments: { n: spec.n, words: `${ARGUMENT}-${spec.n}` } },
    {
      ...(spec.hasId && { callId: callIdOf(spec) }),
      onUnknownOutcome: spec.onUnknownOutcome,
      timeoutMs: isShort ? 700 : spec.timeoutMs,
      waitMs: spec.waitMs,
      signal: controller.signal,
      context: { n: spec.n },
    },
  );
  const caller = `call ${spec.n} of ${view.name}, begun at ${time.now}`;
  world.callers.set(caller, view);
  calling.then(
    (call) => {
      world.callers.delete(caller);
      if (!world.touch(view, "call returns")) return;
      called(call);
    },
    (error: unknown) => {
      world.callers.delete(caller);
      if (!world.touch(view, "call rejects")) return;
      world.observe({ kind: "called", process: view, spec, end: { kind: "error", error } });
    },
  );

  function called(call: ToolCall): void {
    if (call.kind === "result") {
      world.observe({ kind: "called", process: view, spec, end: { kind: "result", result: call.result } });
      return;
    }
    world.observe({ kind: "called", process: view, spec, end: { kind: "task", handle: call.task } });
    follow(call.task);
  }

  function follow(handle: TaskHandle): void {
    void waitFor(handle);
    void readUpdates(handle);
    if (!isFirst) return;
    const later = (afterMs: number | undefined, how: "cancel" | "forget", run: () => Promise<void>): void => {
      if (afterMs === undefined || !world.fault(how, 4)) return;
      const act = (): void => {
        world.observe({ kind: "left", process: view, n: spec.n, how });
        run().catch((error: unknown) => world.observe({ kind: "rejected", process: view, what: how, error }));
      };
      time.after(afterMs, act, view);
    };
    later(spec.cancelAfterMs, "cancel", () => handle.cancel());
    later(spec.forgetAfterMs, "forget", () => handle.forget());
  }

  async function waitFor(handle: TaskHandle): Promise<void> {
    const { n } = spec;
    const tell = (end: Extract<Observation, { kind: "waited" }>["end"]): void => {
      if (view.alive) world.observe({ kind: "waited", process: view, n, id: handle.id, end });
    };
    await handle.result().then(
      (result) => tell({ kind: "result", result }),
      (error: unknown) => tell({ kind: "error", error }),
    );
  }

  async function readUpdates(handle: TaskHandle): Promise<void> {
    try {
      for await (const snapshot of handle.updates()) if (snapshot.status === "never") return;
    } catch {
      // The client closed, or the record is gone.
    }
  }
}

const begun = new WeakMap<World, Set<number>>();

function onceOf(world: World): Set<number> {
  const known = begun.get(world) ?? new Set();
  begun.set(world, known);
  return known;
}
