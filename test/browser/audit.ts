/** Owns what is asked of the page as a whole: axe's findings, elements that a text became, pictures of it. It asserts nothing. */
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import axe from "axe-core";
import type { Page } from "playwright-core";

/** What axe finds wrong, each as `rule: places`. Evaluated, not added as a script: the page's policy lets none in. */
async function axeFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  const isLoaded = await page.evaluate(() => "axe" in globalThis);
  if (!isLoaded) await page.evaluate(axe.source);
  return page.evaluate(async (rules) => {
    const { axe } = globalThis as unknown as { axe: Axe };
    const { violations } = await axe.run(document, {
      resultTypes: ["violations"],
      ...(rules === undefined ? {} : { runOnly: { type: "rule", values: [...rules] } }),
    });
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`,
    );
  }, rules);
}

/**
 * The state as it is now, in light and in dark: what axe finds in both, and a picture of each under `name`. Only
 * colours differ between the two, so only their rule runs in dark.
 */
export async function audit(page: Page, name?: string): Promise<string[]> {
  await inColours(page, "light");
  const light = await axeFindings(page);
  if (name !== undefined) await picture(page, `${name}-light`);
  await inColours(page, "dark");
  const dark = await axeFindings(page, ["color-contrast"]);
  if (name !== undefined) await picture(page, `${name}-dark`);
  await inColours(page, "light");
  return [...light, ...dark.map((finding) => `dark: ${finding}`)];
}

/** Without motion: colours that fade over would be judged half way. */
async function inColours(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
}

type Axe = typeof axe;

const FOLDER =
  process.env["TASKRAIL_SCREENSHOTS"] === "1"
    ? resolve(import.meta.dirname, "../../docs/screenshots")
    : mkdtempSync(join(tmpdir(), "taskrail-screenshots-"));

/** It is kept in docs/screenshots only with TASKRAIL_SCREENSHOTS=1; otherwise it shows that it can be taken. */
async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  await page.screenshot({ path: join(FOLDER, `${name}.png`), animations: "disabled", caret: "hide" });
}
