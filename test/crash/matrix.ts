/** Owns the whole of a setting: the points of every scenario by a recording run, then a crash at each. It prints nothing. */
import type { FaultPoint } from "../../src/testing/index.js";
import { scenarios, type ScenarioName } from "../kill/scenarios.js";
import type { Programs } from "../process/programs.js";
import { crash, pointName, type Crash, type CrashSpec } from "./crash.js";
import { judge, type Verdict } from "./judge.js";
import { crashPlace, settingName, type CrashPlace, type Setting } from "./places.js";

/** Steady polls and signs of life are alike: so many of a kind are points. */
const MOST_POLLS = 3;
const MOST_BEATS = 2;
/** Places that are reached through others here. */
const SKIPPED: readonly ScenarioName[] = ["long"];

/** A crash and what it came to. */
export interface Judged {
  readonly setting: Setting;
  readonly crash: Crash;
  readonly verdict: Verdict;
}

/** All crashes of one setting. */
export interface SettingReport {
  readonly setting: Setting;
  readonly runs: readonly Judged[];
  /** What the processes beside it report, rules of the wire that were broken. */
  readonly beside: readonly string[];
}

export interface MatrixOptions {
  readonly setting: Setting;
  readonly programs: Programs;
  /** How many runs at a time, where each has a store of its own. */
  readonly concurrency: number;
  readonly scenarios?: readonly ScenarioName[] | undefined;
  /** Which points to take; default all. */
  readonly take?: ((scenario: ScenarioName, point: FaultPoint) => boolean) | undefined;
  readonly onRun?: (judged: Judged) => void;
}

/** Runs them. */
export async function matrix(options: MatrixOptions): Promise<SettingReport> {
  const { setting, programs } = options;
  // On one store the hosts of other runs would take over, too, each with a crash of its own before it.
  const concurrency = setting.processes === 1 ? options.concurrency : 1;
  const place = await crashPlace(setting, programs);
  const runs: Judged[] = [];
  let number = 0;
  const run = async (spec: CrashSpec): Promise<Crash> => {
    const done = await crash(place, spec, (number += 1));
    const judged = { setting, crash: done, verdict: judge(done) };
    runs.push(judged);
    options.onRun?.(judged);
    return done;
  };
  const names = options.scenarios ?? (Object.keys(scenarios) as ScenarioName[]);
  const recorded = await inLanes(
    concurrency,
    names.filter((name) => !SKIPPED.includes(name)),
    async (scenario) => {
      const { passed } = await run({ scenario, point: undefined, replay: true });
      return pointsOf(passed)
        .filter((point) => options.take?.(scenario, point) ?? true)
        .map((point) => ({ scenario, point }));
    },
  );
  // Replaying hosts and those that only resume, in turn. Whoever meant to cancel must come back for it.
  const specs = recorded
    .flat()
    .map((spec, at) => ({ ...spec, replay: at % 2 === 0 || spec.scenario === "cancelled" }));
  await inLanes(concurrency, specs, run);
  return { setting, runs, beside: await besides(place) };
}

/** The points to crash at, of all that a life passed. */
export function pointsOf(passed: readonly FaultPoint[]): FaultPoint[] {
  const points = passed.filter((point) => {
    if (point.at === "request" && point.method === "tasks/get") return point.nth <= MOST_POLLS;
    return point.at !== "write" || point.entry === "record" || point.nth <= MOST_BEATS;
  });
  return [...new Map(points.map((point) => [pointName(point), point])).values()];
}

async function besides(place: CrashPlace): Promise<string[]> {
  const violations = place.server
    .violations()
    .map(({ rule, method }) => `rule of the wire: ${rule} (${method})`);
  const { ended, errors } = await place.stop();
  const ends = ended.flatMap(({ code, stderr }) =>
    code === 0 && stderr === "" ? [] : [`a standing process ended with ${code}: ${stderr.slice(0, 500)}`],
  );
  return [...violations, ...ends, ...errors.map((error) => `a standing process reports: ${error}`)].map(
    (line) => `${settingName(place.setting)}: ${line}`,
  );
}

async function inLanes<Item, Result>(
  lanes: number,
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.map((item, at) => ({ item, at }));
  const lane = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      results[next.at] = await run(next.item);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}
