/**
 * Owns the interop run: the built package against servers that this project did not write. Not part of the tests: it
 * installs what it needs from the package registries into a scratch folder.
 *
 *   npm run interop -- [--scratch FOLDER] [--server TEXT] [--client TEXT] [--transport http|stdio] [--json] [--no-suite]
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { COLUMNS, type Cell } from "./cells.js";
import { printSuite, runSuite } from "./suite.js";
import { killAll } from "./processes.js";
import { runRow, type RowResult } from "./row.js";
import { Scratch } from "./scratch.js";
import { clientsFor, SERVERS } from "./servers.js";
import { allWell, markdown } from "./table.js";

const { values: flags } = parseArgs({
  options: {
    scratch: { type: "string" },
    server: { type: "string", default: "" },
    client: { type: "string", default: "" },
    transport: { type: "string", default: "" },
    json: { type: "boolean", default: false },
    "no-suite": { type: "boolean", default: false },
  },
});

const folder = flags.scratch ?? process.env["TASKRAIL_INTEROP_DIR"] ?? join(tmpdir(), "taskrail-interop");
const scratch = new Scratch(folder);
const recordings = join(scratch.folder, "recordings");
mkdirSync(recordings, { recursive: true });
const say = (text: string) => process.stderr.write(`${text}\n`);

process.on("exit", killAll);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));

const results: RowResult[] = [];
for (const server of SERVERS) {
  if (!server.name.includes(flags.server)) continue;
  say(`${server.name} ${server.version}: installing`);
  const installed = await server.install(scratch);
  for (const transport of ["http", "stdio"] as const) {
    if (flags.transport !== "" && transport !== flags.transport) continue;
    for (const client of clientsFor(transport)) {
      if (!client.includes(flags.client)) continue;
      const key = { server, transport, client };
      if (!installed.ok) {
        const cell: Cell = {
          state: "skipped",
          reason: `not installed: ${installed.why}`,
        };
        results.push({
          ...key,
          row: Object.fromEntries(COLUMNS.map((column) => [column, cell])),
          extras: [],
        });
        continue;
      }
      const result = await runRow(key, {
        installed: installed.path,
        recordings,
      });
      results.push(result);
      say(`  ${transport} ${client}: ${COLUMNS.map((column) => result.row[column]?.state ?? "?").join(" ")}`);
    }
  }
}

const suite = flags["no-suite"] || flags.server !== "" ? undefined : await runSuite(scratch);
const versions = clientVersions();
const report = {
  versions,
  rows: results.map(({ server, ...rest }) => ({
    server: server.name,
    version: server.version,
    language: server.language,
    generation: server.generation,
    ...rest,
  })),
  suite,
};
writeFileSync(join(scratch.folder, "results.json"), `${JSON.stringify(report, null, 2)}\n`);
if (flags.json) {
  console.log(JSON.stringify(report, null, 2));
} else {
  console.log(markdown(results));
  const clients = Object.entries(versions).map((pair) => pair.join(" "));
  console.log(`\nclients: ${clients.join(", ")}`);
  if (suite !== undefined) console.log(printSuite(suite));
}
killAll();
process.exit(allWell(results) && suite?.ok !== false ? 0 : 1);

function clientVersions(): Record<string, string> {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const version = (path: string) =>
    (JSON.parse(readFileSync(join(root, path), "utf8")) as { version: string }).version;
  const names = ["@modelcontextprotocol/sdk", "@modelcontextprotocol/client"];
  const installed = names.filter((name) => existsSync(join(root, "node_modules", name, "package.json")));
  return {
    "mcp-taskrail": version("package.json"),
    ...Object.fromEntries(
      installed.map((name) => [name, version(join("node_modules", name, "package.json"))]),
    ),
    node: process.versions.node,
  };
}
