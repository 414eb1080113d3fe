/** What people see: nothing for axe to find in any main state, hostile texts as text, many questions without a jam. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { audit } from "./audit.js";
import { button, card, form, tasksOf, visit } from "./forms.js";
import { setStage, type OpenOptions, type Stage } from "./stage.js";
import { until } from "./until.js";

const DESKTOP = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
}, 60_000);
afterAll(() => stage?.close());

/** Opens, runs, closes. */
async function onPage(options: OpenOptions, run: (page: Page) => Promise<void>): Promise<void> {
  const page = await stage.open(options);
  try {
    await run(page);
  } finally {
    await page.context().close();
  }
}

describe("main states, by axe and as pictures, light and dark", () => {
  test("sign-in and empty desk", async () => {
    const context = await stage.browser.newContext(DESKTOP);
    const fresh = await context.newPage();
    await fresh.goto(stage.url);
    await fresh.getByRole("button", { name: "Ada" }).waitFor();
    expect(await audit(fresh)).toEqual([]);
    await fresh.getByRole("button", { name: "Ada" }).click();
    await fresh.getByText("What is to be done, Ada?").waitFor();
    await fresh.getByText("Live", { exact: true }).waitFor();
    expect(await audit(fresh, "empty-desktop")).toEqual([]);
    await context.close();
  });

  test("the conversation on a desktop, as it comes about", async () => {
    await stage.say("refund order 4711", "Grace");
    const research = await stage.say("research night trains");
    await stage.say("deploy to prod");
    await onPage(DESKTOP, async (page) => {
      const model = card(page, research);
      await button(model, "Run the model").click();
      await model.getByText("Night trains are growing").waitFor();
      await model.locator(".taskrail-button-primary").click();
      await page.locator(".bubble", { hasText: "21 sources about night trains" }).waitFor();
      await page.getByText("Deploy it to prod?").first().waitFor();
      await page.reload();
      await page.getByText("Deploy it to prod?").first().waitFor();
      await page.locator(".bubble", { hasText: "21 sources" }).waitFor();
      expect(await audit(page, "chat-desktop")).toEqual([]);
    });
  });

  test("the conversation and the inbox on a phone", async () => {
    await onPage({ ...PHONE, actor: "Grace" }, async (page) => {
      await page.getByText("Deploy it to prod?").first().waitFor();
      await page.locator(".bubble", { hasText: "21 sources" }).waitFor();
      expect(await audit(page, "chat-phone")).toEqual([]);
      // Nothing is wider than the phone.
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
      await page.getByRole("button", { name: /^Inbox/ }).click();
      await page.getByRole("dialog").getByText("Order 4711").waitFor();
      expect(await audit(page, "inbox-phone")).toEqual([]);
      // An entry leads to its question: the drawer goes, the focus is in the card.
      await page.getByRole("dialog").getByText("Order 4711").click();
      await until(() => page.getByRole("dialog").count()).toBe(0);
      expect(
        await page.getByLabel("Amount in €").evaluate((element) => element === document.activeElement),
      ).toBe(true);
    });
  });

  test("a form with errors", async () => {
    await onPage(DESKTOP, async (page) => {
      const refund = page.locator(".taskrail-approval", { hasText: "Order 4711" });
      await refund.getByLabel("Amount in €").fill("5990");
      await refund.getByLabel("Confirmation to").fill("nobody");
      await button(refund, "Accept").click();
      await until(() => refund.locator(".taskrail-error").count()).toBe(3);
      await refund.evaluate((element) => element.scrollIntoView({ block: "center", behavior: "instant" }));
      expect(await audit(page, "form-errors")).toEqual([]);
    });
  });

  test("every other kind of question; a cancelled task", async () => {
    const everything = await stage.say("ask me for everything");
    await onPage(DESKTOP, async (page) => {
      const tasks = tasksOf(page, everything);
      const url = tasks.locator(".taskrail-approval", { hasText: "pay.railway.example" });
      await url.evaluate((element) => element.scrollIntoView({ block: "center", behavior: "instant" }));
      expect(await audit(page, "url-card")).toEqual([]);
      await button(tasks, "Cancel task").click();
      await tasks.locator('[data-status="cancelled"]').waitFor();
      expect(await audit(page)).toEqual([]);
    });
  });
});

