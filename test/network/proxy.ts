/**
 * Owns the hostile proxy: a TCP listener in front of a server, one upstream connection per connection, that hands chosen
 * exchanges to a fault and counts them. What a fault does is in faults.ts.
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { framed, headerOf, LAST_CHUNK, messageReader, type Piece } from "./httpMessages.js";

/** The answer, as far as it came. */
export interface Answer {
  /** The head; empty where it went out before (a notice on an open stream). */
  readonly head: Buffer;
  readonly body: Buffer;
  readonly chunked: boolean;
  /** False for a stream that goes on. */
  readonly complete: boolean;
}

/** One request and its answer on their way through the proxy. */
export interface Exchange {
  /** `Mcp-Method` of the request; empty where it has none. */
  readonly method: string;
  /** The request as it came. */
  readonly request: Buffer;
  readonly client: Socket;
  readonly targetPort: number;
  /** Bytes to the server. Connects when needed. */
  toServer(bytes: Buffer): void;
  /** Bytes to the client, dropped once it has left. */
  toClient(bytes: Buffer): void;
  /** The server's connection, once something was sent to it. */
  readonly server: Socket | undefined;
  /** The whole answer, or of a stream what came until the given text. */
  answer(until?: string): Promise<Answer>;
  /** Passes on what comes from here until the answer is over. */
  relay(): Promise<void>;
  /** Resolves once the client has left. */
  readonly left: Promise<void>;
}

/** What is to happen to an exchange. */
export type Handler = (exchange: Exchange) => Promise<void>;

