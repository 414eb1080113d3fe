/**
 * Owns which transport an SDK client has: when its handshake is over, when it is gone, and asking the host for the
 * next one. It knows no requests.
 */
import { ClientClosedError } from "../../errors.js";
import { sleep, type Clock } from "../../internal/clock.js";
import type { McpClientLike, McpTransportLike } from "./clientTypes.js";
import { notConnected } from "./sdkFailures.js";
import { tapTransport, type TransportTap, type WireMessage } from "./transportTap.js";

/** Who hears what passes. */
export interface FollowerHooks {
  onMessage(message: WireMessage): boolean;
  /** What the SDK client sends; undefined: it is not looked at. Read whenever a transport is tapped. */
  readonly onSend: ((message: WireMessage, tap: TransportTap) => boolean) | undefined;
  /** The transport is closed, or the client has another one. */
  onEnd(): void;
}

/** The transports of one SDK client, one after the other. */
export interface TransportFollower {
  /** The tap on the client's transport, once the server has introduced itself on it: from then on it is heard. */
  look(): TransportTap | undefined;
  /** True while requests can go out. */
  isReady(): boolean;
  /**
   * The tap, once the handshake is over. Waits a while for a client that is about to have one. Rejects with
   * `ConnectionError`, `ClientClosedError`, or the signal's reason.
   */
  ready(signal: AbortSignal | undefined): Promise<TransportTap>;
  /** Somebody knows that the client's handshake is over. */
  handshakeOver(): void;
  /** Asks the host for a new connection, once at a time. */
  reconnect(): void;
  /** True where the host said how to reconnect. */
  readonly canReconnect: boolean;
  close(): void;
}

/** How often a client without a connection is looked at, and for how long a request waits for it. */
const LOOK_EVERY_MS = 100;
const RECONNECT_WAIT_MS = 10_000;
/** How long after a reconnect that failed the next one is asked for. */
const RECONNECT_AGAIN_MS = 1000;
/** How long a client may take from its new transport to the end of its handshake before we ask all the same. */
const HANDSHAKE_MS = 5000;
/**
 * 1.x tells that the server has answered `initialize`, not that `notifications/initialized` has arrived; servers turn
 * requests away before it.
 */
const INITIALIZED_MS = 200;

export function followTransport(
  client: McpClientLike,
  options: { clock: Clock; reconnect?: (() => Promise<void>) | undefined },
  hooks: FollowerHooks,
): TransportFollower {
  const { clock } = options;
  let closed = false;
  let tap: TransportTap | undefined;
  /** What the client knew of the server before: another object tells of a new handshake. */
  let learned: object | undefined;
  let seen: { transport: McpTransportLike; before: object | undefined; at: number } | undefined;
  /** When the answer to the handshake was first seen on that transport; -Infinity: the handshake is known to be over. */
  let introduced: { transport: McpTransportLike; at: number } | undefined;
  let reconnecting: Promise<void> | undefined;
  let reconnectNotBefore = -Infinity;
  let reconnectFailure: unknown;

  // Who hands over a connected client has waited for its `connect`.
  if (client.transport !== undefined && client.getServerCapabilities() !== undefined) handshakeOver();

  function look(): TransportTap | undefined {
    if (closed) return undefined;
    const { transport } = client;
    if (tap !== undefined && (!tap.open || tap.transport !== transport)) end();
    if (transport === undefined || !isIntroduced(transport)) return undefined;
    tap ??= tapOn(transport);
    return tap;
  }

  /** The client sets its transport before the handshake; on the way it forgets the server, or learns of it anew. */
  function isIntroduced(transport: McpTransportLike): boolean {
    if (introduced?.transport === transport) return true;
    const now = client.getServerCapabilities();
    if (seen?.transport !== transport) seen = { transport, before: learned, at: clock.monotonic() };
    if (now === undefined) return false;
    const isNew =
      now !== seen.before ||
      // A session that goes on has no handshake.
      transport.sessionId !== undefined ||
      clock.monotonic() - seen.at >= HANDSHAKE_MS;
    if (!isNew) return false;
    introduced = { transport, at: clock.monotonic() };
    learned = now;
    return true;
  }

  function isOver(): boolean {
    if (introduced === undefined) return false;
    if (introduced.at === -Infinity) return true;
    return client.getNegotiatedProtocolVersion === undefined
      ? clock.monotonic() - introduced.at >= INITIALIZED_MS
      : client.getNegotiatedProtocolVersion() !== undefined;
  }

  function handshakeOver(): void {
    const { transport } = client;
    const capabilities = client.getServerCapabilities();
    if (transport === undefined || capabilities === undefined) return;
    introduced = { transport, at: -Infinity };
    learned = capabilities;
  }

  function tapOn(transport: McpTransportLike): TransportTap {
    const { onSend } = hooks;
    const made: TransportTap = tapTransport(transport, {
      onMessage: (message) => hooks.onMessage(message),
      onSend: onSend && ((message) => onSend(message, made)),
      onClose: () => (tap === made ? end() : undefined),
      clock,
    });
    return made;
  }

  function end(): void {
    tap?.restore();
    tap = undefined;
    // The same transport may come again, with another handshake.
    seen = undefined;
    introduced = undefined;
    hooks.onEnd();
  }

  async function ready(signal: AbortSignal | undefined): Promise<TransportTap> {
    const until = clock.monotonic() + RECONNECT_WAIT_MS;
    for (;;) {
      if (closed) throw new ClientClosedError();
      const found = look();
      if (found !== undefined && isOver()) return found;
      if (client.transport === undefined) reconnect();
      if (clock.monotonic() >= until) throw notConnected(reconnectFailure);
      await sleep(clock, LOOK_EVERY_MS, { signal });
    }
  }

  function reconnect(): void {
    if (options.reconnect === undefined || closed || clock.monotonic() < reconnectNotBefore) return;
    reconnecting ??= askHost(options.reconnect).finally(() => (reconnecting = undefined));
  }

  /** Requests tell how it went: they find a transport, or none. */
  async function askHost(ask: () => Promise<void>): Promise<void> {
    try {
      await ask();
      reconnectFailure = undefined;
      handshakeOver();
    } catch (error) {
      reconnectFailure = error;
      reconnectNotBefore = clock.monotonic() + RECONNECT_AGAIN_MS;
    }
  }

  return {
    look,
    isReady: () => look() !== undefined && isOver(),
    ready,
    handshakeOver,
    reconnect,
    canReconnect: options.reconnect !== undefined,
    close() {
      closed = true;
      tap?.restore();
      tap = undefined;
    },
  };
}
