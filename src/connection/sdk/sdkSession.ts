/**
 * Owns our own requests on the transport of an SDK client: their ids, their answers, and that they follow the client
 * to the next transport. What the messages mean is for the two dialects.
 */
import { ClientClosedError, ConnectionError } from "../../errors.js";
import type { Clock } from "../../internal/clock.js";
import { createDeferred, type Deferred } from "../../internal/deferred.js";
import { randomId } from "../../internal/ids.js";
import { isObject, type JsonObject } from "../../internal/json.js";
import { META_SUBSCRIPTION_ID } from "../../protocol/index.js";
import { startLifetime, type Lifetime } from "../lifetime.js";
import { readMessage, rpcError } from "../rpc.js";
import type { Notice } from "../types.js";
import type { McpClientLike } from "./clientTypes.js";
import { isSessionLost, notConnected, sendFailure } from "./sdkFailures.js";
import { followTransport } from "./transportFollower.js";
import type { TransportTap, WireMessage } from "./transportTap.js";

/** A request of ours. `params` go out as they are, with a progress token where progress is wanted. */
export interface SessionRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds without a sign of life; `Infinity`: no limit. */
  readonly timeoutMs: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Progress, and whatever else the server sends for this request. */
  readonly onNotice?: ((notice: Notice) => void) | undefined;
}

/** Hears what is not an answer to a request of ours. Answers true when it has taken the message. */
export interface SessionHooks {
  onMessage(message: WireMessage): boolean;
  /** The transport is closed, or the client has another one. */
  onEnd(): void;
}

/** The requests of ours over one SDK client. */
export interface SdkSession {
  readonly client: McpClientLike;
  readonly clock: Clock;
  /** The revision that the client negotiated; undefined where it does not say (1.x). */
  protocolVersion(): string | undefined;
  /** Sends, waiting a while for a client that is about to reconnect. Rejects as `Connection.request`. */
  request(request: SessionRequest): Promise<JsonObject>;
  /** Sends a message that has no answer. Rejects with `ConnectionError`. */
  send(message: WireMessage): Promise<void>;
  /** Looks at the client's transport, so that what the server sends on its own account is heard. */
  look(): TransportTap | undefined;
  /** True while requests can go out. */
  isReady(): boolean;
  /** As `look`, once the client's handshake is over; waits a while for a client that is about to reconnect. */
  ready(signal?: AbortSignal): Promise<TransportTap>;
  /** Somebody knows that the client's handshake is over. */
  handshakeOver(): void;
  /** True where the host said how to reconnect. */
  readonly canReconnect: boolean;
  /** Who hears the rest; there is one. */
  hear(hooks: SessionHooks): void;
  /** Is told when a transport is gone, until the returned function is called. */
  onEnd(listener: () => void): () => void;
  /** What the SDK client sends goes to this first, from the next look on; true: it has been taken. */
  intercept(onSend: (message: WireMessage, tap: TransportTap) => boolean): void;
  close(): void;
}

interface Pending {
  readonly answer: Deferred<JsonObject>;
  readonly lifetime: Lifetime;
  readonly request: SessionRequest;
  /** False while it waits for a transport. */
  sent: boolean;
}

/**
 * `reconnect` is called, once at a time, when the client has no transport or the server no longer knows the session.
 */
