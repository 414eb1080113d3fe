/** Owns one run of the kill test: the process lives on one store, and the evidence that they leave behind. It judges nothing. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lmdbStore } from "../../src/store/lmdb.js";
import { toKeyValueStore } from "../../src/store/keyValue.js";
import { readRecord, type TaskRecord } from "../../src/task/record.js";
import type { LogEntry, SpawnedTaskServer } from "../../src/testing/index.js";
import type { Ended, Programs } from "../process/programs.js";
import type { Moment } from "./moments.js";
import type { Delivery, KillPoint, Trace, WorkerPlan } from "./plan.js";
import { scenarios, type Scenario } from "./scenarios.js";

/** What a process life left. */
export interface Life {
  readonly life: number;
  readonly killAt: KillPoint | undefined;
  readonly ended: Ended;
  /** The records in the store after its end. */
  readonly records: readonly TaskRecord[];
}

/** What a whole run left. */
export interface Evidence {
  readonly moment: Moment;
  readonly scenario: Scenario;
  readonly callId: string;
  readonly lives: readonly Life[];
  readonly trace: readonly Trace[];
  readonly deliveries: readonly Delivery[];
  /** The server's log entries of this run, in order. */
  readonly log: readonly LogEntry[];
}

/** A kill that did not come: the worker went on for so long. */
const LIFE_LIMIT_MS = 20_000;

/** Runs a moment: a life per kill, then one that is left alone. */
export async function run(
  moment: Moment,
  number: number,
  place: { programs: Programs; server: SpawnedTaskServer },
): Promise<Evidence> {
  const { programs, server } = place;
  const scenario: Scenario = scenarios[moment.scenario];
  const callId = `run-${number}`;
  const folder = join(programs.folder, callId);
  mkdirSync(folder);
  const common = {
    url: server.url,
    serverLog: server.logFile,
    storePath: join(folder, "store"),
    deliveries: join(folder, "deliveries.jsonl"),
    trace: join(folder, "trace.jsonl"),
    callId,
    tool: scenario.tool,
    arguments: scenario.arguments,
    replay: moment.replay,
    cancel: scenario.cancel === true,
    close: number % 3 === 0,
  };
  const lives: Life[] = [];
  for (const killAt of [...moment.kills, undefined]) {
    const life = lives.length + 1;
    const ended = await live(programs, { ...common, life, kill: killAt });
    lives.push({ life, killAt, ended, records: await recordsIn(common.storePath) });
  }
  const log = server.log().filter(({ headers }) => headers["x-life"]?.startsWith(`${callId}/`) === true);
  return {
    moment,
    scenario,
    callId,
    lives,
    trace: lines<Trace>(common.trace),
    deliveries: lines<Delivery>(common.deliveries),
    log,
  };
}

async function live(programs: Programs, plan: WorkerPlan): Promise<Ended> {
  const running = programs.start("test/kill/worker.ts", plan);
  // So that a worker that hangs shows as one that was not killed, and not as a test that timed out.
  const limit = setTimeout(() => running.child.kill("SIGTERM"), LIFE_LIMIT_MS);
  try {
    if (plan.kill?.seam === "parent") {
      await running.line("connected");
      await new Promise((resolve) =>
        setTimeout(resolve, plan.kill?.seam === "parent" ? plan.kill.afterMs : 0),
      );
      return await running.kill();
    }
    return await running.ended;
  } finally {
    clearTimeout(limit);
  }
}

/** Reads the store as it lies there, with nobody on it. */
async function recordsIn(path: string): Promise<TaskRecord[]> {
  if (!existsSync(path)) return [];
  const adapter = lmdbStore(path);
  try {
    const records: TaskRecord[] = [];
    for await (const [, value] of toKeyValueStore(adapter).entries?.("") ?? []) {
      const read = readRecord(value);
      if (!read.ok) throw new Error(`a record that cannot be read: ${read.message}`);
      records.push(read.record);
    }
    return records;
  } finally {
    await adapter.disconnect();
  }
}

function lines<Line>(file: string): Line[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}
