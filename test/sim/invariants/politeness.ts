/** Owns promise 5 and the busy loops of promise 11: intervals, Retry-After, backoff, one probe for a server that is down. */
import type { JsonObject } from "../../../src/internal/json.js";
import {
  Violation,
  type Exchange,
  type Invariant,
  type Observation,
  type ProcessView,
} from "../observation.js";
import type { World } from "../world.js";
import type { Ledger } from "./ledger.js";

const FOLLOW_UPS: ReadonlySet<string> = new Set(["tasks/get", "tasks/update", "tasks/cancel"]);
const DEFAULT_MS = 1000;
const LEAST_MS = 100;
const MOST_MS = 3_600_000;

export function politenessInvariants(world: World, ledger: Ledger): Invariant[] {
  return [
    intervals(world),
    oneAtATime(),
    retryAfter(world),
    backoff(world, ledger),
    oneProbe(),
    noBusyLoop(world),
  ];
}

function isUsable(hint: unknown): hint is number {
  return typeof hint === "number" && hint > 0 && hint <= Number.MAX_SAFE_INTEGER;
}

/** The interval that a hint stands for, by the rules of the options' defaults. */
function intervalOf(hint: unknown, before: number | undefined): number {
  if (!isUsable(hint)) return before ?? DEFAULT_MS;
  return Math.min(Math.max(Math.ceil(hint), LEAST_MS), MOST_MS);
}

/** P5: from an answer to the next request there is at least the latest interval; a stale answer's counts as well as the newest's. */
function intervals(world: World): Invariant {
  const name = "P5 polls keep the server's interval";
  interface Known {
    intervals: number[];
    endedAt: number;
  }
  const known = new Map<string, Known>();
  const learn = (process: ProcessView, state: JsonObject): Known => {
    const key = `${process.name} ${state["taskId"] as string}`;
    const before = known.get(key) ?? { intervals: [], endedAt: -Infinity };
    const isKnown = before.intervals.length > 0 || state["resultType"] === "task";
    // What an earlier process had learned is not known here.
    if (!isKnown && !isUsable(state["pollIntervalMs"])) return before;
    const next = intervalOf(state["pollIntervalMs"], before.intervals.at(-1));
    const now = { intervals: [...before.intervals.slice(-1), next], endedAt: before.endedAt };
    known.set(key, now);
    return now;
  };
  return {
    see(seen) {
      if (seen.kind === "noticed") learn(seen.process, seen.snapshot);
      if (seen.kind === "ended") {
        const { exchange, end, process } = seen;
        const result = end.kind === "answer" ? end.result : undefined;
        const isHandle = exchange.method === "tools/call" && result?.["resultType"] === "task";
        if (isHandle) learn(process, result).endedAt = world.time.now;
        if (exchange.method !== "tasks/get") return;
        if (result !== undefined && result["taskId"] === exchange.taskId) learn(process, result);
        const key = `${process.name} ${exchange.taskId ?? ""}`;
        const state = known.get(key) ?? { intervals: [], endedAt: -Infinity };
        known.set(key, { ...state, endedAt: world.time.now });
      }
      if (seen.kind !== "sent" || seen.exchange.method !== "tasks/get") return;
      const state = known.get(`${seen.process.name} ${seen.exchange.taskId ?? ""}`);
      if (state === undefined || state.intervals.length === 0) return;
      const gapMs = world.time.now - state.endedAt;
      const leastMs = Math.min(...state.intervals);
      if (gapMs < leastMs)
        throw new Violation(name, `${gapMs} ms instead of ${leastMs} ms since the last answer`);
    },
  };
}

/** P5: one request about a task at a time. */
function oneAtATime(): Invariant {
  const name = "P5 one request about a task at a time";
  const open = new Map<string, Exchange>();
  const keyOf = ({ process, taskId }: Exchange): string => `${process.name} ${taskId ?? ""}`;
  return {
    see(seen) {
      if (seen.kind === "ended" && open.get(keyOf(seen.exchange)) === seen.exchange)
        open.delete(keyOf(seen.exchange));
      if (seen.kind !== "sent" || !FOLLOW_UPS.has(seen.exchange.method)) return;
      const other = open.get(keyOf(seen.exchange));
      if (other !== undefined)
        throw new Violation(name, `${seen.exchange.method} goes out beside ${other.method}`);
      open.set(keyOf(seen.exchange), seen.exchange);
    },
  };
}

