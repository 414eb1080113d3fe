/** Owns the seam between the engine and a server: what a connection can do, whatever the transport. No code. */
import type { JsonObject } from "../internal/json.js";
import type {
  ClientCapabilities,
  ClientInfo,
  InputRequestEntry,
  ServerDescription,
  ToolDescription,
} from "../protocol/index.js";

/** A notice that arrived on the answer of a request (progress, logging). */
export interface Notice {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** How one request is to be sent. */
export interface RequestOptions {
  /** Who asks, for the envelope. */
  readonly clientInfo: ClientInfo;
  /** What this request declares; a server may only ask for what is in here. */
  readonly capabilities: ClientCapabilities;
  /** Aborts the request and rejects with the signal's own reason. Closing the answer's stream never cancels a task. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Milliseconds without a sign of life (the answer, or a progress notice) until the request is given up with
   * `ConnectionError`. Default: the connection's own.
   */
  readonly timeoutMs?: number | undefined;
  /** More HTTP headers for this request. Ignored where there are none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** More members of `_meta` (trace context, progressToken). The envelope's own keys win. */
  readonly meta?: JsonObject | undefined;
  /** For `tools/call`: the listed tool, whose `x-mcp-header` annotations are mirrored into headers. */
  readonly tool?: ToolDescription | undefined;
  /**
   * For `tasks/get`: the questions that the caller holds as open, or as answered but not acknowledged. Only earlier
   * revisions need them, where questions have no keys by which to find them again after a restart.
   */
  readonly openInputs?: readonly InputRequestEntry[] | undefined;
  /** Called for every notice on the answer's stream, before the answer. Must not throw. */
  readonly onNotice?: ((notice: Notice) => void) | undefined;
}

/** How a stream of notices is opened, and what it tells. None of the functions may throw. */
export interface ListenOptions {
  readonly clientInfo: ClientInfo;
  readonly capabilities: ClientCapabilities;
  /** Ends the stream; `listen` then rejects with the signal's own reason. The server is told where the transport does not show it. */
  readonly signal: AbortSignal;
  /**
   * The server accepted the subscription. Called once, before any notice, with the task ids it will push for: a subset
   * of those asked for, perhaps none.
   */
  readonly onAcknowledged: (taskIds: readonly string[]) => void;
  /** A notice of this stream (`notifications/tasks` and whatever else the server sends). */
  readonly onNotice: (notice: Notice) => void;
  /** Any sign of life: a message, a comment, where the transport shows them. Runs before what it brought is told. */
  readonly onLife: () => void;
}

/**
 * One MCP server of the 2026-07-28 revision, over some transport.
 *
 * `request` answers the JSON-RPC `result` as it came (an object, otherwise unchecked) and rejects with
 * `RpcError` (the server's JSON-RPC error), `ConnectionError` (no usable answer; `mayHaveRun` tells whether the
 * request can have been executed), `InvalidResponseError` (an answer outside the protocol),
 * `EraNotSupportedError` (an older server), or the abort reason of `signal`. It sends once: whether to repeat is
 * the engine's decision alone.
 */
export interface Connection {
  /**
   * Who the server is, across restarts: records are bound to it, and a task is never polled over a connection
   * with another identity. For HTTP, the URL without query and fragment, unless the host gave another.
   */
  readonly identity: string;
  request(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject>;
  /** `server/discover`, cached for the server's `ttlMs`. */
  discover(options: RequestOptions): Promise<ServerDescription>;
  /**
   * `subscriptions/listen` for these tasks: one stream. Resolves when the server ends it gracefully (also before it
   * acknowledged); rejects with `ConnectionError` when it drops, with `RpcError` and the other classes of `request`
   * when it is refused. No time limit of its own: who listens watches `onLife`. Absent where nothing can be pushed.
   */
  listen?(taskIds: readonly string[], options: ListenOptions): Promise<void>;
  /** The last client that used it was closed: lets go of what is held open. It may be used again. */
  release?(): Promise<void>;
  /** Releases what the connection holds. Requests in flight are aborted. */
  close(): Promise<void>;
}
