/**
 * Measures how long after a notice leaves the server a waiting caller has the outcome, over loopback, with the server in
 * another process: the time at which the server wrote the notice is in the notice. Prints; asserts nothing.
 */
import { createServer, type ServerResponse } from "node:http";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { httpConnection, TaskClient } from "mcp-taskrail";

const TASKS = process.argv.includes("--quick") ? 20 : 300;
const META_ID = "io.modelcontextprotocol/subscriptionId";

if (process.argv.includes("--server")) serve();
else await measure();

async function measure(): Promise<void> {
  const child = spawn(process.execPath, ["--import", "tsx", fileURLToPath(import.meta.url), "--server"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [port] = (await once(createInterface(child.stdout), "line")) as [string];
  const client = new TaskClient({ push: "always" });
  await client.connect("srv", httpConnection(`http://127.0.0.1:${port}/mcp`));
  const latencies: number[] = [];
  for (let i = 0; i < TASKS; i += 1) {
    const call = await client.callTool("srv", { name: "work", arguments: {} });
    if (call.kind !== "task") throw new Error("the call did not become a task");
    const result = (await call.task.result()) as { structuredContent?: { sentAtMs?: number } };
    latencies.push(performance.timeOrigin + performance.now() - (result.structuredContent?.sentAtMs ?? NaN));
  }
  const { polls } = client.stats();
  await client.close();
  child.stdin.end();
  latencies.sort((a, b) => a - b);
  const at = (part: number): string =>
    (latencies[Math.min(Math.floor(latencies.length * part), latencies.length - 1)] ?? NaN).toFixed(2);
  console.log(
    `${TASKS} tasks one after another, ${polls} polls; from the notice to the caller's outcome, in ms:`,
  );
  console.log(`median ${at(0.5)}, p95 ${at(0.95)}, max ${at(1)}`);
}

/** Ends every task 20 ms after a stream was acknowledged for it. */
function serve(): void {
  let made = 0;
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => answer(JSON.parse(body) as Message, response));
  });
  function answer({ id, method, params }: Message, response: ServerResponse): void {
    if (method === "subscriptions/listen") return stream(id, params.notifications?.taskIds ?? [], response);
    made += 1;
    const taskId = method === "tools/call" ? `task-${made}` : params.taskId;
    const resultType = method === "tools/call" ? "task" : "complete";
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { resultType, ...working, taskId } }));
  }
  server.listen(0, "127.0.0.1", () => console.log((server.address() as { port: number }).port));
  process.stdin.resume().on("end", () => process.exit(0));
}

interface Message {
  readonly id: string;
  readonly method: string;
  readonly params: { readonly taskId?: string; readonly notifications?: { readonly taskIds?: string[] } };
}

const working = {
  status: "working",
  createdAt: "2026-08-01T00:00:00Z",
  lastUpdatedAt: "2026-08-01T00:00:00Z",
  ttlMs: null,
  pollIntervalMs: 60_000,
};

function stream(id: string, taskIds: readonly string[], response: ServerResponse): void {
  const write = (method: string, params: object): void => {
    const message = { jsonrpc: "2.0", method, params: { ...params, _meta: { [META_ID]: id } } };
    response.write(`data: ${JSON.stringify(message)}\n\n`);
  };
  response.writeHead(200, { "content-type": "text/event-stream" });
  write("notifications/subscriptions/acknowledged", { notifications: { taskIds } });
  setTimeout(() => {
    for (const taskId of taskIds) {
      const result = {
        content: [],
        structuredContent: { sentAtMs: performance.timeOrigin + performance.now() },
      };
      write("notifications/tasks", { ...working, taskId, status: "completed", result });
    }
  }, 20);
}
