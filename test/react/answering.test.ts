/** What becomes of a question in its card: every state, one answer per key, where the focus goes. */
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { drive, hasFocus, type LabDriver } from "./labDriver.js";
import type { TaskView } from "../../src/approvals/wire.js";
import { answered, asking, ended, form, input, task, THEN } from "./page/views.js";
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

const confirm = asking(form({}, [], "Deploy to prod?"));
const note = asking(form({ note: { type: "string", title: "Note" } }));

const two = [asking(form({}, [], "First?"), {}, "a"), asking(form({}, [], "Second?"), {}, "b")];
const stateOf = (card: Locator): Promise<string | null> => card.getAttribute("data-state");
const press = (card: Locator, name: string): Promise<void> =>
  card.getByRole("button", { name, exact: true }).click();

test.each([
  ["Accept", { action: "accept", content: {} }, "accepted"],
  ["Decline", { action: "decline" }, "declined"],
  ["Dismiss", { action: "cancel" }, "dismissed"],
])("%s sends once, and says so once it is stored", async (button, response, told) => {
  const card = await lab.mount({ tasks: [confirm] });
  await card.getByText("The Workshop").waitFor();
  expect(await stateOf(card)).toBe("editing");
  await press(card, button);
  expect(await stateOf(card)).toBe("sending");
  expect(await card.getAttribute("aria-busy")).toBe("true");
  for (const name of ["Accept", "Decline", "Dismiss"]) {
    expect(await card.getByRole("button", { name }).getAttribute("aria-disabled")).toBe("true");
    await card.getByRole("button", { name }).click({ force: true });
  }
  await lab.settle({ kind: "answered", answeredAt: new Date().toISOString() });
  await card.getByText(`You answered: ${told}`).waitFor();
  expect(await stateOf(card)).toBe("answered");
  expect(await lab.asked()).toEqual([{ what: "answer", id: "t1", key: "q1", version: "v1", response }]);
});

test("F139: Escape is a dismissal, once", async () => {
  const card = await lab.mount({ tasks: [note] });
  await card.getByLabel("Note").focus();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  expect(await lab.asked()).toEqual([
    { what: "answer", id: "t1", key: "q1", version: "v1", response: { action: "cancel" } },
  ]);
});

test("F139: an acceptance and an Escape in one moment are one acceptance", async () => {
  const card = await lab.mount({ tasks: [confirm] });
  await card.getByRole("button", { name: "Accept" }).evaluate((button: HTMLElement) => {
    button.click();
    button.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true }));
    button.click();
  });
  expect((await lab.asked()).map(({ response }) => response)).toEqual([{ action: "accept", content: {} }]);
});

test("an Escape that ends a composition, or that somebody else took, dismisses nothing", async () => {
  const card = await lab.mount({ tasks: [note] });
  await card.getByLabel("Note").evaluate((field) => {
    const escape = { key: "Escape", bubbles: true, cancelable: true };
    field.dispatchEvent(new KeyboardEvent("keydown", { ...escape, isComposing: true }));
    const taken = new KeyboardEvent("keydown", escape);
    taken.preventDefault();
    document.addEventListener("keydown", (event) => event.preventDefault(), { capture: true, once: true });
    field.dispatchEvent(taken);
  });
  expect(await lab.asked()).toEqual([]);
});

test("F140: declining a half-filled form sends no content and complains of nothing", async () => {
  const card = await lab.mount({
    tasks: [asking(form({ count: { type: "integer", title: "Count" } }, ["count"]))],
  });
  await card.getByLabel("Count").fill("42xyz");
  await press(card, "Decline");
  expect((await lab.asked()).map(({ response }) => response)).toEqual([{ action: "decline" }]);
  expect(await card.locator(".taskrail-error").count()).toBe(0);
});

test("answered by somebody else: the card closes by itself, says who and when, and keeps the focus inside", async () => {
  const card = await lab.mount({ tasks: [note] });
  await card.getByLabel("Note").fill("half");
  await lab.put(answered(note, { by: "Maria", action: "decline" }));
  await card.getByText("Answered by Maria").waitFor();
  await card.getByText("declined").waitFor();
  expect(await stateOf(card)).toBe("elsewhere");
  expect(await hasFocus(card.locator("[role=status]"))).toBe(true);
  expect(await card.getByRole("button").count()).toBe(0);
});

