/** Owns the files of an lmdb environment before lmdb opens them: whose they are, and that they are what they should be. */
import { access, chmod, constants, mkdir, open, stat } from "node:fs/promises";
import { endianness } from "node:os";
import { join } from "node:path";
import { isCutShort } from "./lmdbDamage.js";

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** What lmdb writes into the head of its first page. */
const MAGIC = 0xbeefc0de;
const HEAD_BYTES = 64;
/** Where the older format, which lmdb 3 cannot open, has the magic number. */
const OLD_FORMAT_AT = 16;

/**
 * Makes the folder (0700, if it is not there) and both files (0600), and takes the rights of others away from
 * files that are there. lmdb itself would make them as the umask allows. Rejects where a file is no file of lmdb's
 * or may not be used: lmdb would end the process.
 */
export async function prepareFiles(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  const data = join(folder, "data.mdb");
  for (const path of [data, join(folder, "lock.mdb")]) await prepareFile(path);
  await checkHead(data);
}

async function prepareFile(path: string): Promise<void> {
  try {
    const file = await open(path, "wx", FILE_MODE);
    await file.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    // Never open a lock file that is there: closing it would drop the locks that lmdb holds on it in this process.
  }
  const found = await stat(path);
  if (!found.isFile()) throw new Error("data.mdb and lock.mdb must be files");
  if ((found.mode & 0o777) !== FILE_MODE) await chmod(path, FILE_MODE);
  await access(path, constants.R_OK | constants.W_OK);
}

/** An empty file is a new database; any other has to begin like one. */
async function checkHead(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    if (bytesRead === 0) return;
    const words = Array.from({ length: HEAD_BYTES / 4 }, (_, at) =>
      endianness() === "LE" ? buffer.readUInt32LE(at * 4) : buffer.readUInt32BE(at * 4),
    );
    const at = words.indexOf(MAGIC) * 4;
    if (at < 0 || at === OLD_FORMAT_AT) throw new Error("data.mdb is damaged, or no database of lmdb 3");
    if (await isCutShort(file, at)) throw new Error("data.mdb is damaged: its end is missing");
  } finally {
    await file.close();
  }
}