/** The proxy. */
export interface HostileProxy {
  readonly port: number;
  readonly url: string;
  /** The next `times` exchanges of the method go to the handler; then the network has healed. */
  arm(method: string, times: number, handler: Handler): void;
  /** How many exchanges went to the handler, and when the last one did (`performance.now()`). */
  readonly hits: number;
  readonly lastHitAtMs: number;
  /** Counts a hit that no exchange shows (a closed port, a handshake). */
  hit(): void;
  /** Requests that wait for their answer. */
  readonly busy: number;
  readonly connections: number;
  /** Ends connections on which nothing is under way; answers how many. */
  endIdle(): number;
  /** Closes the port and every connection, until `comeBack`. */
  goDown(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

/** A connection of a client. */
interface Connection {
  readonly client: Socket;
  readonly busy: boolean;
}

/** Starts the proxy on a free port. Where a TLS handshake comes in, that is a hit, answered in plain HTTP. */
export async function startProxy(target: { port: number; path: string }): Promise<HostileProxy> {
  const connections = new Set<Connection>();
  let armed: { method: string; left: number; handler: Handler } | undefined;
  let hits = 0;
  let lastHitAtMs = 0;
  let listener = await listen(0);
  const { port } = listener.address() as AddressInfo;

  function hit(): void {
    hits += 1;
    lastHitAtMs = performance.now();
  }

  function handlerFor(method: string): Handler {
    if (armed === undefined || armed.method !== method || armed.left === 0) return pass;
    armed.left -= 1;
    hit();
    return armed.handler;
  }

  function accept(client: Socket): void {
    client.setNoDelay(true);
    // One per exchange that waits for the end.
    client.setMaxListeners(0);
    // Broken connections are what this is about.
    client.on("error", () => undefined);
    const read = messageReader("requests");
    let parts: Buffer[] = [];
    let method = "";
    let server: Socket | undefined;
    let exchange: OpenExchange | undefined;
    let busy = false;
    const connection: Connection = {
      client,
      get busy() {
        return busy;
      },
    };
    connections.add(connection);

    const upstream = (): Socket => {
      if (server !== undefined && !server.destroyed) return server;
      const readAnswer = messageReader("responses");
      server = connect({ port: target.port, host: "127.0.0.1", noDelay: true });
      server.on("error", () => undefined);
      server.on("data", (chunk: Buffer) => {
        try {
          for (const piece of readAnswer(chunk)) exchange?.take(piece);
        } catch {
          // Not all answers to garbage can be told apart: what comes is passed on as it is.
          client.write(chunk);
        }
      });
      server.on("close", () => exchange?.take({ kind: "closed" }));
      return server;
    };

    async function begin(request: Buffer): Promise<void> {
      busy = true;
      const current = openExchange({
        method,
        request,
        client,
        targetPort: target.port,
        upstream,
        server: () => server,
      });
      exchange = current;
      try {
        await handlerFor(method)(current.exchange);
      } catch {
        client.destroy();
      }
      if (exchange === current) busy = false;
    }

    client.on("data", (chunk: Buffer) => {
      if (chunk[0] === TLS_HANDSHAKE && !busy) {
        hit();
        return void client.end(Buffer.from("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n"));
      }
      for (const piece of read(chunk)) {
        if (piece.kind === "head") {
          parts = [piece.raw];
          method = headerOf(piece.raw.toString("latin1"), "mcp-method") ?? "";
        } else if (piece.kind === "body") parts.push(piece.bytes);
        else void begin(Buffer.concat(parts));
      }
    });
    client.on("close", () => {
      connections.delete(connection);
      server?.destroy();
    });
  }

  function listen(onPort: number): Promise<Server> {
    const created = createServer({ allowHalfOpen: true }, (client) => {
      client.on("end", () => client.destroy());
      accept(client);
    });
    return new Promise((resolve, reject) => {
      created.once("error", reject);
      created.listen(onPort, "127.0.0.1", () => resolve(created));
    });
  }

  async function goDown(): Promise<void> {
    const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
    for (const { client } of connections) client.destroy();
    await closed;
  }

  return {
    port,
    url: `http://127.0.0.1:${port}${target.path}`,
    arm(method, times, handler) {
      armed = { method, left: times, handler };
    },
    get hits() {
      return hits;
    },
    get lastHitAtMs() {
      return lastHitAtMs;
    },
    hit,
    get busy() {
      return [...connections].filter((one) => one.busy).length;
    },
    get connections() {
      return connections.size;
    },
    endIdle() {
      const idle = [...connections].filter((one) => !one.busy);
      for (const { client } of idle) client.end();
      return idle.length;
    },
    goDown,
    async comeBack() {
      listener = await listen(port);
    },
    close: goDown,
  };
}

const TLS_HANDSHAKE = 0x16;

const pass: Handler = async (exchange) => {
  exchange.toServer(exchange.request);
  await exchange.relay();
};

interface OpenExchange {
  readonly exchange: Exchange;
  take(piece: Piece): void;
}

function openExchange(deps: {
  method: string;
  request: Buffer;
  client: Socket;
  targetPort: number;
  upstream: () => Socket;
  server: () => Socket | undefined;
}): OpenExchange {
  const { client, request, method } = deps;
  const pieces: Piece[] = [];
  let wake: () => void = () => undefined;
  let chunked = false;
  let over = false;
  const left = new Promise<void>((resolve) => {
    if (client.destroyed) resolve();
    client.once("close", () => resolve());
  });
  void left.then(() => wake());

  async function next(): Promise<Piece> {
    while (pieces.length === 0 && !client.destroyed) await new Promise<void>((resolve) => (wake = resolve));
    return pieces.shift() ?? { kind: "closed" };
  }

  const toClient = (bytes: Buffer): void => {
    if (!client.destroyed && client.writable) client.write(bytes);
  };

  return {
    take(piece) {
      if (over) return;
      if (piece.kind === "end" || piece.kind === "closed") over = true;
      pieces.push(piece);
      wake();
    },
    exchange: {
      method,
      request,
      client,
      targetPort: deps.targetPort,
      left,
      get server() {
        return deps.server();
      },
      toServer(bytes) {
        deps.upstream().write(bytes);
      },
      toClient,
      async answer(until) {
        let head: Buffer = Buffer.alloc(0);
        const body: Buffer[] = [];
        for (;;) {
          const piece = await next();
          if (piece.kind === "end" || piece.kind === "closed")
            return { head, body: Buffer.concat(body), chunked, complete: true };
          if (piece.kind === "head") {
            head = piece.raw;
            chunked = piece.chunked;
          } else {
            body.push(piece.bytes);
            const so = Buffer.concat(body);
            if (until !== undefined && so.includes(until) && so.subarray(-2).toString() === "\n\n")
              return { head, body: so, chunked, complete: false };
          }
        }
      },
      async relay() {
        for (;;) {
          const piece = await next();
          if (piece.kind === "closed") return void client.end();
          if (piece.kind === "end") break;
          if (piece.kind === "head") chunked = piece.chunked;
          toClient(piece.kind === "head" ? piece.raw : framed(piece.bytes, chunked));
        }
        if (chunked) toClient(LAST_CHUNK);
      },
    },
  };
}
