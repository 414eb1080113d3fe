/** Owns what leases add where several processes share a store: one looks after a task and shows its questions, and another takes over from a dead one. */
import type { TaskRecord } from "../../../src/task/record.js";
import { idOf } from "../disk.js";
import { Violation, type Invariant, type ProcessView } from "../observation.js";
import type { World } from "../world.js";
import type { Ledger } from "./ledger.js";

export function leaseInvariants(world: World, ledger: Ledger): Invariant[] {
  const steadiness = createSteadiness(world);
  return [
    steadiness,
    oneShows(world, steadiness),
    onePolls(world, steadiness),
    oneDelivers(world, { ledger, steadiness }),
    takenOver(world, { ledger, steadiness }),
  ];
}

/** Who could say all the time that it lives: no sleep, no store that refused, within the last two leases. */
interface Steadiness extends Invariant {
  isSteady(process: ProcessView): boolean;
}

function createSteadiness(world: World): Steadiness {
  const shakenAt = new Map<ProcessView, number>();
  return {
    see(seen) {
      if (seen.kind === "slept") shakenAt.set(seen.process, seen.process.sleepsUntil);
      if (seen.kind === "storeFailed") {
        shakenAt.set(seen.process, Math.max(shakenAt.get(seen.process) ?? 0, world.time.now));
      }
    },
    isSteady(process) {
      const restedMs = world.time.now - (shakenAt.get(process) ?? -Infinity);
      return process.alive && !process.closing && restedMs > 2 * world.scenario.client.leaseMs;
    },
  };
}

/** A question is shown by one process at a time, where the store can compare and set. */
function oneShows(world: World, steadiness: Steadiness): Invariant {
  const name = "P7 one process at a time shows a question";
  const shown = new Map<string, Set<ProcessView>>();
  return {
    see(seen) {
      if (seen.kind === "hidden") {
        shown.get(`${seen.process.scope} ${seen.id} ${seen.key}`)?.delete(seen.process);
      }
      if (seen.kind !== "shown" || !world.scenario.store.cas) return;
      const { process, request } = seen;
      const key = `${process.scope} ${request.id} ${request.key}`;
      const others = shown.get(key) ?? new Set();
      shown.set(key, others);
      for (const other of others) {
        if (other === process || !steadiness.isSteady(other) || !steadiness.isSteady(process)) continue;
        throw new Violation(
          name,
          `${request.id} ${request.key} is shown by ${other.name} and ${process.name}`,
        );
      }
      others.add(process);
    },
  };
}

/** A task is looked at by one process at a time. */
function onePolls(world: World, steadiness: Steadiness): Invariant {
  const name = "P5 one process at a time looks after a task";
  const last = new Map<string, { process: ProcessView; at: number }>();
  return {
    see(seen) {
      if (seen.kind !== "sent" || seen.exchange.method !== "tasks/get" || !world.scenario.store.cas) return;
      const { process } = seen;
      const key = `${process.scope} ${seen.exchange.taskId ?? ""}`;
      const before = last.get(key);
      last.set(key, { process, at: world.time.now });
      if (before === undefined || before.process === process) return;
      const isRecent = world.time.now - before.at < world.scenario.client.leaseMs;
      if (!isRecent || !steadiness.isSteady(before.process) || !steadiness.isSteady(process)) return;
      throw new Violation(name, `${before.process.name} and ${process.name} both ask for it`);
    },
  };
}

/** An outcome is delivered by one process, as long as that lives. */
function oneDelivers(
  world: World,
  { ledger, steadiness }: { ledger: Ledger; steadiness: Steadiness },
): Invariant {
  const name = "P10 one process at a time delivers an outcome";
  const last = new Map<string, { process: ProcessView; status: string }>();
  return {
    see(seen) {
      if (seen.kind !== "settling" || !world.scenario.store.cas) return;
      const { process, settled } = seen;
      const id = `${process.scope}/${settled.id}`;
      const before = last.get(id);
      last.set(id, { process, status: settled.status });
      if (before === undefined || before.process === process || before.status !== settled.status) return;
      if (ledger.callOf(id)?.left.has("forget") === true) return;
      if (!steadiness.isSteady(before.process) || !steadiness.isSteady(process)) return;
      throw new Violation(name, `${settled.id} is delivered by ${before.process.name} and ${process.name}`);
    },
  };
}

/** What slow reads and writes of the store may add to that. */
const SLOW_MS = 25_000;

/** What a dead process looked after is another's within two leases, where another lives and can. */
function takenOver(
  world: World,
  { ledger, steadiness }: { ledger: Ledger; steadiness: Steadiness },
): Invariant {
  const name = "P10 another process takes over from a dead one";
  const { leaseMs } = world.scenario.client;
  const due: { id: string; owner: string; heir: ProcessView; atMs: number }[] = [];
  const owners = new Map<string, ProcessView>();
  const canTake = (heir: ProcessView, { server, identity }: TaskRecord): boolean => {
    const index = heir.names.get(server);
    const isConnected = index !== undefined && identity === `https://s${index}.example/mcp`;
    return isConnected && steadiness.isSteady(heir) && world.time.now - heir.startedAt > leaseMs;
  };
  return {
    see(seen) {
      if (seen.kind === "wrote" && seen.process !== undefined && seen.after !== undefined) {
        const { owner } = seen.after;
        if (owner !== undefined && seen.before?.owner !== owner) owners.set(owner, seen.process);
      }
      // Elsewhere the roster itself may lose a beat to another process.
      if (seen.kind !== "crashed" || !world.scenario.store.cas) return;
      for (const record of world.disk.records.values()) {
        const { owner } = record;
        if (owner === undefined || owners.get(owner) !== seen.process || record.phase === "delivered")
          continue;
        const heir = [...ledger.alive].find((one) => one.scope === record.scope && canTake(one, record));
        if (heir === undefined) continue;
        due.push({ id: idOf(record), owner, heir, atMs: world.time.now + 2 * leaseMs + SLOW_MS });
      }
    },
    check() {
      const first = due[0];
      if (first === undefined || first.atMs > world.time.now) return;
      due.shift();
      const record = world.disk.records.get(first.id);
      if (record?.owner !== first.owner || record.phase === "delivered") return;
      if (!steadiness.isSteady(first.heir)) return;
      throw new Violation(name, `${first.id} is still the dead one's, though ${first.heir.name} lives`);
    },
  };
}
