/** Owns the worker as a process: starts it, passes messages, kills it. One process at a time. */
import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { FromWorker, ToWorker, WorkerSettings } from "./protocol.js";

/** One life of the worker. */
export interface WorkerProcess {
  readonly pid: number;
  /** Resolves with the exit code, or null after a signal. */
  readonly ended: Promise<number | null>;
  send(message: ToWorker): void;
  /** SIGKILL: no handler runs, nothing is flushed. Resolves once it is dead. */
  kill(): Promise<void>;
}

export function startWorker(
  settings: WorkerSettings,
  onMessage: (message: FromWorker) => void,
): WorkerProcess {
  const file = fileURLToPath(new URL("./worker.ts", import.meta.url));
  const child: ChildProcess = spawn(
    process.execPath,
    ["--import", "tsx", file, JSON.stringify(settings)],
    // Ctrl+C reaches the whole group of processes: the worker is to be ended by us, not beside us.
    { stdio: ["ignore", "inherit", "inherit", "ipc"], detached: true },
  );
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code));
  });
  child.on("message", (message) => onMessage(message as FromWorker));
  return {
    pid: child.pid ?? -1,
    ended,
    send: (message) => void child.send(message),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
