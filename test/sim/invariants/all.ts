/** Owns which invariants watch a world. */
import type { Invariant } from "../observation.js";
import type { World } from "../world.js";
import { answerInvariants } from "./answers.js";
import { callerInvariants } from "./callers.js";
import { callInvariants } from "./calls.js";
import { cancelInvariants } from "./cancel.js";
import { createLedger } from "./ledger.js";
import { leaseInvariants } from "./leases.js";
import { mannerInvariants } from "./manners.js";
import { outcomeInvariants } from "./outcomes.js";
import { politenessInvariants } from "./politeness.js";
import { questionInvariants } from "./questions.js";
import { secretInvariants } from "./secrets.js";
import { truthInvariants } from "./truth.js";

export function allInvariants(world: World): Invariant[] {
  const ledger = createLedger(world);
  return [
    // First, since the others look into it.
    ledger,
    ...callInvariants(world, ledger),
    ...callerInvariants(world, ledger),
    ...outcomeInvariants(world, ledger),
    ...truthInvariants(world, ledger),
    ...cancelInvariants(world, ledger),
    ...politenessInvariants(world, ledger),
    ...mannerInvariants(world, ledger),
    ...questionInvariants(world, ledger),
    ...answerInvariants(world, ledger),
    ...secretInvariants(world, ledger),
    ...leaseInvariants(world, ledger),
  ];
}
