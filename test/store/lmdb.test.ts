import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdir, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Keyv, type KeyvStoreAdapter } from "keyv";
import { describe, expect, test } from "vitest";
import { toKeyValueStore } from "../../src/store/keyValue.js";
import { lmdbStore } from "../../src/store/lmdb.js";
import { enter } from "../../src/store/lmdbEnvironment.js";
import { collect, idsOf, record, taskStore, temporaryFolder, temporaryLmdb } from "./fixtures.js";

const run = promisify(execFile);
const storeError = { name: "StoreError", code: "STORE" };

function child(name: string, ...args: string[]): string[] {
  return ["--import", "tsx", fileURLToPath(new URL(`children/${name}.ts`, import.meta.url)), ...args];
}

describe("the adapter", () => {
  test("fits Keyv's published adapter type", async () => {
    const store = await temporaryLmdb();
    const adapter: KeyvStoreAdapter = store;
    expect(await new Keyv(adapter).get("a")).toBeUndefined();
  });

  test("keeps text, bytes and JSON, under keys of any text", async () => {
    const store = await temporaryLmdb();
    const keys = [
      "",
      "a",
      "a:b",
      "\0",
      "ü",
      "\ud800",
      "\ud801",
      "x".repeat(1_899),
      "x".repeat(5_000),
      "ü".repeat(3_000),
    ];
    const values = ["text", "", "lone \ud800", { json: [1, null] }, Buffer.from([0, 255]), false, 0, null];
    for (const key of keys) {
      for (const value of values) {
        await store.set(key, value);
        expect(await store.get(key)).toEqual(value);
      }
      await store.set(key, key);
    }
    const found = await collect(store.iterator());
    expect(found.map(([key]) => key).sort()).toEqual([...keys].sort());
    for (const [key, value] of found) expect(value).toBe(key);
  });

  test("iterates a namespace in whole, however many entries there are, and no other", async () => {
    const store = await temporaryLmdb();
    const long = "long".repeat(1_000);
    await store.setMany(Array.from({ length: 1_050 }, (_, at) => ({ key: `a:${at}`, value: at })));
    await store.setMany(
      ["ab:1", "b:1", "a", `a:${long}`, `b:${long}`].map((key) => ({ key, value: "other" })),
    );
    const keys = (await collect(store.iterator("a"))).map(([key]) => key);
    expect(new Set(keys).size).toBe(1_051);
    expect(keys.every((key) => key.startsWith("a:"))).toBe(true);
  });

  test("entries may be written and deleted while it iterates", async () => {
    const store = await temporaryLmdb();
    await store.setMany(Array.from({ length: 450 }, (_, at) => ({ key: `a:${at}`, value: "x" })));
    let seen = 0;
    for await (const [key] of store.iterator("a")) {
      seen += 1;
      await store.delete(key);
      await store.set(`b:${key}`, "y");
    }
    expect(seen).toBe(450);
    expect(await collect(store.iterator("a"))).toEqual([]);
  });

  test("purges expired entries where it meets them, and not one that was set again", async () => {
    const path = join(await temporaryFolder(), "db");
    const store = lmdbStore(path);
    await store.setMany(["a:read", "a:iterated", "b:unmet"].map((key) => ({ key, value: "x", ttl: -1 })));
    await store.set("a:kept", "x");
    expect(await store.get("a:read")).toBeUndefined();
    // The purge comes after the read; what is set meanwhile stays.
    await store.set("a:read", "again");
    expect(await collect(store.iterator("a"))).toEqual([
      ["a:kept", "x"],
      ["a:read", "again"],
    ]);
    await store.set("a:after", "the purge");
    const { database, leave } = await enter(path);
    database.resetReadTxn();
    const keys = [...database.getKeys()].map((key) => key.subarray(1).toString());
    expect(keys).toEqual(["a:after", "a:kept", "a:read", "b:unmet"]);
    await leave();
    await store.disconnect();
  });

  test("sets of one turn share a transaction, and so do those that come while one is committed", async () => {
    const path = join(await temporaryFolder(), "db");
    const kv = toKeyValueStore(lmdbStore(path));
    const { database, leave } = await enter(path);
    const transactions = (): number => {
      database.resetReadTxn();
      return (database.getStats() as { lastTxnId: number }).lastTxnId;
    };
    await kv.set("first", "x", undefined);
    const before = transactions();
    await Promise.all(Array.from({ length: 500 }, (_, at) => kv.set(`a:${at}`, "x", undefined)));
    expect(transactions() - before).toBeLessThanOrEqual(2);
    await leave();
  });

  test("has, hasMany, getMany, deleteMany, clear by namespace", async () => {
    const store = await temporaryLmdb();
    await store.setMany([
      { key: "a:1", value: 1 },
      { key: "a:2", value: 2, ttl: -1 },
      { key: "b:1", value: 3 },
    ]);
    expect(await store.hasMany(["a:1", "a:2", "a:3"])).toEqual([true, false, false]);
    expect(await store.getMany(["b:1", "a:2", "a:1"])).toEqual([3, undefined, 1]);
    expect(await store.deleteMany(["a:1", "a:3"])).toBe(false);
    store.namespace = "a";
    await store.set("a:9", 9);
    await store.clear();
    expect((await collect(store.iterator())).map(([key]) => key)).toEqual(["b:1"]);
    store.namespace = undefined;
    await store.clear();
    expect(await collect(store.iterator())).toEqual([]);
  });

  test("writes happen in the order in which they were asked for", async () => {
    const store = await temporaryLmdb();
    const answers = await Promise.all([
      store.set("a", "1"),
      store.setIfAbsent("a", "2"),
      store.delete("a"),
      store.setIfAbsent("a", "3"),
      store.setIfUnchanged("a", "3", "4"),
      store.delete("b"),
    ]);
    expect(answers).toEqual([true, false, true, true, true, false]);
    expect(await store.get("a")).toBe("4");
  });

  test("a value that JSON cannot carry is refused and takes no neighbour with it", async () => {
    const store = await temporaryLmdb();
    const [bad, good] = await Promise.allSettled([store.set("a", () => 1), store.set("b", "x")]);
    expect(bad).toMatchObject({ status: "rejected", reason: { name: "TypeError" } });
    expect(good).toMatchObject({ status: "fulfilled" });
    expect(await store.get("b")).toBe("x");
  });

  test("several stores of one path share it; each may leave", async () => {
    const path = join(await temporaryFolder(), "db");
    const [a, b] = [lmdbStore(path), lmdbStore(`${path}/`)];
    await a.set("k", "x");
    expect(await b.get("k")).toBe("x");
    const pending = a.set("late", "y");
    await new Promise((resolve) => process.nextTick(resolve));
    await Promise.all([a.disconnect(), a.disconnect()]);
    await pending;
    await expect(a.get("k")).rejects.toMatchObject(storeError);
    expect(await b.get("late")).toBe("y");
    await b.disconnect();
    const again = lmdbStore(path);
    expect(await again.get("late")).toBe("y");
    await again.disconnect();
  });

  test("a path with a dot is a folder as well", async () => {
    const path = join(await temporaryFolder(), "tasks.db");
    const store = lmdbStore(path);
    await store.set("a", "x");
    await store.disconnect();
    expect((await stat(path)).isDirectory()).toBe(true);
  });
});

