/** Owns one soak run: servers, chaos, a host process, and what they leave behind. It judges nothing. */
import { spawn } from "node:child_process";
import { createReadStream, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { spawnTaskServer, type LogEntry, type SpawnedTaskServer } from "../../src/testing/index.js";
import { compilePrograms, type Programs } from "../process/programs.js";
import { startChaos, type ChaosOptions } from "./chaos.js";
import type { Delivered, HostEnd, HostPlan, Sample, SoakPlan } from "./plan.js";

export interface SoakOptions extends SoakPlan {
  readonly pollIntervalMs: number;
  readonly chaos: Omit<ChaosOptions, "seed">;
  /** The host is ended after this. */
  readonly limitMs: number;
  readonly onSample?: (sample: Sample) => void;
}

/** What is left. */
export interface SoakEvidence {
  readonly plan: SoakPlan;
  readonly samples: readonly Sample[];
  readonly deliveries: readonly Delivered[];
  readonly rejected: readonly { readonly number: number; readonly code: string }[];
  /** Undefined where the host did not come to its end. */
  readonly end: HostEnd | undefined;
  readonly stderr: string;
  /** The calls at the servers, by number. */
  readonly calls: ReadonlyMap<number, readonly LogEntry[]>;
  readonly violations: Readonly<Record<string, number>>;
  /** Two different answers to one question. */
  readonly conflicts: number;
  readonly faults: number;
  readonly kills: readonly number[];
}

/** Runs it. */
export async function soak(options: SoakOptions): Promise<SoakEvidence> {
  const folder = mkdtempSync(join(tmpdir(), "soak-"));
  const { pollIntervalMs, chaos: roughness, limitMs, onSample, ...plan } = options;
  const servers = await Promise.all(
    plan.servers.map((name, at) => {
      mkdirSync(join(folder, name));
      return spawnTaskServer({
        strict: true,
        pollIntervalMs,
        push: at % 2 === 0,
        keepAliveMs: 5000,
        stateFile: join(folder, name, "state.json"),
        logFile: join(folder, name, "log.jsonl"),
      });
    }),
  );
  const files = {
    deliveries: join(folder, "deliveries.jsonl"),
    rejected: join(folder, "rejected.jsonl"),
    samples: join(folder, "samples.jsonl"),
  };
  try {
    const host: HostPlan = {
      ...plan,
      ...files,
      urls: servers.map(({ url }) => url),
      storePath: join(folder, "store"),
    };
    // Before the clock of the run starts: it takes seconds, and nothing else happens meanwhile.
    const programs = compilePrograms();
    const chaos = startChaos(servers, { ...roughness, seed: plan.seed });
    const quiet = setTimeout(() => void chaos.stop(), plan.arrivalMs + plan.minLifeMs);
    const watch = watching(files.samples, onSample);
    const { end, stderr } = await runHost(programs, host, limitMs);
    programs.remove();
    clearTimeout(quiet);
    watch();
    await chaos.stop();
    return {
      plan,
      samples: lines<Sample>(files.samples),
      deliveries: lines<Delivered>(files.deliveries),
      rejected: lines(files.rejected),
      end,
      stderr,
      ...(await readLogs(servers)),
      faults: chaos.faults(),
      kills: chaos.kills,
    };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runHost(
  programs: Programs,
  plan: HostPlan,
  limitMs: number,
): Promise<{ end: HostEnd | undefined; stderr: string }> {
  // Compiled plainly: a loader that keeps the names of functions gives each closure a table of its own, and the heap
  // that is measured would be mostly those.
  const child = spawn(process.execPath, ["--expose-gc", programs.file("test/soak/host.ts")], {
    env: { ...process.env, PROGRAM_INPUT: JSON.stringify(plan) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const limit = setTimeout(() => child.kill("SIGKILL"), limitMs);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const code = await new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status, signal) => resolve(status ?? signal));
  });
  clearTimeout(limit);
  const last = /^end (.*)$/m.exec(stdout)?.[1];
  return {
    end: last === undefined ? undefined : (JSON.parse(last) as HostEnd),
    stderr: code === 0 ? stderr : `${stderr}\nThe host ended with ${code}`,
  };
}

/** The calls of all logs, and what was wrong in any entry. Line by line: the logs are long. */
async function readLogs(
  servers: readonly SpawnedTaskServer[],
): Promise<Pick<SoakEvidence, "calls" | "violations" | "conflicts">> {
  const calls = new Map<number, LogEntry[]>();
  const violations: Record<string, number> = {};
  let conflicts = 0;
  for (const { logFile } of servers) {
    for await (const line of createInterface({ input: createReadStream(logFile) })) {
      if (!/"tools\/call"|"violations"|"conflicting"/.test(line)) continue;
      const entry = parsed(line);
      if (entry === undefined) continue;
      for (const { rule, message } of entry.violations ?? []) {
        const name = `${rule} (${entry.name ?? "?"}, ${entry.answer}): ${message}`;
        violations[name] = (violations[name] ?? 0) + 1;
      }
      conflicts += entry.conflicting?.length ?? 0;
      const { run } = (entry.params["arguments"] ?? {}) as { run?: number };
      if (entry.method !== "tools/call" || run === undefined) continue;
      calls.set(run, [...(calls.get(run) ?? []), entry]);
    }
  }
  return { calls, violations, conflicts };
}

/** A line that a kill cut short is none. */
function parsed(line: string): LogEntry | undefined {
  try {
    return JSON.parse(line) as LogEntry;
  } catch {
    return undefined;
  }
}

function watching(file: string, onSample: ((sample: Sample) => void) | undefined): () => void {
  if (onSample === undefined) return () => undefined;
  let seen = 0;
  const timer = setInterval(() => {
    const all = lines<Sample>(file);
    for (const sample of all.slice(seen)) onSample(sample);
    seen = all.length;
  }, 5000);
  return () => clearInterval(timer);
}

function lines<Line>(file: string): Line[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}
