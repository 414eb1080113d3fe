/** Owns one run of the kill test: the process lives on one store, and the evidence that they leave behind. It judges nothing. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "../../src/internal/json.js";
import type { TaskRecord } from "../../src/task/record.js";
import type { LogEntry, SpawnedTaskServer } from "../../src/testing/index.js";
import type { Ended, Programs } from "../process/programs.js";
import type { Moment } from "./moments.js";
import { openStore, recordsIn } from "./openStore.js";
import type { Delivery, KillPoint, StorePlan, Trace, WorkerPlan } from "./plan.js";
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
const LIFE_LIMIT_MS = 45_000;

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
  const common: Omit<WorkerPlan, "life"> = {
    url: server.url,
    serverLog: server.logFile,
    store: { kind: "lmdb", path: join(folder, "store") },
    deliveries: join(folder, "deliveries.jsonl"),
    trace: join(folder, "trace.jsonl"),
    callId,
    tool: scenario.tool,
    // The server ignores it, and its log shows whose call it was.
    arguments: { ...scenario.arguments, run: callId },
    replay: moment.replay,
    cancel: scenario.cancel === true,
    close: number % 3 === 0,
  };
  const lives: Life[] = [];
  for (const killAt of [...moment.kills, undefined]) {
    const life = lives.length + 1;
    const ended = await live(programs, { ...common, life, kill: killAt });
    lives.push({ life, killAt, ended, records: await recordsAt(common.store) });
  }
  return {
    moment,
    scenario,
    callId,
    lives,
    trace: lines<Trace>(common.trace),
    deliveries: lines<Delivery>(common.deliveries),
    log: logOf(callId, server.log()),
  };
}

/** The entries of one run: its calls, and what was said about their tasks, whichever process said it. */
export function logOf(callId: string, log: readonly LogEntry[]): LogEntry[] {
  const isCall = ({ method, params }: LogEntry): boolean =>
    method === "tools/call" && isObject(params["arguments"]) && params["arguments"]["run"] === callId;
  const ids = new Set(log.filter(isCall).flatMap(({ taskId }) => taskId ?? []));
  return log.filter((entry) => isCall(entry) || (entry.taskId !== undefined && ids.has(entry.taskId)));
}

export async function live(programs: Programs, plan: WorkerPlan): Promise<Ended> {
  const running = programs.start("test/kill/worker.ts", plan);
  // So that a worker that hangs shows as one that was not killed, and not as a test that timed out.
  const limit = setTimeout(() => running.child.kill("SIGTERM"), LIFE_LIMIT_MS);
  try {
    if (plan.kill?.at === "parent") {
      await running.line("connected");
      await new Promise((resolve) => setTimeout(resolve, plan.kill?.at === "parent" ? plan.kill.afterMs : 0));
      return await running.kill();
    }
    return await running.ended;
  } finally {
    clearTimeout(limit);
  }
}

async function recordsAt(plan: StorePlan): Promise<TaskRecord[]> {
  if (plan.kind === "lmdb" && !existsSync(plan.path)) return [];
  const store = openStore(plan);
  try {
    return await recordsIn(store.keyValue);
  } finally {
    await store.close();
  }
}

export function lines<Line>(file: string): Line[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}
