/** Owns what the tests of the earlier revision share: servers in processes of their own, and a client of the official SDK in front of ours. */
import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { sdkConnection, type SdkConnectionOptions } from "../../src/connection/sdk/sdkConnection.js";
import { TaskClient, type JsonObject, type TaskClientOptions } from "../../src/index.js";

const OFFICIAL = fileURLToPath(new URL("./legacyOfficial.mjs", import.meta.url));
const RAW = fileURLToPath(new URL("./legacyRaw.mjs", import.meta.url));
const children = new Set<ChildProcess>();

/** A message as the raw server saw it. */
export interface Logged {
  /** The session it came in, or "new". Absent: the server sent it. */
  readonly from?: string;
  readonly message: {
    readonly id?: string | number;
    readonly method?: string;
    readonly params?: Readonly<Record<string, unknown>>;
    readonly result?: unknown;
  };
}

/** The scripted server. */
export interface RawLegacy {
  readonly url: string;
  control<T = void>(op: string, params?: object): Promise<T>;
  /** What came from clients, by method. */
  received(method: string): Promise<Logged["message"][]>;
  kill(): void;
}

export async function startRaw(settings: object = {}): Promise<RawLegacy> {
  const { port, child } = await start(RAW, []);
  const origin = `http://127.0.0.1:${port}`;
  const control = async <T>(op: string, params: object = {}): Promise<T> => {
    const answer = await fetch(`${origin}/control`, {
      method: "POST",
      body: JSON.stringify({ op, ...params }),
    });
    return (await answer.json()) as T;
  };
  await control("set", settings);
  return {
    url: `${origin}/mcp`,
    control,
    async received(method) {
      const log = await control<Logged[]>("log");
      return log
        .filter((each) => each.from !== undefined && each.message.method === method)
        .map((each) => each.message);
    },
    kill: () => void child.kill("SIGKILL"),
  };
}

/** The official server over HTTP. `bound`: with the stock store, which ties a task to its session. */
export async function startOfficial(mode?: "bound"): Promise<{ url: string; kill: () => void }> {
  const { port, child } = await start(OFFICIAL, ["http", ...(mode === undefined ? [] : [mode])]);
  return { url: `http://127.0.0.1:${port}/mcp`, kill: () => void child.kill("SIGKILL") };
}

export function stopServers(): void {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
}

function start(script: string, args: string[]): Promise<{ port: number; child: ChildProcess }> {
  const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  children.add(child);
  return new Promise((resolve, reject) => {
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      output += String(chunk);
      const port = /listening (\d+)/.exec(output)?.[1];
      if (port !== undefined) resolve({ port: Number(port), child });
    });
    child.once("exit", (code) => reject(new Error(`The server ended (${code})`)));
  });
}

export const officialStdio = (): Transport =>
  new StdioClientTransport({ command: process.execPath, args: [OFFICIAL] });
export const overHttp = (url: string): Transport => new StreamableHTTPClientTransport(new URL(url));

/** A host of today: a client of the official SDK. */
export function newSdkClient(): Client {
  return new Client(
    { name: "host", version: "1.0.0" },
    { capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} } },
  );
}

/** One host: its SDK client, connected, and ours in front. */
export interface Host {
  readonly sdk: Client;
  readonly tasks: TaskClient;
  readonly errors: unknown[];
  /** The SDK client's own end and a new connection: another session. */
  readonly reconnect: () => Promise<void>;
  close(): Promise<void>;
}

const QUICK: TaskClientOptions = {
  poll: { defaultIntervalMs: 20, minIntervalMs: 10 },
  retry: { minDelayMs: 20, maxDelayMs: 100 },
};

export async function startHost(
  transport: () => Transport,
  options: TaskClientOptions = {},
  connection: SdkConnectionOptions = {},
): Promise<Host> {
  const sdk = newSdkClient();
  await sdk.connect(transport());
  const tasks = new TaskClient({ ...QUICK, ...options });
  const errors: unknown[] = [];
  tasks.on("error", ({ error }) => errors.push(error));
  let reconnecting: Promise<void> | undefined;
  const reconnectOnce = async (): Promise<void> => {
    await sdk.close().catch(() => undefined);
    await sdk.connect(transport());
  };
  // The connection may have noticed the loss by itself.
  const reconnect = (): Promise<void> =>
    (reconnecting ??= reconnectOnce().finally(() => (reconnecting = undefined)));
  await tasks.connect(
    "server",
    sdkConnection(sdk, { identity: "legacy-server", timeoutMs: 5000, reconnect, ...connection }),
  );
  return {
    sdk,
    tasks,
    errors,
    reconnect,
    async close() {
      await tasks.close();
      await sdk.close().catch(() => undefined);
    },
  };
}

export const form = (message = "Sure?"): JsonObject => ({
  method: "elicitation/create",
  params: {
    mode: "form",
    message,
    requestedSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
  },
});

export const yes = { action: "accept", content: { ok: true } } as const;
