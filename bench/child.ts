/** One measured process: one variant under the load, after a warm-up, and its own use of the machine. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TaskClient, httpConnection } from "mcp-taskrail";
import { lmdbStore } from "mcp-taskrail/lmdb";
import {
  MEASURED_TOOL,
  WARM_UP_TOOL,
  measuredArguments,
  warmUpArguments,
  type ChildFigures,
  type ChildSettings,
} from "./load.js";
import { approve, plainLoop, rpcOver } from "./plainLoop.js";

type Call = (name: string, args: Record<string, unknown>) => Promise<unknown>;

const { variant, url, folder, load } = JSON.parse(process.argv[2] ?? "{}") as ChildSettings;
const collectGarbage = globalThis.gc;
if (collectGarbage === undefined) throw new Error("Start it with --expose-gc");

const call = await open();
await all(20, WARM_UP_TOOL, warmUpArguments(load));

collectGarbage();
const heapBefore = process.memoryUsage().heapUsed;
const cpuBefore = cpuMs();
const running = all(load.tasks, MEASURED_TOOL, measuredArguments(load));
await sleep((load.pollIntervalMs * load.pollsPerTask) / 2);
const cpuBeforeGc = cpuMs();
collectGarbage();
const liveHeapBytes = process.memoryUsage().heapUsed - heapBefore;
const cpuOfGc = cpuMs() - cpuBeforeGc;
await running;
const figures: ChildFigures = {
  cpuMs: cpuMs() - cpuBefore - cpuOfGc,
  liveHeapBytes,
  peakRssBytes: process.resourceUsage().maxRSS * 1024,
};
process.stdout.write(`${JSON.stringify(figures)}\n`);
process.exit(0);

async function open(): Promise<Call> {
  if (variant === "plain loop") {
    const rpc = rpcOver(url);
    return (name, args) => plainLoop(rpc, { name, arguments: args }, join(folder, "ids.txt"));
  }
  const tasks = new TaskClient({
    ...(variant === "TaskClient, lmdb" && { store: lmdbStore(folder) }),
    onInputRequest: () => approve,
  });
  await tasks.connect("bench", httpConnection(url));
  return async (name, args) => {
    const answer = await tasks.callTool("bench", { name, arguments: args });
    return answer.kind === "result" ? answer.result : answer.task.result();
  };
}

async function all(count: number, name: string, args: Record<string, unknown>): Promise<void> {
  const results = await Promise.all(Array.from({ length: count }, () => call(name, args)));
  if (!results.every((result) => JSON.stringify(result).includes(`"content"`))) throw new Error("No result");
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
