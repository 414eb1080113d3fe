import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { toKeyValueStore } from "../../src/store/keyValue.js";
import { memoryStore } from "../../src/store/memory.js";
import type { KeyValueStore } from "../../src/store/types.js";
import { collect, idsOf, manualClock, PlainAdapter, record, taskStore, temporaryFolder } from "./fixtures.js";

const storeError = { name: "StoreError", code: "STORE" };

/** The indexed ids, as they are stored by a store that cannot iterate. */
function indexOf(adapter: PlainAdapter): string[] {
  return [...adapter.entries]
    .filter(([key]) => key.includes("!index"))
    .flatMap(([, value]) => JSON.parse((JSON.parse(String(value)) as { value: string }).value) as string[])
    .sort();
}

describe("iteration", () => {
  test("tolerates what adapters have shown: lost keys, empty values, foreign ones (F103)", async () => {
    const text = JSON.stringify(record("lost-key"));
    const home = JSON.stringify(record("home"));
    const rows: unknown[] = [
      ["", `{"value":${JSON.stringify(text)}}`],
      ["k", null],
      ["k2", undefined],
      ["k3", { junk: 1 }],
      ["keyv:s:!index:00", `{"value":"[]"}`],
      ["keyv:other:1", `{"value":"not ours"}`],
      ["keyv:s:home", `{"value":${JSON.stringify(home)}}`],
      ["keyv:s:home", `{"value":${JSON.stringify(home)}}`],
      "not a row",
      undefined,
    ];
    class Odd extends PlainAdapter {
      async *iterator(): AsyncIterable<unknown> {
        yield* rows;
      }
    }
    const store = taskStore(toKeyValueStore(new Odd()));
    expect(await idsOf(store)).toEqual(["home", "lost-key"]);
    expect(store.issues).toEqual([]);
  });

  test("a record under another's key is trusted by the id inside, and its own key has the last word (F103)", async () => {
    const kv = memoryStore();
    const store = taskStore(kv);
    await store.create(record("1", { tool: "current" }));
    await kv.set("s:2", JSON.stringify(record("1", { tool: "stale copy" })), undefined);
    expect((await collect(store.all())).map(({ id, tool }) => [id, tool])).toEqual([["1", "current"]]);
    expect(await store.load("2")).toBeUndefined();
    expect(store.issues.map(({ kind }) => kind)).toEqual(["foreign"]);
    await expect(store.save(record("2"))).rejects.toMatchObject(storeError);
  });

  test("a record that says it is of another scope is not shown", async () => {
    const kv = memoryStore();
    await kv.set("s:1", JSON.stringify(record("1", { scope: "other" })), undefined);
    const store = taskStore(kv);
    expect(await idsOf(store)).toEqual([]);
    expect(store.issues.map(({ kind }) => kind)).toEqual(["foreign"]);
  });

  test("an entry that vanishes between its listing and its reading is skipped", async () => {
    const kv = memoryStore();
    const vanishing: KeyValueStore = {
      ...kv,
      async *entries() {
        yield ["s:1", "half a rec"] as const;
        yield ["s:2", JSON.stringify(record("2"))] as const;
      },
    };
    const store = taskStore(vanishing);
    expect(await idsOf(store)).toEqual(["2"]);
    expect(store.issues).toEqual([]);
  });

  test("an unreadable entry that cannot be set aside does not hide the others", async () => {
    const kv = memoryStore();
    await taskStore(kv).create(record("good"));
    await kv.set("s:bad", "junk", undefined);
    const readOnly: KeyValueStore = { ...kv, set: () => Promise.reject(new Error("read-only")) };
    const store = taskStore(readOnly);
    expect(await idsOf(store)).toEqual(["good"]);
    expect(store.issues).toMatchObject([{ kind: "corrupt", cause: { name: "StoreError" } }]);
    await expect(store.load("bad")).rejects.toMatchObject(storeError);
    expect(await kv.get("s:bad")).toBe("junk");
  });
});

