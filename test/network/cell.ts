/** Owns one cell of the matrix: a client behind its own proxy, one fault at one phase, and what must hold whatever the fault. */
import { inspect } from "node:util";
import { httpConnection, TaskClient, type FetchLike, type TaskClientEvents } from "../../src/index.js";
import { isObject } from "../../src/internal/json.js";
import type { LogEntry, SpawnedTaskServer } from "../../src/testing/index.js";
import { framed } from "./httpMessages.js";
import type { NetworkFault, Pace } from "./faults.js";
import { listed, SECRET_ANSWER, type Phase } from "./phases.js";
import { startProxy, type Handler, type HostileProxy } from "./proxy.js";

/** A server whose log is read as it grows: hundreds of cells look into it. */
export interface LoggedServer extends SpawnedTaskServer {
  entries(): readonly LogEntry[];
}

/** The servers that cells share: the same tools, answers as JSON or as server-sent events. */
export interface Servers {
  readonly json: LoggedServer;
  readonly sse: LoggedServer;
}

/** What came of a cell. */
export interface CellReport {
  readonly fault: string;
  readonly phase: string;
  /** In a few words what the host got; undefined when something was broken. */
  readonly outcome?: string;
  readonly failure?: unknown;
  readonly hits: number;
  /** From the last hit to the end of the phase. */
  readonly recoveryMs: number;
}

const BEARER = "bearer-secret-0815-abcdefgh";
const EVENTS = ["retry", "error", "serverDown", "serverUp", "push"] as const;
/** No cell of ours takes that long: one that does hangs. */
const HANG_MS = 20_000;

/** True where the fault can hit the phase at all. */
export function applies(fault: NetworkFault, phase: Phase): boolean {
  return phase.until === undefined || fault.answer !== undefined;
}

/** Runs one cell. Never rejects. `send`: in place of the global fetch, to plant a mistake that must be found. */
export async function runCell(
  { fault, phase, pace, send = fetch }: { fault: NetworkFault; phase: Phase; pace: Pace; send?: FetchLike },
  servers: Servers,
): Promise<CellReport> {
  const server = fault.sse === true || phase.push === true ? servers.sse : servers.json;
  const proxy = await startProxy({ port: server.port, path: new URL(server.url).pathname });
  const cell = `${fault.name} / ${phase.name} / ${Math.random()}`;
  const told: unknown[] = [];
  const waits: NodeJS.Timeout[] = [];
  const client = clientFor({ fault, phase, pace, proxy, told });
  let report: Pick<CellReport, "outcome" | "failure"> & { recoveryMs?: number };
  try {
    const outcome = await Promise.race([
      runPhase({ fault, phase, pace, proxy, server, cell, client, send }),
      new Promise<never>((_, reject) => {
        const limitMs = HANG_MS + 6 * (pace.delayMs + pace.patienceMs);
        waits.push(setTimeout(() => reject(new Error(`hangs: no end within ${limitMs} ms`)), limitMs));
      }),
    ]);
    report = { outcome, recoveryMs: performance.now() - proxy.lastHitAtMs };
  } catch (failure) {
    report = { failure };
    told.push(failure);
  }
  waits.forEach(clearTimeout);
  await client.close({ timeoutMs: 200 });
  const { hits, lastHitAtMs } = proxy;
  try {
    if (report.failure === undefined && hits === 0) throw new Error("the fault did not hit");
    await letGo(proxy);
    nothingSecret(told, server, cell);
  } catch (failure) {
    report = { failure: report.failure ?? failure };
  }
  await proxy.close();
  const recoveryMs = Math.max(0, Math.round(report.recoveryMs ?? performance.now() - lastHitAtMs));
  return { fault: fault.name, phase: phase.name, ...report, hits, recoveryMs };
}

function clientFor(deps: {
  fault: NetworkFault;
  phase: Phase;
  pace: Pace;
  proxy: HostileProxy;
  told: unknown[];
}): TaskClient {
  const { fault, phase, pace, told } = deps;
  const stalls = fault.stalls === true;
  const client = new TaskClient({
    onInputRequest: () => ({ action: "accept", content: { approve: true, note: SECRET_ANSWER } }),
    requestTimeoutMs: stalls ? pace.patienceMs : 30_000,
    // An answer that comes late is waited for; one that never comes is not, for long.
    lateAnswerMs: fault.fate === "late" ? 2 * pace.delayMs + 5000 : pace.patienceMs,
    retry: { minDelayMs: 40, maxDelayMs: 200, refusedRetryMs: 300, authRetryMs: 300 },
    poll: { minIntervalMs: 40, defaultIntervalMs: 50 },
    push:
      phase.push === true
        ? {
            mode: "always",
            ackTimeoutMs: stalls ? pace.patienceMs : 30_000,
            idleMs: 2 * pace.patienceMs,
            safetyPollMs: 1500,
            minLifeMs: 500,
          }
        : "off",
  });
  for (const name of EVENTS) client.on(name, (event: TaskClientEvents[typeof name]) => told.push(event));
  return client;
}

