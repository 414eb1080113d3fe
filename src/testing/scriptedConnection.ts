/** Owns a connection without a server, for unit tests of what stands on connections. It knows no protocol rules. */
import type { Connection, RequestOptions } from "../connection/types.js";
import { ConnectionError, RpcError } from "../errors.js";
import { systemClock, type Clock } from "../internal/clock.js";
import type { JsonObject } from "../internal/json.js";
import { PROTOCOL_VERSION, RPC } from "../protocol/constants.js";
import type { ServerDescription } from "../protocol/index.js";

/** A request as it came. */
export interface ScriptedRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly options: RequestOptions;
  /** `clock.monotonic()` at its arrival. */
  readonly atMs: number;
}

/** What a request gets: a result, an error that is thrown, or "hang": nothing, until it is aborted or timed out. */
export type ScriptedAnswer = JsonObject | Error | "hang";

/** An answer, or what computes it from the request and its number (from 0) among those of its method. */
export type ScriptedStep =
  ScriptedAnswer | ((request: ScriptedRequest, n: number) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** Answers by method. Of a list, the n-th request gets the n-th step; the last one stays. */
export type ConnectionScript = Readonly<Record<string, ScriptedStep | readonly ScriptedStep[]>>;

export interface ScriptedConnectionOptions {
  /** Default "scripted:server". */
  readonly identity?: string;
  /** For `atMs` and for `timeoutMs` of requests. Default: the machine's. */
  readonly clock?: Clock;
  /** Changes of what `discover()` answers: a server with the tasks extension. */
  readonly description?: Partial<ServerDescription>;
}

export interface ScriptedConnection extends Connection {
  /** Every request so far, in order. */
  readonly requests: readonly ScriptedRequest[];
  /** The requests of one method. */
  requestsOf(method: string): readonly ScriptedRequest[];
  /** How many requests are open now. */
  readonly open: number;
  /** Replaces the script of one method; its count begins anew. */
  script(method: string, steps: ScriptedStep | readonly ScriptedStep[]): void;
}

/**
 * An in-memory {@link Connection} that answers by script. Methods without a script get -32601. Like a real one it
 * rejects with the signal's reason on abort, with `ConnectionError` after `timeoutMs` and on `close()`.
 */
export function scriptedConnection(
  script: ConnectionScript,
  options: ScriptedConnectionOptions = {},
): ScriptedConnection {
  const { identity = "scripted:server", clock = systemClock } = options;
  const steps = new Map(
    Object.entries(script).map(([method, given]) => [method, { given: listOf(given), used: 0 }]),
  );
  const requests: ScriptedRequest[] = [];
  const openRequests = new Set<(error: Error) => void>();
  let closed = false;

  async function answerTo(request: ScriptedRequest): Promise<ScriptedAnswer> {
    const entry = steps.get(request.method);
    const n = entry === undefined ? 0 : entry.used++;
    const step = entry?.given[Math.min(n, entry.given.length - 1)];
    if (step === undefined) return new RpcError({ code: RPC.methodNotFound, message: "Method not found" });
    return typeof step === "function" ? step(request, n) : step;
  }

  function request(method: string, params: JsonObject, requestOptions: RequestOptions): Promise<JsonObject> {
    const { signal, timeoutMs } = requestOptions;
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    if (closed) return Promise.reject(new ConnectionError("The connection is closed", { mayHaveRun: false }));
    const received = { method, params, options: requestOptions, atMs: clock.monotonic() };
    requests.push(received);
    return new Promise((resolve, reject) => {
      const stopTimer =
        timeoutMs === undefined
          ? undefined
          : clock.setTimer(timeoutMs, () => fail(new ConnectionError("Timed out", { mayHaveRun: true })));
      const onAbort = (): void => fail(signal?.reason as Error);
      signal?.addEventListener("abort", onAbort, { once: true });
      openRequests.add(fail);
      answerTo(received).then((answer) => {
        if (answer === "hang") return;
        over();
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      }, fail);

      function over(): void {
        stopTimer?.();
        signal?.removeEventListener("abort", onAbort);
        openRequests.delete(fail);
      }
      function fail(error: Error): void {
        over();
        reject(error);
      }
    });
  }

  return {
    identity,
    requests,
    request,
    requestsOf: (method) => requests.filter((one) => one.method === method),
    get open() {
      return openRequests.size;
    },
    script(method, given) {
      steps.set(method, { given: listOf(given), used: 0 });
    },
    discover: () => Promise.resolve({ ...tasksServer, ...options.description }),
    close() {
      closed = true;
      for (const fail of [...openRequests])
        fail(new ConnectionError("The connection was closed", { mayHaveRun: true }));
      return Promise.resolve();
    },
  };
}

const tasksServer: ServerDescription = {
  name: "scripted",
  title: undefined,
  version: "1.0.0",
  supportedVersions: [PROTOCOL_VERSION],
  capabilities: { tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
  tasks: true,
  instructions: undefined,
  ttlMs: null,
};

function listOf(given: ScriptedStep | readonly ScriptedStep[]): readonly ScriptedStep[] {
  return Array.isArray(given) ? (given as readonly ScriptedStep[]) : [given as ScriptedStep];
}
