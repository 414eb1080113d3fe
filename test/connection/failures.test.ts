/** What failed exchanges say: whether the call can have run, the status, and when to come back. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { certainlyNotSent, MAX_RETRY_AFTER_MS, readRetryAfter } from "../../src/connection/failures.js";
import { httpConnection } from "../../src/connection/http.js";
import { ConnectionError } from "../../src/errors.js";
import { startRawServer, type RawServer, type ScriptedResponse } from "../helpers/rawServer.js";
import { errorText, json, rejection, requestOptions, resultText } from "./support.js";

let server: RawServer;
beforeAll(async () => {
  server = await startRawServer();
});
afterAll(() => server.stop());

let paths = 0;
async function failure(response: ScriptedResponse): Promise<ConnectionError> {
  paths += 1;
  const connection = httpConnection(await server.script(`/failures/${paths}`, response));
  const error = await rejection(connection.request("tools/call", { name: "t" }, requestOptions));
  expect(error).toBeInstanceOf(ConnectionError);
  return error as ConnectionError;
}

describe("statuses without a JSON-RPC answer", () => {
  for (const status of [408, 410, 413, 425, 500, 502, 503, 504]) {
    it(`${status} leaves open whether the call ran`, async () => {
      expect(await failure({ status, steps: [{ text: "<html>" }] })).toMatchObject({
        status,
        mayHaveRun: true,
      });
    });
  }

  for (const status of [401, 403, 429]) {
    it(`${status}: the call did not run`, async () => {
      expect(await failure({ status })).toMatchObject({ status, mayHaveRun: false });
    });
  }

  it("a gate's status counts also when its body is a JSON-RPC error, which is kept as the cause", async () => {
    const body = errorText({ code: -32000, message: "Too many requests" }, null);
    const error = await failure(json(body, 429, { "retry-after": "7" }));
    expect(error).toMatchObject({ status: 429, retryAfterMs: 7000, mayHaveRun: false });
    expect(error.cause).toMatchObject({ rpcCode: -32000 });
  });

  it("a 503 that names no request is the gateway's, with its Retry-After", async () => {
    const body = errorText({ code: -32000, message: "busy" }, null);
    expect(await failure(json(body, 503, { "retry-after": "3" }))).toMatchObject({
      status: 503,
      retryAfterMs: 3000,
    });
  });
});

describe("Retry-After (F055, F058)", () => {
  const now = Date.UTC(2026, 6, 28, 12, 0, 0, 200);
  const read = (value: string | null, date: string | null = null): number | undefined =>
    readRetryAfter({ get: (name) => (name === "retry-after" ? value : date) }, now);

  it("reads seconds, rounding up to milliseconds", () => {
    expect(read("7")).toBe(7000);
    expect(read("0")).toBe(0);
    expect(read(" 1.0001 ")).toBe(1001);
  });

  it("rounds the date form up: 59.8 s ahead is a wait of 60 s", () => {
    expect(read(new Date(now + 59_800).toUTCString())).toBe(60_000);
  });

  it("measures a date against the server's own clock where it tells it", () => {
    const serverNow = now - 3_600_000;
    expect(read(new Date(serverNow + 30_000).toUTCString(), new Date(serverNow).toUTCString())).toBe(30_000);
  });

  it("is never negative, never longer than a day, and undefined when unusable", () => {
    expect(read(new Date(now - 60_000).toUTCString())).toBe(0);
    expect(read("99999999999999999999")).toBe(MAX_RETRY_AFTER_MS);
    expect(read(new Date(now + 90 * MAX_RETRY_AFTER_MS).toUTCString())).toBe(MAX_RETRY_AFTER_MS);
    for (const value of [null, "", "soon", "-5", "1e9", "2026-07-28T12:00:00", "NaN GMT"]) {
      expect(read(value), String(value)).toBeUndefined();
    }
  });

  it("comes through with a 429 and a 503, in both forms", async () => {
    expect(await failure({ status: 429, headers: { "retry-after": "120" } })).toMatchObject({
      retryAfterMs: 120_000,
    });
    const until = new Date(Date.now() + 3_600_000).toUTCString();
    const { retryAfterMs } = await failure({ status: 503, headers: { "retry-after": until } });
    expect(retryAfterMs).toBeGreaterThan(3_590_000);
    expect(retryAfterMs).toBeLessThanOrEqual(3_601_000);
  });
});

describe("requests that certainly were not sent", () => {
  it("a refused connection, also of a name with two addresses", async () => {
    const gone = await startRawServer();
    const { port } = new URL(gone.origin);
    await gone.stop();
    for (const host of ["127.0.0.1", "localhost"]) {
      const connection = httpConnection(`http://${host}:${port}/mcp`);
      const error = await rejection(connection.request("tools/call", { name: "t" }, requestOptions));
      expect(error).toBeInstanceOf(ConnectionError);
      expect(error).toMatchObject({ mayHaveRun: false, status: undefined });
      expect((error as Error).cause).toBeDefined();
    }
  });

  it("a name that does not exist", async () => {
    const connection = httpConnection("http://no-such-host.invalid/mcp");
    const error = await rejection(connection.request("tools/call", { name: "t" }, requestOptions));
    expect(error).toMatchObject({ mayHaveRun: false });
  });

  it("headers that could not be had", async () => {
    const cause = new Error("no token");
    const url = await server.script("/failures/headers", json(resultText({ content: [] })));
    const connection = httpConnection(url, { headers: () => Promise.reject(cause) });
    const error = await rejection(connection.request("tools/call", { name: "t" }, requestOptions));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ mayHaveRun: false, cause });
    expect(await server.log("/failures/headers")).toEqual([]);
  });

  const withCode = (code: string, more: object = {}): Error =>
    Object.assign(new Error("x"), { code, ...more });
  const wrapped = (cause: unknown): Error => new TypeError("fetch failed", { cause });

  it("are told by the codes of the whole cause chain", () => {
    for (const code of [
      "ECONNREFUSED",
      "ENOTFOUND",
      "EAI_AGAIN",
      "ENETUNREACH",
      "EHOSTUNREACH",
      "EADDRNOTAVAIL",
      "UND_ERR_CONNECT_TIMEOUT",
      "CERT_HAS_EXPIRED",
      "ERR_TLS_CERT_ALTNAME_INVALID",
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "SELF_SIGNED_CERT_IN_CHAIN",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    ]) {
      expect(certainlyNotSent(wrapped(wrapped(withCode(code)))), code).toBe(true);
    }
  });

  it("are not claimed for errors of a connection that stood", () => {
    for (const code of ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "UND_ERR_HEADERS_TIMEOUT", "ETIMEDOUT"]) {
      expect(certainlyNotSent(wrapped(withCode(code))), code).toBe(false);
    }
    expect(certainlyNotSent(wrapped(withCode("EHOSTUNREACH", { syscall: "read" })))).toBe(false);
    expect(certainlyNotSent(wrapped(withCode("EHOSTUNREACH", { syscall: "connect" })))).toBe(true);
    expect(certainlyNotSent(new TypeError("Failed to fetch"))).toBe(false);
    expect(certainlyNotSent("ECONNREFUSED")).toBe(false);
  });

  it("need every one of several attempts to have failed so", () => {
    const refused = withCode("ECONNREFUSED");
    expect(certainlyNotSent(wrapped(new AggregateError([refused, withCode("ENETUNREACH")])))).toBe(true);
    const mixed = Object.assign(new AggregateError([refused, withCode("ECONNRESET")]), {
      code: "ECONNREFUSED",
    });
    expect(certainlyNotSent(wrapped(mixed))).toBe(false);
  });

  it("survive a chain that bites its tail", () => {
    const loop = new Error("loop");
    loop.cause = loop;
    expect(certainlyNotSent(loop)).toBe(false);
  });
});
