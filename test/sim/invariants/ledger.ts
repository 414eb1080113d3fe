/** Owns what invariants need to know of the past: who is who, what was disturbed, what was forgotten. It demands nothing. */
import { idOf } from "../disk.js";
import type { OutcomeKind } from "../faults.js";
import type { Invariant, Observation, ProcessView } from "../observation.js";
import type { TaskRecord } from "../../../src/task/record.js";
import type { World } from "../world.js";

/** What is known of one call. */
export interface CallLedger {
  readonly n: number;
  readonly scopes: Set<string>;
  /** Local ids, with their scope. */
  readonly ids: Set<string>;
  executions: number;
  /** A request of this call ended without its answer, or a process died while it was under way. */
  disturbed: boolean;
  /** The host took it back. */
  readonly left: Set<"abort" | "cancel" | "forget">;
  /** A valid answer of the call itself reached a process. */
  answers: number;
}

export interface Ledger extends Invariant {
  call(n: number): CallLedger;
  callOf(id: string): CallLedger | undefined;
  /** The record's local id, by the key of its entry. */
  idAt(key: string): string | undefined;
  /** The store failed this process for the record of this id, ever (`*` for any). */
  failed(process: ProcessView, id: string): boolean;
  /** More than one process of a scope, now or within the record's life. */
  readonly isShared: boolean;
  /** The first answer to a question that the store held, by `id key`. */
  readonly alive: ReadonlySet<ProcessView>;
}

export function createLedger(world: World): Ledger {
  const calls = new Map<number, CallLedger>();
  const byId = new Map<string, number>();
  const byKey = new Map<string, string>();
  const failures = new Map<ProcessView, Set<string>>();
  const alive = new Set<ProcessView>();
  const resent = new Set<string>();
  let shared = false;

  function call(n: number): CallLedger {
    let known = calls.get(n);
    if (known === undefined) {
      known = {
        n,
        scopes: new Set(),
        ids: new Set(),
        executions: 0,
        disturbed: false,
        left: new Set(),
        answers: 0,
      };
      calls.set(n, known);
    }
    return known;
  }

  function isFirst(record: TaskRecord | undefined, key: string): boolean {
    const each = `${record?.id ?? ""} ${key}`;
    const known = resent.has(each);
    resent.add(each);
    return !known;
  }

  function disturbAll(): void {
    for (const one of calls.values()) one.disturbed = true;
  }

  function see(seen: Observation): void {
    switch (seen.kind) {
      case "started":
        alive.add(seen.process);
        shared ||= alive.size > 1;
        return;
      case "crashed":
        alive.delete(seen.process);
        // What was under way then has an unknown fate.
        return disturbAll();
      case "closed":
        alive.delete(seen.process);
        return disturbAll();
      case "slept":
        return disturbAll();
      case "wrote":
        if (seen.after?.questions.some(({ key, resent }) => resent === 1 && isFirst(seen.after, key))) {
          world.count("answer sent again");
        }
        return wrote(seen.key, seen.after);
      case "storeFailed": {
        const ids = failures.get(seen.process) ?? new Set<string>();
        failures.set(seen.process, ids);
        const id = byKey.get(seen.key);
        ids.add("*").add(id ?? seen.key);
        // A call whose intent may be stored, though its caller was told otherwise, has an unknown fate.
        if (id !== undefined) call(byId.get(id) ?? -1).disturbed = true;
        // Who cannot say that it lives is taken for dead.
        else disturbAll();
        return;
      }
      case "executed":
        call(seen.n).executions += 1;
        return;
      case "left":
        call(seen.n).left.add(seen.how);
        return;
      case "asked for":
        call(seen.spec.n).scopes.add(seen.process.scope);
        return;
      case "ended":
        return ended(seen);
      case "told":
        return told(seen);
      case "settling":
        if (deliveries.has(seen.settled.id)) world.count("outcome delivered again");
        if (seen.process.startedAt > seen.settled.settledAt.getTime() - START) {
          world.count("outcome delivered after a restart");
        }
        deliveries.add(seen.settled.id);
        return;
      case "called":
        return called(seen);
      case "took":
        world.count("answer taken");
        return;
      default:
        return;
    }
  }

  const deliveries = new Set<string>();
  const asked = new Map<ProcessView, Set<number>>();

  function wrote(key: string, after: TaskRecord | undefined): void {
    if (after === undefined) return;
    const id = idOf(after);
    byKey.set(key, id);
    const n = after.call?.arguments["n"] ?? (after.context as { n?: number } | undefined)?.n;
    if (typeof n !== "number" || byId.has(id)) return;
    byId.set(id, n);
    call(n).ids.add(id);
  }

  function ended({ exchange, end }: Extract<Observation, { kind: "ended" }>): void {
    if (exchange.method === "tasks/update" && end.kind === "answer" && end.error === undefined) return;
    if (exchange.method !== "tools/call") return;
    const { n } = exchange.params["arguments"] as { n: number };
    const good = end.kind === "answer" && (end.result !== undefined || end.error !== undefined);
    if (good) call(n).answers += 1;
    // Who is sent away at the door has not been heard: the call did not run.
    else if (!(end.kind === "answer" && TURNED_AWAY.includes(end.status))) call(n).disturbed = true;
  }

  function told({ name, event }: Extract<Observation, { kind: "told" }>): void {
    switch (name) {
      case "serverDown":
        return world.count("server down");
      case "serverUp":
        return world.count("server up");
      case "retry":
        return world.count("retry");
      case "inputWithdrawn":
        return world.count("question withdrawn");
      case "push": {
        const { state } = event as { state: string };
        if (state !== "closed") world.count(`push ${state}` as OutcomeKind);
        return;
      }
      case "created":
        if ((event as { late: boolean }).late) world.count("late handle");
        return;
      default:
        return;
    }
  }

  function called({ process, spec, end }: Extract<Observation, { kind: "called" }>): void {
    const before = asked.get(process) ?? new Set<number>();
    asked.set(process, before);
    if (end.kind === "task" && (before.has(spec.n) || process.life > 0)) {
      world.count("call taken up by its id");
    }
    before.add(spec.n);
    if (end.kind === "result") world.count("immediate result");
    if (end.kind !== "error") return;
    const { name, task } = end.error as { name: string; task?: unknown };
    if (name === "RpcError") world.count("immediate error");
    if (name === "ConnectionError") world.count("call not run");
    if (name === "StoreError" && task !== undefined) world.count("handle not stored");
  }

  return {
    see,
    call,
    callOf: (id) => {
      const n = byId.get(id);
      return n === undefined ? undefined : call(n);
    },
    idAt: (key) => byKey.get(key),
    failed: (process, id) => failures.get(process)?.has(id) === true,
    get isShared() {
      return shared;
    },
    alive,
  };
}

const START = Date.UTC(2026, 7, 1);
const TURNED_AWAY = [401, 429];