describe("what was set aside", () => {
  test("keeps every version of it: a second corrupt record does not replace the first", async () => {
    const kv = memoryStore();
    const store = taskStore(kv);
    for (const text of ["junk 1", "junk 2", "junk 2"]) {
      await kv.set("s:1", text, undefined);
      await store.load("1");
    }
    const kept = (await collect(kv.entries("s:!corrupt:1"))).map(([, value]) => value);
    expect(kept.sort()).toEqual(["junk 1", "junk 2"]);
  });

  test("forbids to create its id again, since its call may have run, until it is removed", async () => {
    const kv = memoryStore();
    const store = taskStore(kv);
    await kv.set("s:1", "junk", undefined);
    await expect(store.create(record("1"))).rejects.toMatchObject(storeError);
    await expect(store.create(record("1"))).rejects.toThrow(/set aside/);
    await store.remove("1");
    expect(await store.create(record("1"))).toMatchObject({ created: true });
  });

  test("save of a record in memory goes on over a corrupt one", async () => {
    const kv = memoryStore();
    const store = taskStore(kv);
    await store.create(record("1"));
    await kv.set("s:1", "junk", undefined);
    await store.save(record("1", { failures: 2 }));
    expect((await store.load("1"))?.failures).toBe(2);
    expect(await kv.get("s:!corrupt:1")).toBe("junk");
  });

  test("remove of a corrupt record sets it aside", async () => {
    const kv = memoryStore();
    await kv.set("s:1", "junk", undefined);
    const store = taskStore(kv);
    await store.remove("1");
    expect(await kv.get("s:1")).toBeUndefined();
    expect(await kv.get("s:!corrupt:1")).toBe("junk");
  });

  test("no issue quotes a record or its id", async () => {
    const kv = memoryStore();
    const store = taskStore(kv);
    await kv.set("s:secret-id", '{"taskId":"secret-task"', undefined);
    await kv.set("s:newer-secret", JSON.stringify({ ...record("newer-secret"), v: 2 }), undefined);
    await idsOf(store);
    expect(store.issues).toHaveLength(2);
    expect(JSON.stringify(store.issues)).not.toContain("secret");
  });
});

describe("the index of a store that cannot iterate", () => {
  test("is repaired by the next write of a record that it lost (F106)", async () => {
    const adapter = new PlainAdapter();
    const store = taskStore(toKeyValueStore(adapter));
    await store.create(record("1"));
    for (const key of [...adapter.entries.keys()]) if (key.includes("!index")) adapter.entries.delete(key);
    expect(await idsOf(store)).toEqual([]);
    await store.save(record("1"));
    expect(await idsOf(store)).toEqual(["1"]);
  });

  test("two processes on a file adapter that writes late: the last writer's loss is repaired (F106)", async () => {
    const file = join(await temporaryFolder(), "store.json");
    await writeFile(file, "[]");
    /** Reads its file once and writes all of it when told, as such adapters do. */
    const openFile = async (): Promise<PlainAdapter & { flush(): Promise<void> }> => {
      const adapter = new PlainAdapter();
      for (const [key, value] of JSON.parse(await readFile(file, "utf8")) as [string, unknown][]) {
        adapter.entries.set(key, value);
      }
      return Object.assign(adapter, { flush: () => writeFile(file, JSON.stringify([...adapter.entries])) });
    };
    const [a, b] = [await openFile(), await openFile()];
    await taskStore(toKeyValueStore(a)).create(record("of-a"));
    const ofB = taskStore(toKeyValueStore(b));
    await ofB.create(record("of-b"));
    await b.flush();
    await a.flush();
    const reopened = taskStore(toKeyValueStore(await openFile()));
    expect(await idsOf(reopened)).toEqual(["of-a"]);
    // The process of b still has its record in memory and writes it again on the next change.
    const c = await openFile();
    const store = taskStore(toKeyValueStore(c));
    await store.save(record("of-b"));
    await c.flush();
    expect(await idsOf(taskStore(toKeyValueStore(await openFile())))).toEqual(["of-a", "of-b"]);
  });

  test("is empty again after 10,000 records expired (F110)", async () => {
    const clock = manualClock();
    const { entries: _none, setIfAbsent: _no, setIfUnchanged: _neither, ...kv } = memoryStore(clock);
    const store = taskStore(kv, { clock, ttlMs: () => 60_000 });
    const ids = Array.from({ length: 10_000 }, (_, at) => `${at}`);
    for (const id of ids) await store.create(record(id));
    const indexed = async (): Promise<number> => {
      let count = 0;
      for (let shard = 0; shard < 64; shard++) {
        const text = await kv.get(`s:!index:${String(shard).padStart(2, "0")}`);
        count += text === undefined ? 0 : (JSON.parse(text) as string[]).length;
      }
      return count;
    };
    expect(await indexed()).toBe(10_000);
    clock.atMs += 60_001;
    expect(await idsOf(store)).toEqual([]);
    expect(await indexed()).toBe(0);
  });

  test("loses no record that is created while it is pruned", async () => {
    const adapter = new PlainAdapter();
    const kv = toKeyValueStore(adapter);
    const store = taskStore(kv);
    const ids = Array.from({ length: 200 }, (_, at) => `id-${at}`);
    for (const id of ids) await store.create(record(id));
    for (const key of [...adapter.entries.keys()]) if (!key.includes("!index")) adapter.entries.delete(key);
    await Promise.all([idsOf(store), ...ids.map((id) => store.create(record(id))), idsOf(taskStore(kv))]);
    expect(await idsOf(store)).toEqual([...ids].sort());
    expect(indexOf(adapter)).toEqual([...ids].sort());
  });

  test("a removed record leaves it at once", async () => {
    const adapter = new PlainAdapter();
    const store = taskStore(toKeyValueStore(adapter));
    await store.create(record("1"));
    await store.create(record("2"));
    await store.remove("1");
    expect(indexOf(adapter)).toEqual(["2"]);
  });

  test("a corrupt shard is set aside and reported; its records come back with their next write", async () => {
    const adapter = new PlainAdapter();
    const store = taskStore(toKeyValueStore(adapter));
    await store.create(record("1"));
    const shard = [...adapter.entries.keys()].find((key) => key.includes("!index")) ?? "";
    adapter.entries.set(shard, '{"value":"[1, 2"}');
    expect(await idsOf(store)).toEqual([]);
    expect(store.issues.map(({ kind }) => kind)).toEqual(["corrupt"]);
    await store.save(record("1"));
    expect(await idsOf(store)).toEqual(["1"]);
  });
});

