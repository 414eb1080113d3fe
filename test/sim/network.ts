/** Owns the network between processes and servers: a `fetch` whose answers are real responses, and what becomes of them on the way. */
import type { FetchLike } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { badResponse, gateResponse, type Wire } from "./badAnswers.js";
import { isDown, type ProcessView, type Exchange, type ExchangeEnd } from "./networkTypes.js";
import type { ListenWord, StreamSink } from "./push.js";
import type { SimServer, ServerWord } from "./server.js";
import type { World } from "./world.js";

export interface Network {
  fetchOf(process: ProcessView): FetchLike;
  /** Nobody is there any more to read the process's answers. */
  dropped(process: ProcessView): void;
  /** Exchanges under way; for tests of leaks. */
  readonly open: number;
}

/** One exchange as the network carries it. */
interface Carried {
  readonly exchange: Exchange;
  readonly server: SimServer;
  /** Runs when the answer arrives, unless the exchange is over by then. */
  arrive(delayMs: number, run: () => void): void;
  resolve(response: Response): void;
  fail(code: string): void;
  /** Over: nothing is told afterwards. */
  end(end: ExchangeEnd): void;
  /** What to tell the server when the client leaves. */
  onLeft: () => void;
  /** The body that is being streamed. */
  body: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** How it ended, once all of the body is there: who leaves then has read it. */
  heard: ExchangeEnd | undefined;
}

const REPEATABLE: ReadonlySet<string> = new Set(["tasks/get", "tasks/update", "tasks/cancel"]);
const bytes = new TextEncoder();

