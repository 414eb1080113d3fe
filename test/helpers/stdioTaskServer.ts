/**
 * A server of 2026-07-28 on stdio, in a process of its own: newline-delimited JSON in front of a testing server, to
 * which each message is forwarded over HTTP. `notifications/cancelled` closes the request that it names. The argument is
 * the JSON of `TaskServerOptions`; the log file tells what came.
 */
import { createInterface } from "node:readline";
import { startTaskServer, type TaskServerSettings } from "../../src/testing/index.js";
import { encodeHeaderValue } from "../../src/protocol/index.js";

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

const server = await startTaskServer(JSON.parse(process.argv[2] ?? "{}") as TaskServerSettings);
const open = new Map<string | number, AbortController>();

for await (const line of createInterface(process.stdin)) {
  if (line.trim() !== "") void forward(JSON.parse(line) as Message);
}
await server.close();
process.exit(0);

async function forward(message: Message): Promise<void> {
  const { id, method, params = {} } = message;
  if (method === "notifications/cancelled") open.get(params["requestId"] as string)?.abort();
  const ending = new AbortController();
  if (id !== undefined) open.set(id, ending);
  try {
    const response = await fetch(server.url, {
      method: "POST",
      headers: headersOf(message),
      body: JSON.stringify(message),
      signal: ending.signal,
    });
    if (response.status === 202) return;
    if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true) {
      return write(await response.text());
    }
    let text = "";
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString("utf8");
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) {
        const data = event.split("\n").find((each) => each.startsWith("data:"));
        if (data !== undefined) write(data.slice(5));
      }
    }
  } catch {
    // Given up by the client, or a fault: on stdio there is then no answer.
  } finally {
    if (id !== undefined) open.delete(id);
  }
}

function write(json: string): void {
  process.stdout.write(`${json.trim()}\n`);
}

function headersOf({ method, params = {} }: Message): Record<string, string> {
  const meta = (params["_meta"] ?? {}) as Record<string, unknown>;
  const name = method === "tools/call" ? params["name"] : params["taskId"];
  // Notices carry none.
  const version = meta["io.modelcontextprotocol/protocolVersion"] ?? "2026-07-28";
  return {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    ...(typeof version === "string" && { "mcp-protocol-version": version }),
    ...(method !== undefined && { "mcp-method": method }),
    ...(typeof name === "string" && { "mcp-name": encodeHeaderValue(name) }),
  };
}
