/** Owns what a planted bug is: a small change of the product, as a tired person might make it. */
import type { Edit } from "./bundle.js";

export interface Mutant {
  readonly name: string;
  /** The number of the promise that it breaks. */
  readonly promise: number;
  readonly edits: readonly Edit[];
}

/** A bug of several changes at once. */
export const edit = (file: string, find: string, replace: string): Edit => ({
  file: `src/${file}`,
  find,
  replace,
});

/** A bug of one change. */
export const one = (
  name: string,
  promise: number,
  ...[file, find, replace]: [string, string, string]
): Mutant => ({ name, promise, edits: [edit(file, find, replace)] });
