/**
 * Compares a host on TaskClient, and one on withTasks, with a host on the official client and its tasks package: the same tool calls, faults
 * and kills, on the same server in a third process. Prints what the server and the parent saw. Build first.
 *
 * The peer is installed into a temporary folder and is no dependency. `--only <words>` runs the scenarios whose title
 * has the words.
 */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { lines } from "./lines.js";
import { measure, type Side } from "./measure.js";
import { SCENARIOS } from "./scenarios.js";
import { printTable } from "./table.js";

const PEER = "@modelcontextprotocol/ext-tasks@0.2.2";
const CLIENT = "@modelcontextprotocol/client@2.4.0";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "taskrail-peer-"));
try {
  const peer = install();
  if (peer === undefined) process.stdout.write(`skipped: ${PEER} could not be installed\n`);
  else await compare(peer);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function compare(peer: Side): Promise<void> {
  const { version } = JSON.parse(readFileSync(here("../../package.json"), "utf8")) as { version: string };
  const ours: Side = { label: `mcp-taskrail ${version}`, program: program(here("hostOurs.mjs")) };
  const wrapped: Side = {
    label: `withTasks on ${CLIENT.slice(CLIENT.indexOf("/") + 1)}`,
    program: program(here("hostWithTasks.mjs")),
  };
  const sides = [ours, wrapped, peer];
  const wanted = process.argv.indexOf("--only");
  const word = wanted === -1 ? "" : (process.argv[wanted + 1] ?? "");
  const rows = [];
  for (const scenario of SCENARIOS.filter(({ title }) => title.includes(word))) {
    process.stderr.write(`${scenario.title}\n`);
    rows.push([scenario.title, ...(await measure(scenario, sides, folder))]);
  }
  const written = await Promise.all(sides.map((side) => lines(fileURLToPath(side.program))));
  printTable([
    ["", ...sides.map(({ label }) => label)],
    ["lines a host must write", ...written.map(({ host }) => String(host))],
    ["of these, its own request path", ...written.map(({ transport }) => String(transport))],
    ...rows,
  ]);
}

/** The peer's host program beside the packages that it imports. Nothing when the registry cannot be reached. */
function install(): Side | undefined {
  const beside = join(folder, "peer");
  mkdirSync(beside);
  writeFileSync(
    join(beside, "package.json"),
    JSON.stringify({ name: "peer", private: true, type: "module" }),
  );
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", PEER, CLIENT];
  try {
    execFileSync("npm", args, { cwd: beside, stdio: ["ignore", "ignore", "inherit"] });
  } catch {
    return undefined;
  }
  if (!existsSync(join(beside, "node_modules/@modelcontextprotocol/ext-tasks"))) return undefined;
  copyFileSync(here("hostPeer.mjs"), join(beside, "host.mjs"));
  return {
    label: `${PEER.slice(PEER.indexOf("/") + 1)} on ${CLIENT.slice(CLIENT.indexOf("/") + 1)}`,
    program: program(join(beside, "host.mjs")),
  };
}

function program(path: string): string {
  return pathToFileURL(path).href;
}
