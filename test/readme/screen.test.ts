/** What servers say reaches the examples' terminal as text only, and fits it (F173). */
import { expect, test } from "vitest";
import { lines, type Picture } from "../../examples/demo/picture.js";
import { printable } from "../../examples/printable.js";
import { formFields } from "../../examples/approvals-in-terminal/formFields.js";

const HOSTILE = "ok\u001b[2J\u001b]0;x\u0007\u009b31m\r\n\u2028\u202egnirts\u2066";
/** C0, C1, line separators, and marks that turn the direction. */
const OBEYED = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

test("printable text has nothing that a terminal obeys, and keeps the rest", () => {
  expect(printable(HOSTILE)).not.toMatch(OBEYED);
  expect(printable(HOSTILE)).toContain("gnirts");
  expect(printable("Grüße, 世界 🚀")).toBe("Grüße, 世界 🚀");
});

test("it is cut between characters, not inside one", () => {
  expect(printable("🚀🚀🚀🚀🚀", 4)).toBe("🚀...");
});

test.each([60, 80, 200])("no line of the demo is wider than %i columns or obeyed", (columns) => {
  const picture: Picture = {
    elapsedMs: 123_456,
    rows: ["report", "deploy", "crawl"].map((name) => ({
      name,
      status: "input_required",
      text: HOSTILE.repeat(50),
    })),
    worker: "process 1234567, life 2, found 3 tasks in the store".repeat(5),
    server: "process 1234567",
    prompt: `${HOSTILE.repeat(20)} [y/n, in 12 s]`,
  };
  for (const line of lines(picture, columns)) {
    expect(line).not.toMatch(OBEYED);
    expect(Array.from(line).length).toBeLessThan(columns);
  }
});

test("the labels of a form are printable; a field that cannot be asked for in a line makes the form unusable", () => {
  const form = (schema: Record<string, unknown>) =>
    ({ type: "object", properties: { field: schema } }) as never;
  expect(formFields(form({ type: "string", title: HOSTILE }))?.[0]?.question).not.toMatch(OBEYED);
  expect(formFields(form({ type: "array", items: { type: "string" } }))).toBeUndefined();
  expect(formFields(form({ $ref: "#/$defs/P" }))).toBeUndefined();
});