async function runPhase(deps: {
  fault: NetworkFault;
  phase: Phase;
  pace: Pace;
  proxy: HostileProxy;
  server: LoggedServer;
  cell: string;
  client: TaskClient;
  send: FetchLike;
}): Promise<string> {
  const { fault, phase, pace, proxy, server, cell, client, send } = deps;
  let left = 0;
  const connection = httpConnection(proxy.url, {
    headers: { authorization: `Bearer ${BEARER}` },
    async fetch(url, init) {
      if (left === 0 || fault.around === undefined || init.headers["mcp-method"] !== phase.method)
        return send(url, init);
      left -= 1;
      const before = proxy.hits;
      const { url: target, after } = await fault.around(proxy, url);
      try {
        return await send(target, init);
      } catch (error) {
        // A closed port counts nobody: who was turned away tells it.
        if (proxy.hits === before && causesOf(error).includes("ECONNREFUSED")) proxy.hit();
        throw error;
      } finally {
        await after?.();
      }
    },
  });
  await client.connect("srv", connection);
  // The server is known, and a connection stands idle.
  if (phase.name !== "list") await listed(client);
  else if (fault.around !== undefined) await client.callTool("srv", { name: "echo" });
  return phase.run({
    cell,
    client,
    fate: fault.fate,
    stalls: fault.stalls === true,
    callMs: fault.stalls === true ? pace.patienceMs : 15_000,
    strike() {
      if (fault.around !== undefined) left = phase.times;
      else proxy.arm(phase.method, phase.times, handlerOf(fault, phase, pace));
    },
    log: () => entriesOf(server, cell),
  });
}

/** The cell's calls in the server's log, and everything about the tasks that came of them. */
function entriesOf(server: LoggedServer, cell: string): readonly LogEntry[] {
  const log = server.entries();
  const isCall = ({ method, params }: LogEntry): boolean => {
    const given = method === "tools/call" ? params["arguments"] : undefined;
    return isObject(given) && given["cell"] === cell;
  };
  const tasks = new Set(log.filter(isCall).flatMap(({ taskId }) => taskId ?? []));
  return log.filter((entry) => isCall(entry) || (entry.taskId !== undefined && tasks.has(entry.taskId)));
}

function handlerOf(fault: NetworkFault, phase: Phase, pace: Pace): Handler {
  return async (exchange) => {
    if (fault.request !== undefined) return fault.request(exchange, pace);
    exchange.toServer(exchange.request);
    if (phase.until === undefined) {
      const stream = phase.method === "subscriptions/listen" ? "acknowledged" : undefined;
      return fault.answer?.(await exchange.answer(stream), exchange, pace);
    }
    const acknowledged = await exchange.answer("acknowledged");
    exchange.toClient(Buffer.concat([acknowledged.head, framed(acknowledged.body, acknowledged.chunked)]));
    const notice = await exchange.answer(phase.until);
    return fault.answer?.(notice, exchange, pace);
  };
}

function causesOf(error: unknown): string {
  return inspect(error, { depth: 8 });
}

/** Once the client is closed, nothing of it waits for an answer. */
async function letGo(proxy: HostileProxy): Promise<void> {
  for (let round = 0; proxy.busy > 0; round += 1) {
    if (round === 200) throw new Error(`${proxy.busy} requests are still open after close()`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Neither the errors nor the events show what is secret, however they are printed. */
function nothingSecret(told: readonly unknown[], server: LoggedServer, cell: string): void {
  const printed = told.map((one) => inspect(one, { depth: 12, maxStringLength: null })).join("\n");
  const tasks = entriesOf(server, cell).flatMap(({ taskId }) => taskId ?? []);
  for (const secret of [BEARER, SECRET_ANSWER, ...tasks]) {
    if (printed.includes(secret))
      throw new Error(`an error or event shows a secret: ${excerpt(printed, secret)}`);
  }
}

function excerpt(text: string, secret: string): string {
  const at = text.indexOf(secret);
  return text.slice(Math.max(0, at - 200), at).replaceAll(/\s+/g, " ");
}
