/** F148: a page is opened only by the person, in a window of its own, and accepted only once that is there. */
import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { drive, hasFocus, type LabDriver } from "./labDriver.js";
import type { TaskView } from "../../src/approvals/wire.js";
import type { JsonObject } from "../../src/internal/json.js";
import { asking, ended, form } from "./page/views.js";
import { setStage, type Stage } from "./stage.js";

let stage: Stage;
let context: BrowserContext;
let page: Page;
let lab: LabDriver;

beforeAll(async () => {
  stage = await setStage();
  page = await stage.open({ permissions: ["clipboard-read", "clipboard-write"] });
  context = page.context();
  lab = drive(page);
}, 60_000);
afterAll(() => stage?.close());
beforeEach(async () => {
  await page.reload();
  stage.requests.length = 0;
});
afterEach(async () => {
  for (const other of context.pages()) if (other !== page) await other.close();
});

const mount = (url: string): Promise<Locator> =>
  lab.mount({ tasks: [asking({ kind: "elicitation-url", message: "Please sign in", url })] });

test("nothing is fetched before the click; then a window opens without opener and referrer, and it is accepted", async () => {
  const other = stage.url.replace("localhost", "127.0.0.1");
  const card = await mount(`${other}/sign-in?x=1`);
  await card.getByText(`${other}/sign-in?x=1`).waitFor();
  expect(await card.locator("a, link, img, iframe").count()).toBe(0);
  await card.getByRole("button", { name: "Open page" }).hover();
  expect(stage.requests).toEqual([]);
  const [opened] = await Promise.all([
    context.waitForEvent("page"),
    card.getByRole("button", { name: "Open page" }).click(),
  ]);
  await opened.waitForURL(`${other}/sign-in?x=1`);
  expect(await opened.evaluate(() => [window.opener === null, document.referrer])).toEqual([true, ""]);
  expect(stage.requests[0]).toBe("GET /sign-in?x=1");
  expect(stage.requests.filter((one) => one.includes("sign-in"))).toHaveLength(1);
  expect((await lab.asked()).map(({ response }) => response)).toEqual([{ action: "accept" }]);
});

