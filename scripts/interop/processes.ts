/** Owns the child processes of the interop table: every one is started here, bounded in time, and killed at the end. */
import { spawn, type ChildProcess } from "node:child_process";
import { createConnection, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A program and its arguments. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A child that runs. */
export interface Running {
  readonly child: ChildProcess;
  /** What it wrote on stderr, and on stdout where nobody else reads it. */
  readonly output: () => string;
  readonly exited: Promise<number | null>;
  /** SIGKILL for the child and all that it started. */
  kill(): void;
}

const alive = new Set<Running>();

/** Ends whatever still runs. */
export function killAll(): void {
  for (const running of alive) running.kill();
}

/** Starts a child in a process group of its own, so that its children die with it. */
export function start(what: Command, options: { onLine?: (line: string) => void } = {}): Running {
  const child = spawn(what.command, [...what.args], {
    cwd: what.cwd,
    env: { ...process.env, ...what.env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  if (options.onLine === undefined) child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  else eachLine(child.stdout, options.onLine);
  const running: Running = {
    child,
    output: () => output,
    exited: new Promise((resolve) => {
      child.once("close", (code) => resolve(code));
      child.once("error", (error) => {
        output += String(error);
        resolve(null);
      });
    }),
    kill() {
      alive.delete(running);
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // The group is gone already.
      }
    },
  };
  alive.add(running);
  return running;
}

/** Runs a command to its end. Throws with what it printed when it fails or takes too long. */
export async function run(what: Command, limitMs: number): Promise<string> {
  const running = start(what);
  const code = await Promise.race([running.exited, sleep(limitMs, "late" as const, { ref: false })]);
  running.kill();
  if (code === 0) return running.output();
  const why = code === "late" ? `took more than ${limitMs} ms` : `ended with ${code}`;
  throw new Error(`${what.command} ${what.args[0] ?? ""} ${why}\n${running.output().slice(-2000)}`);
}

/** A port that nobody listens on at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** Waits until somebody listens on the port. */
export async function listening(port: number, running: Running, limitMs: number): Promise<void> {
  const until = performance.now() + limitMs;
  while (performance.now() < until) {
    if (running.child.exitCode !== null) break;
    if (await answers(port)) return;
    await sleep(50);
  }
  throw new Error(`the server did not listen: ${running.output().slice(-500)}`);
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: "127.0.0.1" });
    const done = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", () => done(true));
    socket.once("error", () => done(false));
  });
}

/** Calls back for each line of a stream. */
export function eachLine(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = "";
  stream.on("data", (chunk: Buffer) => {
    rest += chunk.toString();
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") onLine(line);
  });
}
