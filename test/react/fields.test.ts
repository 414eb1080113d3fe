/** Each kind of field in a real browser: what it looks like to a person, what it sends, what it refuses. */
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/internal/json.js";
import { drive, hasFocus, type LabDriver } from "./labDriver.js";
import { asking, form } from "./page/views.js";
import { setStage, type Stage } from "./stage.js";

let stage: Stage;
let page: Page;
let lab: LabDriver;

beforeAll(async () => {
  stage = await setStage();
  page = await stage.open();
  lab = drive(page);
}, 60_000);
afterAll(() => stage?.close());

const one = (schema: JsonObject, required = false): Promise<Locator> =>
  lab.mount({ tasks: [asking(form({ f: { title: "Field", ...schema } }, required ? ["f"] : []))] });
const accept = (card: Locator): Promise<void> => card.getByRole("button", { name: "Accept" }).click();
/** The content of the only answer so far, or undefined. */
async function sent(): Promise<unknown> {
  const asked = await lab.asked();
  expect(asked.length).toBeLessThan(2);
  return (asked[0]?.response as { content?: unknown } | undefined)?.content;
}
const error = (card: Locator): Promise<string> => card.locator(".taskrail-error").innerText();

test("text: a value, F136 emptied and left out, required and empty", async () => {
  let card = await one({ type: "string" });
  await card.getByLabel("Field").fill("hello");
  await accept(card);
  expect(await sent()).toEqual({ f: "hello" });

  card = await one({ type: "string" });
  await card.getByLabel("Field").fill("typed");
  await card.getByLabel("Field").fill("");
  await accept(card);
  expect(await sent()).toEqual({});

  card = await one({ type: "string" }, true);
  await accept(card);
  expect(await sent()).toBeUndefined();
  const field = card.getByLabel("Field");
  expect(await error(card)).not.toBe("");
  expect(await field.getAttribute("aria-invalid")).toBe("true");
  expect(await field.getAttribute("aria-required")).toBe("true");
  const describedBy = (await field.getAttribute("aria-describedby"))?.split(" ") ?? [];
  expect(describedBy).toContain(await card.locator(".taskrail-error").getAttribute("id"));
  expect(await hasFocus(field)).toBe(true);
  await card.getByRole("alert").getByText("One field needs a look.").waitFor();
});

test("Enter in a text accepts; long texts have several lines", async () => {
  let card = await one({ type: "string" });
  await card.getByLabel("Field").fill("x");
  await page.keyboard.press("Enter");
  expect(await sent()).toEqual({ f: "x" });
  card = await one({ type: "string", maxLength: 2000 });
  await card.getByLabel("Field").fill("a\nb");
  await accept(card);
  expect(await sent()).toEqual({ f: "a\nb" });
});

test.each([
  ["email", "me@example.org", "nobody"],
  ["uri", "https://example.org/x", "no address"],
])("text of the format %s", async (format, good, bad) => {
  const card = await one({ type: "string", format });
  await card.getByLabel("Field").fill(bad);
  await accept(card);
  expect(await sent()).toBeUndefined();
  expect(await error(card)).not.toBe("");
  await card.getByLabel("Field").fill(good);
  await accept(card);
  expect(await sent()).toEqual({ f: good });
});

test("date, and a half-typed one is not taken for an empty one", async () => {
  let card = await one({ type: "string", format: "date" });
  await card.getByLabel("Field").fill("2026-10-25");
  await accept(card);
  expect(await sent()).toEqual({ f: "2026-10-25" });

  card = await one({ type: "string", format: "date" });
  await card.getByLabel("Field").focus();
  await page.keyboard.type("10");
  await accept(card);
  expect(await sent()).toBeUndefined();
  expect(await error(card)).toBe("Complete the date, or clear it.");
});

test("an instant has the zone of the page, shown as it is sent; an untouched default goes as it came", async () => {
  let card = await one({ type: "string", format: "date-time" });
  await card.getByLabel("Field").fill("2026-07-04T10:00:30");
  await card.getByText("2026-07-04T10:00:30+02:00").waitFor();
  await accept(card);
  expect(await sent()).toEqual({ f: "2026-07-04T10:00:30+02:00" });

  // The hour that Berlin skips: what is shown is what is sent.
  card = await one({ type: "string", format: "date-time" });
  await card.getByLabel("Field").fill("2026-03-29T02:30:00");
  await card.getByText("2026-03-29T03:30:00+02:00").waitFor();

  card = await one({ type: "string", format: "date-time", default: "2026-01-01T09:00:00.250Z" });
  expect(await card.getByLabel("Field").inputValue()).toBe("2026-01-01T10:00");
  await accept(card);
  expect(await sent()).toEqual({ f: "2026-01-01T09:00:00.250Z" });
});

test.each([
  ["integer", "42xyz", undefined],
  ["integer", "1.5", undefined],
  ["integer", " 7 ", 7],
  ["integer", "0x10", undefined],
  ["number", "1e3", 1000],
  ["number", "-2.5", -2.5],
  ["number", "", "left out"],
])("F137: %s %j", async (type, text, value) => {
  const card = await one({ type });
  await card.getByLabel("Field").fill(text);
  await accept(card);
  expect(await sent()).toEqual(value === undefined ? undefined : value === "left out" ? {} : { f: value });
});

