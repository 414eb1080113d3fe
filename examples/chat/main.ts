/**
 * The chat example: builds the page, starts the task server and the host as processes of their own, and starts either
 * again when it dies. Ctrl+C ends everything. `--smoke`: one tool call through the API, then the end.
 */
import { mkdirSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { buildPage } from "./buildPage.js";
import type { HostReady, HostSettings } from "./host.js";
import { startProcess, type Life } from "./processes.js";
import type { ServerReady, ServerSettings } from "./server.js";
import { smoke } from "./smoke.js";

const isSmoke = process.argv.includes("--smoke");
const RESTART_MS = 500;
const PORT = isSmoke ? 0 : Number(process.env["PORT"] ?? 4173);

const folder = mkdtempSync(join(tmpdir(), "taskrail-chat-"));
const page = join(folder, "page");
const data = join(folder, "data");
/** By file, also those that are not ready yet: they write into the folder as well. */
const lives = new Map<string, Promise<Life<unknown>>>();
let leaving: Promise<void> | undefined;

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const) {
  // Not once: a signal to the whole group comes a second time, from whoever started this process and passes it on.
  process.on(signal, () => void leave(signal === "SIGINT" ? 0 : code));
}

try {
  mkdirSync(data);
  await buildPage(page);
  const server = await keepAlive<ServerReady>(
    "server.ts",
    (port): ServerSettings => ({ folder: data, port }),
    0,
  );
  const host = await keepAlive<HostReady>(
    "host.ts",
    (port): HostSettings => ({ serverUrl: server.ready.url, folder: data, page, port }),
    PORT,
  );
  if (isSmoke) {
    await smoke(host.ready.url);
    console.log("OK: the page, one sign-in, one tool call and its answer");
    await leave(0);
  }
  console.log(`\nOpen ${host.ready.url}\n`);
  console.log(
    `The host is process ${host.pid}: kill -9 it while a question is open, it comes back by itself.`,
  );
  console.log("Ctrl+C ends everything.");
} catch (error) {
  if (leaving === undefined) {
    console.error(error instanceof Error ? error.message : error);
    await leave(1);
  }
}

/** Starts it, and starts it again on the same port whenever it ends by itself. */
async function keepAlive<Ready extends { readonly port: number }>(
  file: string,
  settings: (port: number) => object,
  port: number,
): Promise<Life<Ready>> {
  if (leaving !== undefined) throw new Error("It ends already");
  const starting = startProcess<Ready>(file, settings(port));
  lives.set(file, starting);
  const life = await starting;
  void life.ended.then(() => again(file, settings, life.ready.port));
  return life;
}

async function again(file: string, settings: (port: number) => object, port: number): Promise<void> {
  if (leaving !== undefined) return;
  await pause(RESTART_MS);
  if (leaving !== undefined) return;
  try {
    const { pid } = await keepAlive(file, settings, port);
    console.log(`${file} ended, and is process ${pid} now.`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    await leave(1);
  }
}

function leave(code: number): Promise<void> {
  leaving ??= end(code);
  return leaving;
}

async function end(code: number): Promise<void> {
  // The host first: it says goodbye to the server.
  for (const file of ["host.ts", "server.ts"]) {
    const life = await lives.get(file)?.catch(() => undefined);
    await life?.end("SIGTERM");
  }
  // The page may still be being built into it.
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }).catch(() => undefined);
  process.exit(code);
}
