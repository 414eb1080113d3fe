/** Every state of every card, light and dark: axe-core finds nothing, React complains of nothing. */
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import type { AxeResults } from "axe-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gallery, type Example } from "./gallery.js";
import { drive } from "./labDriver.js";
import { setStage, type Stage } from "./stage.js";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
/** A folder for pictures of all states; none are made without it. */
const PICTURES = process.env["TASKRAIL_REACT_PICTURES"];

let stage: Stage;
let pages: Readonly<Record<"light" | "dark", Page>>;

beforeAll(async () => {
  stage = await setStage();
  const [light, dark] = await Promise.all([
    stage.open({ colorScheme: "light", viewport: { width: 640, height: 800 } }),
    // By the attribute, against the system's own wish.
    stage.open({ colorScheme: "light", viewport: { width: 390, height: 800 } }),
  ]);
  await dark.evaluate(() => {
    document.documentElement.dataset["theme"] = "dark";
    document.body.style.background = "#14161b";
  });
  pages = { light, dark };
  for (const page of [light, dark]) await page.addScriptTag({ path: AXE });
}, 60_000);
afterAll(() => stage?.close());

/** Brings the example to its state. */
async function show(page: Page, { mount, press, settle, put }: Example): Promise<void> {
  const lab = drive(page);
  await lab.mount(mount);
  await page.locator("main > *").first().waitFor();
  if (press !== undefined) await page.getByRole("button", { name: press }).first().click();
  if (settle !== undefined) await lab.settle(settle);
  if (put !== undefined) await lab.put(put);
  for (const summary of await page.locator("summary").all()) await summary.click();
}

describe.each(["light", "dark"] as const)("%s", (theme) => {
  test.each(gallery.map((example) => [example.name, example] as const))("%s", async (name, example) => {
    const page = pages[theme];
    await show(page, example);
    if (PICTURES !== undefined)
      await page.locator("main").screenshot({ path: `${PICTURES}/${name}-${theme}.png` });
    const violations = await page.evaluate(
      async (rules) => {
        const { axe } = window as unknown as { axe: { run: (options: object) => Promise<AxeResults> } };
        // Structure is the same in both themes: the dark one is looked at for its colours.
        const results = await axe.run(rules);
        return results.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
      },
      theme === "dark" ? { runOnly: ["color-contrast"] } : {},
    );
    expect(violations).toEqual([]);
    expect(await drive(page).problems()).toEqual([]);
  });
});

test("the system's wish is followed where the page says nothing, and is overruled where it does", async () => {
  const page = await stage.open({ colorScheme: "dark" });
  await show(page, gallery[0] as Example);
  const background = (): Promise<string> =>
    page.locator(".taskrail-card").evaluate((card) => getComputedStyle(card).backgroundColor);
  expect(await background()).toBe("rgb(29, 32, 39)");
  await page.evaluate(() => (document.documentElement.dataset["theme"] = "light"));
  expect(await background()).toBe("rgb(255, 255, 255)");
  await page.context().close();
});

test("forced colours, reduced motion and coarse pointers: the card still works, targets are large enough", async () => {
  const page = await stage.open({
    forcedColors: "active",
    hasTouch: true,
    isMobile: true,
    viewport: { width: 390, height: 800 },
  });
  await show(page, gallery.find(({ name }) => name === "form") as Example);
  for (const control of await page
    .locator(".taskrail-card :is(button, .taskrail-choice, input.taskrail-input, select)")
    .all()) {
    expect((await control.boundingBox())?.height).toBeGreaterThanOrEqual(44);
  }
  await page.context().close();
});
