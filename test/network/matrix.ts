/** Owns the whole of the matrix: which cells there are, running several at once, and the table. */
import { closeSync, openSync, readSync } from "node:fs";
import { spawnTaskServer, type LogEntry, type SpawnTaskServerOptions } from "../../src/testing/index.js";
import { applies, runCell, type CellReport, type LoggedServer, type Servers } from "./cell.js";
import { faults, type NetworkFault, type Pace } from "./faults.js";
import { phases, type Phase } from "./phases.js";

export interface Cell {
  readonly fault: NetworkFault;
  readonly phase: Phase;
}

/** In CI: everything in fractions of a second. */
export const QUICK: Pace = { patienceMs: 800, delayMs: 1300, dripMs: 60 };
/** The true delay, longer than the default limits of requests. */
export const TRUE: Pace = { patienceMs: 30_000, delayMs: 60_000, dripMs: 1000 };

/** Every fault at every phase that it can hit. */
export const cells: readonly Cell[] = faults.flatMap((fault) =>
  phases.filter((phase) => applies(fault, phase)).map((phase) => ({ fault, phase })),
);

/** Runs them, `atOnce` side by side; each report comes as soon as it is there. */
export function runMatrix(
  wanted: readonly Cell[],
  { servers, pace, atOnce }: { servers: Promise<Servers>; pace: Pace; atOnce: number },
): Map<Cell, Promise<CellReport>> {
  const queue = [...wanted];
  const done = new Map<Cell, (report: CellReport) => void>();
  const reports = new Map(
    wanted.map((cell) => [cell, new Promise<CellReport>((resolve) => done.set(cell, resolve))]),
  );
  const lane = async (): Promise<void> => {
    for (let cell = queue.shift(); cell !== undefined; cell = queue.shift()) {
      const report = await servers.then(
        (them) => runCell({ ...cell, pace }, them),
        (failure: unknown) => notRun(cell, failure),
      );
      done.get(cell)?.(report);
    }
  };
  for (let n = 0; n < atOnce; n += 1) void lane();
  return reports;
}

function notRun({ fault, phase }: Cell, failure: unknown): CellReport {
  return { fault: fault.name, phase: phase.name, failure, hits: 0, recoveryMs: 0 };
}

/** The servers behind the proxies, each in a process of its own. */
export async function startServers(): Promise<Servers & { stop(): Promise<void> }> {
  const common = { push: true, keepAliveMs: 200, pollIntervalMs: 60 };
  const [json, sse] = await Promise.all([
    loggedServer({ ...common, answerWith: "json" }),
    loggedServer({ ...common, answerWith: "sse" }),
  ]);
  return {
    json,
    sse,
    async stop() {
      await Promise.all([json.stop(), sse.stop()]);
    },
  };
}

async function loggedServer(options: SpawnTaskServerOptions): Promise<LoggedServer> {
  const server = await spawnTaskServer(options);
  const entries: LogEntry[] = [];
  const file = openSync(server.logFile, "a+");
  let at = 0;
  let held = Buffer.alloc(0);
  return {
    ...server,
    async stop() {
      closeSync(file);
      await server.stop();
    },
    entries() {
      const part = Buffer.alloc(65_536);
      for (let count = readSync(file, part, 0, part.length, at); count > 0;) {
        at += count;
        held = Buffer.concat([held, part.subarray(0, count)]);
        count = readSync(file, part, 0, part.length, at);
      }
      const end = held.lastIndexOf(10) + 1;
      const lines = held.subarray(0, end).toString("utf8").split("\n");
      held = held.subarray(end);
      for (const line of lines) if (line !== "") entries.push(JSON.parse(line) as LogEntry);
      return entries;
    },
  };
}

/** Faults × phases in Markdown: what the host got, and how long after the last hit. */
export function table(reports: readonly CellReport[]): string {
  const names = phases.map(({ name }) => name);
  const hit = faults.filter(({ name }) => reports.some(({ fault }) => fault === name));
  const lines = hit.map(({ name, direction }) => {
    const row = names.map((phase) => {
      const report = reports.find((one) => one.fault === name && one.phase === phase);
      if (report === undefined) return "—";
      if (report.outcome === undefined) return "**BROKEN**";
      return `${report.outcome} (${report.recoveryMs} ms)`;
    });
    return `| ${name} | ${direction} | ${row.join(" | ")} |`;
  });
  const titles = ["fault", "hits bytes", ...names];
  return [`| ${titles.join(" | ")} |`, `|${" --- |".repeat(titles.length)}`, ...lines].join("\n");
}
