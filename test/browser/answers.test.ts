/** What a person answers on the page is what the server gets: nothing more, nothing else, nothing twice. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EVERY_FIELD } from "../../examples/chat/everything.js";
import { answersOf, button, card, form, tasksOf, visit } from "./forms.js";
import { setStage, type Stage } from "./stage.js";
import { until } from "./until.js";

let stage: Stage;
let page: Page;

beforeAll(async () => {
  stage = await setStage();
  page = await stage.open();
}, 60_000);
afterAll(() => stage?.close());

/** The values that the server applied, once there is one. */
async function received(message: string): Promise<unknown[]> {
  await until(() => answersOf(stage, message)).not.toEqual([]);
  return (await answersOf(stage, message)).map(({ value }) => value);
}

describe("accept, decline, dismiss", () => {
  test("typing to the assistant starts a tool; its question is approved; the answer joins the conversation", async () => {
    await page.getByLabel("Message").fill('/call deploy {"env":"prod","stepMs":50}');
    await page.keyboard.press("Enter");
    const question = page.locator(".taskrail-approval", { hasText: "Deploy it to prod?" });
    await question.getByText("The Workshop").waitFor();
    await button(question, "Accept").click();
    await page.getByText("You answered").waitFor();
    await page.locator(".bubble", { hasText: "Release 4f2c9e1 is live on prod (gradual)" }).waitFor();
    const task = (await stage.tasks()).findLast(({ tool }) => tool === "deploy");
    expect(task?.answers.map(({ value }) => value)).toEqual([
      { action: "accept", content: { strategy: "gradual" } },
    ]);
  });

  test.each([
    ["Decline", "decline", "declined"],
    ["Dismiss", "cancel", "dismissed"],
  ])("%s sends no content, also from a half-filled form (F140)", async (name, action, told) => {
    const message = `May I ${action}?`;
    const call = await stage.ask({ q: form(message, { note: { type: "string", title: "Note" } }) });
    await card(page, call).getByLabel("Note").fill("half");
    await button(card(page, call), name).click();
    await card(page, call).getByText(told).waitFor();
    expect(await received(message)).toEqual([{ action }]);
  });

  test("an empty schema is a plain confirmation", async () => {
    const message = "Really?";
    const call = await stage.ask({ q: form(message) });
    await button(card(page, call), "Accept").click();
    expect(await received(message)).toEqual([{ action: "accept", content: {} }]);
  });

  test("a sampling request is reviewed before it goes back, and so are the roots", async () => {
    const call = await stage.ask({
      a: {
        method: "sampling/createMessage",
        params: {
          messages: [{ role: "user", content: { type: "text", text: "Write to the travellers" } }],
          maxTokens: 9,
        },
      },
      b: { method: "roots/list", params: {} },
    });
    const [model, roots] = [card(page, call, 0), card(page, call, 1)];
    await model.getByText("Write to the travellers").waitFor();
    await button(model, "Run the model").click();
    await model.getByText("Have a good trip").waitFor();
    expect(await answersOf(stage, "Write to the travellers")).toEqual([]);
    await model.locator(".taskrail-button-primary").click();
    await roots.locator(".taskrail-button-primary").click();
    await roots.getByText("file:///srv/desk").waitFor();
    await roots.locator(".taskrail-button-primary").click();
    await until(() => answersOf(stage, "Write to the travellers")).toHaveLength(2);
    expect((await received("Write to the travellers")) as object[]).toMatchObject([
      { role: "assistant", model: "scripted" },
      { roots: [{ uri: "file:///srv/desk" }] },
    ]);
  });
});

test("a card that closes keeps its place among those that were asked at once", async () => {
  const call = await stage.ask({ a: form("Place one"), b: form("Place two"), c: form("Place three") });
  await button(card(page, call, 1), "Decline").click();
  await card(page, call, 1).getByText("declined").waitFor();
  await button(card(page, call, 0), "Decline").click();
  await card(page, call, 0).getByText("declined").waitFor();
  await card(page, call, 2).getByText("Place three").waitFor();
});

