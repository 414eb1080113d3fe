/** Owns one life of a host's process: a real TaskClient over the simulated network and disk, until it is killed or closed. */
import { httpConnection, TaskClient } from "../../src/index.js";
import { EVENTS } from "../../src/client/taskClient.js";
import { never } from "./disk.js";
import type { ProcessView } from "./observation.js";
import type { People } from "./people.js";
import type { HostSpec } from "./scenario.js";
import { SECRET } from "./serverTask.js";
import type { World } from "./world.js";

/** A process and its client. */
export interface HostProcess {
  readonly view: ProcessView;
  readonly spec: HostSpec;
  readonly client: TaskClient;
  /** Names of servers that are connected. */
  readonly connected: Set<string>;
  /** Everything that this process holds in memory is gone. */
  kill(): void;
  close(timeoutMs: number): Promise<void>;
}

export function startProcess(
  world: World,
  spec: HostSpec,
  from: { readonly life: number; readonly people: People; readonly wallOffsetMs: number },
): HostProcess {
  const swapped = world.servers.length > 1 && world.fault("namesSwapped");
  const names = new Map(
    world.servers.map(({ index }) => [`srv${index}`, swapped ? world.servers.length - 1 - index : index]),
  );
  const view: ProcessView = {
    name: `h${spec.index}.${from.life}`,
    alive: true,
    sleepsUntil: 0,
    wallOffsetMs: from.wallOffsetMs,
    missedMs: 0,
    host: spec.index,
    life: from.life,
    scope: spec.scope,
    hasHandler: spec.hasHandler,
    startedAt: world.time.now,
    closing: false,
    isDone: false,
    names,
  };
  world.observe({ kind: "started", process: view });
  const clock = world.time.clockOf(view);
  const random = world.random(`client ${view.name}`);
  const { client: options } = world.scenario;
  const client: TaskClient = new TaskClient({
    store: world.disk.storeOf(view),
    scope: spec.scope,
    clock,
    random: () => random.next(),
    push: options.push,
    concurrency: options.concurrency,
    onLateHandle: options.onLateHandle,
    lateAnswerMs: options.lateAnswerMs,
    storeWatchMs: options.storeWatchMs,
    ...(spec.hasHandler && { onInputRequest: from.people.handlerOf(view, () => client) }),
    unanswered: from.people.policyOf(view),
    async onSettled(settled) {
      if (!world.touch(view, "onSettled")) return never();
      world.observe({ kind: "settling", process: view, settled });
      if (world.fault("settledThrows")) throw new Error("the host's database is down");
      world.observe({ kind: "delivered", process: view, settled });
      return undefined;
    },
    leaseMs: options.leaseMs,
    instance: `host-${spec.index}`,
  });
  for (const name of EVENTS) {
    client.on(name, (event) => {
      if (world.touch(view, `tell ${name}`)) world.observe({ kind: "told", process: view, name, event });
    });
  }
  const connected = new Set<string>();
  for (const [name, index] of names) connect(name, index);
  return {
    view,
    spec,
    client,
    connected,
    kill() {
      view.alive = false;
      world.observe({ kind: "crashed", process: view });
      world.network.dropped(view);
    },
    async close(timeoutMs) {
      view.closing = true;
      const begun = world.time.now;
      await client.close({ timeoutMs });
      // Where the store or the server took longer than it was given, something is left.
      view.isDone = world.time.now - begun < timeoutMs;
      world.observe({ kind: "closed", process: view });
    },
  };

  function connect(name: string, index: number, retryMs = 2000): void {
    if (!view.alive || view.closing) return;
    const connection = httpConnection(`https://s${index}.example/mcp`, {
      fetch: world.network.fetchOf(view),
      headers: { authorization: `Bearer ${SECRET}-${spec.scope}` },
      clock,
      // Servers of other revisions are other tests' business; here they would load a client from the real disk.
      earlier: "never",
    });
    client.connect(name, connection).then(
      () => connected.add(name),
      () => world.time.after(retryMs, () => connect(name, index, Math.min(2 * retryMs, 60_000)), view),
    );
  }
}
