/** A data file whose end was cut off (a full disk, a broken copy) ended the process with SIGBUS, on every start again. */
import { cp, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lmdbStore } from "../../src/store/lmdb.js";
import { collect, temporaryFolder } from "../store/fixtures.js";

const COUNT = 200;
const storeError = { code: "STORE", cause: { message: "data.mdb is damaged: its end is missing" } };

async function filled(): Promise<{ folder: string; size: number }> {
  const folder = join(await temporaryFolder(), "db");
  const store = lmdbStore(folder);
  // One commit each, some beyond a page.
  for (let at = 0; at < COUNT; at += 1) await store.set(`k:${at}`, "v".repeat(at % 7 === 0 ? 9000 : 1500));
  await store.disconnect();
  return { folder, size: (await stat(join(folder, "data.mdb"))).size };
}

test.each([0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])(
  "cut to %d of its length: StoreError that says what is wrong",
  async (part) => {
    const { folder, size } = await filled();
    const copy = `${folder}-copy`;
    await cp(folder, copy, { recursive: true });
    await truncate(join(copy, "data.mdb"), Math.floor(size * part));
    const store = lmdbStore(copy);
    await expect(store.get("k:5")).rejects.toMatchObject(storeError);
    await expect(store.set("k:5", "again")).rejects.toMatchObject(storeError);
    // The whole file is back: so is everything.
    await cp(join(folder, "data.mdb"), join(copy, "data.mdb"));
    expect(await collect(store.iterator())).toHaveLength(COUNT);
    await store.disconnect();
  },
);

describe("a file that is as lmdb left it", () => {
  test("opens, though pages that were free at once were never written at its end", async () => {
    const folder = join(await temporaryFolder(), "db");
    for (let round = 0; round < 12; round += 1) {
      const store = lmdbStore(folder);
      await store.set(`k:${round}`, "v".repeat(3000 * round));
      // One transaction, whose pages are needed and free in one.
      const big = "x".repeat(40_000 + 4096 * round);
      await Promise.all([store.set("big", big), store.delete("big"), store.set("other", "v".repeat(round))]);
      expect(await collect(store.iterator())).toHaveLength(round + 2);
      await store.disconnect();
    }
  });

  test("opens while another process writes to it", async () => {
    const { folder } = await filled();
    const writer = lmdbStore(folder);
    const writing = (async () => {
      for (let at = 0; at < 60; at += 1) await writer.set(`w:${at}`, "v".repeat(6000));
    })();
    const { isCutShort } = await import("../../src/store/lmdbDamage.js");
    const { open } = await import("node:fs/promises");
    const found: boolean[] = [];
    for (let at = 0; at < 200; at += 1) {
      const file = await open(join(folder, "data.mdb"), "r");
      found.push(await isCutShort(file, 24));
      await file.close();
    }
    await writing;
    await writer.disconnect();
    expect(found).not.toContain(true);
  });
});
