/** Owns the scratch folder: installs what the foreign servers need, once, and says why where it cannot. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "./processes.js";

const PROGRAMS = fileURLToPath(new URL("programs/", import.meta.url));
const INSTALL_LIMIT_MS = 600_000;

/** What was installed: where it is, or why it is not there. */
export type Installed =
  { readonly ok: true; readonly path: string } | { readonly ok: false; readonly why: string };

/** A folder in which things are installed. */
export class Scratch {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** Packages of npm, and programs of ours beside them. */
  npm(name: string, packages: Readonly<Record<string, string>>, programs?: string): Promise<Installed> {
    return this.#once(name, packages, programs, async (path) => {
      writeFileSync(join(path, "package.json"), '{"private":true}\n');
      const wanted = Object.entries(packages).map(([pack, version]) => `${pack}@${version}`);
      const quiet = ["--no-audit", "--no-fund", "--loglevel", "error"];
      await run(
        {
          command: "npm",
          args: ["install", ...quiet, "--prefix", path, ...wanted],
        },
        INSTALL_LIMIT_MS,
      );
    });
  }

  /** Packages of PyPI in a virtual environment. */
  python(name: string, packages: Readonly<Record<string, string>>): Promise<Installed> {
    return this.#once(name, packages, "python", async (path) => {
      await run({ command: "python3", args: ["-m", "venv", join(path, "venv")] }, INSTALL_LIMIT_MS);
      const wanted = Object.entries(packages).map(([pack, version]) => `${pack}==${version}`);
      const args = ["-m", "pip", "install", "-q", "--disable-pip-version-check", ...wanted];
      await run({ command: join(path, "venv", "bin", "python"), args }, INSTALL_LIMIT_MS);
    });
  }

  /** A Rust program of ours, built. */
  cargo(name: string, version: string): Promise<Installed> {
    return this.#once(name, { version }, name, (path) =>
      run({ command: "cargo", args: ["build", "--quiet"], cwd: path }, INSTALL_LIMIT_MS),
    );
  }

  /** A Go program of ours, built. */
  go(name: string, version: string): Promise<Installed> {
    return this.#once(name, { version }, name, (path) =>
      run(
        {
          command: "go",
          args: ["build", "-mod=mod", "-o", "server", "."],
          cwd: path,
        },
        INSTALL_LIMIT_MS,
      ),
    );
  }

  /** Does the work unless the folder holds exactly that already; the program's sources are always copied anew. */
  async #once(
    name: string,
    wanted: object,
    programs: string | undefined,
    work: (path: string) => Promise<unknown>,
  ): Promise<Installed> {
    const path = join(this.folder, name);
    const mark = join(path, ".installed");
    mkdirSync(path, { recursive: true });
    if (programs !== undefined) cpSync(join(PROGRAMS, programs), path, { recursive: true, force: true });
    const key = JSON.stringify(wanted);
    const built = existsSync(mark) && readFileSync(mark, "utf8") === key;
    // Compilers see for themselves whether a source has changed.
    const compiles = existsSync(join(path, "Cargo.toml")) || existsSync(join(path, "go.mod"));
    if (built && !compiles) return { ok: true, path };
    try {
      await work(path);
    } catch (error) {
      return {
        ok: false,
        why: error instanceof Error ? firstLines(error.message) : String(error),
      };
    }
    writeFileSync(mark, key);
    return { ok: true, path };
  }
}

function firstLines(message: string): string {
  return message
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(0, 3)
    .join(" ")
    .slice(0, 200);
}
