/** Members of a call that are no texts (`cancelRequested`, `unshownInputs`) reached the page as whatever a proxy made of them. */
import { expect, test } from "vitest";
import { createTasksStore, type SnapshotEvent } from "../../src/approvals/index.js";

const call = {
  id: "1",
  server: "ci",
  tool: "deploy",
  status: "working",
  createdAt: "2026-08-01T00:00:00.000Z",
  inputs: [],
  answers: [],
};

test.each([
  ["no boolean and no number", { cancelRequested: "no", unshownInputs: { many: true } }],
  ["nothing", {}],
])("of a call with %s, a page shows what the wire says", (_, members) => {
  const initial: unknown = { now: call.createdAt, tasks: [{ ...call, ...members }], truncated: "no" };
  const state = createTasksStore("/approvals", { initial: initial as SnapshotEvent }).getSnapshot();
  expect(state.tasks[0]?.cancelRequested).toBe(false);
  expect(state.tasks[0]?.unshownInputs).toBeUndefined();
  expect(state.truncated).toBe(false);
});

test("a call that is right stays the same object", () => {
  const right = { ...call, cancelRequested: true, unshownInputs: 2 };
  const initial: SnapshotEvent = { now: call.createdAt, tasks: [right], truncated: true };
  const state = createTasksStore("/approvals", { initial }).getSnapshot();
  expect(state.tasks[0]).toBe(right);
  expect(state.truncated).toBe(true);
});
