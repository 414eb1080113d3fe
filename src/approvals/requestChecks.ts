/** Owns what a request must be before anybody is asked who sent it: its route, its method, its origin, its size, its JSON. */
import { isObject, isTooDeep } from "../internal/json.js";
import type { HandlerSettings } from "./handlerOptions.js";
import { Refusal } from "./refusal.js";

/** What can be asked of the handler. */
export type Route = "tasks" | "task" | "events" | "answer" | "cancel";

const METHODS: Readonly<Record<Route, readonly string[]>> = {
  tasks: ["GET", "HEAD"],
  task: ["GET", "HEAD"],
  events: ["GET", "HEAD"],
  answer: ["POST"],
  cancel: ["POST"],
};

/** Far more than an id takes. */
const MAX_QUERY_CHARS = 8192;
/** A longer id is nobody's. */
const MAX_ID_CHARS = 1024;

/** The route, by the last segment of the path: so the handler can be mounted anywhere. Throws `Refusal`. */
export function routeOf(url: URL): Route {
  const last = url.pathname.split("/").findLast((segment) => segment !== "") ?? "";
  if (!Object.hasOwn(METHODS, last)) throw new Refusal("not-found", "There is no such route");
  return last as Route;
}

/** What `Allow` says of a route. */
export function allowOf(route: Route): string {
  return [...METHODS[route], "OPTIONS"].join(", ");
}

export function isAllowed(route: Route, method: string): boolean {
  return METHODS[route].includes(method);
}

/**
 * Throws `Refusal` for what a page of another site sent. Browsers say where a request comes from, and pages cannot
 * change what they say; who says nothing at all is no browser, and has no cookies of another site's making.
 */
export function checkOrigin(request: Request, url: URL, origins: HandlerSettings["origins"]): void {
  const origin = request.headers.get("origin");
  if (origin !== null && origins.has(origin)) return;
  const site = request.headers.get("sec-fetch-site");
  // A sandboxed frame, or a page that hides where it comes from: never an ordinary page of ours.
  if (origin === "null") throw crossSite();
  if (site !== null) {
    // "none": the person typed the address.
    if (site === "same-origin" || site === "none") return;
    throw crossSite();
  }
  if (origin === null) return;
  // Without the scheme: a proxy that ends TLS hides it. Ports are part of it.
  const host = hostOf(origin);
  if (host === undefined || (host !== url.host && host !== request.headers.get("host"))) throw crossSite();
}

/** The parameter `id`. Throws `Refusal`. */
export function idOf(url: URL): string {
  if (url.search.length > MAX_QUERY_CHARS) throw new Refusal("bad-request", "The query is too long");
  return checkedId(url.searchParams.get("id"), "The parameter id");
}

/** Throws `Refusal`. */
export function checkedId(id: unknown, what: string): string {
  if (typeof id !== "string" || id === "") throw new Refusal("bad-request", `${what} is missing`);
  if (id.length > MAX_ID_CHARS) throw new Refusal("not-found", "There is no such call");
  return id;
}

/** The body of a POST as a JSON object. Throws `Refusal`, in whose message nothing of the body stands. */
export async function readBody(request: Request, maxBytes: number): Promise<Record<string, unknown>> {
  const text = decoded(await bytesOf(request, maxBytes));
  const value = parsed(text);
  if (!isObject(value) || isTooDeep(value)) throw new Refusal("bad-request", "The body is not a JSON object");
  return value;
}

/** Throws `Refusal`: a form of another site can send everything but this type. */
export function checkContentType(request: Request): void {
  const type = request.headers.get("content-type") ?? "";
  if (/^application\/json[\t ]*(;.*)?$/i.test(type.trim())) return;
  throw new Refusal("unsupported-media-type", "The body must be application/json");
}

async function bytesOf(request: Request, maxBytes: number): Promise<Uint8Array> {
  const announced = Number(request.headers.get("content-length") ?? 0);
  if (announced > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await reader.read().catch(() => {
      throw new Refusal("bad-request", "The body could not be read");
    });
    if (done) break;
    size += value.byteLength;
    if (size > maxBytes) {
      // Not cancelled: some servers would cut the connection before the answer has left.
      reader.releaseLock();
      throw tooLarge(maxBytes);
    }
    chunks.push(value);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal("bad-request", "The body is not UTF-8");
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal("bad-request", "The body is not JSON");
  }
}

function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host;
  } catch {
    return undefined;
  }
}

function crossSite(): Refusal {
  return new Refusal("forbidden", "The request comes from another site (see the option origins)");
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal("too-large", `The body is larger than ${maxBytes} bytes`);
}
