/** Owns one crash: a host that dies at a point, what the other processes make of it, and its start anew. It judges nothing. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FaultPoint } from "../../src/testing/index.js";
import type { TaskRecord } from "../../src/task/record.js";
import type { Moment } from "../kill/moments.js";
import { recordsIn, type OpenStore } from "../kill/openStore.js";
import type { Trace, WorkerPlan } from "../kill/plan.js";
import { lines, live, logOf, type Evidence, type Life } from "../kill/run.js";
import { scenarios, type Scenario, type ScenarioName } from "../kill/scenarios.js";
import { heardOf, LEASE_MS, type CrashPlace } from "./places.js";

/** What is to crash. */
export interface CrashSpec {
  readonly scenario: ScenarioName;
  /** Undefined: nothing crashes, the points are written down. */
  readonly point: FaultPoint | undefined;
  /** Whether the process that starts anew calls again with the same call id. */
  readonly replay: boolean;
}

/** What came of it. */
export interface Crash {
  readonly spec: CrashSpec;
  /** False where the process did not come by the point, and ended by itself. */
  readonly reached: boolean;
  readonly evidence: Evidence;
  /** Of a run without a point. */
  readonly passed: readonly FaultPoint[];
}

/** Beyond this nobody takes the outcome any more. */
const DELIVERY_LIMIT_MS = 20_000;
const LOOK_MS = 40;

/** Runs it. `number` tells the runs of a place apart, from 1. */
export async function crash(place: CrashPlace, spec: CrashSpec, number: number): Promise<Crash> {
  const { setting, programs, server } = place;
  const scenario: Scenario = scenarios[spec.scenario];
  const callId = `run-${number}`;
  const passed = join(programs.folder, `${setting.store}-${setting.processes}`, `passed-${number}.json`);
  const trace = join(programs.folder, `${setting.store}-${setting.processes}`, `trace-${number}.jsonl`);
  const { plan: store, opened, done } = place.store(number);
  const common: Omit<WorkerPlan, "life"> = {
    url: server.url,
    serverLog: server.logFile,
    store,
    deliveries: place.deliveries,
    trace,
    callId,
    tool: scenario.tool,
    arguments: { ...scenario.arguments, run: callId },
    replay: spec.replay,
    cancel: scenario.cancel === true,
    close: number % 3 === 0,
    shared: setting.processes > 1,
    push: scenario.push,
    leaseMs: LEASE_MS,
    // Alone, a host that starts anew need not wait for its own lease; with others, half of them have no name.
    instance: setting.processes === 1 || number % 2 === 0 ? `host of ${callId}` : undefined,
  };
  const lives: Life[] = [];
  for (const kill of spec.point === undefined ? [undefined] : [spec.point, undefined]) {
    const life = lives.length + 1;
    const ended = await live(programs, { ...common, life, kill, passed });
    const isLast = kill === undefined;
    const records = await looked(store, opened, done, async (open) =>
      isLast && setting.processes > 1 ? untilDelivered(open, callId) : recordOf(open, callId),
    );
    lives.push({ life, killAt: kill, ended, records });
  }
  const heard = heardOf(place, callId);
  const moment: Moment = {
    name: pointName(spec.point),
    scenario: spec.scenario,
    kills: spec.point === undefined ? [] : [spec.point],
    replay: spec.replay,
    expected: undefined,
  };
  return {
    spec,
    reached: lives[0]?.ended.signal === "SIGKILL",
    passed: existsSync(passed) ? (JSON.parse(readFileSync(passed, "utf8")) as FaultPoint[]) : [],
    evidence: {
      moment,
      scenario,
      callId,
      lives,
      deliveries: heard.deliveries,
      trace: [...lines<Trace>(trace).filter((entry) => isOf(entry, callId)), ...heard.trace],
      log: logOf(callId, server.log()),
    },
  };
}

/** Whatever a host does for other calls is no evidence here. */
function isOf(entry: Trace, callId: string): boolean {
  return entry.what !== "asked" || entry.id === callId;
}

/** A point in words. */
export function pointName(point: FaultPoint | undefined): string {
  switch (point?.at) {
    case undefined:
      return "no crash";
    case "request":
      return `${point.method} ${point.nth}: ${point.when}`;
    case "write":
      return `${point.entry} write ${point.nth}: ${point.when}`;
    case "place":
      return `host, ${point.name} ${point.nth}`;
  }
}

async function looked(
  plan: WorkerPlan["store"],
  open: () => OpenStore,
  done: (opened: OpenStore) => Promise<void>,
  look: (store: OpenStore) => Promise<TaskRecord[]>,
): Promise<TaskRecord[]> {
  if (plan.kind === "lmdb" && !existsSync(plan.path)) return [];
  const store = open();
  try {
    return await look(store);
  } finally {
    await done(store);
  }
}

async function recordOf({ keyValue }: OpenStore, callId: string): Promise<TaskRecord[]> {
  return (await recordsIn(keyValue)).filter(({ id }) => id === callId);
}

/** Others may still be at it when the process that was killed has ended for the second time. */
async function untilDelivered(store: OpenStore, callId: string): Promise<TaskRecord[]> {
  for (let left = DELIVERY_LIMIT_MS; ; left -= LOOK_MS) {
    const records = await recordOf(store, callId);
    if (left <= 0 || records.every(({ phase }) => phase === "delivered")) return records;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
