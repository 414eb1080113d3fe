/** Owns the measure of what stays on the heap, and how much of it a target may leave behind. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** However many inputs a target had: what it leaves is for good, so it must not grow with them. */
export const MAX_GROWTH_MB = 20;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** What is left after the garbage is gone. */
export function heapMb(): number {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** What has ended may have a timer that is due: such is looked at again, for so long. What stays is kept. */
const ROUNDS = 10;
const ROUND_MS = 100;

/** How much more there is than `beforeMb`. */
export async function grownMb(beforeMb: number): Promise<number> {
  for (let round = 0; ; round += 1) {
    const grown = heapMb() - beforeMb;
    if (grown < MAX_GROWTH_MB / 4 || round === ROUNDS) return grown;
    await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
  }
}
