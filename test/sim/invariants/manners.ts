/** Owns the rest of promise 5: how many requests and streams a server has of one process, how rarely a server that is down is probed, restarts that keep the interval. */
import { idOf } from "../disk.js";
import { Violation, type Exchange, type Invariant, type ProcessView } from "../observation.js";
import type { World } from "../world.js";
import type { Ledger } from "./ledger.js";

export function mannerInvariants(world: World, ledger: Ledger): Invariant[] {
  return [
    concurrency(world),
    probesGrowRarer(world),
    oneStream(world),
    noIdleStream(world, ledger),
    restarts(world, ledger),
  ];
}

const FOLLOW_UPS: ReadonlySet<string> = new Set(["tasks/get", "tasks/update", "tasks/cancel"]);
const wayOf = ({ process, server }: Exchange): string => `${process.name} ${server}`;

/** P5: no more requests at once than the option says, calls and the rest each. Streams are not counted. */
function concurrency(world: World): Invariant {
  const name = "P5 no more requests at once than are allowed";
  const open = new Map<string, Set<Exchange>>();
  return {
    see(seen) {
      if (seen.kind !== "sent" && seen.kind !== "ended") return;
      const { exchange } = seen;
      const isCall = exchange.method === "tools/call";
      if (!isCall && !FOLLOW_UPS.has(exchange.method)) return;
      const each = `${wayOf(exchange)} ${isCall ? "calls" : "others"}`;
      const now = open.get(each) ?? new Set();
      open.set(each, now);
      if (seen.kind === "ended") now.delete(exchange);
      else if (now.add(exchange).size > world.scenario.client.concurrency)
        throw new Violation(name, `${now.size} ${exchange.method} at once`);
    },
  };
}

/** Where credentials are refused it is no more. */
const MOST_MS = 30_000;

/** P5: while a server is down, each failed probe makes the next one wait longer, whoever asks. */
function probesGrowRarer(world: World): Invariant {
  const name = "P5 a server that is down is probed ever more rarely";
  interface Outage {
    readonly since: number;
    failures: number;
    failedAt: number;
    readonly probes: Set<Exchange>;
  }
  const outages = new Map<string, Outage>();
  return {
    see(seen) {
      const { now } = world.time;
      if (seen.kind === "told" && (seen.name === "serverDown" || seen.name === "serverUp")) {
        const { server } = seen.event as { server: string };
        const way = `${seen.process.name} ${seen.process.names.get(server) ?? ""}`;
        if (seen.name === "serverUp") outages.delete(way);
        else if (!outages.has(way))
          outages.set(way, { since: now, failures: 1, failedAt: now, probes: new Set() });
      }
      if (seen.kind !== "sent" && seen.kind !== "ended") return;
      const { exchange } = seen;
      const outage = outages.get(wayOf(exchange));
      if (outage === undefined || !FOLLOW_UPS.has(exchange.method)) return;
      if (seen.kind === "ended") {
        if (!outage.probes.delete(exchange)) return;
        // An abort may be its caller's: then the next one tries at once.
        const { end } = seen;
        const isFailure =
          end.kind === "failure" ||
          (end.kind === "answer" && end.result === undefined && end.error === undefined);
        outage.failures += isFailure ? 1 : 0;
        outage.failedAt = isFailure ? now : -Infinity;
        return;
      }
      // What was let go before the news came.
      if (now === outage.since) return;
      outage.probes.add(exchange);
      const leastMs = Math.min(1000 * 2 ** (outage.failures - 1), MOST_MS);
      const gapMs = now - outage.failedAt;
      if (gapMs < leastMs)
        throw new Violation(name, `${gapMs} ms after ${outage.failures} failures, not ${leastMs}`);
    },
  };
}

/** How long a stream that is replaced may live beside the new one. */
const REPLACE_MS = 90_000;