describe("hostile texts", () => {
  test("HTML, ANSI, direction overrides and 100 kB are shown as text; nothing runs, nothing becomes an element", async () => {
    const html = `<img src=x onerror="globalThis.owned=1"><script>globalThis.owned=1</script><a href="javascript:owned=1">x</a>`;
    const nasty = `${html} \u001b[31mred\u001b[0m \u202egnp.exe\u202c \u0000`;
    const huge = `${"lorem <b>ipsum</b> ".repeat(5600)}THE END`;
    await onPage(DESKTOP, async (page) => {
      let dialogs = 0;
      page.on("dialog", (dialog) => {
        dialogs += 1;
        void dialog.dismiss();
      });
      const properties = {
        [html]: { type: "string", title: nasty, description: nasty },
        choice: { type: "string", title: nasty, oneOf: [{ const: "a", title: nasty }] },
        huge: { type: "string", title: huge, description: huge },
      };
      const call = await stage.ask({
        [`${html} key`]: form(nasty, properties),
        long: form(huge),
        url: visit(nasty, "https://xn--pple-43d.example/%3Cscript%3E?<script>owned=1</script>"),
        model: {
          method: "sampling/createMessage",
          params: {
            systemPrompt: nasty,
            messages: [{ role: "user", content: { type: "text", text: nasty } }],
            maxTokens: 9,
          },
        },
      });
      const tasks = tasksOf(page, call);
      await until(() => tasks.locator(".taskrail-approval").count()).toBe(4);
      await tasks.getByText("<script>globalThis.owned=1</script>").first().waitFor();
      const found = await page.evaluate(() => ({
        elements: document.querySelectorAll("#root :is(img, script, a, iframe, object, embed)").length,
        owned: "owned" in globalThis,
        raw: /[\u001b\u202e\u0000]/.test(document.body.innerText),
        width: document.documentElement.scrollWidth,
      }));
      expect(found).toEqual({ elements: 0, owned: false, raw: false, width: 1280 });
      expect(await tasks.locator("b").count()).toBe(0);
      // The whole of it can be read.
      const long = tasks.locator(".taskrail-approval", { hasText: "lorem" }).last();
      await long
        .getByRole("button", { name: /^Show all/ })
        .first()
        .click();
      await long.getByText("THE END").waitFor();
      expect(await audit(page)).toEqual([]);
      expect(dialogs).toBe(0);
      await button(tasks, "Cancel task").click();
      await tasks.locator('[data-status="cancelled"]').waitFor();
    });
  });
});

describe("200 open questions", () => {
  test("are all in the inbox and in the conversation, and scroll without a jam", async () => {
    await onPage(DESKTOP, async (page) => {
      const inbox = page.getByRole("complementary").getByRole("listitem");
      const cards = page.locator(".taskrail-approval");
      await until(() => inbox.count()).toBeGreaterThan(0);
      const before = await inbox.count();
      await until(() => cards.count()).toBe(before);
      const fifty = (n: number) =>
        Object.fromEntries(
          Array.from({ length: 50 }, (_, i) => [
            `q${i}`,
            form(`Question ${n * 50 + i + 1}`, { a: { type: "string" } }),
          ]),
        );
      const calls = await Promise.all([0, 1, 2, 3].map((n) => stage.ask(fifty(n))));
      await until(() => inbox.count()).toBe(before + 200);
      await until(() => cards.count()).toBe(before + 200);

      for (const selector of [".messages", ".side"]) {
        const passes: Scroll[] = [];
        // A jam of the page's own is there every time; one of a busy machine is not.
        do passes.push(await scrollThrough(page, selector));
        while (passes.length < 4 && passes.at(-1)!.longest >= 500);
        const { frames, slowest, longest, reached } = passes.at(-1)!;
        console.log(
          `${selector}: ${frames.length} frames, median ${percentile(frames, 50).toFixed(1)} ms, p95 ${percentile(frames, 95).toFixed(1)} ms, slowest ${slowest.toFixed(1)} ms, longest task ${longest.toFixed(0)} ms, pass ${passes.length}`,
        );
        expect(reached).toBe(true);
        expect(longest).toBeLessThan(500);
      }
      // The last one can be answered among all the others.
      const last = card(page, calls[3] ?? "", 49);
      await last.scrollIntoViewIfNeeded();
      await button(last, "Decline").click();
      await last.getByText("declined").waitFor();
      await until(() => inbox.count()).toBe(before + 199);
    });
  });
});

interface Scroll {
  readonly frames: number[];
  readonly slowest: number;
  /** The longest task of the main thread meanwhile, in ms; 0: none over 50 ms. */
  readonly longest: number;
  readonly reached: boolean;
}

/** From the top to the end in 120 frames, measuring each. */
function scrollThrough(page: Page, selector: string): Promise<Scroll> {
  return page.evaluate(async (selector) => {
    const element = document.querySelector(selector);
    if (element === null) throw new Error("nothing to scroll");
    const tasks: number[] = [];
    const observer = new PerformanceObserver((list) =>
      tasks.push(...list.getEntries().map(({ duration }) => duration)),
    );
    observer.observe({ type: "longtask" });
    const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
    element.scrollTop = 0;
    let last = await frame();
    const frames: number[] = [];
    for (let step = 1; step <= 120; step += 1) {
      element.scrollTop = ((element.scrollHeight - element.clientHeight) * step) / 120;
      const now = await frame();
      frames.push(now - last);
      last = now;
    }
    // What was estimated becomes real on the way.
    element.scrollTop = element.scrollHeight;
    await frame();
    observer.disconnect();
    const reached = element.scrollHeight - element.clientHeight - element.scrollTop < 2;
    return { frames, slowest: Math.max(...frames), longest: Math.max(0, ...tasks), reached };
  }, selector);
}

function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * p) / 100))] ?? 0;
}
