import { describe, expect, test } from "vitest";
import { idsOf, record, STORES, taskStore } from "./fixtures.js";

const ODD_IDS = [
  "a:b",
  "a",
  "b",
  "../x",
  "",
  "A",
  "a--b",
  "ab",
  "%",
  "~",
  "!index:00",
  "ü",
  "\ud800",
  "\ud801",
  "🙂",
  " ",
  "x".repeat(5_000),
  "x".repeat(5_001),
];

describe.each(Object.entries(STORES))("TaskStore over %s", (_name, make) => {
  test("create, load, save, remove", async () => {
    const store = taskStore(await make());
    expect(await store.load("1")).toBeUndefined();
    expect(await store.create(record("1"))).toEqual({ created: true, record: record("1") });
    expect(await store.load("1")).toEqual(record("1"));
    const saved = await store.save(record("1", { updatedAtMs: 2, failures: 3 }));
    expect(saved.failures).toBe(3);
    expect(await store.load("1")).toEqual(saved);
    await store.remove("1");
    expect(await store.load("1")).toBeUndefined();
    expect(await idsOf(store)).toEqual([]);
    expect(store.issues).toEqual([]);
  });

  test("create writes nothing over a record that is there, and one of many wins", async () => {
    const store = taskStore(await make());
    const answers = await Promise.all(
      [1, 2, 3].map((each) => store.create(record("1", { createdAtMs: each }))),
    );
    expect(answers.filter(({ created }) => created)).toHaveLength(1);
    const winner = answers.find(({ created }) => created)?.record;
    for (const answer of answers) expect(answer.record).toEqual(winner);
    expect(await store.load("1")).toEqual(winner);
  });

  test("a claim makes one owner of many, and only where it may be taken; saves keep it", async () => {
    const kv = await make();
    const [mine, theirs] = [taskStore(kv), taskStore(kv)];
    const isNobodys = ({ owner }: { owner?: string | undefined }): boolean => owner === undefined;
    expect(await mine.claim("1", "a", isNobodys)).toBeUndefined();
    await mine.create(record("1"));
    const claims = await Promise.all([mine.claim("1", "a", isNobodys), theirs.claim("1", "b", isNobodys)]);
    const owner = (await mine.load("1"))?.owner;
    // Where a store cannot compare and set, two at once may both believe it; the record names one.
    if (mine.comparesAndSets) expect(claims.map((claim) => claim?.owner)).toEqual([owner, owner]);
    expect(["a", "b"]).toContain(owner);
    expect((await mine.claim("1", "c", isNobodys))?.owner).toBe(owner);
    expect((await theirs.save(record("1", { updatedAtMs: 9, owner: "c" }))).owner).toBe(owner);
    expect((await theirs.claim("1", "c", () => true))?.owner).toBe("c");
    expect((await mine.load("1"))?.owner).toBe("c");
    expect(await idsOf(mine)).toEqual(["1"]);
  });

  test("the roster keeps every process's change, is no record, and may be damaged", async () => {
    const kv = await make();
    const [mine, theirs] = [taskStore(kv), taskStore(kv)];
    expect(await mine.roster.read()).toEqual({ owners: new Map(), departures: "" });
    const entry = { beat: 1, leaseMs: 1000, instance: "worker" };
    const put = (store: typeof mine, owner: string) =>
      store.roster.change((now) => ({ ...now, owners: new Map([...now.owners, [owner, entry]]) }), 60_000);
    if (mine.comparesAndSets) await Promise.all([put(mine, "a"), put(theirs, "__proto__")]);
    else
      for (const [store, owner] of [
        [mine, "a"],
        [theirs, "__proto__"],
      ] as const)
        await put(store, owner);
    expect((await mine.roster.read()).owners).toEqual(
      new Map([
        ["a", entry],
        ["__proto__", entry],
      ]),
    );
    expect(await idsOf(mine)).toEqual([]);
    expect(mine.counts.writes).toBe(0);
    for (const damage of ["", "[]", "{", '{"owners":[["a",{"beat":"1"}],7],"departures":1}']) {
      await kv.set(`${record("1").scope}:!roster`, damage, undefined);
      expect(await mine.roster.read()).toEqual({ owners: new Map(), departures: "" });
      expect([...(await put(mine, "a")).owners.keys()]).toEqual(["a"]);
    }
    expect(mine.issues).toEqual([]);
  });

  test("save merges with what another process stored meanwhile", async () => {
    const kv = await make();
    const mine = taskStore(kv);
    const theirs = taskStore(kv);
    await mine.create(record("1"));
    const settled = record("1", { phase: "settled", settledAtMs: 5, outcome: { status: "cancelled" } });
    await theirs.save(settled);
    const stored = await mine.save(record("1", { updatedAtMs: 9, failures: 1 }));
    expect(stored.outcome).toEqual({ status: "cancelled" });
    expect((await theirs.load("1"))?.outcome).toEqual({ status: "cancelled" });
  });

  test("saves of one record do not overtake each other: none is lost", async () => {
    const kv = await make();
    const merge: NonNullable<Parameters<typeof taskStore>[1]>["merge"] = (stored, mine) => ({
      ...mine,
      failures: (stored.failures ?? 0) + (mine.failures ?? 0),
    });
    const store = taskStore(kv, { merge });
    await store.create(record("1"));
    await Promise.all(Array.from({ length: 20 }, () => store.save(record("1", { failures: 1 }))));
    expect((await store.load("1"))?.failures).toBe(20);
  });

  test("ids of any text have keys of their own and come back (F104)", async () => {
    const store = taskStore(await make());
    // The empty id is none that a record may have.
    const ids = ODD_IDS.filter((id) => id !== "");
    for (const id of ids) expect((await store.create(record(id))).created).toBe(true);
    for (const id of ids) expect((await store.load(id))?.id).toBe(id);
    expect(await idsOf(store)).toEqual([...ids].sort());
    expect(store.issues).toEqual([]);
  });

  test("scopes see nothing of each other, also when one is a prefix of another (F104)", async () => {
    const kv = await make();
    const scopes = ["s", "s:1", "", "keyv", "mine", "S", "s:!corrupt", "s%3a1"];
    for (const scope of scopes)
      await taskStore(kv, { scope }).create(record(`1`, { scope, tool: `of ${scope}` }));
    for (const scope of scopes) {
      const store = taskStore(kv, { scope });
      expect(await idsOf(store)).toEqual(["1"]);
      expect((await store.load("1"))?.tool).toBe(`of ${scope}`);
      expect(store.issues).toEqual([]);
    }
    await taskStore(kv, { scope: "s" }).remove("1");
    for (const scope of scopes.slice(1)) expect(await idsOf(taskStore(kv, { scope }))).toEqual(["1"]);
  });

  test("many records: each is iterated once, by another store object", async () => {
    const kv = await make();
    const ids = Array.from({ length: 500 }, (_, at) => `id-${at}`);
    const writer = taskStore(kv);
    await Promise.all(ids.map((id) => writer.create(record(id))));
    expect(await idsOf(taskStore(kv))).toEqual([...ids].sort());
  });

  test("an update restates the time to live, and takes it away (F109)", async () => {
    const kv = await make();
    let ttl: number | undefined = 60_000;
    const store = taskStore(kv, { ttlMs: () => ttl });
    await store.create(record("kept"));
    await store.create(record("gone"));
    ttl = undefined;
    await store.save(record("kept"));
    ttl = 1;
    await store.save(record("gone"));
    await expect.poll(() => store.load("gone")).toBeUndefined();
    expect(await idsOf(store)).toEqual(["kept"]);
  });

  test("a corrupt record is set aside and reported once, the others go on (F107)", async () => {
    const kv = await make();
    const store = taskStore(kv);
    await store.create(record("good"));
    await store.create(record("bad"));
    await store.create(record("nul"));
    await kv.set("s:bad", '{"v":1,"id":"bad"', undefined);
    await kv.set("s:nul", "\0".repeat(400), undefined);
    expect(await idsOf(store)).toEqual(["good"]);
    expect(store.issues.map(({ kind }) => kind)).toEqual(["corrupt", "corrupt"]);
    expect(await store.load("bad")).toBeUndefined();
    expect(await kv.get("s:bad")).toBeUndefined();
    expect(await kv.get("s:!corrupt:bad")).toBe('{"v":1,"id":"bad"');
    expect(await kv.get("s:!corrupt:nul")).toBe("\0".repeat(400));
    expect(await idsOf(store)).toEqual(["good"]);
    expect(store.issues).toHaveLength(2);
  });

  test("a record of a newer version is left as it is: skipped, reported, never overwritten (F118)", async () => {
    const kv = await make();
    const store = taskStore(kv);
    await store.create(record("old"));
    await store.create(record("new"));
    const newer = JSON.stringify({ ...record("new"), v: 99, unheard: "of" });
    await kv.set("s:new", newer, undefined);
    expect(await idsOf(store)).toEqual(["old"]);
    expect(await store.load("new")).toBeUndefined();
    expect(store.issues.map(({ kind }) => kind)).toEqual(["newer-version"]);
    for (const refused of [store.save(record("new")), store.create(record("new")), store.remove("new")]) {
      await expect(refused).rejects.toMatchObject({ name: "StoreError", code: "STORE" });
    }
    expect(await kv.get("s:new")).toBe(newer);
    expect(store.issues).toHaveLength(1);
  });
});
