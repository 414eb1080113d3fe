/** Owns what every request of this era carries in `_meta`. It sends nothing and checks nothing of the params. */
import type { JsonObject } from "../internal/json.js";
import {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_PROTOCOL_VERSION,
  PROTOCOL_VERSION,
} from "./constants.js";

/** Who asks: `io.modelcontextprotocol/clientInfo`. */
export interface ClientInfo {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
}

/** What a request declares: `io.modelcontextprotocol/clientCapabilities`. */
export type ClientCapabilities = JsonObject;

/** What {@link withEnvelope} puts around the params. */
export interface Envelope {
  readonly clientInfo: ClientInfo;
  readonly capabilities: ClientCapabilities;
  /** More members of `_meta`: trace context, a progress token. */
  readonly meta?: JsonObject | undefined;
}

/**
 * The params with their `_meta`: what the params had there, then `meta`, then the envelope's own three keys, which
 * always win. The params themselves are not changed.
 */
export function withEnvelope(params: JsonObject, envelope: Envelope): JsonObject {
  const { name, version, title } = envelope.clientInfo;
  const own = params["_meta"];
  return {
    ...params,
    _meta: {
      ...(typeof own === "object" && own !== null && !Array.isArray(own) ? own : {}),
      ...envelope.meta,
      [META_PROTOCOL_VERSION]: PROTOCOL_VERSION,
      [META_CLIENT_INFO]: title === undefined ? { name, version } : { name, version, title },
      [META_CLIENT_CAPABILITIES]: envelope.capabilities,
    },
  };
}
