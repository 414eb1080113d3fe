/** Owns the open lmdb environments of this process: one per folder, shared, closed by the last one who leaves. */
import { statSync } from "node:fs";
import { join } from "node:path";
import type * as Lmdb from "lmdb";
import { StoreError } from "../errors.js";
import { prepareFiles } from "./lmdbFiles.js";
import { lmdbWriter, type LmdbWriter } from "./lmdbWriter.js";

/** An open folder; keys and values are bytes. */
export interface LmdbEnvironment {
  readonly database: Lmdb.RootDatabase<Buffer, Buffer>;
  /** Rejects too where the files were removed meanwhile: then nothing is stored, and the environment is lost. */
  readonly write: LmdbWriter["write"];
  /** True once the files were found removed or replaced. It is closed then: leave it and enter anew. */
  readonly isLost: () => boolean;
  /** Waits for the writes under way and, if no other user is left, closes the files. Call it once. */
  readonly leave: () => Promise<void>;
}

interface Open {
  readonly database: Lmdb.RootDatabase<Buffer, Buffer>;
  readonly writer: LmdbWriter;
  /** Which file it is, whatever its name. */
  readonly file: string | undefined;
}

interface Shared {
  readonly opened: Promise<Open>;
  users: number;
  lost: boolean;
}

const environments = new Map<string, Shared>();
/** By folder: the end of an environment that was lost. lmdb knows environments by their path. */
const endings = new Map<string, Promise<void>>();

/** Opens the folder (an absolute path), or joins in. Rejects with StoreError; the next call tries again. */
export async function enter(folder: string): Promise<LmdbEnvironment> {
  const shared = environments.get(folder) ?? { opened: openAfresh(folder), users: 0, lost: false };
  environments.set(folder, shared);
  shared.users += 1;
  try {
    const open = await shared.opened;
    return {
      database: open.database,
      async write(operation) {
        const result = await open.writer.write(operation);
        if (shared.lost || fileAt(folder) !== open.file) {
          lose(folder, shared, open);
          throw new StoreError("The files of the lmdb store were removed or replaced while it was in use");
        }
        return result;
      },
      isLost: () => shared.lost,
      leave: () => leave(folder, shared),
    };
  } catch (error) {
    if (environments.get(folder) === shared) environments.delete(folder);
    throw error;
  }
}

async function leave(folder: string, shared: Shared): Promise<void> {
  const { database, writer } = await shared.opened;
  await writer.idle();
  shared.users -= 1;
  if (shared.users > 0 || shared.lost) return;
  environments.delete(folder);
  await database.close();
}

/** What is written to it goes to files that nobody will find again. */
function lose(folder: string, shared: Shared, { database, writer }: Open): void {
  if (shared.lost) return;
  shared.lost = true;
  if (environments.get(folder) === shared) environments.delete(folder);
  const ending = writer.idle().then(() => database.close());
  const done = ending.catch(() => undefined).then(() => void endings.delete(folder));
  endings.set(folder, done);
}

async function openAfresh(folder: string): Promise<Open> {
  await endings.get(folder);
  return openFolder(folder);
}

function fileAt(folder: string): string | undefined {
  const found = statSync(join(folder, "data.mdb"), { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

async function openFolder(folder: string): Promise<Open> {
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
    return { database, writer: lmdbWriter(database), file: fileAt(folder) };
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
