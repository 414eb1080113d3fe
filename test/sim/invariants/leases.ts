/** Owns what leases add where several processes share a store: one process shows a question, and another takes over from a dead one. */
import { HAS_LEASES } from "../hostProcess.js";
import type { Invariant } from "../observation.js";
import type { World } from "../world.js";
import type { Ledger } from "./ledger.js";

export function leaseInvariants(_world: World, _ledger: Ledger): Invariant[] {
  return HAS_LEASES ? [] : [];
}
