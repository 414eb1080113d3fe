/** Owns the open lmdb environments of this process: one per folder, shared, closed by the last one who leaves. */
import type * as Lmdb from "lmdb";
import { StoreError } from "../errors.js";
import { prepareFiles } from "./lmdbFiles.js";
import { lmdbWriter, type LmdbWriter } from "./lmdbWriter.js";

/** An open folder; keys and values are bytes. */
export interface LmdbEnvironment {
  readonly database: Lmdb.RootDatabase<Buffer, Buffer>;
  readonly write: LmdbWriter["write"];
  /** Waits for the writes under way and, if no other user is left, closes the files. Call it once. */
  readonly leave: () => Promise<void>;
}

interface Shared {
  readonly opened: Promise<{ database: Lmdb.RootDatabase<Buffer, Buffer>; writer: LmdbWriter }>;
  users: number;
}

const environments = new Map<string, Shared>();

/** Opens the folder (an absolute path), or joins in. Rejects with StoreError; the next call tries again. */
export async function enter(folder: string): Promise<LmdbEnvironment> {
  const shared = environments.get(folder) ?? { opened: openFolder(folder), users: 0 };
  environments.set(folder, shared);
  shared.users += 1;
  try {
    const { database, writer } = await shared.opened;
    return { database, write: writer.write, leave: () => leave(folder, shared) };
  } catch (error) {
    if (environments.get(folder) === shared) environments.delete(folder);
    throw error;
  }
}

async function leave(folder: string, shared: Shared): Promise<void> {
  const { database, writer } = await shared.opened;
  await writer.idle();
  shared.users -= 1;
  if (shared.users > 0) return;
  environments.delete(folder);
  await database.close();
}

async function openFolder(folder: string): ReturnType<() => Shared["opened"]> {
  const { open } = await importLmdb();
  try {
    await prepareFiles(folder);
    const database = open<Buffer, Buffer>({
      path: folder,
      // A folder, whatever its name ends with.
      noSubdir: false,
      encoding: "binary",
      keyEncoding: "binary",
      // lmdb's own commit: data on disk, then the page that makes it current, then the promise. (The faster
      // overlapping sync makes a commit visible before it is on disk.)
      overlappingSync: false,
      eventTurnBatching: false,
    });
    return { database, writer: lmdbWriter(database) };
  } catch (cause) {
    throw new StoreError("The lmdb store could not be opened", { cause });
  }
}

async function importLmdb(): Promise<typeof Lmdb> {
  try {
    return await import("lmdb");
  } catch (cause) {
    throw new StoreError("lmdbStore needs the package lmdb, which is an optional peer: npm install lmdb", {
      cause,
    });
  }
}