describe("each kind of field", () => {
  test("arrives as its type, exactly; optional fields that stay empty are left out (F136, F145)", async () => {
    const message = "Every field";
    const call = await stage.ask({ q: form(message, EVERY_FIELD, ["name", "seats", "train", "days"]) });
    const question = card(page, call);
    const field = (label: string) => question.getByLabel(label);
    await field("Name").fill("Ada");
    await field("E-mail").fill("ada@example.org");
    await field("Website").fill("https://example.org/a?b=c");
    await field("Day").first().fill("2026-12-24");
    await field("Moment").fill("2026-12-24T18:30:00");
    await field("Price").fill("19.90");
    await field("Seats").fill(" 7 ");
    await question.getByRole("checkbox", { name: "By the window" }).check();
    await question.getByLabel("TGV 9").check();
    await question.getByLabel("Half fare").check();
    await question.getByLabel("Vegetarian").check();
    await question.getByLabel("bike").check();
    await question.getByLabel("wifi").check();
    await question.getByLabel("Sunday").check();
    await button(question, "Accept").click();
    expect(await received(message)).toEqual([
      {
        action: "accept",
        content: {
          name: "Ada",
          email: "ada@example.org",
          site: "https://example.org/a?b=c",
          day: "2026-12-24",
          // The page is in Berlin.
          moment: "2026-12-24T18:30:00+01:00",
          price: 19.9,
          seats: 7,
          window: true,
          train: "TGV 9",
          fare: "half",
          meal: "veg",
          extras: ["bike", "wifi"],
          days: ["sun"],
        },
      },
    ]);
  });

  test("only what is required, and defaults: the rest is left out (F136)", async () => {
    const message = "As little as possible";
    const call = await stage.ask({ q: form(message, EVERY_FIELD, ["name", "seats", "train", "days"]) });
    const question = card(page, call);
    await question.getByLabel("Name").fill("Bo");
    await question.getByLabel("E-mail").fill("typed and cleared");
    await question.getByLabel("E-mail").fill("");
    await question.getByLabel("ICE 74").check();
    await question.getByLabel("Saturday").check();
    await button(question, "Accept").click();
    expect(await received(message)).toEqual([
      { action: "accept", content: { name: "Bo", seats: 2, window: false, train: "ICE 74", days: ["sat"] } },
    ]);
  });

  test("what cannot be drawn cannot be accepted, only declined (F146)", async () => {
    const message = "Not drawable";
    const call = await stage.ask({ q: form(message, { where: { type: "object" } }) });
    await button(card(page, call), "Decline").waitFor();
    expect(await button(card(page, call), "Accept").count()).toBe(0);
    await button(card(page, call), "Decline").click();
    expect(await received(message)).toEqual([{ action: "decline" }]);
  });
});

describe("wrong input", () => {
  test("is shown at its field, and nothing is sent; then corrected (F137)", async () => {
    const message = "Not like this";
    const call = await stage.ask({ q: form(message, EVERY_FIELD, ["name", "seats", "train", "days"]) });
    const question = card(page, call);
    const posts: string[] = [];
    page.on("request", (request) => (request.method() === "POST" ? posts.push(request.url()) : undefined));
    await question.getByLabel("E-mail").fill("nobody");
    await question.getByLabel("Price").fill("42xyz");
    await question.getByLabel("Seats").fill("9");
    await button(question, "Accept").click();
    await until(() => question.locator(".taskrail-error").count()).toBe(6);
    // The first wrong field has the focus.
    expect(await question.getByLabel("Name").evaluate((element) => element === document.activeElement)).toBe(
      true,
    );
    expect(await question.getByLabel("Name").getAttribute("aria-invalid")).toBe("true");
    expect(await answersOf(stage, message)).toEqual([]);
    expect(posts).toEqual([]);
    await question.getByLabel("Name").fill("Ada");
    await question.getByLabel("E-mail").fill("");
    await question.getByLabel("Price").fill("42");
    await question.getByLabel("Seats").fill("8");
    await question.getByLabel("RE 5").check();
    await question.getByLabel("Saturday").check();
    await button(question, "Accept").click();
    expect(await received(message)).toEqual([
      {
        action: "accept",
        content: { name: "Ada", price: 42, seats: 8, window: false, train: "RE 5", days: ["sat"] },
      },
    ]);
  });
});

