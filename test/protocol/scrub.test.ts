/** Secrets do not stay in the text of others. */
import { describe, expect, it } from "vitest";
import { scrub } from "../../src/internal/scrub.js";

describe("scrub", () => {
  it("replaces every occurrence, by position of the secret", () => {
    expect(scrub("task-1 / state-1 / task-1 / other-1", ["task-1", "state-1", "other-1"])).toBe(
      "[task] / [state] / [task] / [hidden]",
    );
  });

  it("ignores what is undefined, empty or short", () => {
    expect(scrub("a bad answer", [undefined, "", "bad"])).toBe("a bad answer");
  });

  it("takes the longer of two that overlap", () => {
    expect(scrub("state-task-1-x", ["task-1", "state-task-1-x"])).toBe("[state]");
  });

  it("finds secrets escaped as in JSON, and takes them as text, not as a pattern", () => {
    expect(scrub('{"id":"a\\"b.*c"}', ['a"b.*c'])).toBe('{"id":"[task]"}');
    expect(scrub("$& x.*y", ["x.*y"])).toBe("$& [task]");
    expect(scrub("x$&yy", ["$&yy"])).toBe("x[task]");
  });
});
