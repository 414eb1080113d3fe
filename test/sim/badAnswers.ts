/** Owns the answers that are none: of gateways before the server, and of whatever spoils an answer behind it. */
import type { FaultKind } from "./faults.js";
import type { Random } from "./random.js";
import type { SimServer, ServerWord } from "./server.js";
import { START_MS } from "./time.js";
import type { World } from "./world.js";

/** A response as it goes over the wire, in one piece. */
export interface Wire {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly headers?: Record<string, string>;
  readonly retryAfterMs?: number | undefined;
  /** What the client reads from it, where it reads anything. */
  readonly word?: ServerWord | { readonly error: { code: number; message: string } };
}

const HTML = "<!doctype html><title>Bad Gateway</title><h1>zzz</h1>";

/** The refusal of a layer before the server: nothing was executed. */
export function gateResponse(
  world: World,
  random: Random,
  { server, method }: { server: SimServer; method: string },
): Wire | undefined {
  if (server.refusesUntil > world.time.now) {
    return { status: 401, type: "application/json", text: '{"error":"expired"}' };
  }
  // A stream that asks for more patience than polls are ready for would need a rule of its own.
  const longest = method === "subscriptions/listen" ? 30 : 120;
  if (world.fault("http429")) {
    return random.chance(0.3) ? page(429) : { ...page(429), ...retryAfter(world, random, longest) };
  }
  if (world.fault("http5xx")) {
    const status = random.pick([500, 502, 503, 503, 529]);
    const asks = status === 503 && random.chance(0.5);
    return asks ? { ...page(status), ...retryAfter(world, random, longest) } : page(status);
  }
  if (world.fault("http408")) return page(random.pick([408, 425]));
  return undefined;
}

/** What spoils an answer of a server that has done its work. */
export function badResponse(
  world: World,
  random: Random,
  { word, rpcId }: { word: ServerWord; rpcId: string },
): Wire | undefined {
  const text = JSON.stringify({ jsonrpc: "2.0", id: rpcId, ...word });
  const json = "application/json";
  const spoiled: readonly [FaultKind, () => Wire][] = [
    ["gatewayTimeout", () => page(504)],
    ["htmlPage", () => ({ status: 200, type: "text/html; charset=utf-8", text: HTML })],
    ["truncated", () => ({ status: 200, type: json, text: text.slice(0, random.int(1, text.length - 2)) })],
    ["garbage", () => ({ status: 200, type: json, text: random.pick(GARBAGE) })],
    ["emptyBody", () => ({ status: 200, type: json, text: "" })],
    ["wrongType", () => ({ status: 200, type: "application/octet-stream", text })],
    ["otherId", () => ({ status: 200, type: json, text: text.replace(rpcId, "another") })],
  ];
  for (const [kind, make] of spoiled) if (world.fault(kind)) return make();
  return undefined;
}

const GARBAGE = ["null", "[]", "{}", "\u0000\u0001", '{"jsonrpc":"2.0"}', "[[[[[[", '"text"', "17"];

function page(status: number): Wire {
  return { status, type: "text/html", text: HTML };
}

/** Seconds, or a date by a clock that is not the client's. */
function retryAfter(
  world: World,
  random: Random,
  longestSeconds: number,
): { headers: Record<string, string>; retryAfterMs: number } {
  const seconds = random.int(1, longestSeconds);
  if (random.chance(0.7))
    return { headers: { "retry-after": String(seconds) }, retryAfterMs: seconds * 1000 };
  const now = Math.floor((START_MS + world.time.now - 7_200_000) / 1000) * 1000;
  const headers = {
    date: new Date(now).toUTCString(),
    "retry-after": new Date(now + seconds * 1000).toUTCString(),
  };
  return { headers, retryAfterMs: seconds * 1000 };
}
