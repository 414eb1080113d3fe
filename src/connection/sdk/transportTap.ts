/**
 * Owns the place between an SDK client and its transport: what passes there is shown to us first, and what is not ours
 * goes on untouched. It knows no message by its meaning.
 */
import type { Clock } from "../../internal/clock.js";
import type { McpTransportLike } from "./clientTypes.js";

/** A JSON-RPC message on its way. */
export type WireMessage = Readonly<Record<string, unknown>>;

/** How a transport takes a message of ours. What it does not know, it ignores. */
export interface SendOptions {
  /** Ends the request where it has a stream of its own. */
  readonly requestSignal?: AbortSignal | undefined;
  /** The stream of the answer ended; the answer may have been on it. */
  readonly onRequestStreamEnd?: (() => void) | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Who looks at what passes. A function that answers true has taken the message: it goes no further. */
export interface TapHooks {
  onMessage(message: WireMessage): boolean;
  /** What the SDK client sends. Without it, `send` is left alone. */
  readonly onSend?: ((message: WireMessage) => boolean) | undefined;
  onClose(): void;
  readonly clock: Clock;
}

/** One tapped transport. */
export interface TransportTap {
  readonly transport: McpTransportLike;
  /** False once the transport closed. */
  readonly open: boolean;
  /** Sends past the SDK client. Rejects as the transport does. */
  send(message: WireMessage, options?: SendOptions): Promise<void>;
  /** Gives a message to the SDK client as if it had come from the server. */
  deliver(message: WireMessage): void;
  /** Puts the transport back as it was. Where somebody else has wrapped it meanwhile, ours only passes on. */
  restore(): void;
}

/** The transport with types that can be called: what goes through is passed on as it is. */
interface OpenTransport {
  send(this: void, message: WireMessage, options?: unknown): Promise<void>;
  onmessage?: ((message: WireMessage, extra?: unknown) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
}

export function tapTransport(tapped: McpTransportLike, hooks: TapHooks): TransportTap {
  const transport = tapped as unknown as OpenTransport;
  const ownSend = Object.getOwnPropertyDescriptor(transport, "send");
  const { onmessage, onclose, onerror } = transport;
  const originalSend = transport.send;
  /** Sends of ours under way, and how those ended that failed. */
  let sending = 0;
  const ourFailures = new WeakSet<object>();
  let active = true;
  let open = true;

  const tap: TransportTap = {
    transport: tapped,
    get open() {
      return open;
    },
    async send(message, options) {
      sending += 1;
      try {
        await originalSend.call(transport as never, message, options);
      } catch (error) {
        if (typeof error === "object" && error !== null) ourFailures.add(error);
        throw error;
      } finally {
        sending -= 1;
      }
    },
    deliver: (message) => onmessage?.call(transport as never, message),
    restore() {
      active = false;
      if (transport.onmessage === onMessage) transport.onmessage = onmessage;
      if (transport.onclose === onClose) transport.onclose = onclose;
      if (transport.onerror === onError) transport.onerror = onerror;
      if (transport.send !== onSend) return;
      if (ownSend === undefined) Reflect.deleteProperty(transport, "send");
      else Object.defineProperty(transport, "send", ownSend);
    },
  };

  function onMessage(this: unknown, message: WireMessage, extra?: unknown): void {
    if (active && hooks.onMessage(message)) return;
    onmessage?.call(this as never, message, extra);
  }
  async function onSend(this: unknown, message: WireMessage, options?: unknown): Promise<void> {
    if (active && hooks.onSend?.(message) === true) return;
    await originalSend.call(transport as never, message, options);
  }
  function onClose(this: unknown): void {
    open = false;
    try {
      if (active) hooks.onClose();
    } finally {
      onclose?.call(this as never);
    }
  }
  /** Transports report a send that fails and then reject it: of ours, the SDK client is not to hear. */
  function onError(this: unknown, error: Error): void {
    const tell = (): void => onerror?.call(this as never, error);
    if (!active || sending === 0) return tell();
    hooks.clock.setTimer(0, () => (ourFailures.has(error) ? undefined : tell()), { keepAlive: true });
  }

  transport.onmessage = onMessage;
  transport.onclose = onClose;
  transport.onerror = onError;
  if (hooks.onSend !== undefined) transport.send = onSend;
  return tap;
}