test("limits are said before and after", async () => {
  const card = await one({ type: "integer", minimum: 1, maximum: 9 });
  await card.getByText("whole number, at least 1, at most 9").waitFor();
  expect(await card.getByLabel("Field").getAttribute("inputmode")).toBe("numeric");
  await card.getByLabel("Field").fill("10");
  await accept(card);
  expect(await error(card)).toContain("9");
});

test("a number with a comma is refused by an example of one with a point", async () => {
  const card = await one({ type: "number" });
  await card.getByRole("textbox").fill("60,00");
  await accept(card);
  expect(await sent()).toBeUndefined();
  expect(await error(card)).toBe("Please enter a number, such as 12.5.");
});

test("yes or no: a checkbox for the server's default; without one nobody decides for the person", async () => {
  let card = await one({ type: "boolean", default: true, title: "Quiet car", description: "No calls" });
  expect(await card.getByRole("checkbox", { name: "Quiet car (optional)" }).isChecked()).toBe(true);
  // Its name is said once, beside the box.
  expect((await card.innerText()).match(/Quiet car/g)).toHaveLength(1);
  expect(await card.getByRole("group").count()).toBe(0);
  await card.getByRole("checkbox").click();
  await accept(card);
  expect(await sent()).toEqual({ f: false });

  card = await one({ type: "boolean", default: true, title: "Quiet car" }, true);
  await card.getByRole("checkbox", { name: "Quiet car (required)" }).waitFor();

  card = await one({ type: "boolean" }, true);
  await accept(card);
  expect(await sent()).toBeUndefined();
  expect(await error(card)).toBe("Choose one.");
  await card.getByLabel("No", { exact: true }).click();
  await accept(card);
  expect(await sent()).toEqual({ f: false });

  card = await one({ type: "boolean" });
  expect(await card.getByLabel("No answer").isChecked()).toBe(true);
  await accept(card);
  expect(await sent()).toEqual({});
});

test("a choice of few are buttons with the titles, of many a list; what is sent is the value (F143)", async () => {
  let card = await one({
    oneOf: [
      { const: "lo", title: "Low" },
      { const: "hi", title: "High" },
    ],
  });
  await card.getByLabel("High").click();
  await accept(card);
  expect(await sent()).toEqual({ f: "hi" });

  card = await one({ type: "string", enum: ["a", "b", "c", "d", "e", "f"] }, true);
  await accept(card);
  expect(await sent()).toBeUndefined();
  await card.getByLabel("Field").selectOption({ label: "e" });
  await accept(card);
  expect(await sent()).toEqual({ f: "e" });
});

test("several choices go in the order of the list; too many are refused", async () => {
  const card = await one({
    type: "array",
    maxItems: 2,
    items: { type: "string", enum: ["a", "b", "c"] },
  });
  await card.getByLabel("c", { exact: true }).click();
  await card.getByLabel("b", { exact: true }).click();
  await card.getByLabel("a", { exact: true }).click();
  await accept(card);
  expect(await sent()).toBeUndefined();
  expect(await error(card)).toContain("2");
  await card.getByLabel("b", { exact: true }).click();
  await accept(card);
  expect(await sent()).toEqual({ f: ["a", "c"] });
});

test("F146: a field that cannot be drawn leaves no way to accept, and says why", async () => {
  const card = await one({ type: "object", properties: {} });
  await card.getByText("cannot be accepted").waitFor();
  expect(await card.getByRole("button").allInnerTexts()).toEqual(["Decline", "Dismiss"]);
});

test("a field that looks like a password carries the warning", async () => {
  const card = await lab.mount({ tasks: [asking(form({ password: { type: "string" } }))] });
  await card.getByText("looks like a password").waitFor();
});

test("F176: names that every object has are names like others", async () => {
  const properties = JSON.parse(
    '{"__proto__":{"type":"string","title":"P"},"constructor":{"type":"string","title":"C"},"toString":{"type":"integer","title":"T"}}',
  ) as JsonObject;
  const card = await lab.mount({ tasks: [asking(form(properties))] });
  expect(await card.getByLabel("P (").inputValue()).toBe("");
  await card.getByLabel("P (").fill("p");
  await card.getByLabel("C (").fill("c");
  await card.getByLabel("T (").fill("no number");
  await accept(card);
  expect(await card.locator(".taskrail-error").count()).toBe(1);
  await card.getByLabel("T (").fill("1");
  await accept(card);
  const response = await page.evaluate(() => JSON.stringify(window.lab.store.asked[0]?.response));
  expect(response).toContain('"__proto__":"p"');
  expect(response).toContain('"constructor":"c"');
});

test("a task that is sent anew while somebody types keeps what was typed", async () => {
  const asks = asking(form({ f: { type: "string", title: "Field" } }));
  const card = await lab.mount({ tasks: [asks] });
  await card.getByLabel("Field").fill("half");
  await lab.put({ ...asks, statusMessage: "still there" });
  expect(await card.getByLabel("Field").inputValue()).toBe("half");
  expect(await hasFocus(card.getByLabel("Field"))).toBe(true);
});

test("other languages: labels and the messages of the checks", async () => {
  const card = await lab.mount({
    tasks: [asking(form({ f: { type: "string", title: "Feld" } }, ["f"]))],
    german: true,
  });
  await card.getByRole("button", { name: "Annehmen" }).click();
  expect(await error(card)).toBe("Bitte ausfüllen");
});