describe("writes", () => {
  test("a record created with a time to live and saved without one is there ten minutes later (F109)", async () => {
    const clock = manualClock();
    let ttl: number | undefined = 60_000;
    const store = taskStore(memoryStore(clock), { clock, ttlMs: () => ttl });
    await store.create(record("1"));
    ttl = undefined;
    await store.save(record("1"));
    clock.atMs += 600_000;
    expect(await store.load("1")).toEqual(record("1"));
  });

  test("the time to live is asked with the record as it is stored and the time of the write", async () => {
    const clock = manualClock(1_000);
    const asked: unknown[] = [];
    const store = taskStore(memoryStore(clock), {
      clock,
      merge: (_stored, mine) => ({ ...mine, failures: 9 }),
      ttlMs: (stored, nowMs) => void asked.push([stored.failures, nowMs]),
    });
    await store.create(record("1"));
    await store.save(record("1"));
    expect(asked).toEqual([
      [undefined, 1_000],
      [9, 1_000],
    ]);
  });

  test("a record that another process changes between the read and the write is merged again", async () => {
    const kv = memoryStore();
    await taskStore(kv).create(record("1", { failures: 1 }));
    let raced = 0;
    const store = taskStore(kv, {
      merge(stored, mine) {
        // The other process is faster, three times.
        if (raced++ < 3) void kv.set("s:1", JSON.stringify({ ...stored, failures: 1 + raced }), undefined);
        return { ...mine, failures: (stored.failures ?? 0) + 100 };
      },
    });
    expect(await store.save(record("1"))).toMatchObject({ failures: 104 });
    expect(raced).toBe(4);
  });

  test("a record of another scope is the caller's mistake", async () => {
    const store = taskStore(memoryStore());
    await expect(store.save(record("1", { scope: "other" }))).rejects.toThrow(TypeError);
  });

  test("reads and writes are counted", async () => {
    const store = taskStore(memoryStore());
    await store.create(record("1"));
    await store.save(record("1"));
    await store.load("1");
    expect(store.counts).toEqual({ reads: 4, writes: 2 });
  });

  test("a store of the host's own that throws anything is a StoreError with the cause", async () => {
    const cause = new Error("no route to host");
    const kv: KeyValueStore = { ...memoryStore(), get: () => Promise.reject(cause) };
    await expect(taskStore(kv).load("1")).rejects.toMatchObject({ ...storeError, cause });
  });
});
