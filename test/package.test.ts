import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { build } from "esbuild";
import { publint } from "publint";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROOT = resolve(import.meta.dirname, "..");

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly type: string;
  readonly sideEffects: readonly string[];
  readonly license: string;
  readonly engines: { readonly node: string };
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Manifest;

describe("the package", () => {
  let folder: string;
  let tarball: Uint8Array;
  let packed: readonly string[];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "taskrail-pack-"));
    // The build ran before the tests; packing must not start it again.
    const output = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
      cwd: ROOT,
      encoding: "utf8",
    });
    const entries = Object.values(JSON.parse(output) as object) as {
      filename: string;
      files: { path: string }[];
    }[];
    const [entry] = entries;
    if (entry === undefined) throw new Error("npm pack answered nothing");
    tarball = new Uint8Array(readFileSync(join(folder, entry.filename)));
    packed = entry.files.map((file) => file.path);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("is ESM without side effects, MIT, for Node 20 and newer", () => {
    expect(manifest).toMatchObject({
      type: "module",
      sideEffects: ["**/*.css"],
      license: "MIT",
      engines: { node: ">=20" },
    });
  });

  it("has the entry points, and nothing else", () => {
    expect(Object.keys(manifest.exports)).toEqual([
      ".",
      "./lmdb",
      "./approvals",
      "./react",
      "./react/styles.css",
      "./testing",
      "./package.json",
    ]);
  });

  it("keeps runtime dependencies few", () => {
    expect(Object.keys(manifest.dependencies).sort()).toEqual([
      "eventsource-parser",
      "keyv",
      "p-retry",
      "zod",
    ]);
    expect(Object.keys(manifest.peerDependencies).sort()).toEqual([
      "@modelcontextprotocol/sdk",
      "lmdb",
      "react",
    ]);
    expect(manifest.peerDependenciesMeta).toEqual({ lmdb: { optional: true }, react: { optional: true } });
  });

  it("ships the build, the licence, the readme and the changelog only", () => {
    const strange = packed.filter(
      (path) =>
        !/^(dist\/.+|docs\/.+\.(md|svg)|docs\/screenshots\/[\w-]+\.png|package\.json|README\.md|CHANGELOG\.md|LICENSE)$/.test(
          path,
        ),
    );
    expect(strange).toEqual([]);
    for (const path of [
      "dist/index.js",
      "dist/store/lmdb.js",
      "dist/approvals/index.js",
      "dist/react/index.js",
      "dist/react/styles.css",
      "dist/testing/index.js",
      "README.md",
      "CHANGELOG.md",
    ]) {
      expect(packed).toContain(path);
    }
  });

  it("passes publint", async () => {
    const { messages } = await publint({ pkgDir: ROOT, strict: true, pack: false });
    // Its suggestion to use the exports map instead does not reach a dependency, which is what the field is for here.
    const real = messages.filter(({ code }) => code !== "USE_EXPORTS_OR_IMPORTS_BROWSER");
    expect(real).toEqual([]);
  });

  it("has types that every ESM resolver finds", async () => {
    const result = await checkPackage(createPackageFromTarballData(tarball), {
      // A style sheet has no types.
      excludeEntrypoints: ["./react/styles.css"],
    });
    expect(result.types).not.toBe(false);
    // CommonJS cannot require an ESM-only package on Node 20, and node10 knows no exports: both are as intended.
    const problems = (result.types === false ? [] : result.problems).filter(
      (problem) =>
        !("resolutionKind" in problem) || !["node10", "node16-cjs"].includes(problem.resolutionKind),
    );
    expect(problems).toEqual([]);
  });

  it("bundles for browsers without a single Node built-in", async () => {
    const result = await build({
      stdin: {
        contents: 'export { TaskClient, httpConnection, encryptedStore } from "mcp-taskrail";',
        resolveDir: ROOT,
      },
      bundle: true,
      platform: "browser",
      format: "esm",
      write: false,
      metafile: true,
      logLevel: "silent",
    });
    const external = Object.values(result.metafile.outputs).flatMap(({ imports }) => imports);
    expect(external).toEqual([]);
    expect(result.errors).toEqual([]);
  });

  it("says its own version on the wire", async () => {
    const { VERSION } = await import("../src/version.js");
    expect(VERSION).toBe(manifest.version);
  });
});

describe("the public surface", () => {
  it("is pinned", async () => {
    const root = await import("mcp-taskrail");
    expect(Object.keys(root).sort()).toEqual([
      "CallIdConflictError",
      "CallOutcomeUnknownError",
      "CallbackError",
      "ClientClosedError",
      "ConnectionError",
      "EraNotSupportedError",
      "InputAlreadyAnsweredError",
      "InputNotTakenError",
      "InvalidInputResponseError",
      "InvalidResponseError",
      "InvalidResultError",
      "MissingCapabilityError",
      "RpcError",
      "StoreError",
      "TaskCancelledError",
      "TaskClient",
      "TaskFailedError",
      "TaskLostError",
      "TaskNotFoundError",
      "TasksError",
      "WaitTimeoutError",
      "elicitationForm",
      "encryptedStore",
      "formMessages",
      "httpConnection",
      "sdkConnection",
      "systemClock",
      "withTasks",
    ]);
    expect(Object.keys(await import("mcp-taskrail/lmdb")).sort()).toEqual(["lmdbStore"]);
    expect(Object.keys(await import("mcp-taskrail/react")).sort()).toEqual([
      "ApprovalCard",
      "ApprovalInbox",
      "ApprovalList",
      "TaskCard",
      "TasksProvider",
      "TasksStoreError",
      "createTasksStore",
      "defaultLabels",
      "useApprovals",
      "useConnection",
      "useLabels",
      "useTask",
      "useTasks",
      "useTasksState",
      "useTasksStore",
      "visibleText",
    ]);
  });

  it("keeps instanceof across two copies of the package", async () => {
    const built = await import("mcp-taskrail");
    const source = await import("../src/errors.js");
    const error = new built.TaskLostError("expired");
    expect(error).toBeInstanceOf(source.TaskLostError);
    expect(error).toBeInstanceOf(source.TasksError);
    expect(error).not.toBeInstanceOf(source.TaskFailedError);
    expect(new built.TaskNotFoundError({ code: -32602, message: "no" })).toBeInstanceOf(source.RpcError);
  });
});
