/**
 * The whole matrix of crashes: `npm run crashes -- [--store lmdb|redis] [--processes 1|3] [--scenario name] [--lanes n]`.
 * Prints its tables in Markdown; ends with 1 where anything is wrong.
 */
import { parseArgs } from "node:util";
import { hasRedis } from "../helpers/redis.js";
import { scenarios, type ScenarioName } from "../kill/scenarios.js";
import { compilePrograms } from "../process/programs.js";
import { pointName } from "./crash.js";
import { matrix, type SettingReport } from "./matrix.js";
import { SETTINGS, settingName } from "./places.js";
import { crashTables } from "./table.js";

const { values } = parseArgs({
  options: {
    store: { type: "string" },
    processes: { type: "string" },
    scenario: { type: "string" },
    lanes: { type: "string", default: "6" },
  },
});
if (values.scenario !== undefined && !(values.scenario in scenarios)) {
  throw new TypeError(`--scenario: one of ${Object.keys(scenarios).join(", ")}`);
}
const settings = SETTINGS.filter(
  ({ store, processes }) =>
    (values.store ?? store) === store && (values.processes ?? String(processes)) === String(processes),
);
const programs = compilePrograms();
const reports: SettingReport[] = [];
try {
  for (const setting of settings) {
    if (setting.store === "redis" && !hasRedis) {
      console.error(`${settingName(setting)}: skipped, there is no redis-server here`);
      continue;
    }
    const startedAt = performance.now();
    const report = await matrix({
      setting,
      programs,
      concurrency: Number(values.lanes),
      scenarios: values.scenario === undefined ? undefined : [values.scenario as ScenarioName],
      onRun({ crash: { spec }, verdict }) {
        for (const line of verdict.wrong) {
          console.error(`${settingName(setting)}: ${spec.scenario}, ${pointName(spec.point)}: ${line}`);
        }
      },
    });
    reports.push(report);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    console.error(`${settingName(setting)}: ${report.runs.length} runs in ${seconds} s`);
  }
} finally {
  programs.remove();
}
console.log(crashTables(reports));
const isWrong = ({ runs, beside }: SettingReport): boolean =>
  beside.length > 0 || runs.some(({ verdict }) => verdict.wrong.length > 0);
process.exitCode = reports.some(isWrong) ? 1 : 0;
