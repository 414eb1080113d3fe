/** Owns one row of the table: starts the server, records it, runs the probes with a bound on each, and ends everything. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { COLUMNS, PROBES, type Bench, type Cell, type HostRun, type Row } from "./cells.js";
import type { ClientKind, Endpoint, Job, Told } from "./job.js";
import { freePort, listening, start, type Running } from "./processes.js";
import { recordingProxy, type Proxy } from "./proxy.js";
import type { Extra, ForeignServer } from "./servers.js";
import { readWire } from "./wire.js";

const HOST = fileURLToPath(new URL("host.ts", import.meta.url));
const TEE = fileURLToPath(new URL("tee.ts", import.meta.url));
const TSX = import.meta.resolve("tsx");
const HOST_LIMIT_MS = 45_000;
const START_LIMIT_MS = 30_000;
const AT_ONCE = 3;

/** Which row. */
export interface RowKey {
  readonly server: ForeignServer;
  readonly transport: "http" | "stdio";
  readonly client: ClientKind;
}

/** A row that ran. */
export interface RowResult extends RowKey {
  readonly row: Row;
  readonly extras: readonly { readonly what: string; readonly cell: Cell }[];
}

/** Where a server was installed, and where recordings go. */
export interface Places {
  readonly installed: string;
  readonly recordings: string;
}

/** Runs all cells of a row. Never throws: what goes wrong is in the cells. */
export async function runRow(key: RowKey, places: Places): Promise<RowResult> {
  const closers: (() => void)[] = [];
  try {
    const bench = await openBench(key, places, closers);
    const rows = await pool(PROBES.map((probe) => () => guarded(() => probe(bench))));
    const extras = await pool((key.server.extras ?? []).map((extra) => () => runExtra(bench, extra)));
    return {
      ...key,
      row: Object.assign({}, ...rows) as Row,
      extras: extras.filter((extra) => extra !== undefined),
    };
  } catch (error) {
    const cell: Cell = { state: "FAIL", reason: String(error).slice(0, 300) };
    return {
      ...key,
      row: Object.fromEntries(COLUMNS.map((column) => [column, cell])),
      extras: [],
    };
  } finally {
    for (const close of closers.reverse()) close();
  }
}

async function guarded(probe: () => Promise<Row>): Promise<Row> {
  try {
    return await probe();
  } catch (error) {
    return {
      immediate: { state: "FAIL", reason: String(error).slice(0, 300) },
    };
  }
}

async function runExtra(bench: Bench, extra: Extra): Promise<{ what: string; cell: Cell } | undefined> {
  if (bench.client !== (bench.server.generation === "2025-11-25" ? "sdk 1.x" : "sdk 2.x")) return undefined;
  const { tool, arguments: args, answer } = extra;
  const job = {
    tool,
    arguments: args,
    ...(answer === undefined ? {} : { answer }),
  };
  const run = await bench.run(`extra ${extra.what}`, job);
  const last = run.told.at(-1);
  if (last?.tell !== "ended") return { what: extra.what, cell: { state: "FAIL", reason: "no end" } };
  const fits = last.status === extra.status && extra.expect.test(last.text);
  const told = `${last.status}: ${last.text.slice(0, 100).replaceAll("\n", " ")}`;
  return {
    what: extra.what,
    cell: { state: fits ? "ok" : "FAIL", reason: told },
  };
}

async function openBench(key: RowKey, places: Places, closers: (() => void)[]): Promise<Bench> {
  const { server, transport, client } = key;
  const negotiation = server.tasksInLegacyOnly === true ? "legacy" : "auto";
  const state = mkdtempSync(join(tmpdir(), "taskrail-interop-"));
  closers.push(() => rmSync(state, { recursive: true, force: true }));
  const startOne = () => startServer(server, places, state, closers);
  const shared = transport === "http" && server.processPerCell !== true ? await startOne() : undefined;
  const proxies = new Map<string, Proxy>();
  const begun = new Set<string>();

  async function endpoint(name: string): Promise<{ endpoint: Endpoint; file: string }> {
    const file = join(places.recordings, `${slug(`${server.name} ${transport} ${client} ${name}`)}.jsonl`);
    if (!begun.has(name)) rmSync(file, { force: true });
    begun.add(name);
    if (transport === "stdio") {
      const { command, args } = server.stdio(places.installed, state);
      const recorder = ["--import", TSX, TEE, file, command, ...args];
      return {
        endpoint: { kind: "stdio", command: process.execPath, args: recorder },
        file,
      };
    }
    let proxy = proxies.get(name);
    if (proxy === undefined) {
      proxy = await recordingProxy(shared ?? (await startOne()));
      proxy.recordTo(file);
      proxies.set(name, proxy);
      closers.push(() => proxy?.close());
    }
    return { endpoint: { kind: "http", url: proxy.url }, file };
  }

  return {
    server,
    transport,
    client,
    folder: (name) => mkdtempSync(join(state, `${name}-`)),
    async run(name, job, { killWhen } = {}) {
      const place = await endpoint(name);
      return runHost({ ...job, client, negotiation, endpoint: place.endpoint }, place.file, killWhen);
    },
  };
}

async function startServer(
  server: ForeignServer,
  places: Places,
  state: string,
  closers: (() => void)[],
): Promise<URL> {
  const port = await freePort();
  const running = start(server.http(places.installed, port, state));
  closers.push(() => running.kill());
  await listening(port, running, START_LIMIT_MS);
  return new URL(`http://127.0.0.1:${port}${server.httpPath ?? "/mcp"}`);
}

async function runHost(job: Job, file: string, killWhen?: (told: Told) => boolean): Promise<HostRun> {
  const told: Told[] = [];
  const running: Running = start(
    {
      command: process.execPath,
      args: ["--import", TSX, HOST, JSON.stringify(job)],
    },
    {
      onLine(line) {
        const line_ = JSON.parse(line) as Told;
        told.push(line_);
        if (killWhen?.(line_) === true) running.child.kill("SIGKILL");
      },
    },
  );
  const end = await Promise.race([running.exited, sleep(HOST_LIMIT_MS, "late" as const, { ref: false })]);
  // A recorder notices by itself that its client is gone; what is left of the group after that ends here.
  await sleep(job.endpoint.kind === "stdio" ? 500 : 50);
  running.kill();
  return {
    told,
    wire: readWire(file),
    output: running.output(),
    late: end === "late",
  };
}

/** Runs a few at a time. */
async function pool<T>(work: readonly (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  async function worker(): Promise<void> {
    while (next < work.length) {
      const index = next;
      next += 1;
      const one = work[index];
      if (one !== undefined) results[index] = await one();
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

function slug(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9.]+/g, "-");
}
