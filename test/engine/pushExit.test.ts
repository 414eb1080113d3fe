/** An open stream keeps no process alive that waits for nothing. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { spawnTaskServer } from "../../src/testing/index.js";

test.each([
  ["nobody ever waited", 0, ["open", "nothing left to do"]],
  [
    "somebody waited for longer than the stream is let go without",
    2500,
    ["open", "WaitTimeoutError", "nothing left to do"],
  ],
])(
  "a process with an open stream ends by itself: %s",
  async (_what, waitMs, said) => {
    await using server = await spawnTaskServer({
      push: true,
      strict: true,
      pollIntervalMs: 60_000,
      keepAliveMs: 100,
    });
    const program = fileURLToPath(new URL("pushExitHost.ts", import.meta.url));
    const child = spawn(process.execPath, ["--import", "tsx", program, server.url, String(waitMs)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [, output] = await Promise.all([once(child, "exit"), text(child.stdout)]);
    expect([child.exitCode, output.trim().split("\n")]).toEqual([0, said]);
    // While somebody waited, the stream stayed; the task lives on.
    expect(server.log().filter(({ method }) => method === "subscriptions/listen")).toHaveLength(1);
    expect((await server.tasks()).map(({ status, cancelRequested }) => [status, cancelRequested])).toEqual([
      ["working", false],
    ]);
  },
  30_000,
);
