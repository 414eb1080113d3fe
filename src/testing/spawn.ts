/** Owns servers in another process: starts one, steers it, reads its log, ends it. Reusable over kills. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { CONTROL_PATH, type ControlAnswer, type ControlRequest } from "./control.js";
import type { Fault } from "./faults.js";
import { readLog, type LogEntry } from "./log.js";
import type { TaskServerSettings } from "./options.js";
import type { Violation } from "./strict.js";
import type { StepsTool, TestCounters, TestTask } from "./types.js";

/** What `spawnTaskServer` takes: everything that survives JSON. `control` is on. */
export interface SpawnTaskServerOptions extends Omit<TaskServerSettings, "control"> {
  /** More tools, as plain data. */
  readonly tools?: readonly StepsTool[];
  /** Path of an ES module that exports `tools`. */
  readonly toolsModule?: string;
}

/** A server in another process. */
export interface SpawnedTaskServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** The state and log files; in a temporary folder where none were given. */
  readonly stateFile: string;
  readonly logFile: string;
  /** Every request so far, also after a kill, and over restarts. */
  log(): readonly LogEntry[];
  violations(): readonly (Violation & { readonly seq: number; readonly method: string })[];
  addFault(fault: Fault): Promise<void>;
  clearFaults(): Promise<void>;
  tasks(): Promise<readonly TestTask[]>;
  counters(): Promise<TestCounters>;
  /** Sends the signal (SIGKILL) and waits for the end. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts again on the same port and files, after a kill. Faults of the options happen anew. */
  restart(changes?: SpawnTaskServerOptions): Promise<void>;
  /** Ends the process and removes the temporary folder. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a server in another process and resolves once it listens. Rejects when it ends before that. The process
 * ends with ours.
 */
export async function spawnTaskServer(options: SpawnTaskServerOptions = {}): Promise<SpawnedTaskServer> {
  const folder = mkdtempSync(join(tmpdir(), "task-server-"));
  const stateFile = options.stateFile ?? join(folder, "state.json");
  const logFile = options.logFile ?? join(folder, "log.jsonl");
  let settings = { ...options, stateFile, logFile, control: true };
  let running = await launch(settings);
  const { url, port } = running;
  const controlUrl = new URL(CONTROL_PATH, url);

  async function control(request: ControlRequest): Promise<ControlAnswer> {
    const response = await fetch(controlUrl, { method: "POST", body: JSON.stringify(request) });
    if (!response.ok) throw new Error(`The server's control endpoint answered ${response.status}`);
    return (await response.json()) as ControlAnswer;
  }

  async function kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    running.child.kill(signal);
    await running.ended;
  }

  async function stop(): Promise<void> {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  }

  return {
    url,
    port,
    get pid() {
      return running.child.pid ?? -1;
    },
    stateFile,
    logFile,
    log: () => readLog(logFile),
    violations: () =>
      readLog(logFile).flatMap(({ seq, method, violations = [] }) =>
        violations.map((one) => ({ ...one, seq, method })),
      ),
    async addFault(fault) {
      await control({ op: "addFault", fault });
    },
    async clearFaults() {
      await control({ op: "clearFaults" });
    },
    tasks: async () => (await control({ op: "state" })).tasks,
    counters: async () => (await control({ op: "state" })).counters,
    kill,
    async restart(changes = {}) {
      settings = { ...settings, ...changes, port };
      running = await launch(settings);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

interface Launched {
  readonly child: ChildProcess;
  readonly url: string;
  readonly port: number;
  readonly ended: Promise<void>;
}

async function launch(settings: object): Promise<Launched> {
  const [loader, main] = program();
  const child = spawn(process.execPath, [...loader, main], {
    env: { ...process.env, TASK_SERVER_OPTIONS: JSON.stringify(settings), TASK_SERVER_TIED: "1" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const line = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
    });
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`The server ended before it listened: ${errors.trim()}`)));
  });
  const { url, port } = JSON.parse(line) as { url: string; port: number };
  return { child, url, port, ended };
}

/** The built program, or the source with a loader when this file itself runs from source. */
function program(): [loader: string[], main: string] {
  const here = import.meta.url;
  if (!here.endsWith(".ts")) return [[], fileURLToPath(new URL("./main.js", here))];
  const loader = pathToFileURL(createRequire(here).resolve("tsx")).href;
  return [["--import", loader], fileURLToPath(new URL("./main.ts", here))];
}
