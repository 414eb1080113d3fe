/** Owns a process that sets keys without end and prints each one when its promise has resolved. It is to be killed. */
import { writeSync } from "node:fs";
import { lmdbStore } from "../../../src/store/lmdb.js";

const [path = "", run = ""] = process.argv.slice(2);
const store = lmdbStore(path);

async function writer(name: string): Promise<void> {
  for (let at = 0; ; at++) {
    const key = `${run}-${name}-${at}`;
    await store.set(key, `value of ${key} ${"x".repeat(at % 500)}`);
    // Synchronously: a line that is out is a promise that was kept before.
    writeSync(1, `${key}\n`);
  }
}

await Promise.all(["a", "b", "c", "d"].map(writer));
