/** Owns the programs that these tests run in processes of their own: compiled once per test file, since tests start hundreds. */
import { spawn, type ChildProcess } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Compiled sources, at their own paths below a temporary folder. */
export interface Programs {
  /** Room for what the programs write. */
  readonly folder: string;
  /** Starts `program` (a path from the repository's root). It gets `input` as JSON in the variable PROGRAM_INPUT. */
  start(program: string, input: object): Running;
  remove(): void;
}

/** A program that runs, or ran. */
export interface Running {
  readonly child: ChildProcess;
  /** Resolves when it has ended and its output is complete. */
  readonly ended: Promise<Ended>;
  /** Resolves with the next line that starts with `word`, without it; rejects when the program ends before. */
  line(word: string): Promise<string>;
  /** SIGKILL, and its end. */
  kill(): Promise<Ended>;
}

/** How a program ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Compiles `src` and the folders named (from the repository's root). */
export function compilePrograms(folders: readonly string[]): Programs {
  const out = mkdtempSync(join(tmpdir(), "programs-"));
  for (const folder of ["src", ...folders]) compileFolder(folder, out);
  writeFileSync(join(out, "package.json"), '{"type":"module"}');
  symlinkSync(join(root, "node_modules"), join(out, "node_modules"), "junction");
  const folder = join(out, "data");
  mkdirSync(folder);
  const running = new Set<ChildProcess>();
  return {
    folder,
    start(program, input) {
      const child = spawn(process.execPath, [join(out, program.replace(/\.ts$/, ".js"))], {
        env: { ...process.env, PROGRAM_INPUT: JSON.stringify(input) },
        stdio: ["pipe", "pipe", "pipe"],
      });
      running.add(child);
      child.once("close", () => running.delete(child));
      return follow(child);
    },
    remove() {
      for (const child of running) child.kill("SIGKILL");
      rmSync(out, { recursive: true, force: true });
    },
  };
}

function compileFolder(folder: string, out: string): void {
  for (const entry of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
    if (!entry.endsWith(".ts") || entry.endsWith(".test.ts")) continue;
    const source = readFileSync(join(root, folder, entry), "utf8");
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
      },
    });
    const target = join(out, folder, entry.replace(/\.ts$/, ".js"));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, outputText);
  }
}

function follow(child: ChildProcess): Running {
  const text = { stdout: "", stderr: "" };
  const listeners = new Set<() => void>();
  let cursor = 0;
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      text[name] += chunk;
      for (const listener of listeners) listener();
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      resolve({ code, signal, ...text });
      for (const listener of listeners) listener();
    });
  });

  function nextLine(word: string): string | undefined {
    for (let at = cursor, end = text.stdout.indexOf("\n", at); end >= 0;) {
      const line = text.stdout.slice(at, end);
      at = end + 1;
      if (line.startsWith(word)) {
        cursor = at;
        return line.slice(word.length).trim();
      }
      end = text.stdout.indexOf("\n", at);
    }
    return undefined;
  }

  return {
    child,
    ended,
    line: (word) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const line = nextLine(word);
          if (line === undefined) return;
          listeners.delete(look);
          resolve(line);
        };
        listeners.add(look);
        look();
        void ended.then((end) => {
          listeners.delete(look);
          reject(new Error(`The program ended (${end.code ?? end.signal}) without "${word}": ${end.stderr}`));
        });
      }),
    kill() {
      child.kill("SIGKILL");
      return ended;
    },
  };
}
