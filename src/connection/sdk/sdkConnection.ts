/** Owns the connection over an SDK client: which revision is spoken, who the server is. Requests are the session's and the dialects'. */
import { ClientClosedError, ConnectionError } from "../../errors.js";
import { systemClock, type Clock } from "../../internal/clock.js";
import { refuseUnknown } from "../../internal/options.js";
import { PROTOCOL_VERSION } from "../../protocol/index.js";
import { legacyConnection } from "../legacy/legacyConnection.js";
import { startLifetime } from "../lifetime.js";
import type { Connection, RequestOptions } from "../types.js";
import type { McpClientLike } from "./clientTypes.js";
import { modernConnection, type Dialect } from "./modernConnection.js";
import { createSdkSession, type SdkSession } from "./sdkSession.js";
import { sessionChannel } from "./sessionChannel.js";

/** Options of {@link sdkConnection}. All times are in milliseconds. */
export interface SdkConnectionOptions {
  /**
   * Who the server is, across restarts: records are bound to it. Default: the name that the server gives itself, which
   * is not enough where two servers of one name share a store under one name; and while the client is connected to a
   * server that gives itself another, every request rejects with `ConnectionError` and is not sent.
   */
  readonly identity?: string | undefined;
  /** Without a sign of life, until a request is given up with `ConnectionError`. Default 60 000. `Infinity`: never. */
  readonly timeoutMs?: number | undefined;
  /**
   * Connects the client anew: `client.connect(new transport)`, after `client.close()` where the client is still
   * connected. Called, once at a time, when a request finds the client without a transport, or the server has forgotten
   * the session (404, or 400 as the official SDK's servers say it); when it rejects, that is the cause of the requests'
   * own failure, and it is asked again after a second. Close the client first: `client.close()`. Without it, the connection waits
   * for the host to do so: a request for up to 10 seconds.
   */
  readonly reconnect?: (() => Promise<void>) | undefined;
  /** Default: the machine's. */
  readonly clock?: Clock | undefined;
}

const SDK_OPTIONS = ["identity", "timeoutMs", "reconnect", "clock"];
const DEFAULT_TIMEOUT_MS = 60_000;

/**
 * A server over a connected `Client` of `@modelcontextprotocol/sdk` 1.x or of `@modelcontextprotocol/client` 2.x, on
 * any of its transports: the 2026-07-28 revision where the client negotiated it, else that of 2025-11-25 with its
 * tasks. The client goes on as before: our requests have ids of their own, and what is not ours passes untouched.
 * Over HTTP, 2.x means 2.1 or later: 2.0 sends no `Mcp-Name` for tasks, which servers may refuse (-32020).
 *
 * It follows the client to its next transport. `close()` puts the transport back as it was and leaves the client open.
 * Throws `TypeError` naming what is wrong: no client, or no `identity` where the server is not known (yet) or gives
 * itself no name.
 */
export function sdkConnection(client: McpClientLike, options: SdkConnectionOptions = {}): Connection {
  const settings = readOptions(client, options);
  return connectionOver(createSdkSession(client, settings), settings);
}

