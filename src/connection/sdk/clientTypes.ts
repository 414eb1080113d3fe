/** Owns what is needed of an SDK client and its transport, as structural types, so that ours never force either SDK. No code. */

/**
 * The part of a transport that is used. The transports of both SDKs fit, and so do others that keep to their
 * interface.
 */
export interface McpTransportLike {
  send(message: never, options?: never): Promise<void>;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  /** The session that the server gave, where it has sessions. */
  readonly sessionId?: string | undefined;
  /** True where each request has a stream of its own, which ends with it (HTTP of the 2.x SDK). */
  readonly hasPerRequestStream?: boolean | undefined;
}

/**
 * The part of an SDK client that is used: the `Client` of `@modelcontextprotocol/sdk` 1.x and of
 * `@modelcontextprotocol/client` 2.x. Only public members.
 */
export interface McpClientLike {
  readonly transport?: McpTransportLike | undefined;
  getServerCapabilities(): object | undefined;
  getServerVersion(): { readonly name: string; readonly version: string } | undefined;
  /** 2.x only; a client without it speaks the revisions up to 2025-11-25. */
  getNegotiatedProtocolVersion?(): string | undefined;
}

/** A client whose calls can be taken over: as the above, with the methods that `withTasks` stands in for. */
export interface McpCallingClientLike extends McpClientLike {
  connect(transport: never, options?: never): Promise<unknown>;
  close(): Promise<void>;
  request(request: never, ...rest: never[]): Promise<unknown>;
  callTool(params: never, ...rest: never[]): Promise<unknown>;
  listTools(params?: never, options?: never): Promise<unknown>;
}
