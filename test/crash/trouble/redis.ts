/** Owns a Redis that may die and come back on its port, with or without what it held. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface MortalRedis {
  readonly url: string;
  signal(signal: NodeJS.Signals): void;
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** `keeps`: what was acknowledged is on disk. */
export async function startMortalRedis({ keeps }: { keeps: boolean }): Promise<MortalRedis> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "mortal-redis-"));
  let { child, ended } = await start();

  async function start(): Promise<{ child: ChildProcess; ended: Promise<void> }> {
    const persistence = keeps ? ["--appendonly", "yes", "--appendfsync", "always"] : ["--appendonly", "no"];
    const args = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder, "--save", "", ...persistence];
    const started = spawn("redis-server", args, { stdio: ["ignore", "pipe", "ignore"] });
    const gone = new Promise<void>((resolve) => started.once("exit", () => resolve()));
    await new Promise<void>((resolve, reject) => {
      started.once("error", reject);
      void gone.then(() => reject(new Error("redis-server ended before it was ready")));
      started.stdout.on("data", (chunk: Buffer) => {
        if (chunk.toString().includes("Ready to accept connections")) resolve();
      });
    });
    return { child: started, ended: gone };
  }

  async function kill(): Promise<void> {
    child.kill("SIGKILL");
    await ended;
  }

  return {
    url: `redis://127.0.0.1:${port}`,
    signal: (signal) => void child.kill(signal),
    kill,
    async restart() {
      ({ child, ended } = await start());
    },
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
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
