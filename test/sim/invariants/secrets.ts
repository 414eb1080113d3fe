/** Owns promise 12: secrets appear nowhere, and no task is asked for over another server's or principal's connection. */
import { Violation, type Invariant, type Observation } from "../observation.js";
import { SECRET } from "../serverTask.js";
import { ARGUMENT } from "../toolCall.js";
import type { World } from "../world.js";
import type { Ledger } from "./ledger.js";
import { taskOf } from "./outcomes.js";

export function secretInvariants(world: World, _ledger: Ledger): Invariant[] {
  return [nothingLeaks(), rightServer(world)];
}

function nothingLeaks(): Invariant {
  const name = "P12 handles are secrets";
  return {
    see(seen) {
      if (seen.kind === "told" && hasSecret(seen.event, SECRET)) {
        throw new Violation(name, `the event ${seen.name} bears a secret`);
      }
      if (seen.kind === "called" && seen.end.kind === "error" && hasSecret(seen.end.error, SECRET)) {
        throw new Violation(name, `what call ${seen.spec.n} was rejected with bears a secret`);
      }
      const rejection = rejectionIn(seen);
      if (rejection !== undefined && hasSecret(rejection.error, SECRET)) {
        throw new Violation(name, `what ${rejection.what} rejected with bears a secret`);
      }
      if (seen.kind !== "wrote") return;
      if (seen.key.includes(SECRET)) throw new Violation(name, "a key of the store bears a secret");
      const { after } = seen;
      const isNeeded = after === undefined || after.phase === "calling" || after.phase === "asking";
      if (!isNeeded && JSON.stringify(after).includes(ARGUMENT)) {
        throw new Violation(name, `the arguments of ${after.id} are kept though nothing needs them`);
      }
      if (after?.phase === "delivered" && JSON.stringify(after).includes(`${SECRET}-answer`)) {
        throw new Violation(name, `what people answered ${after.id} is kept though its outcome was taken`);
      }
    },
  };
}

function rejectionIn(seen: Observation): { what: string; error: unknown } | undefined {
  if (seen.kind === "rejected") return seen;
  return seen.kind === "waited" && seen.end.kind === "error"
    ? { what: "result()", error: seen.end.error }
    : undefined;
}

/** P12: each task is asked for where it is, by the one it belongs to. */
function rightServer(world: World): Invariant {
  const name = "P12 tasks are asked for over the right connection only";
  return {
    see(seen) {
      if (seen.kind !== "sent" || seen.exchange.taskId === undefined) return;
      const { exchange } = seen;
      const task = taskOf(world, exchange.taskId);
      const isHere = world.servers[exchange.server]?.tasks.get(exchange.taskId ?? "") === task;
      if (!isHere) throw new Violation(name, `${exchange.method} goes to another server`);
      if (task !== undefined && task.scope !== exchange.scope)
        throw new Violation(name, "another principal's task is asked for");
    },
  };
}

/** Looks where a log would: own members, messages and causes. */
export function hasSecret(value: unknown, marker: string, depth = 0): boolean {
  if (typeof value === "string") return value.includes(marker);
  if (typeof value !== "object" || value === null || depth > 8) return false;
  if (value instanceof AbortSignal) return false;
  if (value instanceof Error && (value.message.includes(marker) || hasSecret(value.cause, marker, depth + 1)))
    return true;
  if (value instanceof Map || value instanceof Set) return hasSecret([...value], marker, depth + 1);
  return Object.entries(value).some(
    ([key, member]) => key.includes(marker) || hasSecret(member, marker, depth + 1),
  );
}
