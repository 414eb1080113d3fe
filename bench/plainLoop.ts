/** The loop that articles print: call, save the id, sleep, get, ask, update. Kept as plain as they have it. */
import { appendFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** What the loop reads of an answer. */
interface Task {
  readonly taskId: string;
  readonly status: string;
  readonly pollIntervalMs?: number;
  readonly inputRequests?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
}

type Rpc = (method: string, params: Readonly<Record<string, unknown>>) => Promise<Task>;

const ENDED = ["completed", "failed", "cancelled"];
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "loop", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {
    extensions: { "io.modelcontextprotocol/tasks": {} },
    elicitation: { form: {} },
  },
};

/** Fifteen lines. What they do not do is the subject of the README, not of this measurement. */
export async function plainLoop(
  rpc: Rpc,
  call: { name: string; arguments: object },
  idFile: string,
): Promise<unknown> {
  const { taskId, pollIntervalMs } = await rpc("tools/call", call);
  await appendFile(idFile, `${taskId}\n`);
  let task: Task = { taskId, status: "working", ...(pollIntervalMs !== undefined && { pollIntervalMs }) };
  while (!ENDED.includes(task.status)) {
    await sleep(task.pollIntervalMs ?? 1000);
    task = await rpc("tasks/get", { taskId });
    if (task.status !== "input_required") continue;
    const keys = Object.keys(task.inputRequests ?? {});
    const inputResponses = Object.fromEntries(keys.map((key) => [key, approve]));
    await rpc("tasks/update", { taskId, inputResponses });
  }
  return task.result;
}

/** What both sides answer to every question. */
export const approve = { action: "accept", content: { approve: true } };

/** One request by `fetch`, with the headers that the protocol wants. */
export function rpcOver(url: string): Rpc {
  let id = 0;
  return async (method, params) => {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        "mcp-name": String(params["name"] ?? params["taskId"]),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: (id += 1), method, params: { ...params, _meta: META } }),
    });
    const { result, error } = (await response.json()) as { result?: Task; error?: { message: string } };
    if (result === undefined) throw new Error(error?.message ?? `HTTP ${response.status}`);
    return result;
  };
}
