/** When the folder of a store was removed under a running process, its writes went to files without a name, and nobody was told. */
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lmdbStore } from "../../src/store/lmdb.js";
import { collect, temporaryFolder } from "../store/fixtures.js";

const removed = {
  code: "STORE",
  message: "The files of the lmdb store were removed or replaced while it was in use",
};

test("the write is refused, and the next one goes to a new folder that others see", async () => {
  const folder = join(await temporaryFolder(), "db");
  const store = lmdbStore(folder);
  const neighbour = lmdbStore(folder);
  await store.set("before", "1");
  await neighbour.set("before", "2");
  await rm(folder, { recursive: true });
  const refused = [store.set("lost", "1"), store.setIfAbsent("lost", "1"), neighbour.delete("before")];
  for (const one of refused) await expect(one).rejects.toMatchObject(removed);
  await store.set("after", "1");
  await neighbour.set("after too", "1");
  expect((await collect(store.iterator())).map(([key]) => key)).toEqual(["after", "after too"]);
  await neighbour.disconnect();
  expect(await store.get("after")).toBe("1");
  await store.disconnect();
  const later = lmdbStore(folder);
  expect((await collect(later.iterator())).map(([key]) => key)).toEqual(["after", "after too"]);
  await later.disconnect();
});

test("a folder that is moved away and back is the same", async () => {
  const folder = join(await temporaryFolder(), "db");
  const store = lmdbStore(folder);
  await store.set("before", "1");
  await rename(folder, `${folder}-away`);
  await expect(store.set("meanwhile", "1")).rejects.toMatchObject(removed);
  await rename(`${folder}-away`, folder);
  await store.set("after", "1");
  expect(await store.get("before")).toBe("1");
  await store.disconnect();
});
