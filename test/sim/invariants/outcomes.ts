/** Owns promises 4, 6 and 10: only the server ends a task, the first end stands and is stored before it is shown, and it is delivered. */
import { isDeepStrictEqual } from "node:util";
import type { Settled } from "../../../src/index.js";
import type { JsonObject } from "../../../src/internal/json.js";
import type { TaskRecord } from "../../../src/task/record.js";
import { idOf } from "../disk.js";
import type { OutcomeKind } from "../faults.js";
import { Violation, type Invariant, type Observation, type ProcessView } from "../observation.js";
import { isTerminal, resultOf, type ServerTask } from "../serverTask.js";
import type { World } from "../world.js";
import type { Ledger } from "./ledger.js";
import { contentOf } from "./truth.js";

type Outcome = NonNullable<TaskRecord["outcome"]>;

export function outcomeInvariants(world: World, ledger: Ledger): Invariant[] {
  return [
    onlyTheServerEnds(world, ledger),
    finalIsFinal(),
    storedBeforeShown(world, ledger),
    newestIsShown(ledger),
    deliveredOnce(world, ledger),
  ];
}

/** P4 and P11: an outcome is what the server said, or what its time to live says. */
function onlyTheServerEnds(world: World, ledger: Ledger): Invariant {
  /** The newest times to live that came to the clients: among them the one that counts. */
  const ttls = new Map<string, number[]>();
  const learn = (state: JsonObject | undefined): void => {
    const taskId = state?.["taskId"];
    const ttlMs = state?.["ttlMs"];
    if (typeof taskId !== "string") return;
    const usable = typeof ttlMs === "number" && ttlMs > 0 && ttlMs <= Number.MAX_SAFE_INTEGER;
    if (!usable && ttlMs !== null) return;
    ttls.set(taskId, [...(ttls.get(taskId) ?? []).slice(-2), usable ? Math.ceil(ttlMs) : Infinity]);
  };
  return {
    see(seen) {
      if (seen.kind === "noticed") learn(seen.snapshot);
      if (seen.kind === "ended" && seen.end.kind === "answer") learn(seen.end.result);
      if (seen.kind !== "wrote" || seen.after?.outcome === undefined) return;
      if (isDeepStrictEqual(seen.before?.outcome, seen.after.outcome)) return;
      const { outcome } = seen.after;
      world.count((outcome.status === "lost" ? `lost ${outcome.reason}` : outcome.status) as OutcomeKind);
      const wrong = whyWrong(seen.after, outcome);
      if (wrong !== undefined)
        throw new Violation(wrong.name, `${seen.after.id} ended ${words(outcome)}: ${wrong.why}`);
    },
  };

  function whyWrong(record: TaskRecord, outcome: Outcome): { name: string; why: string } | undefined {
    const call = ledger.callOf(idOf(record));
    const task = taskOf(world, record.taskId);
    const p4 = (why: string): { name: string; why: string } => ({
      name: "P4 only the server fails or ends a task",
      why,
    });
    if (outcome.status === "lost") return whyNotLost(record, outcome, task, call?.disturbed === true);
    if (task === undefined) {
      const spec = world.scenario.calls.find(({ n }) => n === call?.n);
      if (outcome.status === "cancelled")
        return call?.left.size === 0 ? p4("nobody took the call back") : undefined;
      if (outcome.status === "failed" && spec?.makes !== "error") return p4("the server answered no error");
      if (outcome.status !== "completed") return undefined;
      const right =
        spec !== undefined && isDeepStrictEqual(contentOf(outcome.result), contentOf(resultOf(spec)));
      return right ? undefined : p4("the server answered another result");
    }
    if (!isTerminal(task.status)) return p4(`at the server it is ${task.status}`);
    if (task.status !== outcome.status) return p4(`at the server it is ${task.status}`);
    if (outcome.status === "completed" && !isDeepStrictEqual(outcome.result, resultOf(task.spec))) {
      return p4("the server has another result");
    }
    return undefined;
  }

  function whyNotLost(
    record: TaskRecord,
    outcome: Extract<Outcome, { status: "lost" }>,
    task: ServerTask | undefined,
    disturbed: boolean,
  ): { name: string; why: string } | undefined {
    const isGone = task !== undefined && (task.gone || task.saidGone > 1);
    switch (outcome.reason) {
      case "expired": {
        if (task === undefined) return { name: "P11 no instant expiry", why: "there is no task" };
        const shortest = Math.min(...(ttls.get(task.taskId) ?? []));
        const lived = world.time.now - task.createdAt;
        if (isGone || lived >= shortest) return undefined;
        return { name: "P11 no instant expiry", why: `it has lived ${lived} of ${shortest} ms` };
      }
      case "unknown":
        if (isGone) return undefined;
        return { name: "P4 only the server fails or ends a task", why: "the server knows it" };
      case "call-outcome-unknown":
        if (record.taskId !== undefined) {
          return { name: "P4 only the server fails or ends a task", why: "there is a task" };
        }
        // Where writes overwrite each other, one process may take another for dead in the midst of a call.
        return disturbed || (ledger.isShared && !world.scenario.store.cas)
          ? undefined
          : { name: "P2 an answered call has a known outcome", why: "every request was answered" };
      case "gave-up":
        return { name: "P4 only the server fails or ends a task", why: "no limit was set" };
    }
  }
}

