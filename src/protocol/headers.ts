/** Owns the text of the MCP request headers. It knows no HTTP client and never changes a body. */
import type { JsonObject } from "../internal/json.js";
import { PROTOCOL_VERSION } from "./constants.js";

const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const SENTINEL = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/** The param that `Mcp-Name` repeats, by method. */
const namedBy: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

/**
 * A value as a header may carry it: itself when it is visible ASCII without white space at its ends, else
 * `=?base64?…?=`. A value that looks like that already is wrapped once more. Never throws.
 */
export function encodeHeaderValue(value: string): string {
  if (value === "" || (PLAIN.test(value) && !looksWrapped(value))) return value;
  return `=?base64?${toBase64(new TextEncoder().encode(value))}?=`;
}

/** The value that {@link encodeHeaderValue} was given. Text that is not validly wrapped is answered as it is. */
export function decodeHeaderValue(value: string): string {
  const encoded = SENTINEL.exec(value)?.[1];
  if (encoded === undefined) return value;
  try {
    const bytes = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return value;
  }
}

/** The headers that every request has beside its content type: version, method and, where there is one, the name. */
export function requestHeaders(method: string, params: JsonObject): Record<string, string> {
  const headers: Record<string, string> = {
    "MCP-Protocol-Version": PROTOCOL_VERSION,
    "Mcp-Method": encodeHeaderValue(method),
  };
  const name = params[namedBy.get(method) ?? ""];
  if (typeof name === "string") headers["Mcp-Name"] = encodeHeaderValue(name);
  return headers;
}

function looksWrapped(value: string): boolean {
  return /^=\?base64\?/i.test(value) && value.endsWith("?=");
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