test("of two alike each closed card still says what was asked, as text; its task does not say it twice", async () => {
  const ask = (message: string, key: string): TaskView["inputs"][number] =>
    input(form({}, [], message), { key });
  const both = task({ id: "t1", inputs: [ask("Refund order <b>1</b>?", "a"), ask("x".repeat(900), "b")] });
  await lab.mount({ scene: "tasks", tasks: [both] });
  const answers = ["a", "b"].map((key) => ({
    key,
    action: "accept",
    answeredAt: THEN,
    source: "respond" as const,
    by: "Kim",
    message: `told ${key}`,
  }));
  await lab.put({ ...both, status: "working", inputs: [], answers });
  const cards = page.locator(".taskrail-approval");
  await cards.nth(0).getByText("Refund order <b>1</b>?").waitFor();
  await cards.nth(1).getByText("xxx…").waitFor();
  expect((await cards.nth(1).innerText()).length).toBeLessThan(400);
  expect(await cards.nth(0).getAttribute("data-question")).toBe("t1 a");
  expect(await page.getByText("Answers so far").count()).toBe(0);
  // Without a card of their own they are in the list.
  await lab.mount({ scene: "tasks", tasks: [{ ...both, inputs: [], answers }] });
  await page.getByText("told b").waitFor();
});

test("a card that closes while the focus is elsewhere does not take it", async () => {
  const card = await lab.mount({ tasks: [note] });
  await lab.put(answered(note, { by: "Maria" }));
  await card.getByText("Answered by Maria").waitFor();
  expect(await page.evaluate(() => document.activeElement === document.body)).toBe(true);
});

test("somebody was faster: the host's refusal says who", async () => {
  const card = await lab.mount({ tasks: [confirm] });
  await press(card, "Accept");
  await lab.settle({ kind: "already-answered", by: "Kim", answeredAt: "2026-03-04T10:00:00.000Z" });
  await card.getByText("Answered by Kim").waitFor();
  expect(await stateOf(card)).toBe("elsewhere");
});

test("the stream tells of this card's own answer before the request ends: it stays this person's", async () => {
  const card = await lab.mount({ tasks: [confirm] });
  await press(card, "Accept");
  await lab.put(answered(confirm, { by: "me" }));
  expect(await stateOf(card)).toBe("sending");
  await lab.settle({ kind: "answered", answeredAt: new Date().toISOString() });
  await card.getByText("You answered").waitFor();
});

test("the host's policy answered", async () => {
  const card = await lab.mount({ tasks: [confirm] });
  await lab.put(answered(confirm, { source: "policy", action: "decline" }));
  await card.getByText("Answered automatically: declined").waitFor();
});

test.each([
  ["withdrawn", { ...confirm, status: "working", inputs: [] }, "no longer asks"],
  ["cancelled", ended(confirm, { status: "cancelled" }), "was cancelled"],
  ["expired", ended(confirm, { status: "lost", reason: "expired" }), "is lost"],
  ["completed", ended(confirm, { status: "completed" }), "is completed"],
])("the question is over (%s): the card says why", async (_name, after, told) => {
  const card = await lab.mount({ tasks: [confirm] });
  await lab.put(after);
  await card.getByText(told).waitFor();
  expect(await stateOf(card)).toBe("over");
  await page.keyboard.press("Escape");
  expect(await lab.asked()).toEqual([]);
});

test("the task is no longer kept; a list that is cut says nothing about it", async () => {
  const card = await lab.mount({ tasks: [confirm], state: { truncated: true } });
  await lab.set({ tasks: [] });
  expect(await stateOf(card)).toBe("editing");
  await lab.set({ truncated: false });
  await card.getByText("no longer kept").waitFor();
});

test("it may not have arrived: what was put in stays, and the same answer goes again", async () => {
  const card = await lab.mount({ tasks: [note] });
  await card.getByLabel("Note").fill("keep me");
  await press(card, "Accept");
  await lab.settle({ kind: "failed", message: "offline" });
  await card.getByRole("alert").getByText("may not have arrived").waitFor();
  expect(await stateOf(card)).toBe("failed");
  expect(await card.getByLabel("Note").inputValue()).toBe("keep me");
  expect(await hasFocus(card.getByRole("button", { name: "Accept" }))).toBe(true);
  await press(card, "Try again");
  await lab.settle({ kind: "answered", answeredAt: new Date().toISOString() });
  await card.getByText("You answered").waitFor();
  const [first, second, ...more] = await lab.asked();
  expect(second).toEqual(first);
  expect(more).toEqual([]);
});

