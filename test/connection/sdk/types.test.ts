/** Our declarations force neither SDK on anybody: a project that has only one of the two compiles. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { beforeAll, afterAll, describe, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../../..");
const TSC = createRequire(import.meta.url).resolve("typescript/lib/tsc.js");
const MODULES = join(ROOT, "node_modules");

let folder: string;
let declarations: string;
/** The declarations of the source as it is now, as a build makes them. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "declarations-"));
  declarations = join(folder, "dist");
  tsc(ROOT, [
    "-p",
    "tsconfig.build.json",
    "--outDir",
    declarations,
    "--emitDeclarationOnly",
    "--noCheck",
    "--sourceMap",
    "false",
    "--inlineSources",
    "false",
  ]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function tsc(cwd: string, args: string[]): void {
  try {
    execFileSync(process.execPath, [TSC, ...args], { cwd, encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    throw new Error((error as { stdout: string }).stdout, { cause: error });
  }
}

/** A project with these packages in its `node_modules`, and nothing else but ours. */
function project(name: string, packages: readonly string[], program: string): string {
  const at = join(folder, name);
  const own = join(at, "node_modules/mcp-taskrail");
  mkdirSync(own, { recursive: true });
  symlinkSync(declarations, join(own, "dist"));
  writeFileSync(join(own, "package.json"), readFileSync(join(ROOT, "package.json")));
  for (const each of packages) {
    const link = join(at, "node_modules", each);
    mkdirSync(dirname(link), { recursive: true });
    if (!existsSync(link)) symlinkSync(join(MODULES, each), link);
  }
  writeFileSync(join(at, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(at, "main.ts"), program);
  const compilerOptions = {
    target: "ES2022",
    lib: ["ES2023", "DOM", "DOM.Iterable", "DOM.AsyncIterable", "ESNext.Disposable"],
    module: "NodeNext",
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    // Those of the SDKs do not pass by themselves.
    skipLibCheck: true,
    preserveSymlinks: true,
    types: [],
  };
  writeFileSync(join(at, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.ts"] }));
  return at;
}

test("no declaration names the SDK 2.x", () => {
  const files = readdirSync(declarations, { recursive: true, encoding: "utf8" });
  const naming = files
    .filter((file) => file.endsWith(".d.ts"))
    .filter((file) =>
      /from "@modelcontextprotocol\/(client|server|core)/.test(
        readFileSync(join(declarations, file), "utf8"),
      ),
    );
  expect(files.length).toBeGreaterThan(50);
  expect(naming).toEqual([]);
});

describe("a project with one SDK", () => {
  const program = (from: string): string => `
    import { Client } from "${from}";
    import { sdkConnection, withTasks, TaskClient } from "mcp-taskrail";
    const client = withTasks(new Client({ name: "host", version: "1" }), { onAbort: "cancel" });
    const { content } = await client.callTool({ name: "x" });
    await new TaskClient().connect("x", sdkConnection(client));
    console.log(content, await client.taskClient.tasks());
    // @ts-expect-error Known to be something else: nothing of ours has become any.
    const wrong: number = sdkConnection(client);
    // @ts-expect-error So is this.
    const other: number = client.taskClient;
  `;

  test("1.x", () => {
    const at = project(
      "one",
      ["@modelcontextprotocol/sdk", "zod"],
      program("@modelcontextprotocol/sdk/client/index.js"),
    );
    tsc(at, ["-p", "."]);
  });

  test("2.x, beside the peer that every install brings", () => {
    const at = project(
      "two",
      ["@modelcontextprotocol/client", "@modelcontextprotocol/sdk", "zod"],
      program("@modelcontextprotocol/client"),
    );
    tsc(at, ["-p", "."]);
  });
});
