/** Owns one durable file: whole-file JSON, written beside and renamed. It must not know what is in it. */
import { mkdirSync, readFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/** A file that holds one JSON value. */
export interface StateFile {
  /** Resolves once everything that was in the value before this call is on disk. Calls at one time share a write. */
  save(): Promise<void>;
}

/** Reads the value, or undefined where there is no file yet. */
export function readStateFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Keeps `value()` in the file at `path`. */
export function stateFile(path: string, value: () => unknown): StateFile {
  let running: Promise<void> | undefined;
  let queued: Promise<void> | undefined;
  mkdirSync(dirname(path), { recursive: true });

  async function write(): Promise<void> {
    const text = JSON.stringify(value());
    const beside = `${path}.${process.pid}.tmp`;
    const file = await open(beside, "w");
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, path);
  }

  function start(): Promise<void> {
    running = write().finally(() => {
      running = undefined;
    });
    return running;
  }

  return {
    save() {
      if (running === undefined) return start();
      // What is being written may be older than what the caller needs: one more write covers everyone who waits.
      queued ??= running
        .catch(() => undefined)
        .then(() => {
          queued = undefined;
          return start();
        });
      return queued;
    },
  };
}
