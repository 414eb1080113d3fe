/** Owns promises 1 to 3: no handle is lost, no call is sent twice, a call id is answered once. */
import { TasksError } from "../../../src/index.js";
import { idOf } from "../disk.js";
import { Violation, type Invariant, type Observation, type ProcessView } from "../observation.js";
import { LEFT } from "../toolCall.js";
import type { World } from "../world.js";
import type { Ledger } from "./ledger.js";

export function callInvariants(world: World, ledger: Ledger): Invariant[] {
  return [
    refusedInWords(),
    handleIsStored(world, ledger),
    everyHandleIsKept(world, ledger),
    intentIsJournaled(world, ledger),
    sentOnce(world),
    oneTask(world),
  ];
}

/** P1: what `callTool` answers is in the store. */
function handleIsStored(world: World, ledger: Ledger): Invariant {
  const name = "P1 a handle is stored before it is returned";
  return {
    see(seen) {
      if (seen.kind !== "called") return;
      const { process, spec, end } = seen;
      if (end.kind !== "task" || end.handle.taskId === undefined) return;
      const { taskId } = end.handle;
      if (ledger.call(spec.n).left.has("forget")) return;
      const record = world.disk.records.get(`${process.scope}/${end.handle.id}`);
      if (record?.taskId !== taskId)
        throw new Violation(name, `call ${spec.n} returned a handle that is not stored`);
    },
  };
}

/** P1: a call is refused in the words of the taxonomy, or with its caller's own reason. */
function refusedInWords(): Invariant {
  const name = "P1 a call fails in the words of the taxonomy";
  return {
    see(seen) {
      if (seen.kind !== "called" || seen.end.kind !== "error") return;
      const { error } = seen.end;
      if (error instanceof TasksError || (error as Error).message === LEFT) return;
      throw new Violation(name, `call ${seen.spec.n} is rejected with ${String(error)}`);
    },
  };
}

/** How long a handle may take into the store that works. */
const KEEP_MS = 30_000;

/** P1: a handle that has come is kept, also where its caller had left. */
function everyHandleIsKept(world: World, ledger: Ledger): Invariant {
  const name = "P1 a handle that came is kept";
  const due: { process: ProcessView; n: number; atMs: number }[] = [];
  const isKept = (n: number): boolean => {
    const { ids, left } = ledger.call(n);
    if (left.has("forget")) return true;
    return [...ids].some((id) => {
      const record = world.disk.records.get(id);
      if (record?.taskId !== undefined) return true;
      const { outcome } = record ?? {};
      return (
        outcome !== undefined && !(outcome.status === "lost" && outcome.reason === "call-outcome-unknown")
      );
    });
  };
  return {
    see(seen) {
      if (seen.kind !== "ended" || seen.exchange.method !== "tools/call" || seen.end.kind !== "answer")
        return;
      if (seen.end.result?.["resultType"] !== "task") return;
      const { n } = seen.exchange.params["arguments"] as { n: number };
      due.push({ process: seen.process, n, atMs: world.time.now + KEEP_MS });
    },
    check() {
      const first = due[0];
      if (first === undefined || first.atMs > world.time.now) return;
      due.shift();
      const { process, n } = first;
      const hasSlept = process.sleepsUntil > world.time.now - KEEP_MS;
      const isExcused = !process.alive || process.closing || hasSlept || ledger.failed(process, "*");
      if (!isExcused && !isKept(n)) throw new Violation(name, `the handle of call ${n} is in no record`);
    },
  };
}

/** P2: the intent to call is stored before the call goes out. */
function intentIsJournaled(world: World, ledger: Ledger): Invariant {
  const name = "P2 the intent is stored before the call goes out";
  const writtenBy = new Map<string, ProcessView | undefined>();
  return {
    see(seen) {
      if (seen.kind === "wrote" && seen.after !== undefined) writtenBy.set(idOf(seen.after), seen.process);
      if (seen.kind !== "sent" || seen.exchange.method !== "tools/call") return;
      // Two processes on a store without compare-and-set may both be at it.
      if (ledger.isShared && !world.scenario.store.cas) return;
      const { n } = seen.exchange.params["arguments"] as { n: number };
      const isStored = [...world.disk.records.values()].some(
        (record) =>
          record.scope === seen.process.scope &&
          ledger.callOf(idOf(record))?.n === n &&
          ((record.phase === "calling" && record.call?.inFlight === true) ||
            // Whom it was taken over from had an answer after all, in this very moment.
            (ledger.isShared && writtenBy.get(idOf(record)) !== seen.process)),
      );
      if (!isStored) throw new Violation(name, `call ${n} goes out, but the store says nothing of it`);
    },
  };
}

/** P2: a call that may have run is not sent again by itself. */
function sentOnce(world: World): Invariant {
  const name = "P2 a call that may have run is never executed twice";
  return {
    see(seen) {
      if (seen.kind !== "executed") return;
      if (seen.n >= 1000)
        throw new Violation(
          "P3 an id stands for one call",
          `call ${seen.n - 1000} with other arguments was executed`,
        );
      const spec = world.scenario.calls.find(({ n }) => n === seen.n);
      if (seen.times < 2 || spec === undefined) return;
      if (spec.tool !== "work" || spec.onUnknownOutcome === "retry") {
        world.count("repeated call of a safe tool");
        return;
      }
      throw new Violation(name, `call ${seen.n} was executed ${seen.times} times`);
    },
  };
}

/** P3: one id, one task, one result, whoever asks and how often. */
function oneTask(world: World): Invariant {
  const name = "P3 a call id is answered once";
  const given = new Map<string, string>();
  return {
    see(seen: Observation) {
      if (seen.kind === "wrote" && seen.before?.taskId !== undefined && seen.after !== undefined) {
        if (seen.after.taskId !== seen.before.taskId) {
          throw new Violation(name, `the task of ${seen.after.id} was replaced by another`);
        }
      }
      if (seen.kind === "left" && seen.how === "forget") {
        for (const key of given.keys()) if (key.includes(` ${seen.n} `)) given.delete(key);
      }
      if (seen.kind !== "called" || !seen.spec.hasId || seen.end.kind === "error") return;
      const answer = seen.end.kind === "task" ? seen.end.handle.taskId : JSON.stringify(seen.end.result);
      const key = `${seen.process.scope} ${seen.spec.n} ${seen.end.kind}`;
      const before = given.get(key);
      if (answer === undefined) return;
      given.set(key, answer);
      if (before !== undefined && before !== answer && world.scenario.store.cas) {
        throw new Violation(name, `call ${seen.spec.n} was answered with two different ${seen.end.kind}s`);
      }
    },
  };
}
