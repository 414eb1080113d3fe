/** Owns the session of an earlier revision that an SDK client has initialized, as the dialect of that time sees it. */
import { isObject, type JsonObject } from "../../internal/json.js";
import type { ChannelReceiver, LegacyChannel } from "../legacy/types.js";
import type { SdkSession } from "./sdkSession.js";
import type { WireMessage } from "./transportTap.js";

export function sessionChannel(session: SdkSession): LegacyChannel {
  const { client } = session;
  let receiver: ChannelReceiver | undefined;
  session.hear({
    onMessage: (message) => receiver !== undefined && offer(message, receiver),
    onEnd: () => receiver?.onSessionEnd(),
  });
  return {
    request: (method, params, options) => session.request({ method, params, ...options }),
    answer: (id, answer) => session.send({ jsonrpc: "2.0", id, ...answer }),
    capabilities: () => client.getServerCapabilities() as JsonObject | undefined,
    serverInfo: () => client.getServerVersion(),
    protocolVersion: () => session.protocolVersion(),
    receive(given) {
      receiver = given;
    },
    release: ({ id, method, params }) => session.look()?.deliver({ jsonrpc: "2.0", id, method, params }),
    close: () => Promise.resolve(session.close()),
  };
}

function offer(message: WireMessage, receiver: ChannelReceiver): boolean {
  const { id, method, params: given } = message;
  const params = (isObject(given) ? given : {}) as JsonObject;
  if (typeof method !== "string") return false;
  if (typeof id === "string" || typeof id === "number") return receiver.onRequest({ id, method, params });
  return receiver.onNotice({ method, params });
}
