/** What the React entry adds to a page, and what it must not bring along. */
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, test } from "vitest";

/** About 15 % above what it is. */
const LIMIT_BYTES = 31_500;

test("the React entry, without React, minified and gzipped", async () => {
  const result = await build({
    entryPoints: [resolve(import.meta.dirname, "../../src/react/index.ts")],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    jsx: "automatic",
    external: ["react", "react/jsx-runtime"],
    define: { "process.env.NODE_ENV": '"production"' },
    write: false,
    metafile: true,
    logLevel: "silent",
  });
  const bytes = gzipSync(result.outputFiles[0]?.contents ?? new Uint8Array()).length;
  console.log(`mcp-taskrail/react: ${bytes} bytes gzipped (limit ${LIMIT_BYTES})`);
  expect(bytes).toBeGreaterThan(1000);
  expect(bytes).toBeLessThan(LIMIT_BYTES);

  const inputs = Object.keys(result.metafile.inputs);
  expect(inputs.filter((file) => /zod|keyv|lmdb|approvals\/handler|src\/client/.test(file))).toEqual([]);
  const externals = Object.values(result.metafile.outputs).flatMap(({ imports }) =>
    imports.map(({ path }) => path),
  );
  expect([...new Set(externals)].sort()).toEqual(["react", "react/jsx-runtime"]);
});