describe("what cannot be opened", () => {
  test.each([[undefined], [""], [7], ["a\0b"]])("the path %j is a TypeError", (path) => {
    expect(() => lmdbStore(path as string)).toThrow(/^path must be the path of a folder/);
  });

  test("a path below a file, a folder with a foreign data.mdb: StoreError with the cause, tried again later", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "file"), "");
    const below = lmdbStore(join(folder, "file", "db"));
    await expect(below.set("a", "x")).rejects.toMatchObject({ ...storeError, cause: { code: "ENOTDIR" } });

    const foreign = join(folder, "foreign");
    await mkdir(foreign);
    const store = lmdbStore(foreign);
    for (const content of ["this is no database".repeat(1_000), "short", Buffer.alloc(8_192)]) {
      await writeFile(join(foreign, "data.mdb"), content);
      await expect(store.get("a")).rejects.toMatchObject({
        ...storeError,
        cause: { message: "data.mdb is damaged, or no database of lmdb 3" },
      });
      await expect(idsOf(taskStore(toKeyValueStore(store)))).rejects.toMatchObject(storeError);
    }
    await rm(join(foreign, "lock.mdb"));
    await mkdir(join(foreign, "lock.mdb"));
    await expect(store.get("a")).rejects.toMatchObject({
      ...storeError,
      cause: { message: expect.stringMatching(/must be files/) as string },
    });
    await rmdir(join(foreign, "lock.mdb"));
    await writeFile(join(foreign, "data.mdb"), "");
    await store.set("a", "x");
    expect(await store.get("a")).toBe("x");
    await store.disconnect();
  });
});

