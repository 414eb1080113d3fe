/** Owns what goes wrong at the servers of a soak run: faults of all kinds, kills and restarts, push on and off. */
import type { Fault, SpawnedTaskServer } from "../../src/testing/index.js";
import { seeded } from "./plan.js";

/** How rough. All times in milliseconds. */
export interface ChaosOptions {
  readonly seed: number;
  /** Between two faults of one server. */
  readonly everyMs: number;
  /** Between two restarts of one server. */
  readonly restartEveryMs: number;
  readonly downMs: number;
}

/** Chaos that goes on until it is stopped. */
export interface Chaos {
  readonly faults: () => number;
  /** When a server was killed, by wall clock. */
  readonly kills: readonly number[];
  /** Resolves when all servers are up and no fault is left. */
  stop(): Promise<void>;
}

const METHODS = [
  "tasks/get",
  "tasks/get",
  "tasks/get",
  "tasks/update",
  "tasks/cancel",
  "subscriptions/listen",
];

export function startChaos(
  servers: readonly SpawnedTaskServer[],
  { seed, everyMs, restartEveryMs, downMs }: ChaosOptions,
): Chaos {
  const stopping = new AbortController();
  const kills: number[] = [];
  let faults = 0;

  async function torment(server: SpawnedTaskServer, random: () => number): Promise<void> {
    let restartAt = performance.now() + restartEveryMs * (0.5 + random());
    for (let turn = 1; !stopping.signal.aborted; turn += 1) {
      await pause(everyMs * (0.5 + random()), stopping.signal);
      if (stopping.signal.aborted) break;
      if (performance.now() > restartAt) {
        kills.push(Date.now());
        await server.kill();
        kills.push(Date.now());
        await pause(downMs, stopping.signal);
        await server.restart({ push: random() < 0.6 });
        restartAt = performance.now() + restartEveryMs * (0.5 + random());
      } else if (turn % 12 === 0) await server.clearFaults();
      else {
        for (let more = 1 + Math.floor(random() * 3); more > 0; more -= 1) {
          await server.addFault(faultOf(random));
          faults += 1;
        }
      }
    }
    await server.clearFaults();
  }

  const all = servers.map((server, at) => torment(server, seeded(seed + at)));
  return {
    faults: () => faults,
    kills,
    async stop() {
      stopping.abort();
      await Promise.all(all);
    },
  };
}

/** Any fault that a correct client survives without a loss. */
function faultOf(random: () => number): Fault {
  const one = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  // A call that fails may have run: then its outcome is unknown, which is right but teaches little. So it is rare.
  if (random() < 0.04) {
    const processed = random() < 0.5;
    return one<Fault>([
      { kind: "reset", method: "tools/call", processed },
      { kind: "status", status: 503, method: "tools/call", processed },
      { kind: "truncated", method: "tools/call" },
      { kind: "rateLimit", method: "tools/call", retryAfter: 1 },
    ]);
  }
  const method = one(METHODS);
  if (method === "subscriptions/listen") {
    return one<Fault>([
      { kind: "stream", method, endAfterMs: 3000 },
      { kind: "stream", method, endAfterMs: 5000, end: "result" },
      { kind: "stream", method, silent: true },
      { kind: "stream", method, accept: "none" },
      { kind: "status", status: 503, method, times: 3 },
    ]);
  }
  const times = 1 + Math.floor(random() * 20);
  const processed = random() < 0.5;
  return one<Fault>([
    { kind: "status", status: one([500, 502, 503, 504, 408, 425]), method, times, processed },
    { kind: "status", status: 401, method, times: 1 },
    { kind: "rateLimit", method, times, retryAfter: 1 },
    { kind: "reset", method, times, processed },
    { kind: "hang", method, times: 2, processed },
    { kind: "delay", ms: 1500, method, times, processed },
    { kind: "html", method, times, status: one([200, 502]) },
    { kind: "empty", method, times },
    { kind: "truncated", method, times, abort: processed },
    { kind: "wrongId", method, times },
    { kind: "wrongType", method, times },
    { kind: "raw", text: "\u0000\u0001 garbage {", method, times },
    { kind: "rpcError", code: -32603, method, times, processed },
    { kind: "sse", method, times, byteByByte: true, comments: 3, bom: true },
    { kind: "sse", method, times, drop: "abort" },
    { kind: "nested", method: "tasks/get", times },
    { kind: "ackOnly", method: one(["tasks/update", "tasks/cancel"]), times: 1 },
  ]);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}
