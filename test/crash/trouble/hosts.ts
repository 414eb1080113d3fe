/** Owns the handling of trouble hosts by tests: start, order, wait for what they see. */
import { join } from "node:path";
import { lines } from "../../kill/run.js";
import type { Programs, Running } from "../../process/programs.js";
import type { Order, Seen, TroubleInput } from "./host.js";

export interface TroubleHost extends Running {
  order(order: Order): void;
  /** Resolves once it has seen this; rejects when it ends before, or after 25 s. */
  sees(seen: Partial<Seen>): Promise<Seen>;
  seen(): readonly Seen[];
  signal(signal: NodeJS.Signals): void;
}

const LIMIT_MS = 25_000;
const LOOK_MS = 20;
let hosts = 0;

/** Starts one and, unless told otherwise, connects it. */
export async function startHost(
  programs: Programs,
  input: Omit<TroubleInput, "seen" | "leaseMs"> & { leaseMs?: number },
  connect = true,
): Promise<TroubleHost> {
  hosts += 1;
  const file = join(programs.folder, `seen-${hosts}.jsonl`);
  const running = programs.start("test/crash/trouble/host.ts", { leaseMs: 1000, ...input, seen: file });
  const seen = (): Seen[] => lines<Seen>(file);
  let hasEnded = false;
  void running.ended.then(() => (hasEnded = true));
  const host: TroubleHost = {
    ...running,
    seen,
    order: (order) => void running.child.stdin?.write(`${JSON.stringify(order)}\n`),
    signal: (signal) => void running.child.kill(signal),
    async sees(wanted) {
      for (let left = LIMIT_MS; ; left -= LOOK_MS) {
        const found = seen().find((one) => fits(one, wanted));
        if (found !== undefined) return found;
        if (hasEnded || left <= 0) {
          throw new Error(
            `${hasEnded ? "ended" : "waited"} without ${JSON.stringify(wanted)}: ${shown(seen())}`,
          );
        }
        await pause(LOOK_MS);
      }
    },
  };
  await running.line("started");
  if (connect) {
    host.order({ do: "connect" });
    await host.sees({ what: "connected" });
  }
  return host;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function fits(seen: Seen, wanted: Partial<Seen>): boolean {
  return Object.entries(wanted).every(([name, value]) => seen[name as keyof Seen] === value);
}

function shown(seen: readonly Seen[]): string {
  return JSON.stringify(seen).slice(0, 2000);
}
