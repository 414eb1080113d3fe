/** The examples and the benchmark run as a user runs them, without a terminal, and end as they say. */
import { describe, expect, test } from "vitest";
import { emptyFolder, run } from "./support.js";

/** Everything that a terminal would obey, but line feeds. */
const CONTROL = /(?!\n)\p{Cc}/u;

describe("examples", () => {
  test("demo: three calls, one SIGKILL, three results", async () => {
    const { code, stdout, stderr } = await start("examples/demo/main.ts");
    expect(stderr).toBe("");
    expect(stdout).toContain("so the demo approves by itself");
    const closing = stdout.slice(stdout.indexOf("\nResults\n"));
    expect(closing).toMatch(/report +report of 14 steps/);
    expect(closing).toMatch(/deploy +deployed to prod/);
    expect(closing).toMatch(/crawl +read 24 pages/);
    expect(closing).toContain("calls sent: 3");
    expect(closing).toContain("prompts shown: 1");
    expect(closing).toMatch(/polls: \d+/);
    expect(closing).toContain("restarts: 1");
    expect(stdout).not.toMatch(CONTROL);
    expect(code).toBe(0);
  }, 90_000);

  test("resume-after-restart: two processes, one call", async () => {
    const { code, stdout, stderr } = await start("examples/resume-after-restart/main.ts");
    expect(stderr).toBe("");
    expect(stdout).toMatch(/OK: two processes, one tools\/call, one outcome\n$/);
    expect(code).toBe(0);
  }, 60_000);

  test("approvals-in-terminal: forms, a page, and an answer of another process", async () => {
    const { code, stdout, stderr } = await start("examples/approvals-in-terminal/main.ts");
    expect(stderr).toBe("");
    expect(stdout).toContain("That does not fit: content.size");
    expect(stdout).toMatch(/OK: every question was asked once, and no answer was sent twice\n$/);
    expect(stdout).not.toMatch(CONTROL);
    expect(code).toBe(0);
  }, 60_000);
});

test("bench --quick prints a row per variant, with one call and one update per task", async () => {
  const { code, stdout } = await start("bench/run.ts", "--quick");
  expect(stdout).toMatch(/^\| plain loop \| [^|]+ \| [^|]+ \| 1\.00 \| 1\.00 \|/m);
  expect(stdout).toMatch(/^\| TaskClient, memory \| [^|]+ \| [^|]+ \| 1\.00 \| 1\.00 \|/m);
  expect(stdout).toMatch(/^\| TaskClient, lmdb \| [^|]+ \| [^|]+ \| 1\.00 \| 1\.00 \|/m);
  expect(code).toBe(0);
}, 120_000);

function start(...args: readonly string[]): ReturnType<typeof run> {
  // Says so when there is no build, instead of failing in a child.
  emptyFolder("examples");
  return run(["--import", "tsx", ...args]);
}
