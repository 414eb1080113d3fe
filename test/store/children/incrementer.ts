/** Owns a process that takes part in counting to a sum, by conditional writes on one entry, and in filling a folder. */
import { lmdbStore } from "../../../src/store/lmdb.js";
import { toKeyValueStore } from "../../../src/store/keyValue.js";
import { createTaskStore } from "../../../src/store/taskStore.js";
import { systemClock } from "../../../src/internal/clock.js";
import { record } from "../records.js";

const [path = "", name = "", times = "0"] = process.argv.slice(2);
const lmdb = lmdbStore(path);
const store = createTaskStore(toKeyValueStore(lmdb), {
  scope: "s",
  clock: systemClock,
  merge: (stored, mine) => ({ ...mine, failures: (stored.failures ?? 0) + (mine.failures ?? 0) }),
  ttlMs: () => undefined,
  onIssue: (issue) => {
    throw new Error(issue.message);
  },
});

let created = 0;
for (let at = 0; at < Number(times); at++) {
  await store.create(record(`${name}-${at}`));
  // Everybody tries to create these, one of all may.
  if ((await store.create(record(`shared-${at}`, { tool: name }))).created) created += 1;
  await store.save(record("sum", { failures: 1 }));
}
await lmdb.disconnect();
process.stdout.write(`${created}\n`);
