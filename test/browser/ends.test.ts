/** How the example ends: Ctrl+C reaches every process of the terminal's group, and nothing is left of it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");

test("SIGINTs for the whole group end everything and leave no folder", { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "taskrail-ends-"));
  // Without tsx's own process before it, which may end with another code before the example has put everything away.
  const child = spawn(process.execPath, ["--import", "tsx", "examples/chat/main.ts"], {
    cwd: ROOT,
    env: { ...process.env, TMPDIR: folder, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const exit = once(child, "exit");
  const left = (): string[] => readdirSync(folder).filter((name) => name.startsWith("taskrail-chat-"));
  try {
    let said = "";
    for await (const chunk of child.stdout) {
      said += String(chunk);
      if (said.includes("Ctrl+C ends everything.")) break;
    }
    expect(left()).toHaveLength(1);
    // Twice: whoever started a process may pass on what it got itself, and people press the keys again.
    for (let i = 0; i < 2; i += 1) process.kill(-(child.pid ?? 0), "SIGINT");
    expect(await exit).toEqual([0, null]);
    expect(left()).toEqual([]);
  } finally {
    if (child.exitCode === null) child.kill("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  }
});
