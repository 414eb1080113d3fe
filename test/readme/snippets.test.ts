/** What the texts show compiles against the build as a user's code would, and the first example does what it says. */
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { spawnTaskServer, type SpawnedTaskServer } from "../../src/testing/index.js";
import { emptyFolder, ROOT, run, tsBlocks, type Block } from "./support.js";

const FILES = ["README.md", "docs/recipes.md", "docs/forms.md", "docs/approvals.md", "docs/react.md"];
const tsx = pathToFileURL(join(ROOT, "node_modules", "tsx", "dist", "loader.mjs")).href;
let server: SpawnedTaskServer | undefined;
afterAll(async () => server?.stop());

test("every ts block is type-checked with the repository's own strict options", async () => {
  const folder = emptyFolder("snippets");
  const blocks = FILES.flatMap((file) => tsBlocks(file).map((block) => ({ file, ...block })));
  expect(blocks.length).toBeGreaterThan(10);
  for (const { file, line, language, code } of blocks) {
    // The name leads from a compiler message back to the text.
    writeFileSync(
      join(folder, `${file.replaceAll(/\W/g, "_")}_line_${line}.${language}`),
      `${code}export {};\n`,
    );
  }
  copyFileSync(join(ROOT, "test", "readme", "ambient.d.ts"), join(folder, "ambient.d.ts"));
  const config = { extends: "../../tsconfig.json", include: ["*.ts", "*.tsx"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const { code, stdout } = await run([join(ROOT, "node_modules", "typescript", "bin", "tsc"), "-p", folder]);
  expect(stdout).toBe("");
  expect(code).toBe(0);
}, 120_000);

test("the README's first example has about twenty lines", () => {
  expect(firstExample().code.split("\n").length).toBeLessThanOrEqual(25);
});

test("the README's first example asks, answers and prints the result; run again, it calls nothing", async () => {
  server = await spawnTaskServer();
  const folder = emptyFolder("first-example");
  const { code } = firstExample();
  const program = code.replace("https://ci.example/mcp", server.url);
  expect(program).not.toBe(code);
  writeFileSync(join(folder, "example.ts"), program);
  const start = (): ReturnType<typeof run> => {
    let isAsked = false;
    return run(["--import", tsx, "example.ts"], {
      cwd: folder,
      onOutput(stdout, child) {
        if (isAsked || !stdout.includes("[y/n]")) return;
        isAsked = true;
        child.stdin?.write("y\n");
      },
    });
  };
  const first = await start();
  expect(first.stderr).toBe("");
  expect(first.stdout).toContain("Deploy to prod? [y/n]");
  expect(first.stdout).toContain("deployed to prod");
  expect(first.code).toBe(0);
  const second = await start();
  expect(second.stdout).toBe('[{"type":"text","text":"deployed to prod"}]\n');
  expect(second.code).toBe(0);
  expect(server.log().filter(({ method }) => method === "tools/call")).toHaveLength(1);
}, 60_000);

test("the recipe for tests of a host runs, with the output that its comments say", async () => {
  const folder = emptyFolder("host-test");
  const block = tsBlocks("docs/recipes.md").find(({ code }) => code.includes("spawnTaskServer"));
  writeFileSync(join(folder, "example.ts"), block?.code ?? "");
  const { code, stdout, stderr } = await run(["--import", tsx, "example.ts"], { cwd: folder });
  expect(stderr).toBe("");
  expect(stdout).toBe('[{"type":"text","text":"report of 2 steps"}]\n1\n0\n');
  expect(code).toBe(0);
}, 60_000);

function firstExample(): Block {
  const [block] = tsBlocks("README.md");
  if (block === undefined) throw new Error("The README has no ts block");
  return block;
}
