/** Owns the tables of the crash runs, in Markdown. */
import type { FaultPoint } from "../../src/testing/index.js";
import { pointName } from "./crash.js";
import type { Judged, SettingReport } from "./matrix.js";
import { settingName } from "./places.js";

interface Counts {
  points: number;
  once: number;
  unknown: number;
  never: number;
  missed: number;
  wrong: number;
}

/** Kinds of points × outcomes, for every setting, and what is wrong. */
export function crashTables(reports: readonly SettingReport[]): string {
  const kinds = [...new Set(reports.flatMap(({ runs }) => runs.map(kindOf)))].sort();
  const sections = reports.map(({ setting, runs }) => {
    const rows = kinds.flatMap((kind) => {
      const own = runs.filter((run) => kindOf(run) === kind);
      return own.length === 0 ? [] : [row(kind, count(own))];
    });
    return [`### ${settingName(setting)}`, "", ...head, ...rows, row("**all**", count(runs))].join("\n");
  });
  const totals = reports.map(({ setting, runs }) => row(settingName(setting), count(runs)));
  return [
    "## Crash points × outcomes",
    "",
    ...head.map((line) => line.replace("crash point", "store and processes")),
    ...totals,
    "",
    ...sections.flatMap((section) => [section, ""]),
    "## Wrong",
    "",
    ...wrongLines(reports),
    "",
  ].join("\n");
}

/** One line per broken promise. */
export function wrongLines(reports: readonly SettingReport[]): string[] {
  const lines = reports.flatMap(({ setting, runs, beside }) => [
    ...runs.flatMap(({ crash: { spec }, verdict }) =>
      verdict.wrong.map(
        (line) =>
          `- ${settingName(setting)}: ${spec.scenario}, ${pointName(spec.point)}` +
          `, ${spec.replay ? "replays" : "resumes"}: ${line}`,
      ),
    ),
    ...tally(beside).map((line) => `- ${line}`),
  ]);
  return lines.length === 0 ? ["Nothing."] : lines;
}

const head = [
  "| crash point | runs | once | unknown, as nobody can know | never sent | point not reached, once | WRONG |",
  "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
];

function row(name: string, { points, once, unknown, never, missed, wrong }: Counts): string {
  return `| ${name} | ${points} | ${once} | ${unknown} | ${never} | ${missed} | ${wrong} |`;
}

function count(runs: readonly Judged[]): Counts {
  const counts: Counts = { points: 0, once: 0, unknown: 0, never: 0, missed: 0, wrong: 0 };
  for (const { crash, verdict } of runs) {
    counts.points += 1;
    if (verdict.wrong.length > 0) counts.wrong += 1;
    else if (!crash.reached && crash.spec.point !== undefined) counts.missed += 1;
    else counts[verdict.came] += 1;
  }
  return counts;
}

function kindOf({ crash: { spec } }: Judged): string {
  return spec.point === undefined ? "no crash" : kind(spec.point);
}

function kind(point: FaultPoint): string {
  switch (point.at) {
    case "request":
      return `${point.method}: ${point.when}`;
    case "write":
      return `store write (${point.entry}): ${point.when}`;
    case "place":
      return `host: ${point.name}`;
  }
}

function tally(lines: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return [...counts].map(([line, times]) => (times === 1 ? line : `${line} (${times} times)`));
}