/** P6: the first end stays, and arguments go once they are not needed. */
function finalIsFinal(): Invariant {
  const name = "P6 terminal is final";
  return {
    see(seen) {
      if (seen.kind !== "wrote" || seen.before?.outcome === undefined || seen.after === undefined) return;
      if (seen.before.id !== seen.after.id || isDeepStrictEqual(seen.before.outcome, seen.after.outcome))
        return;
      const { outcome } = seen.before;
      // What only says that somebody did not know gives way to who knows.
      if (outcome.status === "lost" && outcome.reason === "call-outcome-unknown") return;
      throw new Violation(name, `${seen.after.id} was ${words(outcome)} and is ${words(seen.after.outcome)}`);
    },
  };
}

/** P6: nobody is shown an end that the store does not hold. */
function storedBeforeShown(world: World, ledger: Ledger): Invariant {
  const name = "P6 an end is stored before it is shown";
  const check = (process: ProcessView, settled: Settled): void => {
    const id = `${process.scope}/${settled.id}`;
    const record = world.disk.records.get(id);
    if (record?.outcome?.status === settled.status) return;
    if (ledger.callOf(id)?.left.has("forget") === true) return;
    // A handle that the store refused lives in memory only, and so does its end.
    if (ledger.failed(process, id) && record?.taskId === undefined) return;
    throw new Violation(
      name,
      `${settled.id} is shown as ${settled.status}, the store says ${record?.phase ?? "nothing"}`,
    );
  };
  return {
    see(seen) {
      if (seen.kind === "settling") check(seen.process, seen.settled);
      if (seen.kind === "told" && seen.name === "settled") check(seen.process, seen.event as Settled);
    },
  };
}

/**
 * P6: what a host is shown never goes back, and nothing comes after the end. Only who lost a call to another process while
 * the store refused what it knew may see it as that other process does.
 */
function newestIsShown(ledger: Ledger): Invariant {
  const name = "P6 stale snapshots change nothing";
  const newest = new Map<string, number>();
  const over = new Set<string>();
  return {
    see(seen) {
      if (seen.kind !== "told") return;
      if (seen.name === "settled") {
        const settled = seen.event as Settled;
        // That somebody did not know gives way to who knows.
        const isUnknown = settled.status === "lost" && settled.reason === "call-outcome-unknown";
        if (!isUnknown) over.add(`${seen.process.name} ${settled.id}`);
      }
      if (seen.name !== "updated") return;
      const { id, snapshot } = seen.event as { id: string; snapshot: { lastUpdatedAt: string | undefined } };
      const key = `${seen.process.name} ${id}`;
      if (over.has(key)) throw new Violation(name, `${id} is updated after its end`);
      const at = Date.parse(snapshot.lastUpdatedAt ?? "");
      const isExcused = ledger.isShared && ledger.failed(seen.process, "*");
      if (at < (newest.get(key) ?? -Infinity) && !isExcused)
        throw new Violation(name, `${id} is shown as it was before`);
      if (!Number.isNaN(at)) newest.set(key, at);
    },
  };
}

/** P10: an outcome that was taken is not delivered again: not by this process, and by no later one once that is stored. */
function deliveredOnce(world: World, ledger: Ledger): Invariant {
  const name = "P10 outcomes are delivered until taken, and not after";
  const taken = new Set<string>();
  const storedAt = new Map<string, number>();
  return {
    see(seen: Observation) {
      if (seen.kind === "delivered") taken.add(`${seen.process.name} ${seen.settled.id}`);
      if (seen.kind === "settling") {
        const { process, settled } = seen;
        const again = taken.has(`${process.name} ${settled.id}`);
        if (again) throw new Violation(name, `${settled.id} is delivered twice in one life`);
        const knownAt = storedAt.get(`${process.scope}/${settled.id}`);
        if (knownAt !== undefined && knownAt < process.startedAt) {
          throw new Violation(name, `${settled.id} is delivered, though the store said that it was`);
        }
      }
      if (seen.kind !== "wrote") return;
      // What was told as of unknown fate became known: that is told, too.
      if (
        seen.before?.phase === "delivered" &&
        seen.after !== undefined &&
        seen.after.phase !== "delivered"
      ) {
        storedAt.delete(idOf(seen.after));
        for (const one of taken) if (one.endsWith(` ${seen.after.id}`)) taken.delete(one);
      }
      if (seen.after?.phase === "delivered" && seen.before?.phase !== "delivered") {
        storedAt.set(idOf(seen.after), world.time.now);
        const settled = taken.size > 0 && [...taken].some((one) => one.endsWith(` ${seen.after?.id ?? ""}`));
        if (!settled) throw new Violation(name, `${seen.after.id} counts as delivered, but nobody took it`);
      }
      if (seen.after !== undefined || seen.before?.phase !== "settled") return;
      if (ledger.callOf(idOf(seen.before))?.left.has("forget") === true) return;
      throw new Violation(name, `${seen.before.id} left the store before anybody took its outcome`);
    },
  };
}

export function taskOf(world: World, taskId: string | undefined): ServerTask | undefined {
  if (taskId === undefined) return undefined;
  for (const server of world.servers) {
    const task = server.tasks.get(taskId);
    if (task !== undefined) return task;
  }
  return undefined;
}

function words(outcome: Outcome | undefined): string {
  if (outcome === undefined) return "not over";
  return outcome.status === "lost" ? `lost (${outcome.reason})` : outcome.status;
}