export function createSdkSession(
  client: McpClientLike,
  options: { clock: Clock; reconnect?: (() => Promise<void>) | undefined },
): SdkSession {
  const { clock } = options;
  const prefix = `mcp-taskrail-${randomId().slice(0, 8)}-`;
  const pending = new Map<string, Pending>();
  const closing = new AbortController();
  const ends = new Set<() => void>();
  let hooks: SessionHooks | undefined;
  let onSend: ((message: WireMessage, tap: TransportTap) => boolean) | undefined;
  let lastId = 0;

  const follower = followTransport(client, options, {
    onMessage,
    get onSend() {
      return onSend;
    },
    onEnd() {
      const error = new ConnectionError("The transport of the SDK client was closed", { mayHaveRun: true });
      // Those that wait for a transport go on waiting.
      for (const { lifetime, sent } of [...pending.values()]) if (sent) lifetime.abort(error);
      hooks?.onEnd();
      for (const listener of [...ends]) listener();
    },
  });

  function protocolVersion(): string | undefined {
    return client.getNegotiatedProtocolVersion?.();
  }

  async function request(wanted: SessionRequest): Promise<JsonObject> {
    if (closing.signal.aborted) throw new ClientClosedError();
    wanted.signal?.throwIfAborted();
    const lifetime = startLifetime({ clock, timeoutMs: wanted.timeoutMs, signal: wanted.signal });
    lastId += 1;
    const id = `${prefix}${lastId}`;
    const entry: Pending = { answer: createDeferred<JsonObject>(), lifetime, request: wanted, sent: false };
    let sentOver: TransportTap | undefined;
    let answered = false;
    pending.set(id, entry);
    try {
      const spoken = protocolVersion();
      const ready = await follower.ready(lifetime.signal);
      // The request is in the words of the revision that was spoken when it was made.
      if (protocolVersion() !== spoken) throw notConnected();
      sentOver = ready;
      const result = await exchange(id, entry, sentOver);
      answered = true;
      return result;
    } catch (error) {
      const failure: unknown = lifetime.signal.aborted ? lifetime.signal.reason : error;
      // It may close the transport, and with it end this request once more.
      if (sentOver !== undefined && isSessionLost(error)) follower.reconnect();
      throw failure;
    } finally {
      pending.delete(id);
      lifetime.end(answered);
      if (sentOver?.open === true && lifetime.signal.aborted && !answered)
        cancelAtServer(id, wanted, sentOver);
    }
  }

  async function exchange(id: string, entry: Pending, over: TransportTap): Promise<JsonObject> {
    const { answer, lifetime, request: wanted } = entry;
    const { method, headers } = wanted;
    const params = withProgressToken(id, wanted);
    entry.sent = true;
    lifetime.markSent();
    const sending = over.send(
      { jsonrpc: "2.0", id, method, params },
      { requestSignal: lifetime.signal, onRequestStreamEnd, headers },
    );
    // The answer may come before the transport says that the message is out, and a failure after it is no news.
    const hasSession = over.transport.sessionId !== undefined;
    sending.catch((error: unknown) => answer.reject(sendFailure(error, { id, method, params }, hasSession)));
    return lifetime.race(answer.promise);

    function onRequestStreamEnd(): void {
      answer.reject(new ConnectionError("The event stream ended without the answer", { mayHaveRun: true }));
    }
  }

  /** Where a request has no stream of its own, only a notice tells the server that nobody waits any more. */
  function cancelAtServer(id: string, { method }: SessionRequest, over: TransportTap): void {
    if (over.transport.hasPerRequestStream === true || !CANCELLED.has(method)) return;
    const notice = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } };
    over.send(notice).catch(() => undefined);
  }

  function onMessage(message: WireMessage): boolean {
    const { id, method } = message;
    if (typeof method !== "string") return typeof id === "string" && onAnswer(id, message);
    if (id === undefined && onOwnNotice(method, message["params"])) return true;
    return hooks?.onMessage(message) === true;
  }

  /** Also an answer that nobody waits for any more is taken: the SDK client could only complain of it. */
  function onAnswer(id: string, message: WireMessage): boolean {
    if (!id.startsWith(prefix)) return false;
    const entry = pending.get(id);
    if (entry === undefined) return true;
    const { method, params } = entry.request;
    try {
      const incoming = readMessage(message, id);
      if (incoming.kind === "result") entry.answer.resolve(incoming.result);
      else if (incoming.kind === "error") entry.answer.reject(rpcError(incoming.error, { method, params }));
    } catch (error) {
      entry.answer.reject(error);
    }
    return true;
  }

  function onOwnNotice(method: string, given: unknown): boolean {
    const params = isObject(given) ? given : {};
    const about = ownIdOf(method, params);
    if (about === undefined) return false;
    const entry = pending.get(about);
    if (method === "notifications/progress") entry?.lifetime.touch();
    entry?.request.onNotice?.({ method, params });
    return true;
  }

  /** The request of ours that a notice belongs to. */
  function ownIdOf(method: string, params: Readonly<Record<string, unknown>>): string | undefined {
    const meta = isObject(params["_meta"]) ? params["_meta"] : {};
    const about =
      method === "notifications/progress"
        ? params["progressToken"]
        : (meta[META_SUBSCRIPTION_ID] ??
          (method === "notifications/cancelled" ? params["requestId"] : undefined));
    return typeof about === "string" && about.startsWith(prefix) ? about : undefined;
  }

  return {
    client,
    clock,
    protocolVersion,
    request,
    async send(message) {
      const found = follower.look();
      if (found === undefined) throw notConnected();
      try {
        await found.send(message);
      } catch (error) {
        throw sendFailure(error, { id: "", method: "", params: {} });
      }
    },
    look: () => follower.look(),
    isReady: () => follower.isReady(),
    ready: (signal) => follower.ready(signal),
    handshakeOver: () => follower.handshakeOver(),
    canReconnect: follower.canReconnect,
    hear(given) {
      hooks = given;
      follower.look();
    },
    onEnd(listener) {
      ends.add(listener);
      return () => void ends.delete(listener);
    },
    intercept(given) {
      onSend = given;
    },
    close() {
      if (closing.signal.aborted) return;
      closing.abort();
      follower.close();
      for (const { lifetime } of [...pending.values()]) lifetime.abort(new ClientClosedError());
    },
  };
}

/** Requests that cost the server something while they run. */
const CANCELLED: ReadonlySet<string> = new Set(["tools/call", "tasks/result", "subscriptions/listen"]);

function withProgressToken(id: string, { method, params, onNotice }: SessionRequest): JsonObject {
  // Servers report progress only to those who ask, and progress keeps the request alive.
  if (method !== "tools/call" && (onNotice === undefined || method === "subscriptions/listen")) return params;
  const meta = isObject(params["_meta"]) ? params["_meta"] : {};
  return { ...params, _meta: { progressToken: id, ...meta } };
}
