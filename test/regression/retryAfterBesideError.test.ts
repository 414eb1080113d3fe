/** F055: Retry-After was heard from gateways only: not beside a JSON-RPC error of the server's own, not sent twice, not in each form of a date. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readRetryAfter } from "../../src/connection/failures.js";
import { httpConnection } from "../../src/connection/http.js";
import { RpcError } from "../../src/errors.js";
import { errorText, json, rejection, requestOptions } from "../connection/support.js";
import { startRawServer, type RawServer } from "../helpers/rawServer.js";

let server: RawServer;
beforeAll(async () => {
  server = await startRawServer();
});
afterAll(() => server.stop());

test.each([
  [503, -32603],
  [500, -32000],
  [409, -32009],
  [404, -32601],
  [400, -32021],
])("HTTP %i with the JSON-RPC error %i carries it", async (status, code) => {
  const body = errorText({ code, message: "busy" });
  const url = await server.script(`/beside/${status}`, json(body, status, { "Retry-After": "7" }));
  const error = await rejection(httpConnection(url).request("tasks/get", { taskId: "t" }, requestOptions));
  expect(error).toBeInstanceOf(RpcError);
  expect(error).toMatchObject({ rpcCode: code, retryAfterMs: 7000 });
});

describe("the header", () => {
  const now = Date.UTC(2026, 6, 28, 12);
  const read = (value: string): number | undefined =>
    readRetryAfter({ get: (name) => (name === "retry-after" ? value : null) }, now);

  test.each(["7, 7", "3, 7", "7,3"])("sent twice: %s", (value) => expect(read(value)).toBe(7000));

  test.each([
    "Tue, 28 Jul 2026 12:00:10 GMT",
    "Tuesday, 28-Jul-26 12:00:10 GMT",
    "Tue Jul 28 12:00:10 2026",
    "tue, 28 jul 2026 12:00:10 gmt",
    "Tue, 28 Jul 2026 12:00:10 UTC",
    "Tue, 28 Jul 2026 14:00:10 +0200",
    "2026-07-28T12:00:10Z",
    "2026-07-28T14:00:10+02:00",
  ])("as a date that names its zone, or must mean GMT: %s", (value) => expect(read(value)).toBe(10_000));

  test.each(["7, soon", "7;8", "7s", "+7", "0x10", "2026-07-28T12:00:10", "2026-07-28", "12:00:10"])(
    "not as %s",
    (value) => expect(read(value)).toBeUndefined(),
  );
});