/** P5: one stream of notices per server; while it is replaced, two. */
function oneStream(world: World): Invariant {
  const name = "P5 one stream of notices per server";
  const open = new Map<string, Set<Exchange>>();
  return {
    see(seen) {
      if (seen.kind !== "sent" && seen.kind !== "ended") return;
      const { exchange } = seen;
      if (exchange.method !== "subscriptions/listen") return;
      const now = open.get(wayOf(exchange)) ?? new Set();
      open.set(wayOf(exchange), now);
      if (seen.kind === "ended") return void now.delete(exchange);
      if (now.add(exchange).size > 2) throw new Violation(name, `${now.size} are open`);
    },
    check() {
      for (const streams of open.values()) {
        if (streams.size < 2) continue;
        const [, newer] = streams;
        const { process, sentAt } = newer as Exchange;
        if (!process.alive || process.sleepsUntil > 0 || world.time.now - sentAt < REPLACE_MS) continue;
        throw new Violation(name, `${streams.size} are open for long`);
      }
    },
  };
}

/** P5: a stream is closed when none of its tasks goes on. */
function noIdleStream(world: World, ledger: Ledger): Invariant {
  const name = "P5 no stream is open for nobody";
  const SOON_MS = 15_000;
  const open = new Set<Exchange>();
  /** When a task ended last, whichever. */
  let endedAt = -Infinity;
  /** Tasks whose end a process has stored itself, and when. */
  const ended = new Map<string, number>();
  const isFollowed = ({ scope }: ProcessView): boolean =>
    [...world.disk.records.values()].some(
      (record) => record.scope === scope && record.taskId !== undefined && record.outcome === undefined,
    );
  return {
    see(seen) {
      if (seen.kind === "sent" && seen.exchange.method === "subscriptions/listen") open.add(seen.exchange);
      if (seen.kind === "ended") open.delete(seen.exchange);
      if (seen.kind !== "wrote" || seen.after?.outcome === undefined || seen.before?.outcome !== undefined)
        return;
      endedAt = world.time.now;
      if (seen.process !== undefined && seen.after.taskId !== undefined)
        ended.set(`${seen.process.name} ${seen.after.taskId}`, world.time.now);
    },
    check() {
      const sinceMs = world.time.now - endedAt;
      if (endedAt === -Infinity || sinceMs < SOON_MS) return;
      for (const exchange of open) {
        const { process, params } = exchange;
        const { taskIds } = params["notifications"] as unknown as { taskIds: string[] };
        const last = Math.max(...taskIds.map((id) => ended.get(`${process.name} ${id}`) ?? Infinity));
        if (world.time.now - last < SOON_MS) continue;
        if (!process.alive || process.closing || process.sleepsUntil > 0) continue;
        if (ledger.failed(process, "*") || isFollowed(process)) continue;
        throw new Violation(name, `${process.name} listens for ${taskIds.length} tasks that are over`);
      }
    },
  };
}

/** P5: a process that takes up what another one left waits as long as that one would have. */
function restarts(world: World, ledger: Ledger): Invariant {
  const name = "P5 a restart keeps the interval";
  const answered = new Map<string, { process: ProcessView; at: number }>();
  const asked = new Set<string>();
  const { faults } = world.scenario;
  const clocksJump = faults.clockForth !== undefined || faults.clockBack !== undefined;
  return {
    see(seen) {
      if (seen.kind !== "sent" && seen.kind !== "ended") return;
      const { exchange, process } = seen;
      const taskId = exchange.taskId ?? "";
      if (exchange.method !== "tasks/get") return;
      if (seen.kind === "ended") {
        if (seen.end.kind === "answer" && seen.end.result !== undefined)
          answered.set(taskId, { process, at: world.time.now });
        return;
      }
      const each = `${process.name} ${taskId}`;
      const isFirst = !asked.has(each);
      asked.add(each);
      const last = answered.get(taskId);
      if (!isFirst || clocksJump || last === undefined || last.process === process) return;
      if (last.process.alive && !last.process.closing) return;
      if (ledger.failed(last.process, "*") || last.process.sleepsUntil > 0 || process.sleepsUntil > 0) return;
      const record = [...world.disk.records.values()].find(
        (one) => one.taskId === taskId && one.scope === process.scope,
      );
      // By the hint that is stored; what was told since then, the next process does not know.
      const hintMs = record?.snapshot?.pollIntervalMs ?? 1000;
      const leastMs = Math.min(Math.max(hintMs, 100), 3_600_000);
      const gapMs = world.time.now - last.at;
      if (record !== undefined && gapMs < leastMs)
        throw new Violation(name, `${idOf(record)}: ${gapMs} ms instead of ${leastMs} ms`);
    },
  };
}