test("refused: the person can try again, or answer otherwise", async () => {
  const card = await lab.mount({ tasks: [confirm] });
  await press(card, "Accept");
  await lab.settle({ kind: "refused", message: "signed out" });
  await card.getByRole("alert").getByText("You may not answer this, or no longer. Sign in again.").waitFor();
  await press(card, "Dismiss");
  await lab.settle({ kind: "answered", answeredAt: new Date().toISOString() });
  await card.getByText("You answered: dismissed").waitFor();
});

test("the host finds a field wrong: it is marked and gets the focus, until it is changed", async () => {
  const card = await lab.mount({ tasks: [note] });
  await card.getByLabel("Note").fill("x");
  await press(card, "Accept");
  await lab.settle({ kind: "invalid", field: "content.note", message: "too short" });
  const field = card.getByLabel("Note");
  await card.locator(".taskrail-error", { hasText: "too short" }).waitFor();
  expect(await field.getAttribute("aria-invalid")).toBe("true");
  expect(await hasFocus(field)).toBe(true);
  await field.fill("longer");
  expect(await card.locator(".taskrail-error").count()).toBe(0);
  await press(card, "Accept");
  expect((await lab.asked()).at(-1)?.response).toEqual({ action: "accept", content: { note: "longer" } });
});

test("the server asks something else under the same key: another card, with nothing of the old one in it", async () => {
  await lab.mount({ scene: "inbox", tasks: [note] });
  const old = page.locator(".taskrail-approval").first();
  await old.getByLabel("Note").fill("for the first");
  const button = await old.getByRole("button", { name: "Accept" }).elementHandle();
  const pay = form({ note: { type: "string", title: "Note" } }, [], "Pay 10,000 EUR?");
  await lab.put(asking(pay, { version: "v2" }));
  const fresh = page.locator(".taskrail-approval", { hasText: "Pay 10,000 EUR?" });
  await old.getByText("no longer asks").waitFor();
  expect(await fresh.getByLabel("Note").inputValue()).toBe("");
  await button?.evaluate((node: HTMLElement) => node.click());
  expect(await lab.asked()).toEqual([]);
  await press(fresh, "Decline");
  expect((await lab.asked()).map(({ version, response }) => [version, response])).toEqual([
    ["v2", { action: "decline" }],
  ]);
});

test("the next round under an answered key is open, beside what became of the first", async () => {
  await lab.mount({ scene: "inbox", tasks: [confirm] });
  const first = page.locator(".taskrail-approval").first();
  await press(first, "Accept");
  await lab.settle({ kind: "answered", answeredAt: "2026-03-04T10:00:10.000Z" });
  await first.getByText("You answered").waitFor();
  const round = asking(form({}, [], "And to the rest of the world?"), {
    version: "v2",
    askedAt: "2026-03-04T10:00:20.000Z",
  });
  const { answers } = answered(confirm, { by: "me", answeredAt: "2026-03-04T10:00:10.000Z" });
  await lab.put({ ...round, answers });
  const second = page.locator(".taskrail-approval", { hasText: "rest of the world" });
  await second.waitFor();
  await page.getByText("1 open question").waitFor();
  expect(await stateOf(second)).toBe("editing");
  expect(await stateOf(first)).toBe("answered");
  await lab.put({ ...round, inputs: [] });
  await lab.put({ ...round, inputs: [], answers });
  await second.getByText("no longer asks").waitFor();
});

test("some of a call's questions cannot be shown: its card says so", async () => {
  await lab.mount({ scene: "tasks", tasks: [{ ...confirm, unshownInputs: 1 }] });
  await page.getByText("cannot be shown here").waitFor();
  await page.getByText("Deploy to prod?").waitFor();
  await lab.put(confirm);
  await page.getByText("cannot be shown here").waitFor({ state: "detached" });
});

test("F152: two calls of one tool with the same key are two questions", async () => {
  await lab.mount({ scene: "inbox", tasks: two });
  const second = page.locator(".taskrail-approval", { hasText: "Second?" });
  await press(second, "Accept");
  expect((await lab.asked()).map(({ id }) => id)).toEqual(["b"]);
  expect(await page.locator(".taskrail-approval", { hasText: "First?" }).getAttribute("data-state")).toBe(
    "editing",
  );
});