/** P5: whoever was asked to come back later does. A host's own call goes out all the same. */
function retryAfter(world: World): Invariant {
  const name = "P5 Retry-After is obeyed";
  const until = new Map<string, number>();
  return {
    see(seen) {
      if (seen.kind === "ended" && seen.end.kind === "answer" && seen.end.retryAfterMs !== undefined) {
        const key = `${seen.process.name} ${seen.exchange.server}`;
        until.set(key, Math.max(until.get(key) ?? 0, world.time.now + seen.end.retryAfterMs));
      }
      if (seen.kind !== "sent") return;
      const { method, server } = seen.exchange;
      if (!FOLLOW_UPS.has(method) && method !== "subscriptions/listen") return;
      const leftMs = (until.get(`${seen.process.name} ${server}`) ?? 0) - world.time.now;
      if (leftMs > 0) throw new Violation(name, `${method} goes out ${leftMs} ms too early`);
    },
  };
}

/** P5: after failures in a row the polls of a task grow rarer, up to a minute. */
function backoff(world: World, ledger: Ledger): Invariant {
  const name = "P5 failures make polls rarer";
  const failures = new Map<string, { count: number; at: number }>();
  const isFailure = (seen: Extract<Observation, { kind: "ended" }>): boolean => {
    const { end } = seen;
    if (end.kind === "failure") return true;
    // An abort is another request's turn, or the end of the task.
    if (end.kind === "aborted" || end.result !== undefined) return false;
    return end.error === undefined ? end.status >= 300 : end.error.code === -32603;
  };
  return {
    see(seen) {
      if (seen.kind === "noticed") {
        for (const key of failures.keys()) if (key.startsWith(`${seen.process.name} `)) failures.delete(key);
      }
      if (seen.kind === "ended" && seen.exchange.method === "tasks/get") {
        const key = `${seen.process.name} ${seen.exchange.taskId ?? ""}`;
        if (isFailure(seen))
          failures.set(key, { count: (failures.get(key)?.count ?? 0) + 1, at: world.time.now });
        else failures.delete(key);
      }
      if (seen.kind !== "sent" || seen.exchange.method !== "tasks/get" || ledger.isShared) return;
      const failed = failures.get(`${seen.process.name} ${seen.exchange.taskId ?? ""}`);
      if (failed === undefined) return;
      const leastMs = Math.min(1000 * 2 ** (failed.count - 1), 60_000);
      const gapMs = world.time.now - failed.at;
      if (gapMs < leastMs)
        throw new Violation(name, `${gapMs} ms after ${failed.count} failures, not ${leastMs}`);
    },
  };
}

/** P5: a server that was told to be down is asked by one request at a time. */
function oneProbe(): Invariant {
  const name = "P5 a server that is down is probed by one request";
  const down = new Set<string>();
  const open = new Map<string, Set<Exchange>>();
  return {
    see(seen) {
      if (seen.kind === "told" && (seen.name === "serverDown" || seen.name === "serverUp")) {
        const { server } = seen.event as { server: string };
        const key = `${seen.process.name} ${seen.process.names.get(server) ?? ""}`;
        open.delete(key);
        if (seen.name === "serverDown") down.add(key);
        else down.delete(key);
      }
      if (seen.kind !== "ended" && seen.kind !== "sent") return;
      const { exchange } = seen;
      const key = `${seen.process.name} ${exchange.server}`;
      if (!FOLLOW_UPS.has(exchange.method) || !down.has(key)) return;
      const probes = open.get(key) ?? new Set();
      open.set(key, probes);
      if (seen.kind === "ended") probes.delete(exchange);
      else if (probes.add(exchange).size > 1) throw new Violation(name, `${probes.size} requests at once`);
    },
  };
}

/** P11: whatever clocks and hints say, nothing spins. */
function noBusyLoop(world: World): Invariant {
  const name = "P11 no busy loop";
  let second = 0;
  let steps = 0;
  let sends = 0;
  return {
    see(seen) {
      if (seen.kind !== "sent") return;
      sends += 1;
      if (sends > 120) throw new Violation(name, `more than 120 requests in a second`);
    },
    check() {
      const now = Math.floor(world.time.now / 1000);
      if (now !== second) {
        second = now;
        steps = sends = 0;
      }
      steps += 1;
      if (steps > 3000) throw new Violation(name, "more than 3000 steps in a second");
    },
  };
}
