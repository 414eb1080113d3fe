/** Every fault class at every phase, with delays in fractions of a second; `npm run network` adds the true ones. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FetchLike } from "../../src/index.js";
import { runCell } from "./cell.js";
import { cells, QUICK, runMatrix, startServers } from "./matrix.js";

/** Cells mostly wait; that many at once leave two cores time. */
const AT_ONCE = 16;

let servers: ReturnType<typeof startServers>;
let reports: ReturnType<typeof runMatrix>;
const stray: unknown[] = [];
const note = (reason: unknown): void => void stray.push(reason);

beforeAll(() => {
  process.on("unhandledRejection", note);
  servers = startServers();
  reports = runMatrix(cells, { servers, pace: QUICK, atOnce: AT_ONCE });
});
afterAll(async () => {
  process.off("unhandledRejection", note);
  await (await servers).stop();
});

describe("a hostile network at every phase (F043, F044, F046, F047)", () => {
  test.each(cells.map((cell) => [cell.fault.name, cell.phase.name, cell] as const))(
    "%s × %s",
    async (_fault, _phase, cell) => {
      const report = await reports.get(cell);
      expect(report?.failure).toBeUndefined();
      expect(report?.outcome).toBeDefined();
      expect(report?.hits).toBeGreaterThan(0);
    },
    120_000,
  );

  test("no rejection was left unhandled", () => {
    expect(stray).toEqual([]);
  });
});

describe("the matrix itself can fail", () => {
  const cellOf = (fault: string, phase: string): (typeof cells)[number] => {
    const found = cells.find((cell) => cell.fault.name === fault && cell.phase.name === phase);
    if (found === undefined) throw new Error(`no cell ${fault} × ${phase}`);
    return found;
  };
  const failureOf = async (fault: string, phase: string, send: FetchLike): Promise<string> => {
    const report = await runCell({ ...cellOf(fault, phase), pace: QUICK, send }, await servers);
    return String(report.failure);
  };

  test("a call that is sent again is found", async () => {
    const again: FetchLike = (url, init) => fetch(url, init).catch(() => fetch(url, init));
    expect(await failureOf("reset instead of the answer", "call", again)).toContain("did not run once");
  });

  test("a fault that does not hit is found", async () => {
    const unnamed: FetchLike = (url, { headers: { "mcp-method": method, ...headers }, ...init }) =>
      fetch(url, {
        ...init,
        headers: method === "tasks/get" ? headers : { ...headers, "mcp-method": method ?? "" },
      });
    expect(await failureOf("wrong protocol: SMTP", "get", unnamed)).toContain("did not hit");
  });

  test("a secret in an error is found", async () => {
    const telling: FetchLike = (url, init) =>
      fetch(url, init).catch(() =>
        Promise.reject(new Error(`no answer to ${init.headers["authorization"]}`)),
      );
    expect(await failureOf("reset before the request", "get", telling)).toContain("shows a secret");
  });
});