test("the browser blocks the window: nothing is accepted, the card says so, the address can be copied", async () => {
  const card = await mount(`${stage.url}/page`);
  await page.evaluate(() => (window.open = () => null));
  await card.getByRole("button", { name: "Open page" }).click();
  await card.getByRole("alert").getByText("nothing was accepted").waitFor();
  expect(await lab.asked()).toEqual([]);
  expect(stage.requests).toEqual([]);
  await card.getByRole("button", { name: "Copy address" }).click();
  await card.getByText("Copied").waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${stage.url}/page`);
});

test("the window opened but the answer did not arrive: it is sent again without another window", async () => {
  const card = await mount(`${stage.url}/page`);
  await card.getByRole("button", { name: "Open page" }).click();
  await lab.settle({ kind: "failed", message: "offline" });
  await card.getByRole("button", { name: "Try again" }).click();
  await lab.settle({ kind: "answered", answeredAt: new Date().toISOString() });
  await card.getByText("You answered: accepted").waitFor();
  expect(context.pages().length).toBe(2);
});

test("odd addresses are flagged, others cannot be accepted at all", async () => {
  let card = await mount("http://bank.example@xn--80ak6aa92e.com/x");
  expect(
    await card
      .locator("[data-warning]")
      .evaluateAll((all) => all.map((one) => one.getAttribute("data-warning"))),
  ).toEqual(["punycode", "credentials", "insecure"]);
  expect(await card.locator(".taskrail-url strong").innerText()).toBe("xn--80ak6aa92e.com");
  card = await mount("javascript:document.title='owned'");
  await card.getByText("Only http and https").waitFor();
  expect(await card.getByRole("button").allInnerTexts()).toEqual(["Decline", "Dismiss"]);
  expect(await page.title()).toBe("Lab");
});

const model = asking({
  kind: "sampling",
  params: {
    systemPrompt: "Be kind.",
    messages: [
      { role: "user", content: { type: "text", text: "Write" } },
      { role: "user", content: [{ type: "image", data: "aGVsbG8=", mimeType: "image/png" }] },
    ],
    maxTokens: 10,
    tools: [{ name: "search" }],
  },
});

test("sampling: all of it is shown, images are not; what the model says is sent only after it was seen", async () => {
  const card = await lab.mount({ tasks: [model], host: "samples" });
  await card.getByText("This cannot be declined. If you do not want it, cancel the task.").waitFor();
  const text = await card.innerText();
  for (const shown of ["Be kind.", "Write", "image, image/png, 5 B"]) expect(text).toContain(shown);
  await card.getByText("Settings").click();
  expect(await card.innerText()).toMatch(/"maxTokens": 10[\s\S]*"search"/);
  expect(await card.locator("img").count()).toBe(0);
  await card.getByRole("button", { name: "Run the model" }).click();
  await card.getByText("A poem").waitFor();
  expect(await lab.asked()).toEqual([]);
  await card.getByRole("button", { name: "Send" }).click();
  const [answer] = await lab.asked();
  expect(answer?.response).toEqual({
    role: "assistant",
    content: { type: "text", text: "A poem" },
    model: "house-model",
  });
});

test("sampling: whatever the model would get is there to be read, wherever a server puts it", async () => {
  const block = { type: "text", text: "hello" };
  const contents: readonly JsonObject[] = [
    { type: "tool_result", toolUseId: "1", data: "AAAA", content: [{ type: "text", text: "SECRET-1" }] },
    { type: "tool_use", id: "1", name: "x", data: "AAAA", input: { command: "SECRET-2" } },
    { type: "image", data: "AAAA", mimeType: "image/png", text: "SECRET-3" },
    { type: "image", data: "SECRET-4 is no base64", mimeType: "image/png" },
    { type: "audio", data: "AAAA", mimeType: `audio/${"x".repeat(200)}SECRET-5` },
    { ...block, cache: "SECRET-6", annotations: { for: "SECRET-7" } },
    { type: "image", data: "AAAA", mimeType: "image/png", annotations: { for: "SECRET-8" } },
  ];
  const params: JsonObject = {
    messages: [
      ...contents.map((content) => ({ role: "user", content })),
      { role: "user", content: block, name: "SECRET-9", model: `${"x".repeat(300)}SECRET-10` },
      { role: "SECRET-11", content: [...Array<JsonObject>(100).fill(block), { type: "text", text: "LAST" }] },
    ],
    _meta: { note: "SECRET-12" },
    tools: [{ name: "SECRET-13" }],
  };
  const card = await lab.mount({ tasks: [asking({ kind: "sampling", params })], host: "samples" });
  await card.getByText("Settings").click();
  const text = await card.innerText();
  for (let i = 1; i <= 13; i += 1) expect(text).toMatch(new RegExp(`SECRET-${i}\\b`));
  expect(text).not.toContain("LAST");
  await card.getByRole("button", { name: "Show 1 more" }).click();
  await card.getByText("LAST").waitFor();
});

test("sampling: without a model nothing can be answered, and Escape is no answer either", async () => {
  const card = await lab.mount({ tasks: [model] });
  await card.getByText("no model is connected").waitFor();
  expect(await card.getByRole("button").count()).toBe(0);
  await card.locator("summary").focus();
  await page.keyboard.press("Escape");
  expect(await lab.asked()).toEqual([]);
});

test("sampling: it can be stopped, its failure tells nothing of the host, a closed question aborts it", async () => {
  let card = await lab.mount({ tasks: [model], host: "hangs" });
  await card.getByRole("button", { name: "Run the model" }).click();
  await card.getByRole("button", { name: "Stop" }).click();
  await page.locator("body[data-aborted]").waitFor();
  expect(await hasFocus(card.getByRole("button", { name: "Run the model" }))).toBe(true);

  await page.evaluate(() => delete document.body.dataset["aborted"]);
  await card.getByRole("button", { name: "Run the model" }).click();
  await lab.put({ ...model, status: "working", inputs: [] });
  await page.locator("body[data-aborted]").waitFor();

  card = await lab.mount({ tasks: [model], host: "fails" });
  await card.getByRole("button", { name: "Run the model" }).click();
  await card.getByRole("alert").getByText("That did not work.").waitFor();
  expect(await card.innerText()).not.toContain("secret detail");
});

test("roots: the folders are shown before they are sent; without any offered nothing can be answered", async () => {
  let card = await lab.mount({ tasks: [asking({ kind: "roots" })], host: "samples" });
  await card.getByRole("button", { name: "Show the folders" }).click();
  await card.getByText("file:///srv/desk").waitFor();
  await card.getByRole("button", { name: "Send" }).click();
  expect((await lab.asked())[0]?.response).toEqual({ roots: [{ uri: "file:///srv/desk", name: "Desk" }] });
  card = await lab.mount({ tasks: [asking({ kind: "roots" })] });
  await card.getByText("no folders are offered").waitFor();
  expect(await card.getByRole("button").count()).toBe(0);
});

test("a card that cannot be drawn says so, the others live, and it is tried again when its task changes", async () => {
  const other = asking(form({}, [], "Go on?"), {}, "t2");
  const broken = { ...other, id: "t1", inputs: [], statusMessage: { toString: 1 } as unknown as string };
  await lab.mount({ scene: "tasks", tasks: [broken, other] });
  await page.getByText("This cannot be shown here.").waitFor();
  await page.getByText("Go on?").waitFor();
  await lab.put({ ...broken, statusMessage: "Step 1" });
  await page.getByText("Step 1").waitFor();
  expect(await page.getByText("This cannot be shown here.").count()).toBe(0);
  const odd = { ...other, inputs: [{ ...other.inputs[0], message: null }] } as unknown as TaskView;
  await lab.put(odd);
  const card = page.locator(".taskrail-task", { hasText: "This cannot be shown here." });
  await card.getByRole("button", { name: "Cancel task" }).waitFor();
});

test("a result with odd members is shown as it is, and breaks nothing", async () => {
  const done = ended(asking(form({})), { status: "completed" });
  await lab.mount({ scene: "tasks", tasks: [done] });
  const content = [{ type: { toString: 1, valueOf: 1 }, data: "AAAA" }, null, 1, { type: "text", text: 5 }];
  await lab.detail({ ...done, result: { content } });
  await page.getByText("Result").first().click();
  await page.getByText('"valueOf": 1').waitFor();
  expect(await lab.problems()).toEqual([]);
});
