/** Owns the fault classes: what each does to an exchange, and what it leaves possible. It asserts nothing. */
import { connect, type Socket } from "node:net";
import { framed, LAST_CHUNK } from "./httpMessages.js";
import type { Answer, Exchange, HostileProxy } from "./proxy.js";

/**
 * What a call may come to under a fault:
 * - harmless: slow or odd, yet every byte arrives: the outcome is the true one.
 * - not-sent: the client can know that nothing was sent: it is told so, and the call did not run.
 * - not-run: no server saw it, which the client cannot know.
 * - run: it ran, and its answer is lost.
 * - either: it may have run.
 * - late: the answer comes after the caller's patience, and is taken all the same.
 */
export type Fate = "harmless" | "not-sent" | "not-run" | "run" | "either" | "late";

/** How long things take: in CI a fraction of what they are in the long run. */
export interface Pace {
  /** Until a request is given up. */
  readonly patienceMs: number;
  /** A delay longer than that. */
  readonly delayMs: number;
  /** Between the bytes of a slow peer that never gets done. */
  readonly dripMs: number;
}

/** One class of fault. Exactly one of `around`, `request` and `answer` is there. */
export interface NetworkFault {
  readonly name: string;
  /** Whose bytes it hits. */
  readonly direction: "connection" | "to server" | "to client";
  readonly fate: Fate;
  /** The client has to find out by its own time limit. */
  readonly stalls?: true;
  /** Needs an answer that comes as server-sent events. */
  readonly sse?: true;
  /** Belongs to the run with true delays only. */
  readonly longOnly?: true;
  /** What happens when the client is about to send the request; answers where to send it. */
  readonly around?: (
    proxy: HostileProxy,
    url: string,
  ) => Promise<{ url: string; after?: () => Promise<void> }>;
  /** What becomes of the request. */
  readonly request?: (exchange: Exchange, pace: Pace) => Promise<void>;
  /** What becomes of the answer (or of a notice), after the server has sent it. */
  readonly answer?: (answer: Answer, exchange: Exchange, pace: Pace) => Promise<void>;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const text = (words: string): Buffer => Buffer.from(words, "latin1");

/** Node never lets go of a connection that is reset after its own end. */
function reset(socket: Socket | undefined): void {
  if (socket?.writableEnded === false) socket.resetAndDestroy();
  else socket?.destroy();
}

/** The answer as bytes, whole or as far as it came. */
function whole(answer: Answer): Buffer {
  const { head, body, chunked, complete } = answer;
  return Buffer.concat([head, framed(body, chunked), complete && chunked ? LAST_CHUNK : Buffer.alloc(0)]);
}

/** More of a long answer goes in small pieces: a page of tools would take all day. */
const MAX_SINGLE_BYTES = 1000;

async function drip(
  bytes: Buffer,
  exchange: Exchange,
  send: (byte: Buffer) => void,
  ms: number,
): Promise<void> {
  for (let at = 0, size = 1; at < bytes.length && !exchange.client.destroyed; at += size) {
    size = at < MAX_SINGLE_BYTES ? 1 : 50;
    send(bytes.subarray(at, at + size));
    await (ms === 0 ? soon() : Promise.race([wait(ms), exchange.left]));
  }
}

/** In portions, a tick of 50 ms each: a second at most. */
async function limited(bytes: Buffer, exchange: Exchange, send: (part: Buffer) => void): Promise<void> {
  const portion = Math.max(100, Math.ceil(bytes.length / 20));
  for (let at = 0; at < bytes.length && !exchange.client.destroyed; at += portion) {
    send(bytes.subarray(at, at + portion));
    await wait(50);
  }
}

const half = (bytes: Buffer): Buffer => bytes.subarray(0, Math.ceil(bytes.length / 2));

/** The answer with a member, or a comment, in which characters take two, three and four bytes. */
function withWideText({ head, body, ...rest }: Answer): Answer {
  const json = body[0] === 0x7b;
  const wide = Buffer.from(json ? `{"note":"ü€𝄞",` : `: ü€𝄞\n`);
  const at = json ? 1 : 0;
  const longer = Buffer.concat([wide, body.subarray(at)]);
  const headText = head
    .toString("latin1")
    .replace(/^content-length: \d+/im, `content-length: ${longer.length}`);
  return { ...rest, head: text(headText), body: longer };
}

/** One byte into the widest character. */
function insideCharacter(body: Buffer): number {
  return body.indexOf(Buffer.from("𝄞")) + 1;
}

/** Ends the body here as if that were all of it. */
function endedAt(answer: Answer, end: number): Buffer {
  const head = answer.head.toString("latin1").replace(/^content-length: \d+/im, `content-length: ${end}`);
  const body = framed(answer.body.subarray(0, end), answer.chunked);
  return Buffer.concat([text(head), body, answer.chunked ? LAST_CHUNK : Buffer.alloc(0)]);
}

/** The rest of a stream that goes on after a harmless fault. */
async function goOn(answer: Answer, exchange: Exchange): Promise<void> {
  if (!answer.complete) await exchange.relay();
}

/** Something else in place of the answer, and the end. */
function instead(bytes: Buffer): NonNullable<NetworkFault["answer"]> {
  return async (_answer, { client }) => void client.end(bytes);
}

/** Every fault class. */
export const faults: readonly NetworkFault[] = [
  {
    name: "connection refused",
    direction: "connection",
    fate: "not-sent",
    async around(proxy, url) {
      await proxy.goDown();
      // The client's side learns of its connections' end before it looks for one.
      await wait(20);
      await soon();
      await soon();
      return { url, after: () => proxy.comeBack() };
    },
  },
  {
    name: "TLS to a plain port",
    direction: "connection",
    // The same error can come within a connection that stood: the client leaves it open.
    fate: "not-run",
    around: async (_proxy, url) => ({ url: url.replace("http:", "https:") }),
  },
  {
    name: "idle connection ended as the request leaves",
    direction: "connection",
    fate: "either",
    async around(proxy, url) {
      if (proxy.endIdle() > 0) proxy.hit();
      return { url };
    },
  },
  {
    name: "reset before the request",
    direction: "to server",
    fate: "not-run",
    request: async ({ client }) => void reset(client),
  },
  {
    name: "closed before the request",
    direction: "to server",
    fate: "not-run",
    request: async ({ client }) => void client.end(),
  },
  {
    name: "half-open: accepted, never answered",
    direction: "to server",
    fate: "not-run",
    stalls: true,
    request: ({ left }) => left,
  },
  {
    name: "reset within the request",
    direction: "to server",
    fate: "not-run",
    async request(exchange) {
      exchange.toServer(half(exchange.request));
      await wait(10);
      reset(exchange.server);
      reset(exchange.client);
    },
  },
  {
    name: "slow loris, request",
    direction: "to server",
    fate: "not-run",
    stalls: true,
    request: (exchange, { dripMs }) =>
      drip(exchange.request, exchange, (byte) => exchange.toServer(byte), dripMs),
  },
  {
    name: "1 byte per packet, request",
    direction: "to server",
    fate: "harmless",
    async request(exchange) {
      await drip(exchange.request, exchange, (byte) => exchange.toServer(byte), 0);
      await exchange.relay();
    },
  },
  {
    name: "bandwidth limit, request",
    direction: "to server",
    fate: "harmless",
    async request(exchange) {
      await limited(exchange.request, exchange, (part) => exchange.toServer(part));
      await exchange.relay();
    },
  },
  {
    name: "delay, request",
    direction: "to server",
    fate: "either",
    stalls: true,
    async request({ request, targetPort }, { delayMs }) {
      await wait(delayMs);
      // What the network held back reaches the server, though the client has left.
      const late = connect({ port: targetPort, host: "127.0.0.1" });
      late.on("error", () => undefined);
      late.on("data", () => undefined);
      late.end(request);
    },
  },
  {
    name: "garbage to the server",
    direction: "to server",
    fate: "not-run",
    async request(exchange) {
      exchange.toServer(Buffer.from([0x00, 0xff, 0x80, 0x0d, 0x0a, 0x0d, 0x0a]));
      await exchange.relay();
    },
  },
  {
    name: "duplicated bytes, request",
    direction: "to server",
    fate: "not-run",
    async request(exchange) {
      const { request } = exchange;
      const at = request.length - 40;
      exchange.toServer(Buffer.concat([request.subarray(0, at + 20), request.subarray(at)]));
      await exchange.relay();
    },
  },
  {
    name: "reset instead of the answer",
    direction: "to client",
    fate: "run",
    answer: async (_answer, { client }) => void reset(client),
  },
  {
    name: "closed instead of the answer",
    direction: "to client",
    fate: "run",
    answer: async (_answer, { client }) => void client.end(),
  },
  {
    name: "reset within the answer",
    direction: "to client",
    fate: "run",
    async answer(answer, exchange) {
      exchange.toClient(Buffer.concat([answer.head, framed(half(answer.body), answer.chunked)]));
      await wait(10);
      reset(exchange.client);
    },
  },
  {
    name: "the peer vanishes without FIN",
    direction: "to client",
    fate: "run",
    stalls: true,
    answer: (_answer, { left }) => left,
  },
  {
    name: "slow loris, answer",
    direction: "to client",
    fate: "run",
    stalls: true,
    answer: (answer, exchange, { dripMs }) =>
      drip(whole(answer), exchange, (byte) => exchange.toClient(byte), dripMs),
  },
  {
    name: "1 byte per packet, answer",
    direction: "to client",
    fate: "harmless",
    async answer(answer, exchange) {
      await drip(whole(answer), exchange, (byte) => exchange.toClient(byte), 0);
      await goOn(answer, exchange);
    },
  },
  {
    name: "bandwidth limit, answer",
    direction: "to client",
    fate: "harmless",
    async answer(answer, exchange) {
      await limited(whole(answer), exchange, (part) => exchange.toClient(part));
      await goOn(answer, exchange);
    },
  },
  {
    name: "delay, answer",
    direction: "to client",
    fate: "late",
    stalls: true,
    async answer(answer, exchange, { delayMs }) {
      await Promise.race([wait(delayMs), exchange.left]);
      exchange.toClient(whole(answer));
      await goOn(answer, exchange);
    },
  },
  {
    name: "cut inside an SSE event",
    direction: "to client",
    fate: "run",
    sse: true,
    answer: async (answer, { client }) =>
      void client.end(Buffer.concat([answer.head, framed(half(answer.body), answer.chunked)])),
  },
  {
    name: "SSE ended inside an event",
    direction: "to client",
    fate: "run",
    sse: true,
    answer: async (answer, { client }) => void client.end(endedAt(answer, Math.ceil(answer.body.length / 2))),
  },
  {
    name: "cut inside a UTF-8 character",
    direction: "to client",
    fate: "run",
    async answer(answer, { client }) {
      const wide = withWideText(answer);
      const body = wide.body.subarray(0, insideCharacter(wide.body));
      client.end(Buffer.concat([wide.head, framed(body, wide.chunked)]));
    },
  },
  {
    name: "split inside a UTF-8 character",
    direction: "to client",
    fate: "harmless",
    async answer(answer, exchange) {
      const wide = withWideText(answer);
      const at = insideCharacter(wide.body);
      exchange.toClient(Buffer.concat([wide.head, framed(wide.body.subarray(0, at), wide.chunked)]));
      await wait(20);
      const rest = framed(wide.body.subarray(at), wide.chunked);
      exchange.toClient(wide.chunked && wide.complete ? Buffer.concat([rest, LAST_CHUNK]) : rest);
      await goOn(wide, exchange);
    },
  },
  {
    name: "truncated body, right content-length",
    direction: "to client",
    fate: "run",
    answer: async (answer, { client }) =>
      void client.end(Buffer.concat([answer.head, framed(half(answer.body), answer.chunked)])),
  },
  {
    name: "truncated body that claims to be whole",
    direction: "to client",
    fate: "run",
    answer: async (answer, { client }) =>
      void client.end(endedAt(answer, Math.ceil(answer.body.length * 0.7))),
  },
  {
    name: "garbage instead of HTTP",
    direction: "to client",
    fate: "run",
    answer: instead(Buffer.from([0x00, 0xff, 0xfe, 0x80, 0x0a, 0x01, 0x7f, 0x0d, 0x0a])),
  },
  {
    name: "garbage inside the body",
    direction: "to client",
    fate: "run",
    async answer(answer, exchange) {
      const body = Buffer.from(answer.body);
      for (let at = 8; at < body.length; at += 5) body[at] = 0x80 + (at % 100);
      exchange.toClient(whole({ ...answer, body }));
      await goOn(answer, exchange);
    },
  },
  {
    name: "duplicated bytes, answer",
    direction: "to client",
    fate: "run",
    async answer(answer, exchange) {
      const { body } = answer;
      const at = Math.floor(body.length / 2);
      const doubled = Buffer.concat([body.subarray(0, at), body.subarray(at - 10)]);
      exchange.toClient(whole({ ...answer, body: doubled }));
      exchange.client.end();
    },
  },
  {
    name: "the whole answer twice",
    direction: "to client",
    fate: "harmless",
    async answer(answer, exchange) {
      const twice = answer.head.length === 0 ? framed(answer.body, answer.chunked) : whole(answer);
      exchange.toClient(whole(answer));
      exchange.toClient(twice);
      if (answer.complete) exchange.client.end();
      else await goOn(answer, exchange);
    },
  },
  {
    name: "wrong protocol: SMTP",
    direction: "to client",
    fate: "run",
    answer: instead(text("220 mail.example ESMTP\r\n500 unrecognised\r\n")),
  },
  {
    name: "wrong protocol: TLS alert",
    direction: "to client",
    fate: "run",
    answer: instead(Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x46])),
  },
  {
    name: "wrong protocol: HTTP/2",
    direction: "to client",
    fate: "run",
    answer: instead(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])),
  },
];
