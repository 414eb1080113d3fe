/** Owns the programs that these tests run in processes of their own: compiled once per test file, since tests start hundreds. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Compiled sources, at their own paths below a temporary folder. */
export interface Programs {
  /** Room for what the programs write. */
  readonly folder: string;
  /** The file that `program` is compiled into. */
  file(program: string): string;
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

/** Room for programs; each is compiled into one file when it is first started, since loading hundreds takes most of its time. */
export function compilePrograms(): Programs {
  const out = mkdtempSync(join(tmpdir(), "programs-"));
  writeFileSync(join(out, "package.json"), '{"type":"module"}');
  symlinkSync(join(root, "node_modules"), join(out, "node_modules"), "junction");
  const folder = join(out, "data");
  mkdirSync(folder);
  const running = new Set<ChildProcess>();
  const compiled = new Map<string, string>();
  const fileOf = (program: string): string => {
    let file = compiled.get(program);
    if (file === undefined) compiled.set(program, (file = compile(program, out)));
    return file;
  };
  return {
    folder,
    file: fileOf,
    start(program, input) {
      const child = spawn(process.execPath, [fileOf(program)], {
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

function compile(program: string, out: string): string {
  const outfile = join(out, program.replace(/\.ts$/, ".mjs"));
  buildSync({
    entryPoints: [join(root, program)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    // What holds native code, and what users have beside the package.
    external: ["lmdb", "keyv", "@keyv/redis"],
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "silent",
  });
  return outfile;
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
