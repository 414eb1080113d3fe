/** Owns a host that says what a test wants, over real HTTP: for what the real handler would not do on demand. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";

/** A stream that a page opened. */
export interface PageStream {
  readonly isOpen: boolean;
  send(event: string, data: unknown): void;
  write(text: string): void;
}

/** A request as it came. */
export interface PageRequest {
  readonly route: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** The host. What it does next is set from outside. */
export interface PageHost {
  readonly url: string;
  readonly streams: readonly PageStream[];
  /** How many streams are open now. */
  readonly open: number;
  requests(route: string): readonly PageRequest[];
  /** What every new stream begins with. */
  onEvents: (stream: PageStream) => void;
  refuseEvents: { readonly status: number; readonly body: string } | undefined;
  /** The answer to everything that is no stream. */
  reply: { readonly status: number; readonly body: unknown } | "hang";
  /** To the newest stream. */
  send(event: string, data: unknown): void;
  write(text: string): void;
  close(): Promise<void>;
}

export async function startPageHost(): Promise<PageHost> {
  const streams: (PageStream & { isOpen: boolean })[] = [];
  const requests: PageRequest[] = [];
  const server = createServer((req, res) => {
    const path = req.url ?? "";
    const route = new URL(path, "http://host").pathname.split("/").at(-1) ?? "";
    let text = "";
    req.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    req.on("end", () => {
      requests.push({ route, path, headers: req.headers, body: text === "" ? undefined : JSON.parse(text) });
      if (route === "events") answerEvents(res);
      else answer(res);
    });
  });

  function answerEvents(res: ServerResponse): void {
    const refused = host.refuseEvents;
    if (refused !== undefined) return void res.writeHead(refused.status).end(refused.body);
    res.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    const stream = {
      isOpen: true,
      send: (event: string, data: unknown) =>
        void res.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
      write: (text: string) => void res.write(text),
    };
    res.on("close", () => (stream.isOpen = false));
    streams.push(stream);
    host.onEvents(stream);
  }

  function answer(res: ServerResponse): void {
    const { reply } = host;
    if (reply === "hang") return;
    const isText = typeof reply.body === "string";
    res
      .writeHead(reply.status, { "content-type": isText ? "text/html" : "application/json" })
      .end(isText ? reply.body : JSON.stringify(reply.body));
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const host: PageHost = {
    url: `http://127.0.0.1:${port}/approvals`,
    streams,
    get open() {
      return streams.filter(({ isOpen }) => isOpen).length;
    },
    requests: (route) => requests.filter((request) => request.route === route),
    onEvents: () => undefined,
    refuseEvents: undefined,
    reply: { status: 500, body: "" },
    send: (event, data) => streams.at(-1)?.send(event, data),
    write: (text) => streams.at(-1)?.write(text),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return host;
}
