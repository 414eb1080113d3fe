/**
 * Owns requests that an SDK client makes for us to answer: they are taken at its transport and never go out. So its
 * own parsing, error classes and registered handlers stay in use. It decides nothing about calls or questions.
 */
import { raceSignal } from "../../internal/abort.js";
import { MAX_TIMER_MS } from "../../internal/clock.js";
import { createDeferred, type Deferred } from "../../internal/deferred.js";
import { randomId } from "../../internal/ids.js";
import { isObject, type JsonObject } from "../../internal/json.js";
import {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  PROTOCOL_VERSION,
  RPC,
  type ClientCapabilities,
  type ClientInfo,
} from "../../protocol/index.js";
import type { WireError } from "../rpc.js";
import type { SdkSession } from "./sdkSession.js";
import type { TransportTap, WireMessage } from "./transportTap.js";

/** A request that the SDK client made and that waits for our answer. */
export interface CapturedRequest {
  /** As the client sent them, less the mark. */
  readonly params: JsonObject;
  answer(result: JsonObject): void;
  fail(error: WireError): void;
  /** A progress notice, where the client asked for progress. */
  progress(params: JsonObject): void;
  /** True once the client lost the request with its transport. */
  readonly lost: boolean;
}

/** A request of the server's for one of the client's handlers. */
export interface DispatchedRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly signal: AbortSignal;
}

/** What the SDK client says of its host in every request of 2026-07-28. */
export interface Declared {
  readonly clientInfo: ClientInfo | undefined;
  readonly capabilities: ClientCapabilities;
}

/** The way into an SDK client from below. */
export interface SdkInterceptor {
  /**
   * Runs `send`, which must make the client send one request with `meta` in its `_meta`, and answers that request.
   * `onRequest` is called for it, and again where the client sends it anew.
   */
  capture<T>(
    send: (meta: JsonObject) => Promise<T>,
    onRequest: (request: CapturedRequest) => void,
    signal?: AbortSignal,
  ): Promise<T>;
  /**
   * Has the client's own registered handler answer a request of the server's. Rejects with `NoHandler`, with
   * `ClientGone`, with the signal's reason, or with what the handler threw.
   */
  dispatch(request: DispatchedRequest): Promise<JsonObject>;
  /** What the client declares; undefined in revisions where requests do not say it. */
  declared(): Promise<Declared | undefined>;
}

/** The client has no handler for the request. */
export class NoHandler extends Error {}

/** The client lost its transport, and with it the answer. */
export class ClientGone extends Error {
  constructor() {
    super("The SDK client is not connected");
  }
}

/** The client's method as it is called here; both SDKs take the options second where no schema is given. */
interface CallingClient {
  request(request: JsonObject, options?: { signal?: AbortSignal; timeout?: number }): Promise<unknown>;
}

const MARK = "mcp-taskrail/captured";

