/**
 * A choice of the matrix of crashes (main.ts has all of it): a host is killed at points of every kind, on Redis, and
 * with two others on the store. Alone on lmdb, test/kill does it at every moment.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FaultPoint } from "../../src/testing/index.js";
import { hasRedis } from "../helpers/redis.js";
import type { ScenarioName } from "../kill/scenarios.js";
import { compilePrograms, type Programs } from "../process/programs.js";
import { pointName } from "./crash.js";
import { matrix, pointsOf, type SettingReport } from "./matrix.js";
import { settingName, type Setting } from "./places.js";
import { crashTables, wrongLines } from "./table.js";

/** One of every kind, each where it hurts most. */
const POINTS: Readonly<Partial<Record<ScenarioName, readonly string[]>>> = {
  task: [
    "record write 1: after",
    "tools/call 1: executed",
    "record write 2: after",
    "host, settled: written 1",
  ],
  approval: ["host, asked 1", "record write 4: after", "tasks/update 1: executed", "tasks/get 1: answered"],
  roundTrip: ["tools/call 2: before", "tools/call 3: answered"],
};
const SETTINGS: readonly Setting[] = [
  { store: "redis", processes: 1 },
  { store: "lmdb", processes: 3 },
  { store: "redis", processes: 3 },
];

let programs: Programs;
beforeAll(() => {
  programs = compilePrograms();
});
afterAll(() => programs.remove());

describe.each(SETTINGS.map((setting) => [settingName(setting), setting] as const))("%s", (_name, setting) => {
  it.skipIf(setting.store === "redis" && !hasRedis)(
    "a host that is killed anywhere: once, or unknown where nobody can know, and told by somebody",
    async () => {
      const report = await matrix({
        setting,
        programs,
        concurrency: 4,
        scenarios: Object.keys(POINTS) as ScenarioName[],
        take: (scenario, point) => POINTS[scenario]?.includes(pointName(point)) === true,
      });
      console.log(crashTables([report]));
      // Of a poll whose process died with its answer nobody else knows, so the next owner's may come too early.
      const isEarlyPoll = (line: string): boolean =>
        setting.processes > 1 && line.includes("polite (tasks/get)");
      const beside = report.beside.filter((line) => !isEarlyPoll(line));
      expect(wrongLines([{ ...report, beside }])).toEqual(["Nothing."]);
      // The recording runs, and a crash at each point that they name.
      const wanted = Object.values(POINTS).flat().length;
      expect(killed(report)).toBeGreaterThanOrEqual(wanted - 1);
      expect(report.runs).toHaveLength(wanted + Object.keys(POINTS).length);
    },
    240_000,
  );
});

it("takes every write and every boundary of an exchange for a point, of steady polls the first three", () => {
  const polls = Array.from({ length: 5 }, (_, at) => at + 1).map((nth): FaultPoint => ({
    at: "request",
    method: "tasks/get",
    nth,
    when: "sent",
  }));
  const write: FaultPoint = { at: "write", entry: "record", nth: 7, when: "after" };
  expect(pointsOf([...polls, write, write]).map(pointName)).toEqual([
    "tasks/get 1: sent",
    "tasks/get 2: sent",
    "tasks/get 3: sent",
    "record write 7: after",
  ]);
});

function killed({ runs }: SettingReport): number {
  return runs.filter(({ crash }) => crash.reached).length;
}