test("without the package lmdb: a StoreError that says what to install", async () => {
  // A copy of the sources, where no node_modules is above them.
  const folder = await temporaryFolder();
  const source = fileURLToPath(new URL("../../src/", import.meta.url));
  for (const part of ["store", "internal", "errors.ts"]) {
    await cp(join(source, part), join(folder, "src", part), { recursive: true });
  }
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  const entry = pathToFileURL(join(folder, "src", "store", "lmdb.ts")).href;
  const script = `const { lmdbStore } = await import(${JSON.stringify(entry)}); await lmdbStore("db").get("a").catch((error) => console.log(error.code, error.message));`;
  const { stdout } = await run(process.execPath, [
    "--import",
    "tsx",
    "--input-type=module",
    "--eval",
    script,
  ]);
  expect(stdout.trim()).toBe(
    "STORE lmdbStore needs the package lmdb, which is an optional peer: npm install lmdb",
  );
});

describe("files", () => {
  test("are 0600 in a folder of 0700, whatever the umask, and files that are there lose the rights of others", async () => {
    const path = join(await temporaryFolder(), "new", "db");
    const script = `process.umask(0); const { lmdbStore } = await import(${JSON.stringify(new URL("../../src/store/lmdb.ts", import.meta.url).href)}); const store = lmdbStore(process.argv[1]); await store.set("a", "x"); await store.disconnect();`;
    const open = (): Promise<unknown> =>
      run(process.execPath, ["--import", "tsx", "--input-type=module", "--eval", script, path]);
    const mode = async (name: string): Promise<string> =>
      ((await stat(join(path, name))).mode & 0o777).toString(8);
    await open();
    expect([await mode("."), await mode("data.mdb"), await mode("lock.mdb")]).toEqual(["700", "600", "600"]);
    for (const name of ["data.mdb", "lock.mdb"]) await chmod(join(path, name), 0o666);
    await open();
    expect([await mode("data.mdb"), await mode("lock.mdb")]).toEqual(["600", "600"]);
  });
});

describe("durability", () => {
  test(
    "kill -9 of two writers in the middle of writing, ten times: every set that had resolved is there (F113)",
    { timeout: 180_000 },
    async () => {
      const path = join(await temporaryFolder(), "db");
      for (let round = 0; round < 10; round++) {
        // Another number of lines each time, so that the kill falls into different moments of a commit.
        const keys = await Promise.all([
          writeUntilKilled(path, `run${round}-one`, 5 + ((round * 37) % 90)),
          writeUntilKilled(path, `run${round}-two`, 5 + ((round * 53) % 90)),
        ]);
        const store = lmdbStore(path);
        for (const key of keys.flat()) expect(await store.get<string>(key)).toMatch(`value of ${key} `);
        await store.disconnect();
      }
    },
  );

  /** The keys that the writer said were stored before it was killed. */
  async function writeUntilKilled(path: string, name: string, enough: number): Promise<string[]> {
    const writer = spawn(process.execPath, child("durableWriter", path, name), {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines: string[] = [];
    let rest = "";
    writer.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts);
      if (lines.length >= enough) writer.kill("SIGKILL");
    });
    const [code, signal] = (await once(writer, "close")) as [number | null, string | null];
    expect({ code, signal }).toEqual({ code: null, signal: "SIGKILL" });
    expect(lines.length).toBeGreaterThanOrEqual(enough);
    return lines;
  }
});

describe("several processes on one path", () => {
  test(
    "no create is won twice, no conditional write and no record is lost, also when one is killed",
    { timeout: 90_000 },
    async () => {
      const path = join(await temporaryFolder(), "db");
      const killed = spawn(process.execPath, child("durableWriter", path, "killed"), {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(killed.stdout, "data");
      const workers = ["one", "two", "three"].map((name) =>
        run(process.execPath, child("incrementer", path, name, "60")),
      );
      killed.kill("SIGKILL");
      const created = (await Promise.all(workers)).map(({ stdout }) => Number(stdout));
      expect(created.reduce((sum, each) => sum + each, 0)).toBe(60);

      const lmdb = lmdbStore(path);
      const store = taskStore(toKeyValueStore(lmdb));
      expect((await store.load("sum"))?.failures).toBe(180);
      expect(await idsOf(store)).toHaveLength(3 * 60 + 60 + 1);
      await lmdb.disconnect();
    },
  );

  test("what another process writes is seen by a process that has the store open", async () => {
    const path = join(await temporaryFolder(), "db");
    const lmdb = lmdbStore(path);
    const store = taskStore(toKeyValueStore(lmdb));
    await store.create(record("mine"));
    await run(process.execPath, child("incrementer", path, "other", "1"));
    expect(await store.load("other-0")).toMatchObject({ id: "other-0" });
    expect(await idsOf(store)).toEqual(["mine", "other-0", "shared-0", "sum"]);
    await lmdb.disconnect();
  });
});
