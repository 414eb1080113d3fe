/** Owns that hosts are told what is true: outcomes, results and errors as the server and the store have them, and their own words back. */
import { isDeepStrictEqual } from "node:util";
import type { Settled } from "../../../src/index.js";
import type { JsonObject } from "../../../src/internal/json.js";
import { Violation, type Invariant } from "../observation.js";
import { resultOf } from "../serverTask.js";
import type { World } from "../world.js";
import type { Ledger } from "./ledger.js";

export function truthInvariants(world: World, ledger: Ledger): Invariant[] {
  return [toldAsStored(world), resultsAreTheServers(world), errorsFit(world), contextIsKept(ledger)];
}

/** P6: what handlers and listeners get is the outcome that is stored. */
function toldAsStored(world: World): Invariant {
  const name = "P6 the outcome that is told is the one that is stored";
  return {
    see(seen) {
      const settled = settledIn(seen);
      if (settled === undefined || seen.process === undefined) return;
      const outcome = world.disk.records.get(`${seen.process.scope}/${settled.id}`)?.outcome;
      // What is told without being stored is another invariant's.
      if (outcome?.status !== settled.status) return;
      for (const [member, value] of Object.entries(outcome)) {
        if (isDeepStrictEqual((settled as unknown as JsonObject)[member], value)) continue;
        throw new Violation(name, `${settled.id} is told with another ${member}`);
      }
    },
  };
}

/** P4: a result, from `callTool` or from `result()`, is the server's. */
function resultsAreTheServers(world: World): Invariant {
  const name = "P4 a result is the server's";
  return {
    see(seen) {
      const found = resultIn(seen);
      if (found === undefined) return;
      const spec = world.scenario.calls.find(({ n }) => n === found.n);
      if (spec === undefined || !isDeepStrictEqual(contentOf(found.result), contentOf(resultOf(spec)))) {
        throw new Violation(name, `call ${found.n} gives another result`);
      }
    },
  };
}

/** The word for each end that `result()` rejects with. */
const STATUS_OF: Readonly<Record<string, string>> = {
  TaskFailedError: "failed",
  TaskCancelledError: "cancelled",
  TaskLostError: "lost",
  CallOutcomeUnknownError: "lost",
};

/** P4: an error that tells how a task ended tells how it ended. */
function errorsFit(world: World): Invariant {
  const name = "P4 an error tells how the task ended";
  return {
    see(seen) {
      if (seen.kind !== "waited" || seen.end.kind !== "error") return;
      const status = STATUS_OF[(seen.end.error as Error).name];
      const outcome = world.disk.records.get(`${seen.process.scope}/${seen.id}`)?.outcome;
      if (status === undefined || outcome === undefined || outcome.status === status) return;
      throw new Violation(name, `${seen.id} rejects as ${status}, and is ${outcome.status}`);
    },
  };
}

/** P10: the host finds its own words at the outcome. */
function contextIsKept(ledger: Ledger): Invariant {
  const name = "P10 an outcome comes with the context of its call";
  return {
    see(seen) {
      const settled = settledIn(seen);
      if (settled === undefined || seen.process === undefined) return;
      const call = ledger.callOf(`${seen.process.scope}/${settled.id}`);
      if (call === undefined || isDeepStrictEqual(settled.context, { n: call.n })) return;
      throw new Violation(name, `${settled.id} comes without it`);
    },
  };
}

function settledIn(seen: Parameters<NonNullable<Invariant["see"]>>[0]): Settled | undefined {
  if (seen.kind === "settling") return seen.settled;
  return seen.kind === "told" && seen.name === "settled" ? (seen.event as Settled) : undefined;
}

function resultIn(
  seen: Parameters<NonNullable<Invariant["see"]>>[0],
): { n: number; result: unknown } | undefined {
  if (seen.kind === "called" && seen.end.kind === "result")
    return { n: seen.spec.n, result: seen.end.result };
  if (seen.kind === "waited" && seen.end.kind === "result") return { n: seen.n, result: seen.end.result };
  return undefined;
}

/** Immediate results bear members of the answer's envelope. */
export function contentOf(result: unknown): unknown {
  const { content, isError } = result as { content: unknown; isError?: boolean };
  return [content, isError ?? false];
}
