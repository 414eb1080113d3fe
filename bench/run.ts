/**
 * Compares the loop of articles with TaskClient: CPU per poll, requests per task, memory. Every measurement is a
 * fresh process against a fresh server in a third one; the order alternates; medians are shown. `--quick` only
 * shows that it runs.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { spawnTaskServer, type LogEntry } from "mcp-taskrail/testing";
import {
  FULL,
  MEASURED_TOOL,
  QUICK,
  VARIANTS,
  WARM_UP_TOOL,
  type ChildFigures,
  type Load,
  type Variant,
} from "./load.js";

/** One measurement. Requests are the server's count. */
interface Measurement {
  readonly variant: Variant;
  readonly cpuMsPerPoll: number;
  readonly heapKiBPerTask: number;
  readonly peakRssMiB: number;
  readonly pollsPerTask: number;
  readonly requestsPerTask: ReadonlyMap<string, number>;
  /** Requests that belong to no task, as a whole. */
  readonly otherRequests: number;
}

const load = process.argv.includes("--quick") ? QUICK : FULL;
const seen: Measurement[] = [];
for (let round = 0; round < load.rounds; round += 1) {
  for (let turn = 0; turn < VARIANTS.length; turn += 1) {
    const variant = VARIANTS[(turn + round) % VARIANTS.length]!;
    const measured = await measure(variant);
    seen.push(measured);
    process.stderr.write(
      `round ${round + 1} of ${load.rounds}: ${variant}: ${measured.cpuMsPerPoll.toFixed(3)} ms per poll\n`,
    );
  }
}
print();

async function measure(variant: Variant): Promise<Measurement> {
  const folder = mkdtempSync(join(tmpdir(), "taskrail-bench-"));
  const server = await spawnTaskServer({ pollIntervalMs: load.pollIntervalMs });
  try {
    const figures = await runChild({ variant, url: server.url, folder, load });
    return toMeasurement(variant, figures, server.log());
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runChild(settings: object): Promise<ChildFigures> {
  const file = fileURLToPath(new URL("./child.ts", import.meta.url));
  const child = spawn(process.execPath, ["--expose-gc", "--import", "tsx", file, JSON.stringify(settings)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(await text(child.stdout)) as ChildFigures;
}

function toMeasurement(variant: Variant, figures: ChildFigures, log: readonly LogEntry[]): Measurement {
  const mine = log.filter(({ name }) => name === MEASURED_TOOL);
  const count = (method: string): number => mine.filter((entry) => entry.method === method).length;
  const polls = count("tasks/get");
  const methods = ["tools/call", "tasks/get", "tasks/update", "tasks/cancel"];
  return {
    variant,
    cpuMsPerPoll: figures.cpuMs / polls,
    heapKiBPerTask: figures.liveHeapBytes / 1024 / load.tasks,
    peakRssMiB: figures.peakRssBytes / 1024 / 1024,
    pollsPerTask: polls / load.tasks,
    requestsPerTask: new Map(methods.map((method) => [method, count(method) / load.tasks])),
    otherRequests: log.filter(({ name }) => name !== MEASURED_TOOL && name !== WARM_UP_TOOL).length,
  };
}

function print(): void {
  const head = [
    "variant",
    "CPU per poll, ms (min-max)",
    "polls per task",
    "calls",
    "updates",
    "others in all",
    "heap per live task, KiB",
    "peak RSS, MiB",
  ];
  const rows = VARIANTS.map((variant) => {
    const of = (read: (one: Measurement) => number): number[] =>
      seen.filter((one) => one.variant === variant).map(read);
    const cpu = of((one) => one.cpuMsPerPoll);
    const requests = (method: string): string =>
      median(of((one) => one.requestsPerTask.get(method) ?? 0)).toFixed(2);
    return [
      variant,
      `${median(cpu).toFixed(3)} (${Math.min(...cpu).toFixed(3)}-${Math.max(...cpu).toFixed(3)})`,
      median(of((one) => one.pollsPerTask)).toFixed(1),
      requests("tools/call"),
      requests("tasks/update"),
      String(median(of((one) => one.otherRequests))),
      median(of((one) => one.heapKiBPerTask)).toFixed(1),
      median(of((one) => one.peakRssMiB)).toFixed(0),
    ];
  });
  const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  console.log(`${machine()}; ${describe(load)}\n\n${lines.join("\n")}`);
}

function machine(): string {
  return `Node.js ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} cores`;
}

function describe({ tasks, pollIntervalMs, pollsPerTask, rounds }: Load): string {
  const seconds = (pollIntervalMs * pollsPerTask) / 1000;
  return `${tasks} tasks of ${seconds} s at once, interval ${pollIntervalMs} ms, median of ${rounds} rounds`;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}
