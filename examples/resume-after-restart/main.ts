/** A call that is made by one process and ends in another: runs both, and asks the server what it saw. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawnTaskServer } from "mcp-taskrail/testing";

const folder = mkdtempSync(join(tmpdir(), "taskrail-resume-"));
const server = await spawnTaskServer();
try {
  assert.equal(await run("start.ts"), "SIGKILL");
  assert.equal(await run("resume.ts"), 0);
  const calls = server.log().filter(({ method }) => method === "tools/call");
  assert.equal(calls.length, 1);
  assert.deepEqual(server.violations(), []);
  console.log("OK: two processes, one tools/call, one outcome");
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** How the process ended: its exit code, or the signal that ended it. */
async function run(name: string): Promise<unknown> {
  const file = fileURLToPath(new URL(name, import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", file, server.url, folder], { stdio: "inherit" });
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  return signal ?? code;
}
