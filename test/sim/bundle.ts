/**
 * Owns the making of one file out of the simulation and the product: it starts fast, and a planted bug is put into the
 * copy that it holds. The working tree is never written to, but for the folder `.tmp`.
 */
import { build, type Plugin } from "esbuild";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** A piece of a source file, and what is put in its place. */
export interface Edit {
  /** From the root of the repository. */
  readonly file: string;
  /** Must be there exactly once. */
  readonly find: string;
  readonly replace: string;
}

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = resolve(HERE, "../..");

/** Answers the path of a program that runs seeds (see `worker.ts`). Throws where an edit does not fit. */
export async function bundle(name: string, edits: readonly Edit[] = []): Promise<string> {
  // Below the root, so that packages are found.
  const outfile = join(ROOT, ".tmp", "sim", `${name}-${process.pid}.mjs`);
  mkdirSync(dirname(outfile), { recursive: true });
  // Workers read it when they start, also later ones: it goes when we go.
  process.once("exit", () => rmSync(outfile, { force: true }));
  const used = new Set<Edit>();
  await build({
    entryPoints: [join(HERE, "worker.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    sourcemap: "inline",
    logLevel: "silent",
    plugins: [planted(edits, used)],
  });
  for (const edit of edits) if (!used.has(edit)) throw new Error(`${edit.file} is no part of the program`);
  return outfile;
}

function planted(edits: readonly Edit[], used: Set<Edit>): Plugin {
  return {
    name: "planted",
    setup(builder) {
      builder.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const mine = edits.filter(({ file }) => path === join(ROOT, file));
        if (mine.length === 0) return undefined;
        let contents = readFileSync(path, "utf8");
        for (const edit of mine) {
          contents = replaced(contents, edit);
          used.add(edit);
        }
        return { contents, loader: "ts" };
      });
    },
  };
}

/** Throws unless what is looked for is there exactly once. */
export function replaced(contents: string, { file, find, replace }: Edit): string {
  const times = contents.split(find).length - 1;
  if (times !== 1) throw new Error(`${file} holds ${times} times what is to be replaced: ${find}`);
  return contents.replace(find, () => replace);
}