describe("keyboard only", () => {
  test("a whole approval by Tab, Space and Enter", async () => {
    const message = "By keyboard";
    const call = await stage.ask({
      q: form(
        message,
        {
          name: { type: "string", title: "Name" },
          loud: { type: "boolean", title: "Loud", default: false },
          size: { type: "string", title: "Size", enum: ["s", "l"] },
        },
        ["name"],
      ),
    });
    await card(page, call).waitFor();
    // From the line one types in, backwards: the newest question is the last thing before it.
    await page.getByLabel("Message").focus();
    const tabTo = async (label: string): Promise<void> => {
      const wanted = card(page, call)
        .getByLabel(label)
        .or(button(card(page, call), label))
        .first();
      for (let presses = 0; presses < 40; presses += 1) {
        if (await wanted.evaluate((element) => element === document.activeElement)) return;
        await page.keyboard.press("Shift+Tab");
      }
      throw new Error(`Tab does not reach ${label}`);
    };
    await tabTo("Name");
    await page.keyboard.type("Ada");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    // "No answer" is what is chosen first; the arrow goes round to "s".
    await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Tab");
    expect(
      await button(card(page, call), "Accept").evaluate((element) => element === document.activeElement),
    ).toBe(true);
    await page.keyboard.press("Enter");
    expect(await received(message)).toEqual([
      { action: "accept", content: { name: "Ada", loud: true, size: "s" } },
    ]);
    // The focus is on the line that says what happened, not lost.
    await until(() => page.evaluate(() => document.activeElement?.textContent ?? "")).toContain(
      "You answered",
    );
  });

  test("Escape dismisses; one right after a submission changes nothing (F139)", async () => {
    const dismissed = "Escape me";
    const first = await stage.ask({ q: form(dismissed, { note: { type: "string", title: "Note" } }) });
    await card(page, first).getByLabel("Note").press("Escape");
    expect(await received(dismissed)).toEqual([{ action: "cancel" }]);

    const sent = "Enter, then Escape";
    const second = await stage.ask({ q: form(sent, { note: { type: "string", title: "Note" } }) });
    await card(page, second).getByLabel("Note").fill("kept");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    await card(page, second).getByText("accepted").waitFor();
    await until(() => answersOf(stage, sent)).toMatchObject([
      { value: { action: "accept", content: { note: "kept" } }, conflicts: [] },
    ]);
  });
});

describe("URL mode", () => {
  test("nothing reaches that host before the click; accepted once the window is open (F148)", async () => {
    let hits = 0;
    const far = createServer((_req, res) => {
      hits += 1;
      res.writeHead(200, { "content-type": "text/html" }).end("<title>Far</title>far away");
    });
    await new Promise<void>((resolve) => far.listen(0, "127.0.0.1", resolve));
    try {
      const url = `http://localhost:${(far.address() as AddressInfo).port}/consent?x=1`;
      const requested: string[] = [];
      page.on("request", (request) => requested.push(request.url()));
      const message = "Come over";
      const call = await stage.ask({ q: visit(message, url) });
      const question = card(page, call);
      await question.getByText(url).first().waitFor();
      await question.hover();
      await button(question, "Open page").focus();
      expect(hits).toBe(0);
      expect(requested.filter((one) => one.startsWith(url))).toEqual([]);
      const [popup] = await Promise.all([page.waitForEvent("popup"), button(question, "Open page").click()]);
      await popup.getByText("far away").waitFor();
      expect(
        await popup.evaluate(() => ({ opened: window.opener !== null, referrer: document.referrer })),
      ).toEqual({
        opened: false,
        referrer: "",
      });
      expect(await received(message)).toEqual([{ action: "accept" }]);
      expect(hits).toBeGreaterThan(0);
      await popup.close();
    } finally {
      await new Promise((resolve) => {
        far.close(resolve);
        far.closeAllConnections();
      });
    }
  });

  test.each(["javascript:alert(1)", "file:///etc/passwd", "https://bank.example@evil.example/"])(
    "%s is never put to anybody: the host refuses the question (F148)",
    async (url) => {
      const call = await stage.ask({ q: visit("Open this", url) });
      await tasksOf(page, call).getByText("Needs an answer").waitFor();
      expect(await card(page, call).count()).toBe(0);
      expect(await page.getByText(url).count()).toBe(1);
      await button(tasksOf(page, call), "Cancel task").click();
      await tasksOf(page, call).locator('[data-status="cancelled"]').waitFor();
    },
  );

  test("a host with letters beyond a-z is flagged (F148)", async () => {
    const url = "https://xn--pple-43d.example/pay";
    const call = await stage.ask({ q: visit("Open this", url) });
    await card(page, call).locator('[data-warning="punycode"]').waitFor();
    await card(page, call).getByText(url, { exact: true }).waitFor();
    expect(await tasksOf(page, call).locator("a[href]").count()).toBe(0);
    await button(card(page, call), "Decline").click();
    await card(page, call).getByText("declined").waitFor();
  });
});
