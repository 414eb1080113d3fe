/** Owns where crashes happen: a kind of store, how many processes are on it, and what all of them share. It judges nothing. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { spawnTaskServer, type SpawnedTaskServer } from "../../src/testing/index.js";
import { startRedis, type RedisServer } from "../helpers/redis.js";
import { openStore, type OpenStore } from "../kill/openStore.js";
import type { Delivery, StorePlan, Trace, WorkerPlan } from "../kill/plan.js";
import { lines } from "../kill/run.js";
import type { Ended, Programs, Running } from "../process/programs.js";

/**
 * So long a dead process keeps its calls, where nothing else tells of its death. Much shorter, and on a busy machine the
 * living are taken for dead.
 */
export const LEASE_MS = 4000;
/** The interval that the server hints at. */
const POLL_MS = 70;
/** Standing processes beside the one that is killed. */
const STANDING = [101, 102];

/** One column of the matrix. */
export interface Setting {
  readonly store: StorePlan["kind"];
  readonly processes: 1 | 3;
}

export const SETTINGS: readonly Setting[] = [
  { store: "lmdb", processes: 1 },
  { store: "redis", processes: 1 },
  { store: "lmdb", processes: 3 },
  { store: "redis", processes: 3 },
];

/** A setting that is set up. */
export interface CrashPlace {
  readonly setting: Setting;
  readonly programs: Programs;
  readonly server: SpawnedTaskServer;
  /** Where all deliveries and everything seen go: of all processes, of all runs. */
  readonly deliveries: string;
  readonly trace: string;
  /** An empty store where there is one process; the one of all where there are three. */
  store(number: number): {
    plan: StorePlan;
    opened: () => OpenStore;
    done: (opened: OpenStore) => Promise<void>;
  };
  /** Ends all in good order. What the standing processes came to. */
  stop(): Promise<{ readonly ended: readonly Ended[]; readonly errors: readonly string[] }>;
}

export const settingName = ({ store, processes }: Setting): string =>
  `${store}, ${processes} ${processes === 1 ? "process" : "processes"}`;

/** Sets it up: a server of its own, and what stands beside the process that is killed. */
export async function crashPlace(setting: Setting, programs: Programs): Promise<CrashPlace> {
  const folder = join(programs.folder, `${setting.store}-${setting.processes}`);
  mkdirSync(folder);
  const server = await spawnTaskServer({ strict: true, pollIntervalMs: POLL_MS, push: true });
  const redis: RedisServer | undefined = setting.store === "redis" ? await startRedis() : undefined;
  const files = { deliveries: join(folder, "deliveries.jsonl"), trace: join(folder, "trace.jsonl") };
  const planOf = (number: number): StorePlan =>
    redis === undefined
      ? { kind: "lmdb", path: join(folder, `store-${number}`) }
      : { kind: "redis", url: `${redis.url}/${number}` };
  const shared = setting.processes === 1 ? undefined : openStore(planOf(0));
  const standing: Running[] = [];
  if (shared !== undefined) {
    for (const life of STANDING) standing.push(await stand(life, planOf(0)));
  }

  async function stand(life: number, store: StorePlan): Promise<Running> {
    const plan: WorkerPlan = {
      ...files,
      url: server.url,
      serverLog: server.logFile,
      store,
      callId: "standing",
      life,
      standing: true,
      shared: true,
      tool: "",
      arguments: {},
      replay: false,
      cancel: false,
      close: true,
      leaseMs: LEASE_MS,
    };
    const running = programs.start("test/kill/worker.ts", plan);
    await running.line("connected");
    return running;
  }

  return {
    ...files,
    setting,
    programs,
    server,
    store: (number) =>
      shared === undefined
        ? { plan: planOf(number), opened: () => openStore(planOf(number)), done: (opened) => opened.close() }
        : { plan: planOf(0), opened: () => shared, done: async () => undefined },
    async stop() {
      for (const { child } of standing) child.stdin?.end();
      const ended = await Promise.all(standing.map((running) => running.ended));
      const errors = lines<Trace>(files.trace).flatMap((entry) =>
        STANDING.includes(entry.life) && (entry.what === "error" || entry.what === "unhandled")
          ? [entry.message]
          : [],
      );
      await shared?.close();
      await redis?.stop();
      await server.stop();
      return { ended, errors };
    },
  };
}

/** What was delivered and seen of one call, by whichever process. */
export function heardOf(
  place: CrashPlace,
  callId: string,
): { readonly deliveries: readonly Delivery[]; readonly trace: readonly Trace[] } {
  return {
    deliveries: lines<Delivery>(place.deliveries).filter(({ id }) => id === callId),
    trace: lines<Trace>(place.trace).filter((entry) => entry.what === "asked" && entry.id === callId),
  };
}