interface ConnectionSettings {
  readonly identity: string;
  /** True where the host gave the identity: then the host answers for where the client connects. */
  readonly isNamed: boolean;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

type Limits = Pick<Partial<RequestOptions>, "signal" | "timeoutMs">;

/** @internal The connection over a session that somebody else uses too. */
export function connectionOver(
  session: SdkSession,
  { identity, isNamed, timeoutMs, clock }: ConnectionSettings,
): Connection {
  let closed = false;
  let modern: Dialect | undefined;
  let legacy: Connection | undefined;

  /** Looked at anew for every request: a client that is connected again may have negotiated another revision. */
  function dialect(): Dialect | Connection {
    if (closed) throw new ClientClosedError();
    const found = isNamed ? identity : identityOf(session.client);
    if (found !== undefined && found !== identity) throw anotherServer();
    if (session.protocolVersion() === PROTOCOL_VERSION) {
      modern ??= modernConnection(session, { timeoutMs });
      return modern;
    }
    legacy ??= legacyConnection(sessionChannel(session), { identity, clock, timeoutMs });
    return legacy;
  }

  /** A client without a connection does not know the revision of the next. */
  async function connected({ signal, timeoutMs: limitMs = timeoutMs }: Limits): Promise<void> {
    if (closed) throw new ClientClosedError();
    signal?.throwIfAborted();
    const lifetime = startLifetime({ clock, timeoutMs: limitMs, signal });
    try {
      await session.ready(lifetime.signal);
    } finally {
      lifetime.end(true);
    }
  }

  return {
    identity,
    async request(method, params, requestOptions) {
      if (!session.isReady()) await connected(requestOptions);
      return dialect().request(method, params, requestOptions);
    },
    async discover(requestOptions) {
      if (!session.isReady()) await connected(requestOptions);
      return dialect().discover(requestOptions);
    },
    async listen(taskIds, listenOptions) {
      if (!session.isReady()) await connected(listenOptions);
      return dialect().listen?.(taskIds, listenOptions);
    },
    async close() {
      closed = true;
      await legacy?.close();
      session.close();
    },
  };
}

/** @internal Checks and completes. Throws `TypeError`. */
export function readOptions(
  client: McpClientLike,
  options: SdkConnectionOptions,
): CheckedOptions & ConnectionSettings {
  const checked = checkOptions(client, options);
  const identity = checked.identity ?? identityOf(client);
  if (identity !== undefined) return { ...checked, identity, isNamed: checked.identity !== undefined };
  throw new TypeError(
    "identity: expected a non-empty string (the server gives itself no name, or the client is not connected)",
  );
}

interface CheckedOptions {
  readonly identity: string | undefined;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly reconnect: (() => Promise<void>) | undefined;
}

/** @internal What can be checked before the server is known. Throws `TypeError`. */
export function checkOptions(client: McpClientLike, options: SdkConnectionOptions): CheckedOptions {
  if (!isClient(client)) {
    throw new TypeError(
      "client: expected a Client of @modelcontextprotocol/sdk 1.x or @modelcontextprotocol/client 2.x",
    );
  }
  if (typeof options !== "object" || options === null) throw new TypeError("options: expected an object");
  refuseUnknown("sdkConnection", options, SDK_OPTIONS);
  const { identity, timeoutMs = DEFAULT_TIMEOUT_MS, clock = systemClock, reconnect } = options;
  if (identity !== undefined && (typeof identity !== "string" || identity === "")) {
    throw new TypeError("identity: expected a non-empty string");
  }
  if (typeof timeoutMs !== "number" || !(timeoutMs > 0)) {
    throw new TypeError("timeoutMs: expected a positive number of milliseconds");
  }
  if (typeof clock !== "object" || clock === null || typeof clock.setTimer !== "function") {
    throw new TypeError("clock: expected a Clock");
  }
  if (reconnect !== undefined && typeof reconnect !== "function") {
    throw new TypeError("reconnect: expected a function");
  }
  return { identity, timeoutMs, clock, reconnect };
}

function isClient(client: unknown): client is McpClientLike {
  if (typeof client !== "object" || client === null) return false;
  const { getServerCapabilities, getServerVersion } = client as Record<string, unknown>;
  return typeof getServerCapabilities === "function" && typeof getServerVersion === "function";
}

/** Without the version: a server that is updated is the same server. */
function identityOf(client: McpClientLike): string | undefined {
  const name = client.getServerVersion()?.name;
  return typeof name === "string" && name !== "" ? `mcp:${name}` : undefined;
}

/** Tasks of the one are not asked for at the other, which would know none of them. */
function anotherServer(): ConnectionError {
  return new ConnectionError("The SDK client is connected to another server than before", {
    mayHaveRun: false,
  });
}
