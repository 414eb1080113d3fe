/** A page's store took any clock, chance or credentials: the stream failed later, as a rejection that nobody handled. */
import { expect, test } from "vitest";
import { createTasksStore, type TasksStoreOptions } from "../../src/approvals/index.js";

test.each([
  ["clock", 5],
  ["clock", { now: () => 0 }],
  ["random", 0.5],
  ["credentials", "all"],
  ["fetch", "GET"],
])("createTasksStore refuses %s: %j, and names it", (name, value) => {
  const options = { [name]: value } as TasksStoreOptions;
  expect(() => createTasksStore("/approvals", options)).toThrow(
    expect.objectContaining({ name: "TypeError", message: expect.stringMatching(`^${name}: `) as unknown }),
  );
});
