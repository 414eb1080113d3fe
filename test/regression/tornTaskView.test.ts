/** The testing server looked at its clock twice for one answer: a task that ended in between was completed without a result. */
import { expect, it } from "vitest";
import { taskBook } from "../../src/testing/taskBook.js";
import { detailOf } from "../../src/testing/rpc.js";

it("shows a task as of one moment, wherever in the answer the task ends", () => {
  // Every look at the clock takes a millisecond, so that the end falls between any two of them for some `ms`.
  for (let ms = 1; ms <= 10; ms += 1) {
    let nowMs = 0;
    const book = taskBook({
      stateFile: undefined,
      taskId: undefined,
      pollIntervalMs: 100,
      ttlMs: null,
      now: () => nowMs++,
      finish: () => () => ({ result: { content: [] } }),
    });
    const task = book.create({
      tool: "slow",
      arguments: {},
      principal: null,
      steps: [{ kind: "work", ms }],
    });
    for (let polls = 0; polls < 12; polls += 1) {
      const shown = detailOf(book, task);
      expect([ms, shown["status"], "result" in shown]).toEqual([
        ms,
        shown["status"],
        shown["status"] === "completed",
      ]);
    }
  }
});
