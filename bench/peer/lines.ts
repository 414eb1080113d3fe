/** Owns the rule by which lines are counted: as prettier prints them, without blanks, comments and imports. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { check, resolveConfig } from "prettier";

/** Lines between the marks of a host program. Throws when prettier would print the file otherwise. */
export async function lines(file: string): Promise<{ readonly host: number; readonly transport: number }> {
  const text = readFileSync(file, "utf8");
  const options = (await resolveConfig(fileURLToPath(import.meta.url))) ?? {};
  if (!(await check(text, { filepath: file, ...options }))) {
    throw new Error(`${file} is not formatted, so its lines mean nothing`);
  }
  return { host: count(text, "host"), transport: count(text, "transport") };
}

function count(text: string, mark: string): number {
  const all = text.split("\n").map((line) => line.trim());
  const from = all.indexOf(`// <${mark}>`);
  const to = all.indexOf(`// </${mark}>`);
  if (from === -1) return 0;
  return all.slice(from + 1, to).filter((line) => line !== "" && !/^(\/\/|\/\*|\*|import )/.test(line))
    .length;
}
