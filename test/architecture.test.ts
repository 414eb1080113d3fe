import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const SRC = resolve(import.meta.dirname, "../src");

interface Import {
  readonly file: string;
  readonly target: string;
  readonly typeOnly: boolean;
}

/** Every source file, as a path below src. */
const files = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => file.replaceAll("\\", "/"));

const imports: readonly Import[] = files.flatMap(importsOf);

function importsOf(file: string): Import[] {
  const text = readFileSync(join(SRC, file), "utf8");
  const statement = /(?:^|\n)\s*(import|export)\s+(type\s+)?(?:[^"';]*?\sfrom\s+)?"([^"]+)"/g;
  const dynamic = /import\(\s*"([^"]+)"\s*\)/g;
  return [
    ...[...text.matchAll(statement)].map((match) => ({
      file,
      target: resolved(file, match[3] ?? ""),
      typeOnly: match[2] !== undefined,
    })),
    ...[...text.matchAll(dynamic)].map((match) => ({
      file,
      target: `dynamic:${match[1] ?? ""}`,
      typeOnly: false,
    })),
  ];
}

function resolved(file: string, target: string): string {
  if (!target.startsWith(".")) return target;
  const path = relative(SRC, resolve(SRC, dirname(file), target)).replaceAll("\\", "/");
  const source = path.replace(/\.js$/, ".tsx");
  return existsSync(join(SRC, source)) ? source : path.replace(/\.js$/, ".ts");
}

function isSource(target: string): boolean {
  return /\.tsx?$/.test(target);
}

function roomOf(path: string): string {
  return path.includes("/") ? (path.split("/")[0] ?? "") : "root";
}

/** Who may import whom; a room may always import itself. `types` stands for a room's types.ts only. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  internal: [],
  protocol: ["internal", "errors.ts"],
  task: ["internal", "protocol"],
  connection: ["internal", "protocol", "errors.ts"],
  store: ["internal", "errors.ts", "task/record.ts"],
  engine: ["internal", "protocol", "errors.ts", "task", "connection/types.ts", "store/types.ts"],
  client: ["internal", "protocol", "errors.ts", "task", "connection", "store", "engine", "version.ts"],
  // The handler serves a client; the page's side reads its stream.
  approvals: ["internal", "protocol", "errors.ts", "client", "engine/types.ts", "connection/sse.ts"],
  // The page's side of the approvals only: no server code gets into a browser.
  react: [
    "internal",
    "protocol",
    "errors.ts",
    "approvals/wire.ts",
    "approvals/storeTypes.ts",
    "approvals/tasksStore.ts",
    "approvals/taskFilter.ts",
  ],
  testing: [
    "internal",
    "protocol",
    "errors.ts",
    "connection/types.ts",
    "connection/httpOptions.ts",
    "store/types.ts",
    "store/keyValue.ts",
  ],
};

describe("who may import whom", () => {
  it("finds the source files", () => {
    expect(files.length).toBeGreaterThan(30);
    expect(imports.length).toBeGreaterThan(100);
  });

  it.each(Object.keys(allowed))("%s imports only what is below it", (room) => {
    const may = allowed[room] ?? [];
    const wrong = imports.filter(({ file, target }) => {
      if (roomOf(file) !== room || !isSource(target)) return false;
      if (roomOf(target) === room) return false;
      return !may.some((entry) => target === entry || roomOf(target) === entry);
    });
    expect(wrong).toEqual([]);
  });

  it("has no cycles, types included", () => {
    const edges = new Map<string, string[]>();
    for (const { file, target } of imports) {
      if (isSource(target)) edges.set(file, [...(edges.get(file) ?? []), target]);
    }
    expect(findCycle(edges)).toEqual([]);
  });
});

describe("dependencies have one home", () => {
  it.each([
    ["zod", ["protocol", "task/record.ts"]],
    ["p-retry", ["engine/oneShot.ts"]],
    ["eventsource-parser", ["connection/sse.ts"]],
    ["dynamic:keyv", ["store"]],
    ["lmdb", ["store"]],
    ["dynamic:lmdb", ["store"]],
    ["react", ["react"]],
  ])("%s", (dependency, homes) => {
    const users = imports.filter(
      ({ target }) => target === dependency || target.startsWith(`${dependency}/`),
    );
    const strangers = users.filter(
      ({ file }) => !homes.some((home) => file === home || roomOf(file) === home),
    );
    expect(strangers).toEqual([]);
  });

  it("never imports keyv statically", () => {
    expect(imports.filter(({ target, typeOnly }) => target === "keyv" && !typeOnly)).toEqual([]);
  });
});

describe("the root entry is runtime-neutral", () => {
  it("reaches no Node built-in, no lmdb and no testing code", () => {
    const reached = reachable("index.ts");
    const bad = imports.filter(
      ({ file, target, typeOnly }) =>
        reached.has(file) &&
        !typeOnly &&
        (target.startsWith("node:") || target === "lmdb" || /^(testing|approvals|react)\//.test(target)),
    );
    expect(bad).toEqual([]);
    expect(reached.has("client/taskClient.ts")).toBe(true);
    expect(reached.has("store/lmdb.ts")).toBe(false);
  });
});

describe("house rules that lint cannot see", () => {
  it("opens every file with a sentence on what it owns", () => {
    const silent = files.filter((file) => !/^\/\*\*/.test(readFileSync(join(SRC, file), "utf8")));
    expect(silent).toEqual([]);
  });

  it("has no file over 400 lines", () => {
    const long = files.filter((file) => readFileSync(join(SRC, file), "utf8").split("\n").length > 400);
    expect(long).toEqual([]);
  });

  it("has no default exports, enums or drawers", () => {
    const wrong = files.filter((file) => {
      const text = readFileSync(join(SRC, file), "utf8");
      return (
        /^export default|^export (const )?enum /m.test(text) || /(^|\/)(utils|helpers|common)\.ts$/.test(file)
      );
    });
    expect(wrong).toEqual([]);
  });
});

function reachable(start: string): Set<string> {
  const seen = new Set([start]);
  const queue = [start];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    for (const { file: from, target, typeOnly } of imports) {
      if (from !== file || typeOnly || !isSource(target) || seen.has(target)) continue;
      seen.add(target);
      queue.push(target);
    }
  }
  return seen;
}

function findCycle(edges: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] => {
    const at = path.indexOf(file);
    if (at >= 0) return [...path.slice(at), file];
    if (done.has(file)) return [];
    path.push(file);
    for (const next of edges.get(file) ?? []) {
      const cycle = visit(next);
      if (cycle.length > 0) return cycle;
    }
    path.pop();
    done.add(file);
    return [];
  };
  for (const file of edges.keys()) {
    const cycle = visit(file);
    if (cycle.length > 0) return cycle;
  }
  return [];
}
