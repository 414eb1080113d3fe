/** A question outlives what happens around it: a reload, another tab, the host's death, the task's own end. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answersOf, button, card, form, tasksOf } from "./forms.js";
import { setStage, type Stage } from "./stage.js";
import { until } from "./until.js";

let stage: Stage;
let page: Page;

beforeAll(async () => {
  stage = await setStage();
  page = await stage.open();
}, 60_000);
afterAll(() => stage?.close());

const note = { note: { type: "string", title: "Note" } };

describe("signing in", () => {
  test("without a cookie there are no tasks; after choosing a name there is the desk", async () => {
    expect((await fetch(new URL("/api/tasks/tasks", stage.url))).status).toBe(403);
    expect((await fetch(new URL("/api/tasks/events", stage.url))).status).toBe(403);
    const context = await stage.browser.newContext();
    const fresh = await context.newPage();
    await fresh.goto(stage.url);
    await fresh.getByRole("button", { name: "Grace" }).click();
    await fresh.getByText("Live", { exact: true }).waitFor();
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Lax" });
    // A tap on the name opens a menu; it closes again without harm.
    await fresh.getByText("Signed in as Grace").first().waitFor({ state: "attached" });
    const person = fresh.locator(".person");
    const out = fresh.getByRole("button", { name: "Sign out" });
    await person.click();
    await out.waitFor();
    await fresh.keyboard.press("Escape");
    await out.waitFor({ state: "hidden" });
    await person.click();
    await out.click();
    await fresh.getByRole("button", { name: "Ada" }).waitFor();
    expect(await fresh.locator(".taskrail-card").count()).toBe(0);
    await context.close();
  });
});

describe("signed out behind the page's back", () => {
  test("nothing is shown any more, and the page says so in words of its own", async () => {
    const call = await stage.ask({ q: form("Only for Ada's eyes") });
    const mine = await stage.open();
    await card(mine, call).waitFor();
    await mine.context().clearCookies();
    // Its stream ends, and for the next one it is asked anew who is there.
    await stage.killHost();
    await stage.startHost();
    await mine.getByText("You may not see these tasks, or no longer. Sign in again.").waitFor();
    await until(() => mine.locator(".taskrail-card").count()).toBe(0);
    await mine.getByRole("banner").getByText("Signed out").waitFor();
    await mine.getByRole("button", { name: "Sign in", exact: true }).click();
    await mine.getByRole("button", { name: "Ada" }).waitFor();
    await mine.context().close();
    await button(card(page, call), "Decline").click();
  });
});

describe("two tabs", () => {
  test("the second one's card closes by itself and says who answered; only one answer counts", async () => {
    const message = "Who is first?";
    const grace = await stage.open({ actor: "Grace" });
    const call = await stage.ask({ q: form(message, note) });
    await card(grace, call).getByLabel("Note").fill("Grace is typing");
    await card(page, call).getByLabel("Note").fill("from Ada");
    await button(card(page, call), "Accept").click();
    await card(grace, call).getByText("Answered by Ada").waitFor();
    expect(await card(grace, call).getByRole("button").count()).toBe(0);
    await until(() => answersOf(stage, message)).toMatchObject([
      { value: { action: "accept", content: { note: "from Ada" } }, deliveries: 1, conflicts: [] },
    ]);
    // The same for whoever comes later, and in the list of answers.
    await grace.reload();
    await tasksOf(grace, call).getByText("Ada").first().waitFor();
    await grace.context().close();
  });

  test("a tab of the same person closes too, and the count in the title goes down", async () => {
    const message = "One of two tabs";
    const second = await stage.open({ beside: page });
    const before = await openCount(second);
    const call = await stage.ask({ q: form(message) });
    await card(second, call).waitFor();
    await until(() => openCount(second)).toBe(before + 1);
    await button(card(page, call), "Decline").click();
    await card(second, call).getByText("Answered by Ada").waitFor();
    await until(() => openCount(second)).toBe(before);
    await second.close();
  });
});

describe("a reload in the middle", () => {
  test("what was typed is gone, the question is still there, and so is the conversation", async () => {
    const message = "Still there?";
    const call = await stage.ask({ q: form(message, note) });
    await card(page, call).getByLabel("Note").fill("lost");
    await page.reload();
    await card(page, call).getByText(message).waitFor();
    expect(await card(page, call).getByLabel("Note").inputValue()).toBe("");
    expect(await card(page, call).count()).toBe(1);
    await card(page, call).getByLabel("Note").fill("kept");
    await button(card(page, call), "Accept").click();
    await until(() => answersOf(stage, message)).toMatchObject([
      { value: { content: { note: "kept" } }, deliveries: 1 },
    ]);
    await page.locator(".bubble", { hasText: "All 1 answers arrived." }).last().waitFor();
  });
});

describe("the host is killed", () => {
  test("with an open question: the page comes back by itself, what was typed stays, the server gets one answer", async () => {
    const message = "Are you there?";
    const call = await stage.ask({ q: form(message, note) });
    await card(page, call).getByLabel("Note").fill("typed before");
    await stage.killHost();
    await page.getByText("The connection was lost").waitFor();
    await card(page, call).getByText(message).waitFor();
    await stage.startHost();
    await page.getByText("Live", { exact: true }).waitFor();
    expect(await card(page, call).getByLabel("Note").inputValue()).toBe("typed before");
    await button(card(page, call), "Accept").click();
    await card(page, call).getByText("You answered").waitFor();
    await until(() => answersOf(stage, message)).toMatchObject([
      { value: { content: { note: "typed before" } }, deliveries: 1, conflicts: [] },
    ]);
    const calls = (await stage.tasks()).filter((task) => JSON.stringify(task.arguments).includes(message));
    expect(calls).toHaveLength(1);
  });

  test("an answer into the dead host is sent again by hand, and counts once", async () => {
    const message = "Into the void";
    const call = await stage.ask({ q: form(message) });
    await button(card(page, call), "Accept").waitFor();
    await stage.killHost();
    await button(card(page, call), "Accept").click();
    await button(card(page, call), "Try again").waitFor({ timeout: 30_000 });
    expect(await answersOf(stage, message)).toEqual([]);
    await stage.startHost();
    await button(card(page, call), "Try again").click();
    await card(page, call).getByText("You answered").waitFor();
    await until(() => answersOf(stage, message)).toMatchObject([{ deliveries: 1, conflicts: [] }]);
  });

  test("a message that is sent meanwhile is not lost and not doubled", async () => {
    await stage.killHost();
    await page.getByLabel("Message").fill("hello while you are away");
    await page.keyboard.press("Enter");
    await page.getByText("Not sent.").waitFor();
    await stage.startHost();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("I can deploy to prod").last().waitFor();
    await page.reload();
    await page.getByText("hello while you are away").waitFor();
    expect(await page.getByText("hello while you are away").count()).toBe(1);
  });
});

describe("the task ends while its card is open", () => {
  test("cancelled by the person: the card closes and says why", async () => {
    const call = await stage.ask({ q: form("Never mind") });
    await card(page, call).waitFor();
    await button(tasksOf(page, call), "Cancel task").click();
    await card(page, call).getByText("The task was cancelled. No answer is needed any more.").waitFor();
    await page.locator(".bubble", { hasText: "That was cancelled." }).last().waitFor();
  });

  test("expired at the server: the card closes and says that nobody would get the answer", async () => {
    const call = await stage.ask({ q: form("Quick") }, { ttlMs: 1500 });
    await card(page, call).waitFor();
    await card(page, call).getByText("The task is lost. An answer would reach nobody.").waitFor();
    await tasksOf(page, call).getByText("Its time ran out").waitFor();
  });
});

/** What stands in the title, such as `(3) Desk`. */
async function openCount(of: Page): Promise<number> {
  return Number(/^\((\d+)\)/.exec(await of.title())?.[1] ?? 0);
}
