/** Owns how the tests of the texts find code blocks and run programs. It asserts nothing but that there is a build. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "");

/** A code block of a text, with the line it begins at. */
export interface Block {
  readonly line: number;
  readonly language: "ts" | "tsx";
  readonly code: string;
}

/** The `ts` and `tsx` blocks of a Markdown file, in order. */
export function tsBlocks(file: string): Block[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  return [...text.matchAll(/^```(tsx?)\n([\s\S]*?)^```$/gm)].map((match) => ({
    line: text.slice(0, match.index).split("\n").length + 1,
    language: match[1] === "tsx" ? "tsx" : "ts",
    code: match[2] ?? "",
  }));
}

/**
 * An empty folder inside the repository, so that programs in it import this package by its name. It is removed when
 * the test has passed; git ignores it.
 */
export function emptyFolder(name: string): string {
  if (!existsSync(join(ROOT, "dist", "index.d.ts"))) throw new Error("No build: npm run build");
  const folder = join(ROOT, ".tmp", name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  onTestFinished(({ task }) => {
    if (task.result?.state !== "fail") rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** How a program ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Node without a terminal. `onOutput` is called with everything that was printed so far. */
export async function run(
  args: readonly string[],
  options: { cwd?: string; onOutput?: (stdout: string, child: ChildProcess) => void } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, args, { cwd: options.cwd ?? ROOT, stdio: "pipe" });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    options.onOutput?.(stdout, child);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { code, stdout, stderr };
}
