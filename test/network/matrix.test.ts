/** Every fault class at every phase, with delays in fractions of a second; `npm run network` adds the true ones. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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

describe("a hostile network at every phase (F042–F058)", () => {
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
