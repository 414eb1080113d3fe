/** Owns the measure of what stays on the heap, and how much of it a target may leave behind. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** However many inputs a target had: what it leaves is for good, so it must not grow with them. */
export const MAX_GROWTH_MB = 20;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** What is left after the garbage is gone. */
export async function heapMb(): Promise<number> {
  // What has ended may have something to say yet, and what waits for a turn is no garbage before.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}
