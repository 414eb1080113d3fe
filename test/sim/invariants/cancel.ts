/** Owns cancellation: whoever asks for it is heard by the server, once more where that forgot it, and nobody else's task is cancelled. */
import { idOf } from "../disk.js";
import { Violation, type Invariant, type ProcessView } from "../observation.js";
import type { World } from "../world.js";
import type { Ledger } from "./ledger.js";

export function cancelInvariants(world: World, ledger: Ledger): Invariant[] {
  return [
    asked(world, ledger),
    lateHandles(world, ledger),
    onlyWhenWanted(world, ledger),
    nothingIsAskedAnyMore(),
  ];
}

/** What the store and another process's reading of it may take. */
const SLOW_MS = 30_000;
/** How long after its acknowledgement a cancellation counts as forgotten; the product's own default. */
const GRACE_MS = 10_000;

/**
 * P4: a process that asks how a task goes asks for its cancellation first, and where the server acknowledged that and
 * goes on, once more.
 */
function asked(world: World, ledger: Ledger): Invariant {
  const name = "P4 a cancellation reaches the server";
  /** By the stored record. */
  const wantedAt = new Map<string, number>();
  const times = new Map<string, number>();
  const ackedAt = new Map<string, number>();
  const { storeWatchMs, leaseMs } = world.scenario.client;
  // Another process hears of it by reading the store; one that takes over looks first.
  const slowMs = SLOW_MS + 3 * storeWatchMs + leaseMs;
  const isDisturbed = (process: ProcessView): boolean =>
    process.missedMs > 0 ||
    process.sleepsUntil > 0 ||
    process.wallOffsetMs !== 0 ||
    ledger.failed(process, "*");
  return {
    see(seen) {
      if (seen.kind === "wrote" && seen.after !== undefined) {
        const id = idOf(seen.after);
        const isKnown = seen.before?.cancelRequestedAtMs !== undefined;
        if (isKnown && seen.after.cancelRequestedAtMs === undefined && world.scenario.store.cas)
          throw new Violation(name, `${seen.after.id} was to be cancelled, and the store says so no more`);
        if (seen.after.cancelRequestedAtMs === undefined) wantedAt.delete(id);
        else if (!wantedAt.has(id)) wantedAt.set(id, world.time.now);
      }
      if (seen.kind === "ended" && seen.exchange.method === "tasks/cancel" && seen.end.kind === "answer") {
        if (seen.end.result !== undefined) ackedAt.set(seen.exchange.taskId ?? "", world.time.now);
      }
      if (seen.kind !== "sent" || seen.exchange.taskId === undefined) return;
      const { process, exchange } = seen;
      const taskId = exchange.taskId ?? "";
      if (exchange.method === "tasks/cancel") times.set(taskId, (times.get(taskId) ?? 0) + 1);
      if (exchange.method !== "tasks/get" || isDisturbed(process)) return;
      if (world.time.now - process.startedAt < slowMs || !world.scenario.store.cas) return;
      const record = [...world.disk.records.values()].find(
        (one) => one.taskId === taskId && one.scope === process.scope,
      );
      const wanted = record === undefined ? undefined : wantedAt.get(idOf(record));
      if (record === undefined || wanted === undefined || world.time.now - wanted < slowMs) return;
      if (times.get(taskId) === undefined) throw new Violation(name, `${record.id} was never asked to end`);
      const acked = ackedAt.get(taskId);
      if (times.get(taskId) !== 1 || acked === undefined) return;
      // Two polls that show it running: one to see that, one to be late.
      const intervalMs = record.snapshot?.pollIntervalMs ?? 0;
      if (world.time.now - acked < GRACE_MS + slowMs + 3 * Math.max(intervalMs, 60_000)) return;
      throw new Violation(name, `${record.id} goes on, and was not asked again to end`);
    },
  };
}

/** P1: a handle that nobody waited for is cancelled, where the host said so. */
function lateHandles(world: World, ledger: Ledger): Invariant {
  const name = "P1 a late handle is cancelled where the host wants that";
  const due: { id: string; process: ProcessView; atMs: number }[] = [];
  /** Whoever only hears of it may not cancel it: the one that asked for it may have callers who wait. */
  const gotBy = new Map<string, ProcessView | undefined>();
  return {
    see(seen) {
      if (seen.kind === "wrote" && seen.after?.taskId !== undefined && seen.before?.taskId === undefined)
        gotBy.set(idOf(seen.after), seen.process);
      if (seen.kind !== "told" || seen.name !== "created") return;
      if (world.scenario.client.onLateHandle !== "cancel") return;
      const { id, late } = seen.event as { id: string; late: boolean };
      const { process } = seen;
      if (late && gotBy.get(`${process.scope}/${id}`) === process)
        due.push({ id: `${process.scope}/${id}`, process, atMs: world.time.now + SLOW_MS });
    },
    check() {
      const first = due[0];
      if (first === undefined || first.atMs > world.time.now) return;
      due.shift();
      const { id, process } = first;
      const record = world.disk.records.get(id);
      if (record === undefined || record.cancelRequestedAtMs !== undefined) return;
      // The handle itself may have said that the task is over.
      const spec = world.scenario.calls.find(({ n }) => n === ledger.callOf(id)?.n);
      if (record.outcome !== undefined && spec?.endsAtOnce !== false) return;
      if (!process.alive || process.closing || process.sleepsUntil > 0 || ledger.failed(process, "*")) return;
      throw new Violation(name, `${id} runs on`);
    },
  };
}

/** P4: a task is cancelled because somebody wants that. */
function onlyWhenWanted(world: World, ledger: Ledger): Invariant {
  const name = "P4 no task is cancelled that nobody wants to end";
  return {
    see(seen) {
      if (seen.kind !== "sent" || seen.exchange.method !== "tasks/cancel") return;
      if (world.scenario.client.onLateHandle === "cancel") return;
      const record = [...world.disk.records.values()].find(({ taskId }) => taskId === seen.exchange.taskId);
      const left = record === undefined ? undefined : ledger.callOf(idOf(record))?.left;
      if (left === undefined || left.has("cancel") || left.has("abort")) return;
      throw new Violation(name, `${record?.id ?? "?"} is`);
    },
  };
}

/** P7: who cancels is asked nothing more. */
function nothingIsAskedAnyMore(): Invariant {
  const name = "P7 who cancels is not asked any more";
  return {
    see(seen) {
      if (seen.kind !== "wrote" || seen.after?.cancelRequestedAtMs === undefined) return;
      if (seen.before === undefined || seen.before.cancelRequestedAtMs !== undefined) return;
      if (seen.after.questions.some(({ state }) => state === "open")) {
        throw new Violation(name, `${seen.after.id} still asks`);
      }
    },
  };
}
