/** Owns what the network needs to know of its ends. */
import type { SimServer } from "./server.js";

export type { Exchange, ExchangeEnd, ProcessView } from "./observation.js";

/** True while nobody answers at the server's address. */
export function isDown(server: SimServer, now: number): boolean {
  return server.downUntil > now;
}
