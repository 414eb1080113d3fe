/** Owns a disk of a few megabytes that can be full or read-only: a tmpfs of its own, which needs root. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface SmallDisk {
  readonly folder: string;
  fill(): void;
  free(): void;
  readOnly(on: boolean): void;
  remove(): void;
}

/** Why there can be none here; undefined where there can. */
export function whyNoDisk(): string | undefined {
  try {
    mounted("1m").remove();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function mounted(size: string): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), "small-disk-"));
  const filler = join(folder, "filler");
  run("mount", "-t", "tmpfs", "-o", `size=${size},mode=700`, "tmpfs", folder);
  return {
    folder,
    fill() {
      // Down to the last page.
      for (const step of [1 << 20, 1 << 16, 1 << 12]) {
        for (;;) {
          try {
            writeFileSync(filler, Buffer.alloc(step), { flag: "a" });
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
            break;
          }
        }
      }
    },
    free: () => rmSync(filler, { force: true }),
    readOnly: (on) => run("mount", "-o", `remount,${on ? "ro" : "rw"}`, folder),
    remove() {
      run("umount", "-l", folder);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function run(program: string, ...args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program}: ${error?.message ?? stderr.trim()}`);
}
