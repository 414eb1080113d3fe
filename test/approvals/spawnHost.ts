/** Owns starting, killing and restarting the host of host.ts. It asserts nothing. */
import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { HostInput } from "./host.js";

/** A host in another process. */
export interface SpawnedHost {
  /** Where the handler is mounted. */
  readonly url: string;
  readonly port: number;
  /** What it wrote to stderr. */
  errors(): string;
  control(body: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Calls a tool; answers the local id of the task. */
  call(scope: string, tool: string, args?: object, more?: object): Promise<string>;
  /** SIGKILL, and its end. */
  kill(): Promise<void>;
  /** On the same port and store. */
  restart(): Promise<void>;
}

export async function spawnHost(given: HostInput): Promise<SpawnedHost> {
  let running = await launch(given);
  const { port } = running;
  const origin = `http://127.0.0.1:${port}`;

  async function control(body: Record<string, unknown>): Promise<Record<string, unknown>> {
    const response = await fetch(`${origin}/control`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`The host's control answered ${response.status}: ${running.errors()}`);
    return (await response.json()) as Record<string, unknown>;
  }

  return {
    url: `${origin}/deep/approvals`,
    port,
    errors: () => running.errors(),
    control,
    async call(scope, tool, args = {}, more = {}) {
      const { id } = await control({ op: "call", scope, tool, args, ...more });
      return String(id);
    },
    async kill() {
      running.child.kill("SIGKILL");
      await running.ended;
    },
    async restart() {
      running = await launch({ ...given, port });
    },
  };
}

async function launch(
  input: HostInput,
): Promise<{ child: ChildProcess; port: number; ended: Promise<void>; errors: () => string }> {
  const child = spawn(
    process.execPath,
    ["--import", "tsx", fileURLToPath(new URL("host.ts", import.meta.url))],
    {
      env: { ...process.env, HOST_INPUT: JSON.stringify(input) },
      stdio: ["pipe", "pipe", "pipe"],
    },
  );
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const line = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
    });
    child.once("exit", () => reject(new Error(`The host ended before it listened: ${errors}`)));
  });
  const { port } = JSON.parse(line) as { port: number };
  return { child, port, ended, errors: () => errors };
}
