/** Owns a real Redis for tests: its own process on a free port, ended with the test file. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** True where Redis can be started. CI says by CI_REDIS=1 that it must be. */
export const hasRedis =
  process.env["CI_REDIS"] === "1" || spawnSync("redis-server", ["--version"]).status === 0;

export interface RedisServer {
  readonly url: string;
  /** Sends a signal, as SIGSTOP for a server that hangs. */
  kill(signal: NodeJS.Signals): void;
  stop(): Promise<void>;
}

export async function startRedis(): Promise<RedisServer> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "taskrail-redis-"));
  const args = [
    "--port",
    String(port),
    "--bind",
    "127.0.0.1",
    "--dir",
    folder,
    "--save",
    "",
    "--appendonly",
    "no",
    "--databases",
    "10000",
  ];
  const child = spawn("redis-server", args, { stdio: ["ignore", "pipe", "ignore"] });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => reject(new Error("redis-server ended before it was ready")));
    child.stdout.on("data", (chunk: Buffer) => {
      if (chunk.toString().includes("Ready to accept connections")) resolve();
    });
  });
  // Nothing of it keeps the test process alive.
  child.unref();
  (child.stdout as Socket).unref();
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once("exit", () => {
    child.kill("SIGKILL");
    remove();
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    kill: (signal) => void child.kill(signal),
    async stop() {
      child.kill("SIGKILL");
      await ended;
      remove();
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
