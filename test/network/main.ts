/** Owns `npm run network`: the whole matrix, scaled and with true delays of 60 s, as tables. Exits with 1 when a cell is broken. */
import type { CellReport } from "./cell.js";
import { cells, QUICK, runMatrix, startServers, table, TRUE, type Cell } from "./matrix.js";

const only = argument("--only");
const quick = process.argv.includes("--quick");
const stray: unknown[] = [];
process.on("unhandledRejection", (reason) => stray.push(reason));

function argument(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

async function runAll(wanted: readonly Cell[], pace: typeof QUICK, atOnce: number): Promise<CellReport[]> {
  const servers = startServers();
  const reports = await Promise.all(runMatrix(wanted, { servers, pace, atOnce }).values());
  await (await servers).stop();
  return reports;
}

function tell(title: string, reports: readonly CellReport[]): boolean {
  const broken = reports.filter(({ outcome }) => outcome === undefined);
  const slowest = Math.max(0, ...reports.map(({ recoveryMs }) => recoveryMs));
  const hits = reports.reduce((sum, report) => sum + report.hits, 0);
  console.log(`\n## ${title}\n\n${table(reports)}\n`);
  console.log(
    `${reports.length} cells, ${hits} hits, ${broken.length} broken, slowest recovery ${slowest} ms.`,
  );
  for (const { fault, phase, failure } of broken) console.log(`BROKEN ${fault} × ${phase}:`, failure);
  return broken.length === 0;
}

const wanted = cells.filter(
  ({ fault, phase }) => only === undefined || `${fault.name} × ${phase.name}`.includes(only),
);
const began = performance.now();
let sound = tell("Hostile network: scaled delays", await runAll(wanted, QUICK, 16));
if (!quick) {
  const long = wanted.filter(({ fault }) => fault.stalls === true);
  sound = tell("Hostile network: true delays of 60 s", await runAll(long, TRUE, 64)) && sound;
}
console.log(`\n${Math.round((performance.now() - began) / 1000)} s; unhandled rejections: ${stray.length}`);
for (const reason of stray) console.log(reason);
// Idle connections of fetch are not waited for.
process.exit(sound && stray.length === 0 ? 0 : 1);
