/** Owns the example's processes: starts one, waits until it is ready, ends it. One life each; who restarts is another's business. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** One life of a process. */
export interface Life<Ready> {
  readonly pid: number;
  /** What it told when it was ready. */
  readonly ready: Ready;
  /** Resolves once it is dead. */
  readonly ended: Promise<void>;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/**
 * Runs a TypeScript file of this folder; its settings travel as JSON. Its first message says that it is ready,
 * `onMessage` hears of later ones. Rejects when it ends before it is ready.
 */
export async function startProcess<Ready>(
  file: string,
  settings: object,
  onMessage?: (message: unknown) => void,
): Promise<Life<Ready>> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", path, JSON.stringify(settings)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    // Ctrl+C reaches the whole group of processes: this one is to be ended by us, not beside us.
    detached: true,
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const ready = await new Promise<Ready>((resolve, reject) => {
    child.once("error", reject);
    child.once("message", (message) => resolve(message as Ready));
    child.once("exit", (code, signal) =>
      reject(new Error(`${file} ended before it was ready (${code ?? signal})`)),
    );
  });
  if (onMessage !== undefined) child.on("message", onMessage);
  return {
    pid: child.pid ?? -1,
    ready,
    ended,
    async end(signal) {
      child.kill(signal);
      await ended;
    },
  };
}
