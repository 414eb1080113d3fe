import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, it } from "vitest";

const ENTRY = resolve(import.meta.dirname, "../../src/approvals/index.ts");

/** What a browser loads, minified, for these names of `mcp-taskrail/approvals`. */
async function bundle(names: string): Promise<{ text: string; inputs: string[] }> {
  const result = await build({
    stdin: {
      contents: `export { ${names} } from ${JSON.stringify(ENTRY)};`,
      resolveDir: join(import.meta.dirname, "../.."),
    },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    write: false,
    metafile: true,
    logLevel: "silent",
  });
  const outputs = Object.values(result.metafile.outputs);
  const inputs = outputs.flatMap(({ inputs: parts }) =>
    Object.entries(parts).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  return { text: result.outputFiles[0]?.text ?? "", inputs };
}

/** About 15 % above what it is; raise it with a reason. */
const MAX_STORE_BYTES = 9_600;
const MAX_HANDLER_BYTES = 10_000;

it.each([
  ["createTasksStore", MAX_STORE_BYTES],
  ["approvalsHandler", MAX_HANDLER_BYTES],
])(
  "%s brings no validator, no SDK and no store along, and stays below %i bytes (gzip)",
  async (name, max) => {
    const { text, inputs } = await bundle(name);
    const size = gzipSync(text, { level: 9 }).length;
    console.log(`${name}: ${size} bytes gzip, ${text.length} minified`);
    expect(inputs.length).toBeGreaterThan(5);
    const packages = inputs.filter((path) => path.includes("node_modules"));
    expect(packages.filter((path) => !path.includes("eventsource-parser"))).toEqual([]);
    expect(inputs.filter((path) => /src\/(client|engine|store|task|protocol|testing)\//.test(path))).toEqual(
      [],
    );
    expect(text).not.toMatch(/\brequire\(|from"node:/);
    expect(size).toBeLessThan(max);
  },
);

it("the page's side and the host's side do not bring each other along", async () => {
  expect((await bundle("createTasksStore")).inputs.filter((path) => /handler|feed/i.test(path))).toEqual([]);
  expect(
    (await bundle("approvalsHandler")).inputs.filter((path) => /tasksStore|pageTasks/.test(path)),
  ).toEqual([]);
});
