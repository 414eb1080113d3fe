/** Owns when the parts of a world get into trouble, and that all trouble ends. Each part decides what its trouble is. */
import type { Host } from "./host.js";
import type { World } from "./world.js";

/** Plans everything that has a time of its own. */
export function planStorm(world: World, hosts: readonly Host[]): void {
  const { time, scenario } = world;
  const random = world.random("storm");
  const sometime = (run: () => void): void => void time.after(random.int(0, scenario.stormMs), run);
  for (const server of world.servers) {
    if (world.fault("authExpiry", 4)) {
      sometime(() => {
        server.refusesUntil = time.now + random.int(1000, 120_000);
      });
    }
    if (world.fault("restartKeeping", 4)) {
      sometime(() => server.restart({ forgets: false, downMs: random.int(0, 30_000) }));
    }
    if (world.fault("restartForgetting", 2)) {
      sometime(() => server.restart({ forgets: true, downMs: random.int(0, 30_000) }));
    }
    if (world.fault("longOutage", 4)) {
      sometime(() => server.restart({ forgets: false, downMs: random.int(60_000, 1_800_000) }));
    }
  }
  if (world.fault("storeOutage", 4)) {
    sometime(() => {
      world.disk.brokenUntil = time.now + random.int(1000, 60_000);
      world.trace.note(`the store is out of reach until ${world.disk.brokenUntil}`);
    });
  }
  for (const call of scenario.calls) {
    if (!call.hasId) continue;
    const scope = hosts.find(({ spec }) => spec.index === call.host)?.spec.scope;
    const peers = hosts.filter(({ spec }) => spec.scope === scope);
    if (world.fault("replay", 2)) sometime(() => random.pick(peers).replay(call));
    if (world.fault("conflict", 3)) sometime(() => conflict(world, hosts, call.n));
  }
}

/** The id of a call that is known, with other arguments: it must be refused, and nothing sent. */
function conflict(world: World, hosts: readonly Host[], n: number): void {
  const call = world.scenario.calls.find((one) => one.n === n);
  const record = world.disk.records.get(`default/call-${n}`);
  const host = hosts.find(({ spec }) => spec.scope === "default");
  if (call === undefined || record === undefined || call.forgetAfterMs !== undefined) return;
  if (record.phase === "calling" || record.phase === "asking") return;
  const process = host?.process;
  if (process === undefined || !process.connected.has(`srv${call.server}`)) return;
  world.time.after(
    0,
    () => {
      const calling = process.client.callTool(
        `srv${call.server}`,
        { name: call.tool, arguments: { n: 1000 + n } },
        { callId: `call-${n}` },
      );
      calling.then(
        () => world.observe({ kind: "executed", n: 1000 + n, times: 1 }),
        () => undefined,
      );
    },
    process.view,
  );
}

/** The storm is over: servers are up, the store works, processes live, people answer. */
export function calmDown(world: World, hosts: readonly Host[]): void {
  world.calm = true;
  world.observe({ kind: "calmed" });
  world.disk.brokenUntil = 0;
  for (const server of world.servers) server.downUntil = server.refusesUntil = 0;
  for (const host of hosts) {
    if (host.process !== undefined || !host.spec.leavesForGood) host.calm();
  }
}
