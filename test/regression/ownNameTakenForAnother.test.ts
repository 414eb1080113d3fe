/**
 * A process that came back under a new name took its own write, under the old one, for another process's: that a call
 * was about to be sent was left out of the store, and the next process would have sent it again.
 */
import { expect, test } from "vitest";
import { systemClock } from "../../src/internal/clock.js";
import { memoryStore } from "../../src/store/memory.js";
import { createTaskStore } from "../../src/store/taskStore.js";
import { mergeRecords } from "../../src/task/merge.js";
import type { TaskRecord } from "../../src/task/record.js";

const record: TaskRecord = {
  v: 1,
  id: "c1",
  scope: "s",
  server: "srv",
  identity: "https://srv.example",
  owner: "old",
  era: "2026-07-28",
  tool: "deploy",
  createdAtMs: 1,
  updatedAtMs: 1,
  phase: "calling",
  call: { arguments: {}, onUnknownOutcome: "fail", inFlight: false },
  questions: [],
};

test("what is written under the old name is this process's own change", async () => {
  const store = createTaskStore(memoryStore(systemClock), {
    scope: "s",
    clock: systemClock,
    merge: mergeRecords,
    ttlMs: () => undefined,
    onIssue: () => undefined,
  });
  await store.create(record);
  await store.claim("c1", "new", () => true);
  const sending = { ...record, call: { ...record.call!, inFlight: true } };
  const saved = await store.save(sending, ({ owner }) => owner === "old" || owner === "new");
  expect(saved).toMatchObject({ owner: "new", call: { inFlight: true } });
  // Another process's owner is another matter.
  await store.claim("c1", "other", () => true);
  const late = await store.save({ ...sending, phase: "asking" }, ({ owner }) => owner === "new");
  expect(late).toMatchObject({ owner: "other", phase: "calling" });
});