test("what the policy will answer, and the time left, by the host's clock", async () => {
  const now = Date.now();
  const hostAhead = 3_600_000;
  const at = (ms: number): string => new Date(now + hostAhead + ms).toISOString();
  const asks = asking(form({}), { answeredByPolicyAt: at(125_000), policyAction: "decline" });
  const card = await lab.mount({
    tasks: [{ ...asks, expiresAt: at(7_300_000) }],
    state: { clockOffsetMs: hostAhead },
  });
  await card
    .getByText(/^Without an answer it is declined automatically in (2 min [0-5] s|1 min \d+ s)$/)
    .waitFor();
  await card.getByText(/^The task ends in 2 h 1 min$/).waitFor();
  // Inside a task's card the task's own time is said once, by the task.
  await lab.mount({
    scene: "tasks",
    tasks: [{ ...asks, expiresAt: at(7_300_000) }],
    state: { clockOffsetMs: hostAhead },
  });
  await page.getByText(/^Time left 2 h 1 min$/).waitFor();
  await page.getByText(/^Without an answer it is declined/).waitFor();
  expect(await page.getByText("The task ends in").count()).toBe(0);
});

test.each([
  ["accept", "accepted"],
  ["decline", "declined"],
  ["cancel", "dismissed"],
  ["answered", "answered"],
])("the policy's time is up, and so is the task's (%s)", async (policyAction, word) => {
  const asks = asking(form({}), { answeredByPolicyAt: "2026-03-04T10:00:01.000Z", policyAction });
  const card = await lab.mount({ tasks: [{ ...asks, expiresAt: "2026-03-04T10:00:02.000Z" }] });
  await card.getByText(new RegExp(`^It is about to be ${word} automatically$`)).waitFor();
  await card.getByText(/^Time is up$/).waitFor();
  expect(await card.innerText()).not.toMatch(/ends in/);
});

test("an interruption and a refusal are told apart, and a refused page shows no question", async () => {
  await lab.mount({ scene: "inbox", tasks: two });
  await lab.set({ connection: "reconnecting" });
  await page.getByText("The connection is interrupted. What is shown may be old.").waitFor();
  await page.getByText("2 open questions").waitFor();
  await lab.set({ connection: "refused", loaded: false, tasks: [] });
  await page.getByText("You may not see these tasks, or no longer. Sign in again.").waitFor();
  expect(await page.locator(".taskrail-inbox").innerText()).not.toMatch(/interrupted|open question|Loading/);
  expect(await page.locator(".taskrail-approval").count()).toBe(0);
  const card = await lab.mount({ scene: "task", state: { connection: "refused", loaded: false } });
  await card.getByText("You may not see these tasks").waitFor();
});

test("the inbox keeps a closed card for a while, counts the open ones, and lets it go", async () => {
  await page.mouse.move(0, 0);
  await lab.mount({ scene: "inbox", tasks: two, keepClosedMs: 200 });
  await page.getByText("2 open questions").waitFor();
  await lab.put(answered(asking(form({}), {}, "a"), { by: "Maria" }));
  await page.getByText("1 open question").waitFor();
  await page.getByText("Answered by Maria").waitFor();
  await page.locator(".taskrail-approval").nth(1).waitFor({ state: "detached" });
  await lab.put(task({ id: "b" }));
  await page.getByText("Nothing waits for an answer.").waitFor();
});

test("a closed card stays while the focus is on it", async () => {
  // The pointer keeps a card as the focus does.
  await page.mouse.move(0, 0);
  await lab.mount({ scene: "inbox", tasks: two, keepClosedMs: 50 });
  const first = page.locator(".taskrail-approval", { hasText: "First?" });
  await first.getByRole("button", { name: "Accept" }).focus();
  await page.keyboard.press("Enter");
  await lab.settle({ kind: "answered", answeredAt: new Date().toISOString() });
  await lab.put(answered(asking(form({}), {}, "a")));
  await lab.put(answered(asking(form({}), {}, "b")));
  // The other one, closed later, is gone: the time has passed for both.
  await page.locator(".taskrail-approvals > li").nth(1).waitFor({ state: "detached" });
  expect(await page.locator(":focus").innerText()).toContain("You answered");
  await page.locator(":focus").evaluate((line: HTMLElement) => line.blur());
  await page.locator(".taskrail-approvals").waitFor({ state: "detached" });
});