export function createInterceptor(session: SdkSession): SdkInterceptor {
  const captures = new Map<string, (request: CapturedRequest) => void>();
  /** Captured requests that the client still waits for: it may cancel them, or lose them. */
  const captured = new Map<string | number, { lost: boolean }>();
  const asked = new Map<string, Deferred<JsonObject>>();
  const prefix = `mcp-taskrail-ask-${randomId().slice(0, 8)}-`;
  let lastAsk = 0;

  session.onEnd(() => {
    for (const entry of captured.values()) entry.lost = true;
    captured.clear();
  });
  session.intercept((message, tap) => onRequest(message, tap) || onAnswer(message) || onCancelled(message));

  function onRequest(message: WireMessage, tap: TransportTap): boolean {
    const { id, method } = message;
    if (method === undefined || (typeof id !== "number" && typeof id !== "string")) return false;
    const params = (isObject(message["params"]) ? message["params"] : {}) as JsonObject;
    const { [MARK]: mark, ...meta } = isObject(params["_meta"]) ? params["_meta"] : {};
    const take = typeof mark === "string" ? captures.get(mark) : undefined;
    if (take === undefined) return false;
    const entry = { lost: false };
    captured.set(id, entry);
    const reply = (answer: WireMessage): void => {
      // Given up meanwhile, by the client or with its transport: it knows the id no more.
      if (captured.get(id) !== entry) return;
      captured.delete(id);
      tap.deliver({ jsonrpc: "2.0", id, ...answer });
    };
    const { progressToken } = meta;
    take({
      params: { ...params, _meta: meta },
      answer: (result) => reply({ result: isModern() ? { resultType: "complete", ...result } : result }),
      fail: (error) => reply({ error }),
      get lost() {
        return entry.lost;
      },
      progress(progress) {
        if (progressToken === undefined || captured.get(id) !== entry) return;
        tap.deliver({
          jsonrpc: "2.0",
          method: "notifications/progress",
          params: { ...progress, progressToken },
        });
      },
    });
    return true;
  }

  function isModern(): boolean {
    return session.protocolVersion() === PROTOCOL_VERSION;
  }

  function onAnswer({ id, method, result, error }: WireMessage): boolean {
    if (method !== undefined || typeof id !== "string" || !id.startsWith(prefix)) return false;
    const waiting = asked.get(id);
    if (isObject(result)) waiting?.resolve(result as JsonObject);
    else waiting?.reject(handlerError(error));
    return true;
  }

  /** The client gave up a request that never went out. */
  function onCancelled({ method, params }: WireMessage): boolean {
    if (method !== "notifications/cancelled" || !isObject(params)) return false;
    return captured.delete(params["requestId"] as string | number);
  }

  async function capture<T>(
    send: (meta: JsonObject) => Promise<T>,
    onRequest_: (request: CapturedRequest) => void,
    signal?: AbortSignal,
  ): Promise<T> {
    const mark = randomId();
    captures.set(mark, onRequest_);
    try {
      // A client without a connection says so itself. One that is about to have it must not send past us.
      if (session.client.transport !== undefined || session.canReconnect) await session.ready(signal);
      return await send({ [MARK]: mark });
    } finally {
      captures.delete(mark);
    }
  }

  /** Earlier revisions: the client gets the request as if the server had sent it. */
  async function dispatchAsServer({ method, params, signal }: DispatchedRequest): Promise<JsonObject> {
    const tap = session.look();
    if (tap === undefined) throw new ClientGone();
    lastAsk += 1;
    const id = `${prefix}${lastAsk}`;
    const answer = createDeferred<JsonObject>();
    const withdraw = (): void => {
      answer.reject(signal.reason);
      tap.deliver({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
    };
    // A client that loses its transport drops what its handlers answer.
    const stopHearing = session.onEnd(() => answer.reject(new ClientGone()));
    asked.set(id, answer);
    signal.addEventListener("abort", withdraw, { once: true });
    try {
      tap.deliver({ jsonrpc: "2.0", id, method, params });
      return await answer.promise;
    } finally {
      stopHearing();
      signal.removeEventListener("abort", withdraw);
      asked.delete(id);
    }
  }

  /** 2026-07-28 has no requests of the server's: the client is asked for input by the answer to a call of its own. */
  async function dispatchAsRound({ method, params, signal }: DispatchedRequest): Promise<JsonObject> {
    const answer = createDeferred<JsonObject>();
    const client = session.client as unknown as CallingClient;
    const asking = capture(
      (meta) =>
        client.request(
          { method: "tools/call", params: { name: "mcp-taskrail", arguments: {}, _meta: meta } },
          { signal, timeout: MAX_TIMER_MS },
        ),
      (request) => {
        const responses = request.params["inputResponses"];
        const response = isObject(responses) ? responses["input"] : undefined;
        if (response === undefined) {
          request.answer({ resultType: "input_required", inputRequests: { input: { method, params } } });
        } else {
          answer.resolve(response as JsonObject);
          request.answer({ content: [] });
        }
      },
      signal,
    );
    asking.catch((error: unknown) => answer.reject(roundError(error)));
    const stopHearing = session.onEnd(() => answer.reject(new ClientGone()));
    try {
      return await raceSignal(answer.promise, signal);
    } finally {
      stopHearing();
    }
  }

  return {
    capture,
    dispatch: (request) => (isModern() ? dispatchAsRound(request) : dispatchAsServer(request)),
    async declared() {
      if (!isModern()) return undefined;
      const client = session.client as unknown as CallingClient;
      let told: Declared | undefined;
      await capture(
        (meta) =>
          client.request({
            method: "tools/call",
            params: { name: "mcp-taskrail", arguments: {}, _meta: meta },
          }),
        (request) => {
          told = declaredIn(request.params);
          request.answer({ content: [] });
        },
      );
      return told;
    },
  };
}

function declaredIn(params: JsonObject): Declared {
  const meta = isObject(params["_meta"]) ? params["_meta"] : {};
  const info = meta[META_CLIENT_INFO];
  const capabilities = meta[META_CLIENT_CAPABILITIES];
  return {
    clientInfo: isObject(info) ? (info as unknown as ClientInfo) : undefined,
    capabilities: isObject(capabilities) ? capabilities : {},
  };
}

/** By its code: the class comes from whichever copy of the SDK the host has. */
function roundError(error: unknown): unknown {
  const code = isObject(error) ? error["code"] : undefined;
  const isUnhandled = code === "CAPABILITY_NOT_SUPPORTED" || code === "UNSUPPORTED_RESULT_TYPE";
  if (isUnhandled) return new NoHandler("The SDK client has no handler for it");
  if (code === "CONNECTION_CLOSED" || code === "NOT_CONNECTED") return new ClientGone();
  return error;
}

function handlerError(error: unknown): Error {
  const { code, message } = isObject(error) ? error : {};
  if (code === RPC.methodNotFound) return new NoHandler("The SDK client has no handler for it");
  return new Error(typeof message === "string" ? message : "The handler of the SDK client failed");
}
