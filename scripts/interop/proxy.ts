/** Owns the recording of an HTTP server: a proxy that passes everything on untouched and writes every message to a file. */
import { appendFileSync } from "node:fs";
import { createServer, request, type IncomingMessage } from "node:http";
import type { WireEntry, WireMessage } from "./wire.js";

/** A proxy that runs. */
export interface Proxy {
  readonly url: string;
  /** Writes to another file from now on. */
  recordTo(file: string): void;
  close(): void;
}

/** Listens on a free port and passes on to `target`. */
export async function recordingProxy(target: URL): Promise<Proxy> {
  let file: string | undefined;
  const record = (entry: Omit<WireEntry, "at">) => {
    if (file !== undefined) appendFileSync(file, `${JSON.stringify({ at: Date.now(), ...entry })}\n`);
  };
  let exchanges = 0;
  const server = createServer((incoming, outgoing) => {
    const exchange = (exchanges += 1);
    let body = "";
    incoming.on("data", (chunk: Buffer) => (body += chunk.toString()));
    incoming.on("end", () =>
      messagesOf(body).forEach((message) => record({ dir: "out", exchange, message })),
    );
    const onward = request(
      target.origin + (incoming.url ?? "/"),
      { method: incoming.method, headers: incoming.headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
        answer.pipe(outgoing);
        watch(answer, (message) =>
          record({
            dir: "in",
            exchange,
            status: answer.statusCode ?? 0,
            message,
          }),
        );
      },
    );
    onward.on("error", () => outgoing.destroy());
    outgoing.on("close", () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}${target.pathname}`,
    recordTo: (next) => (file = next),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function watch(answer: IncomingMessage, onMessage: (message: WireMessage) => void): void {
  const streams = (answer.headers["content-type"] ?? "").startsWith("text/event-stream");
  let rest = "";
  answer.on("data", (chunk: Buffer) => {
    rest += chunk.toString();
    if (!streams) return;
    const events = rest.split(/\r?\n\r?\n/);
    rest = events.pop() ?? "";
    for (const event of events) messagesOf(dataOf(event)).forEach(onMessage);
  });
  answer.on("end", () => messagesOf(streams ? dataOf(rest) : rest).forEach(onMessage));
  answer.on("error", () => undefined);
}

function dataOf(event: string): string {
  return event
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5))
    .join("\n");
}

function messagesOf(text: string): readonly WireMessage[] {
  if (text.trim() === "") return [];
  try {
    const value = JSON.parse(text) as WireMessage | WireMessage[];
    return Array.isArray(value) ? value : [value];
  } catch {
    return [{ method: "(not JSON)" }];
  }
}
