/** The hooks and the provider: how often they render, what they leave behind, one stream in Strict Mode, task cards. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TaskView } from "../../src/approvals/wire.js";
import { drive, hasFocus, type LabDriver } from "./labDriver.js";
import { asking, ended, form, task } from "./page/views.js";
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

const mine = task({ id: "t1", context: { chat: 1 } });
const other = task({ id: "t2", server: "mail" });

test("a component renders again only for its own part; inline filters and predicates do not loop", async () => {
  await lab.mount({ scene: "hooks", tasks: [mine, other] });
  await page.locator("#list", { hasText: "t1 /" }).waitFor();
  const first = await lab.renders();
  expect(first).toEqual({ state: 1, list: 1, predicate: 1, one: 1 });

  await lab.put({ ...other, statusMessage: "news" });
  await lab.set({ clockOffsetMs: 5 });
  expect(await lab.renders()).toEqual({ ...first, state: 3 });

  await lab.put({ ...mine, statusMessage: "news" });
  expect(await lab.renders()).toEqual({ state: 4, list: 2, predicate: 2, one: 2 });

  await lab.put(asking(form({}), {}, "t3"));
  await page.locator("#list", { hasText: "t1 / q1" }).waitFor();
  await page.locator("#predicate", { hasText: /^t1$/ }).waitFor();
});

test("F169: Strict Mode doubles nothing that lasts; unmounting leaves no listener", async () => {
  await lab.mount({ scene: "hooks", tasks: [mine] });
  await page.locator("#list").waitFor();
  const once = await lab.listeners();
  expect(once).toBeGreaterThan(0);
  await lab.mount({ scene: "hooks", tasks: [mine], strict: true });
  await page.locator("#list").waitFor();
  await expect.poll(() => lab.listeners()).toBe(once);
  await lab.unmount();
  expect(await lab.listeners()).toBe(0);
  expect(await page.evaluate(() => window.lab.store.closed)).toBe(0);
});

test("useTask loads the result once it is completed, tries again when the connection is back, knows what is gone", async () => {
  await lab.mount({ scene: "hooks", tasks: [mine] });
  const one = page.locator("#one");
  await lab.put(ended(mine, { status: "completed" }));
  await one.filter({ hasText: '"failed":true' }).waitFor();
  await lab.detail({ ...mine, result: { content: [{ type: "text", text: "done" }] } });
  await lab.set({ connection: "reconnecting" });
  await lab.set({ connection: "live" });
  await one.filter({ hasText: '"text":"done"' }).waitFor();
  const loads = (await lab.asked()).length;
  await lab.put({ ...ended(mine, { status: "completed" }), statusMessage: "late" });
  expect((await lab.asked()).length).toBe(loads);
  // Whoever is refused keeps nothing: neither the task nor its result.
  await lab.set({ connection: "refused", loaded: false, tasks: [] });
  await one.filter({ hasText: /^{"loading":true,/ }).waitFor();
  await lab.set({ connection: "live", loaded: true });
  expect(await one.innerText()).not.toContain("done");
  await lab.put({ ...ended(mine, { status: "completed" }) });
  await one.filter({ hasText: '"text":"done"' }).waitFor();
  await lab.remove("t1");
  await one.filter({ hasText: '"missing":true' }).waitFor();
});

test("a task that waits for an answer to nothing that can be shown says so, until it was answered or goes on", async () => {
  const stuck = { ...mine, status: "input_required", inputs: [], answers: [] };
  const card = await lab.mount({ scene: "tasks", tasks: [stuck] });
  await card.getByText("cannot be shown here").waitFor();
  await lab.put({ ...stuck, status: "working" });
  await card.getByText("cannot be shown here").waitFor({ state: "detached" });
});

test("F167: the progress text is shown, and stays when a status comes without one", async () => {
  const card = await lab.mount({ scene: "tasks", tasks: [{ ...mine, statusMessage: "A" }] });
  const progress = card.locator(".taskrail-progress");
  expect(await progress.innerText()).toBe("A");
  await lab.put({ ...mine, statusMessage: "B" });
  expect(await progress.innerText()).toBe("B");
  await lab.put(mine);
  expect(await progress.innerText()).toBe("B");
  await card.getByText("Working").waitFor();
});

test("cancelling is asked once and told as asked, not as done; then how it ended", async () => {
  const card = await lab.mount({ scene: "tasks", tasks: [mine] });
  const button = card.getByRole("button", { name: "Cancel task" });
  await button.click();
  await button.click({ force: true });
  await lab.settle({ kind: "asked" });
  const line = card.getByText("Asked to cancel. It may still finish.");
  await line.waitFor();
  expect(await hasFocus(line)).toBe(true);
  expect(await lab.asked()).toEqual([{ what: "cancel", id: "t1" }]);
  await lab.put(ended(mine, { status: "completed", isError: true }));
  await card.getByText("Completed").waitFor();
  await card.getByText("The tool reports an error.").waitFor();
});

test("a cancel that fails can be tried again", async () => {
  const card = await lab.mount({ scene: "tasks", tasks: [mine] });
  await card.getByRole("button", { name: "Cancel task" }).click();
  await lab.settle({ kind: "failed", message: "offline" });
  await card.getByText("did not get through").waitFor();
  await card.getByRole("button", { name: "Cancel task" }).click();
  expect((await lab.asked()).length).toBe(2);
});

test("a cancelled task does not say any more how far it was", async () => {
  const card = await lab.mount({ scene: "tasks", tasks: [{ ...mine, statusMessage: "Batch 2 of 60" }] });
  await card.getByText("Batch 2 of 60").waitFor();
  await lab.put(ended({ ...mine, statusMessage: "Batch 2 of 60" }, { status: "cancelled" }));
  await card.getByText("It was cancelled.").waitFor();
  expect(await card.getByText("Batch 2 of 60").count()).toBe(0);
});

test("cards that follow each other do not touch, and a page may say otherwise", async () => {
  await lab.mount({ scene: "tasks", tasks: [mine, { ...mine, id: "t2" }] });
  const second = page.locator(".taskrail-card").nth(1);
  const gap = (): Promise<string> => second.evaluate((card) => getComputedStyle(card).marginTop);
  expect(await gap()).toBe("12px");
  await page.evaluate(() => document.documentElement.style.setProperty("--taskrail-card-gap", "3px"));
  expect(await gap()).toBe("3px");
  await page.evaluate(() => document.documentElement.style.removeProperty("--taskrail-card-gap"));
});

test("the inbox is as wide as its cards", async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await lab.mount({ scene: "inbox", tasks: [asking(form({}))] });
  const widths = await page
    .locator(".taskrail-inbox-head, .taskrail-approval")
    .evaluateAll((nodes) => nodes.map((node) => node.getBoundingClientRect().width));
  expect(widths).toEqual([640, 640]);
});

test("the result is loaded when it is opened, and shown as text", async () => {
  const done = ended(mine, { status: "completed" });
  const card = await lab.mount({ scene: "tasks", tasks: [done] });
  expect(await lab.asked()).toEqual([]);
  await lab.detail({ ...done, result: { content: [{ type: "text", text: "<b>done</b>" }] } });
  await card.getByText("Result").click();
  await card.getByText("<b>done</b>").waitFor();
  expect(await card.getByText("1 min 5 s").count()).toBe(1);
});

test.each<[Parameters<typeof ended>[1], string]>([
  [{ status: "failed", error: { code: -32603, message: "the disk is full" } }, "the disk is full"],
  [{ status: "cancelled" }, "It was cancelled."],
  [{ status: "lost", reason: "expired" }, "Its time ran out"],
  [{ status: "lost", reason: "call-outcome-unknown" }, "It may or may not have run"],
])("how it ended, in words: %j", async (outcome, words) => {
  const card = await lab.mount({ scene: "tasks", tasks: [ended(mine, outcome)] });
  await card.getByText(words).waitFor();
  expect(await card.getByRole("button").count()).toBe(0);
});

test("a card by id follows its task, and says when it is no longer kept", async () => {
  const card = await lab.mount({ scene: "task", tasks: [mine] });
  await card.getByText("Working").waitFor();
  await lab.remove("t1");
  await card.getByText("no longer kept").waitFor();
});

test("200 open questions: only what is near is laid out", async () => {
  const many = Array.from({ length: 200 }, (_, index) =>
    asking(
      form({ f: { type: "string", title: `Field ${index}` } }, [], `Question ${index}`),
      {},
      `t${index}`,
    ),
  );
  await lab.mount({ scene: "inbox", tasks: many });
  await page.getByText("200 open questions").waitFor();
  const visible = await page
    .locator(".taskrail-approvals > li > article")
    .evaluateAll((all) => all.filter((one) => one.checkVisibility({ contentVisibilityAuto: true })).length);
  expect(visible).toBeGreaterThan(0);
  expect(visible).toBeLessThan(60);
});

/** A host that counts the streams it has open. */
async function streamHost(tasks: readonly TaskView[]): Promise<{
  readonly server: Server;
  readonly url: string;
  readonly opened: () => number;
  readonly open: () => number;
  readonly who: () => readonly (string | undefined)[];
}> {
  let opened = 0;
  let open = 0;
  const who: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("access-control-allow-headers", "*");
    if (request.method === "OPTIONS") return void response.end();
    opened += 1;
    open += 1;
    who.push(request.headers["x-who"] as string | undefined);
    response.on("close", () => (open -= 1));
    response.setHeader("content-type", "text/event-stream");
    const snapshot = { now: new Date().toISOString(), tasks, truncated: false };
    response.write(`event: snapshot\ndata: ${JSON.stringify(snapshot)}\n\n`);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { server, url, opened: () => opened, open: () => open, who: () => who };
}

test("F169: a provider that makes its store opens one stream in Strict Mode, with its headers, and closes it in the end", async () => {
  const host = await streamHost([mine]);
  try {
    await lab.mount({ scene: "url", url: host.url, strict: true });
    await page.locator("#connection", { hasText: "live true" }).waitFor();
    await page.locator(".taskrail-task").waitFor();
    expect([host.opened(), host.open(), host.who()]).toEqual([1, 1, ["me"]]);
    await lab.unmount();
    await expect.poll(host.open).toBe(0);
    expect(host.opened()).toBe(1);
  } finally {
    host.server.closeAllConnections();
    host.server.close();
  }
});
