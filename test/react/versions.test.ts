/** React 18 and 19: rendered on a server without a browser, hydrated without a complaint, answered. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type * as rendering from "./page/render.js";
import { gallery } from "./gallery.js";
import { drive, type LabDriver } from "./labDriver.js";
import { answered, asking, form } from "./page/views.js";
import { serverSide, setStage, type ReactVersion, type Stage } from "./stage.js";

describe.each<ReactVersion>([18, 19])("React %d", (version) => {
  let stage: Stage;
  let page: Page;
  let lab: LabDriver;
  let server: typeof rendering;

  beforeAll(async () => {
    [server, stage] = await Promise.all([serverSide(version), setStage(version)]);
    page = await stage.open();
    lab = drive(page);
  }, 120_000);
  afterAll(() => stage?.close());

  test("is the one under test, on both sides", async () => {
    expect(server.version.split(".")[0]).toBe(String(version));
    expect((await page.evaluate(() => window.lab.version)).split(".")[0]).toBe(String(version));
  });

  test("every state renders on a server and leaves no listener; the browser takes it over as it is", async () => {
    const complaints: string[] = [];
    const tell = console.error;
    console.error = (...texts: unknown[]) => complaints.push(texts.map(String).join(" "));
    try {
      for (const { name, mount } of gallery) {
        if (mount.tasks === undefined) continue;
        const scene = { scene: mount.scene ?? "card", ...(mount.host && { host: mount.host }) } as const;
        const { html, listeners } = server.render(scene, mount.tasks);
        expect(html).toContain(name.startsWith("task-") ? "deploy" : "The Workshop");
        expect(listeners).toBe(0);
        await lab.mount({ ...mount, html, strict: false });
        await page.locator(".taskrail-card time, .taskrail-card .taskrail-time").first().waitFor();
        expect(await lab.problems()).toEqual([]);
      }
    } finally {
      console.error = tell;
    }
    expect(complaints).toEqual([]);
  });

  test("every state in Strict Mode, without a complaint", async () => {
    for (const { mount } of gallery) {
      await lab.mount({ ...mount, strict: true });
      await page.locator("main > *").first().waitFor();
      expect(await lab.problems()).toEqual([]);
    }
    await lab.unmount();
    expect(await lab.listeners()).toBe(0);
  });

  test("a form is filled in and accepted, another closes by itself, in Strict Mode", async () => {
    const asks = asking(form({ f: { type: "string", title: "Field" } }, ["f"]));
    const card = await lab.mount({ tasks: [asks], strict: true });
    await card.getByRole("button", { name: "Accept" }).click();
    await card.locator(".taskrail-error").waitFor();
    await card.getByLabel("Field").fill("x");
    await page.keyboard.press("Enter");
    await lab.settle({ kind: "answered", answeredAt: new Date().toISOString() });
    await card.getByText("You answered: accepted").waitFor();
    expect((await lab.asked()).length).toBe(1);
    const second = await lab.mount({ tasks: [asks], strict: true });
    await lab.put(answered(asks, { by: "Maria" }));
    await second.getByText("Answered by Maria").waitFor();
    expect(await lab.problems()).toEqual([]);
  });
});
