/** Owns the seam between the dialect of 2025-11-25 and the session it speaks over. No code. */
import type { JsonObject } from "../../internal/json.js";
import type { Notice } from "../types.js";

/** How one request goes out. */
export interface ChannelRequestOptions {
  /** Ends the request; rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds without a sign of life until it is given up with `ConnectionError`. `Infinity`: never. */
  readonly timeoutMs: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Progress of this request. Must not throw. */
  readonly onNotice?: ((notice: Notice) => void) | undefined;
}

/** A request that the server sends to the client. */
export interface ServerRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: JsonObject;
}

/** What the client says to a request of the server. */
export type ClientAnswer =
  { readonly result: JsonObject } | { readonly error: { readonly code: number; readonly message: string } };

/** Hears what the server sends on its own account. A function that answers true has taken the message: nobody else gets it. */
export interface ChannelReceiver {
  onRequest(request: ServerRequest): boolean;
  onNotice(notice: Notice): boolean;
  /** The session is over: what the server asked in it is asked no more, and ids of its requests mean nothing. */
  onSessionEnd(): void;
}

/**
 * One initialized session of an earlier revision, whatever the transport. It follows the host's reconnects: a request
 * goes over the session of the moment.
 */
export interface LegacyChannel {
  /** The JSON-RPC `result`, as `Connection.request` answers and rejects it. `params` go out as they are. */
  request(method: string, params: JsonObject, options: ChannelRequestOptions): Promise<JsonObject>;
  /** Answers a request of the server. Rejects with `ConnectionError` when it did not reach the server. */
  answer(id: string | number, answer: ClientAnswer): Promise<void>;
  /** What the server said of itself in `initialize`; undefined while there is no session. */
  capabilities(): JsonObject | undefined;
  /** The server's name and version as it gave them. */
  serverInfo(): JsonObject | undefined;
  /** The revision that was agreed on, where it is known. */
  protocolVersion(): string | undefined;
  /** Sets who hears; there is one. */
  receive(receiver: ChannelReceiver): void;
  /** Passes on a request that the receiver had taken and that is not its own: it goes where it would have gone. */
  release(request: ServerRequest): void;
  close(): Promise<void>;
}
