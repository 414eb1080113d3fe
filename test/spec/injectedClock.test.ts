/** F179: all timing stands behind the clock that is passed in: nothing else in the sources waits, reads the time or draws lots. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";

const SOURCES = join(import.meta.dirname, "../../src");
const TIME =
  /\b(?:setTimeout|setInterval|requestAnimationFrame|Date\.now|new Date\(\)|performance\.now|Math\.random|AbortSignal\.timeout)\b/;

test("only the clock itself, and what is for tests, touches the machine's time", () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(SOURCES, file));
  expect(files.length).toBeGreaterThan(100);
  const found = files
    .filter((file) => TIME.test(withoutComments(readFileSync(file, "utf8"))))
    .map((file) => relative(SOURCES, file).replaceAll("\\", "/"))
    .filter((file) => !file.startsWith("testing/"));
  expect(found).toEqual(["internal/clock.ts"]);
});

function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}
