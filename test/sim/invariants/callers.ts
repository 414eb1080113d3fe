/** Owns that nobody who calls waits longer than they said. */
import type { TaskRecord } from "../../../src/task/record.js";
import { idOf } from "../disk.js";
import {
  Violation,
  type Exchange,
  type Invariant,
  type Observation,
  type ProcessView,
} from "../observation.js";
import type { CallSpec } from "../scenario.js";
import type { World } from "../world.js";
import type { Ledger } from "./ledger.js";

/** What slow stores, and everything else that is no server's, may add. */
const SLACK_MS = 30_000;

interface Caller {
  readonly process: ProcessView;
  readonly spec: CallSpec;
  /** By this instant of the world it is answered. */
  dueAt: number;
}

/** P2: a caller's own limits are kept: its time without an answer, its time for the outcome, its leaving. */
export function callerInvariants(world: World, ledger: Ledger): Invariant[] {
  const name = "P2 a caller waits no longer than it said";
  const callers = new Set<Caller>();
  /** What happens in another process is read from the store. */
  const slackMs = SLACK_MS + 2 * world.scenario.client.storeWatchMs;
  const underWay = new Set<Exchange>();
  const hasOpen = ({ process, spec }: Caller): boolean =>
    [...ledger.call(spec.n).ids].some(
      (id) => id.startsWith(`${process.scope}/`) && isOpenIn(world.disk.records.get(id)),
    );
  /** Its time begins when it leaves: others of this process are at the server, as many as it lets go at once. */
  const waitsInLine = ({ process, spec }: Caller): boolean => {
    const others = [...underWay].filter((one) => one.process === process && one.server === spec.server);
    return (
      others.length >= world.scenario.client.concurrency && others.every((one) => callIn(one) !== spec.n)
    );
  };
  return [
    {
      see(seen: Observation) {
        const { now } = world.time;
        if (seen.kind === "sent" && callIn(seen.exchange) !== undefined) underWay.add(seen.exchange);
        if (seen.kind === "ended") underWay.delete(seen.exchange);
        if (seen.kind === "asked for") {
          const { process, spec } = seen;
          callers.add({ process, spec, dueAt: now + spec.timeoutMs + spec.waitMs + slackMs });
        }
        if (seen.kind === "called") {
          for (const one of callers) {
            if (one.process === seen.process && one.spec === seen.spec) callers.delete(one);
          }
        }
        if (seen.kind === "slept") {
          for (const one of callers) if (one.process === seen.process) callers.delete(one);
        }
        if (seen.kind === "left" && seen.how === "abort") {
          for (const one of callers) {
            if (one.process === seen.process && one.spec.n === seen.n) one.dueAt = now + slackMs;
          }
        }
        // What waited for people goes on, perhaps elsewhere.
        if (
          seen.kind === "wrote" &&
          seen.after !== undefined &&
          isOpenIn(seen.before) &&
          !isOpenIn(seen.after)
        ) {
          const n = ledger.callOf(idOf(seen.after))?.n;
          for (const one of callers) {
            if (one.spec.n === n) one.dueAt = now + one.spec.timeoutMs + one.spec.waitMs + slackMs;
          }
        }
        // Each request begins the time anew, and so does each sign of life.
        const n = numberOf(seen);
        if (n === undefined) return;
        for (const one of callers) {
          // Also of another process, whose call this one waits for.
          if (one.spec.n !== n) continue;
          one.dueAt = Math.max(one.dueAt, now + one.spec.timeoutMs + one.spec.waitMs + slackMs);
        }
      },
      check() {
        const { now } = world.time;
        for (const one of callers) {
          const { process, spec } = one;
          if (!process.alive || process.closing) callers.delete(one);
          else if (one.dueAt >= now) continue;
          else if (hasOpen(one) || waitsInLine(one) || ledger.failed(process, "*"))
            one.dueAt = now + spec.timeoutMs + spec.waitMs + slackMs;
          else throw new Violation(name, `call ${spec.n} of ${process.name} waits on`);
        }
      },
    },
  ];
}

function isOpenIn(record: TaskRecord | undefined): boolean {
  return record?.questions.some(({ state }) => state === "open") === true;
}

/** Of the call that a request is for, before there is a task. */
function numberOf(seen: Observation): number | undefined {
  return seen.kind === "sent" || seen.kind === "ended" ? callIn(seen.exchange) : undefined;
}

function callIn({ method, params }: Exchange): number | undefined {
  return method === "tools/call" ? (params["arguments"] as { n: number }).n : undefined;
}
