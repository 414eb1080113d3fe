/** Owns the files of an lmdb environment: made before lmdb opens them, readable by their owner alone. */
import { chmod, mkdir, open, stat } from "node:fs/promises";
import { join } from "node:path";

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * Makes the folder (0700, if it is not there) and both files (0600), and takes the rights of others away from
 * files that are there. lmdb itself would make them as the umask allows.
 */
export async function prepareFiles(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  for (const name of ["data.mdb", "lock.mdb"]) await prepareFile(join(folder, name));
}

async function prepareFile(path: string): Promise<void> {
  try {
    const file = await open(path, "wx", FILE_MODE);
    await file.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    // Never open a file that is there: closing it would drop the locks that lmdb holds on it in this process.
  }
  const { mode } = await stat(path);
  if ((mode & 0o777) !== FILE_MODE) await chmod(path, FILE_MODE);
}