export function createNetwork(world: World): Network {
  const { time } = world;
  const random = world.random("network");
  const open = new Map<Carried, ProcessView>();
  let exchanges = 0;

  function fetchOf(process: ProcessView): FetchLike {
    return (url, init) => {
      const message = JSON.parse(init.body) as { id: string; method: string; params: JsonObject };
      if (init.signal.aborted) return Promise.reject(init.signal.reason as Error);
      if (!world.touch(process, `send ${message.method}`)) return new Promise(() => undefined);
      exchanges += 1;
      const taskId = message.params["taskId"];
      const exchange: Exchange = {
        number: exchanges,
        process,
        server: Number(/s(\d)\./.exec(url)?.[1]),
        method: message.method,
        params: message.params,
        rpcId: message.id,
        scope: /-(\w+)$/.exec(init.headers["authorization"] ?? "")?.[1] ?? "none",
        taskId: typeof taskId === "string" ? taskId : undefined,
        sentAt: time.now,
      };
      world.observe({ kind: "sent", process, exchange });
      return new Promise((resolve, reject) => carry({ exchange, signal: init.signal, resolve, reject }));
    };
  }

  function carry(request: {
    exchange: Exchange;
    signal: AbortSignal;
    resolve: (response: Response) => void;
    reject: (error: unknown) => void;
  }): void {
    const { exchange, signal } = request;
    const { process } = exchange;
    let over = false;
    const carried: Carried = {
      exchange,
      server: world.servers[exchange.server] as SimServer,
      body: undefined,
      heard: undefined,
      onLeft: () => undefined,
      arrive(delayMs, run) {
        const arrived = (): void => {
          if (!over && world.touch(process, `answer ${exchange.method}`)) run();
        };
        time.after(delayMs, arrived, process);
      },
      resolve: request.resolve,
      fail(code) {
        const cause = Object.assign(new Error(code), {
          code,
          syscall: code === "ECONNRESET" ? "read" : "connect",
        });
        if (carried.body === undefined) request.reject(new TypeError("fetch failed", { cause }));
        else carried.body.error(new TypeError("terminated", { cause }));
        carried.end({ kind: "failure" });
      },
      end(end) {
        if (over) return;
        over = true;
        open.delete(carried);
        signal.removeEventListener("abort", onAbort);
        world.observe({ kind: "ended", process, exchange, end });
      },
    };
    open.set(carried, process);
    signal.addEventListener("abort", onAbort, { once: true });
    send(carried);

    function onAbort(): void {
      if (over) return;
      if (carried.body === undefined) request.reject(signal.reason);
      else carried.body.error(signal.reason);
      carried.end(carried.heard ?? { kind: "aborted" });
      carried.onLeft();
    }
  }

  function send(carried: Carried): void {
    const { exchange, server } = carried;
    const upMs = latencyOf(server);
    if (isDown(server, time.now) || world.fault("refuse")) {
      return carried.arrive(upMs, () => carried.fail("ECONNREFUSED"));
    }
    if (world.fault("loseRequest")) return carried.arrive(upMs, () => carried.fail("ECONNRESET"));
    if (world.fault("hang")) return undefined;
    const gate = gateResponse(world, random, { server, method: exchange.method });
    if (gate !== undefined) return carried.arrive(2 * upMs, () => answer(carried, gate));
    time.after(upMs, () => process(carried));
    if (REPEATABLE.has(exchange.method) && world.fault("duplicate")) {
      time.after(upMs + random.int(1, 20_000), () => {
        // What an impatient proxy sends a second time; nobody waits for its answer.
        if (!isDown(server, time.now)) server.answer(exchange);
      });
    }
  }

  /** The request has come in. */
  function process(carried: Carried): void {
    const { exchange, server } = carried;
    const downMs = latencyOf(server) + (world.fault("delay") ? random.int(1000, 45_000) : 0);
    if (isDown(server, time.now)) return carried.arrive(downMs, () => carried.fail("ECONNRESET"));
    if (exchange.method === "subscriptions/listen") {
      return listen(carried, server.push.listen(exchange), downMs);
    }
    const word = server.answer(exchange);
    if (world.fault("loseAnswer")) return carried.arrive(downMs, () => carried.fail("ECONNRESET"));
    if (world.fault("hangAfter")) return undefined;
    const bad = badResponse(world, random, { word, rpcId: exchange.rpcId });
    carried.arrive(downMs, () => (bad === undefined ? deliver(carried, word) : answer(carried, bad)));
  }

  function deliver(carried: Carried, word: ServerWord): void {
    const text = JSON.stringify({ jsonrpc: "2.0", id: carried.exchange.rpcId, ...word });
    const asStream = world.fault("eventStream");
    const slowly = world.fault("slowBody");
    if (!asStream && !slowly) return answer(carried, { status: 200, type: "application/json", text, word });
    const progress =
      carried.exchange.method === "tools/call" && asStream
        ? `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: carried.exchange.rpcId, progress: 1 } })}\n\n`
        : "";
    const whole = asStream ? `: hello\r\n\r\n${progress}event: message\ndata: ${text}\n\n` : text;
    streamed(carried, whole, {
      type: asStream ? "text/event-stream" : "application/json",
      pauseMs: slowly ? random.int(1, 3000) : 0,
      end: { kind: "answer", status: 200, ...word },
    });
  }

  /** In pieces that respect no character and no line. */
  function streamed(
    carried: Carried,
    text: string,
    how: { type: string; pauseMs: number; end: ExchangeEnd },
  ): void {
    const all = bytes.encode(text);
    const cuts = [0, random.int(0, all.length), random.int(0, all.length), all.length].sort((a, b) => a - b);
    carried.resolve(new Response(bodyOf(carried), { status: 200, headers: { "content-type": how.type } }));
    const piece = (at: number): void => {
      const chunk = all.subarray(cuts[at], cuts[at + 1]);
      if (chunk.length > 0) carried.body?.enqueue(chunk);
      if (cuts[at + 1] === all.length) carried.heard = how.end;
      if (at < cuts.length - 2) return carried.arrive(how.pauseMs, () => piece(at + 1));
      carried.body?.close();
      carried.end(how.end);
    };
    piece(0);
  }

  function answer(carried: Carried, wire: Wire): void {
    const { status, type, text, headers = {}, word, retryAfterMs } = wire;
    carried.resolve(new Response(text, { status, headers: { "content-type": type, ...headers } }));
    carried.end({ kind: "answer", status, retryAfterMs, ...word });
  }

  function listen(carried: Carried, word: ListenWord, downMs: number): void {
    if ("error" in word) {
      const text = JSON.stringify({ jsonrpc: "2.0", id: carried.exchange.rpcId, ...word });
      const wire = { status: 200, type: "application/json", text, word };
      return carried.arrive(downMs, () => answer(carried, wire));
    }
    let lastAt = time.now + downMs;
    // One connection keeps its order, however late its parts are.
    const inOrder = (run: () => void): void => {
      lastAt = Math.max(lastAt, time.now + downMs + random.int(0, downMs));
      carried.arrive(lastAt - time.now, run);
    };
    inOrder(() => {
      const headers = { "content-type": "text/event-stream" };
      carried.resolve(new Response(bodyOf(carried), { status: 200, headers }));
    });
    const sink: StreamSink = {
      write: (text) =>
        inOrder(() => {
          carried.body?.enqueue(bytes.encode(text));
          noticed(carried.exchange.process, text);
        }),
      end: () =>
        inOrder(() => {
          carried.body?.close();
          carried.end({ kind: "answer", status: 200 });
        }),
      cut: () => inOrder(() => carried.fail("ECONNRESET")),
    };
    carried.onLeft = word.open(sink);
  }

  function noticed(process: ProcessView, text: string): void {
    if (!text.startsWith("data: ")) return;
    const { method, params } = JSON.parse(text.slice(6)) as { method?: string; params: JsonObject };
    if (method !== "notifications/tasks") return;
    world.count("notice delivered");
    world.observe({ kind: "noticed", process, snapshot: params });
  }

  function bodyOf(carried: Carried): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>({
      start(controller) {
        carried.body = controller;
      },
      cancel() {
        carried.end(carried.heard ?? { kind: "aborted" });
        carried.onLeft();
      },
    });
  }

  function latencyOf({ spec }: SimServer): number {
    return spec.latencyMs + random.int(0, spec.latencyMs);
  }

  return {
    fetchOf,
    dropped(process) {
      for (const [carried, whose] of open) {
        if (whose !== process) continue;
        open.delete(carried);
        carried.onLeft();
      }
    },
    get open() {
      return open.size;
    },
  };
}
