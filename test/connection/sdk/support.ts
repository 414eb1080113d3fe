/** Owns what the tests over SDK clients share: clients of both SDKs, connected to servers of both revisions. */
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { Client as ClientOne } from "@modelcontextprotocol/sdk/client/index.js";
import { Client as ClientTwo, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";
import { TaskClient, type TaskClientOptions } from "../../../src/index.js";
import { TASKS_EXTENSION } from "../../../src/protocol/index.js";
import { readLog, startTaskServer } from "../../../src/testing/index.js";
import type {
  LogEntry,
  TaskServer,
  TaskServerOptions,
  TaskServerSettings,
} from "../../../src/testing/index.js";

export { ClientOne, ClientTwo };

/** Polls that follow fast, so that nobody waits for a default. */
export const QUICK: TaskClientOptions = {
  poll: { defaultIntervalMs: 20, minIntervalMs: 10 },
  retry: { minDelayMs: 20, maxDelayMs: 100 },
};

export const requestOptions = {
  clientInfo: { name: "ours", version: "1.0.0" },
  capabilities: { extensions: { [TASKS_EXTENSION]: {} } },
};

/** A testing server of 2026-07-28 that ends with the test. */
export async function startServer(options: TaskServerOptions = {}): Promise<TaskServer> {
  const server = await startTaskServer({ strict: "refuse", pollIntervalMs: 20, ...options });
  onTestFinished(() => server.close());
  return server;
}

export function http(server: { url: string }): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(server.url));
}

/** A client of the SDK 2.x that takes the newest revision. */
export function newClientTwo(capabilities: object = {}): ClientTwo {
  return new ClientTwo(
    { name: "host-two", version: "2.0.0" },
    { capabilities, versionNegotiation: { mode: "auto" } },
  );
}

/** A client of the SDK 2.x on a testing server over HTTP. */
export async function connectTwo(server: { url: string }, client = newClientTwo()): Promise<ClientTwo> {
  await client.connect(http(server));
  onTestFinished(() => client.close());
  return client;
}

/** Servers on stdio, one process after the other on the same state file. */
export interface StdioServers {
  /** A transport that starts the next process. */
  next(): StdioClientTransport;
  log(): readonly LogEntry[];
}

export function stdioServers(settings: TaskServerSettings = {}): StdioServers {
  const folder = mkdtempSync(join(tmpdir(), "stdio-server-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const logFile = join(folder, "log.jsonl");
  const stateFile = join(folder, "state.json");
  const program = fileURLToPath(new URL("../../helpers/stdioTaskServer.ts", import.meta.url));
  const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
  const options = { pollIntervalMs: 20, stateFile, logFile, ...settings };
  return {
    next: () =>
      new StdioClientTransport({
        command: process.execPath,
        args: ["--import", loader, program, JSON.stringify(options)],
      }),
    log: () => readLog(logFile),
  };
}

/** A task client that ends with the test. */
export function newTasks(options: TaskClientOptions = {}): { tasks: TaskClient; errors: unknown[] } {
  const tasks = new TaskClient({ ...QUICK, ...options });
  const errors: unknown[] = [];
  tasks.on("error", ({ error }) => errors.push(error));
  onTestFinished(() => tasks.close());
  return { tasks, errors };
}

/** What an error and its causes show to whoever logs it. */
export const shown = (error: unknown): string => inspect(error, { depth: 20, showHidden: false });

export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it did not reject");
}
