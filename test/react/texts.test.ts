/** Hostile texts in the page, and the small pure parts that everything shown passes through. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { localInputText, withZone } from "../../src/react/dateTimeText.js";
import { durationText } from "../../src/react/durationText.js";
import { unicodeHost } from "../../src/react/punycode.js";
import { urlFacts } from "../../src/react/urlFacts.js";
import { clipped, visibleText } from "../../src/react/visibleText.js";
import { drive, type LabDriver } from "./labDriver.js";
import { asking, form } from "./page/views.js";
import { setStage, type Stage } from "./stage.js";

test.each([
  ["\u001b[2J\u0007", "␛[2J␇"],
  ["a\r\nb\tc\rd", "a\nb\tc␍d"],
  ["x\u202eevil\u202c", "x⟨U+202E⟩evil⟨U+202C⟩"],
  ["\u009b31m\u007f", "⟨U+009B⟩31m␡"],
  ["zero\u200bwidth \ud800 half", "zero⟨U+200B⟩width \ufffd half"],
  ["\u{e0041}", "⟨U+E0041⟩"],
  ["a\ufe0fb\ufe00\u{e0100}", "a⟨U+FE0F⟩b⟨U+FE00⟩⟨U+E0100⟩"],
  ["\u034f\u061c\u115f\u1160\u3164\uffa0", "⟨U+034F⟩⟨U+061C⟩⟨U+115F⟩⟨U+1160⟩⟨U+3164⟩⟨U+FFA0⟩"],
  ["❤\ufe0f 1\ufe0f\u20e3 ⚠\ufe0f\ufe0f", "❤\ufe0f 1\ufe0f\u20e3 ⚠\ufe0f⟨U+FE0F⟩"],
  ["नमस्ते 👩‍👩‍👧 می‌خواهم שלום", "नमस्ते 👩‍👩‍👧 می‌خواهم שלום"],
])("visibleText %j", (text, shown) => expect(visibleText(text)).toBe(shown));

test("a cut text never ends in half a character", () => {
  expect(clipped("a😀b", 2)).toBe("a");
  expect(clipped("a😀b", 3)).toBe("a😀");
});

test.each([
  [0, "0 s"],
  [125_999, "2 min 5 s"],
  [3_720_000, "1 h 2 min"],
  [273_600_000, "3 d 4 h"],
  [-5, "0 s"],
  [Number.NaN, "0 s"],
])("durationText %d", (ms, text) => expect(durationText(ms)).toBe(text));

test.each([
  ["xn--mnchen-3ya.de", "münchen.de"],
  ["xn--80ak6aa92e.com", "аррӏе.com"],
  ["xn--fsqu00a.xn--0zwm56d", "例子.测试"],
  ["example.org", "example.org"],
  ["xn--\u0000.x", "xn--\u0000.x"],
  ["xn--99999999.x", "xn--99999999.x"],
])("unicodeHost %s", (host, shown) => expect(unicodeHost(host)).toBe(shown));

test("unicodeHost is what the platform makes of it, for any label", () => {
  for (const label of ["bücher", "παράδειγμα", "пример", "日本語", "a-ñ-b", "ümläüt"]) {
    expect(unicodeHost(new URL(`https://${label}.example`).hostname)).toBe(`${label}.example`);
  }
});

describe("F148: addresses", () => {
  test.each([
    "javascript:alert(1)",
    "file:///etc/passwd",
    "data:text/html,x",
    "blob:https://x/1",
    "intent://x",
  ])("%s is refused", (url) => expect(urlFacts(url).refused).toBe("scheme"));
  test("what is no address is refused", () => expect(urlFacts("http://").refused).toBe("unreadable"));

  test.each([
    ["https://example.org/a?b#c", "example.org", []],
    ["http://example.org/", "example.org", ["insecure"]],
    ["https://bank.example:x@evil.example/", "evil.example", ["credentials"]],
    ["https://evil.example@evil.example:8443/", "evil.example:8443", ["credentials"]],
    ["https://xn--80ak6aa92e.com/", "xn--80ak6aa92e.com", ["punycode"]],
    ["https://pаypal.com/", "xn--pypal-4ve.com", ["punycode", "mixed-script"]],
    ["https://[::1]/x", "[::1]", []],
  ])("%s", (url, host, warnings) => {
    const facts = urlFacts(url);
    if (facts.refused !== undefined) throw new Error("refused");
    expect(facts).toMatchObject({ host, warnings });
    expect(facts.before + facts.host + facts.after).toBe(new URL(url).href);
    expect(facts.before).toMatch(/^https?:\/\/([^/]*@)?$/);
  });
});

test("local times and instants, there and back", () => {
  expect(localInputText("no date")).toBe("");
  expect(withZone("no date")).toBe("no date");
  expect(new Date(withZone("2026-12-24T18:00")).getTime()).toBe(new Date("2026-12-24T18:00").getTime());
  expect(localInputText(withZone("2026-12-24T18:00:05"))).toBe("2026-12-24T18:00:05");
});

describe("in the page", () => {
  let stage: Stage;
  let page: Page;
  let lab: LabDriver;

  beforeAll(async () => {
    stage = await setStage();
    page = await stage.open();
    lab = drive(page);
  }, 60_000);
  afterAll(() => stage?.close());

  const HTML = `<img src=${"/picture.png"} onerror="document.title='owned'"><script>document.title='owned'</script><b>bold</b>`;

  test("F173: HTML, control characters and directions are text, wherever a server can put them", async () => {
    const evil = `${HTML}\u001b[31m\u202eevil`;
    const asks = asking(
      form({ f: { type: "string", title: evil, description: evil, enum: [evil] } }, [], evil),
      {
        serverName: evil,
      },
    );
    await lab.mount({
      scene: "tasks",
      tasks: [{ ...asks, tool: evil, statusMessage: evil, status: evil, server: "h" }],
    });
    await page.getByText("<b>bold</b>").first().waitFor();
    const text = await page.locator("main").innerText();
    expect(text.match(/<b>bold<\/b>␛\[31m⟨U\+202E⟩evil/g)?.length).toBeGreaterThan(5);
    expect(await page.locator("main :is(img, b:not(.taskrail-card b), script)").count()).toBe(0);
    expect(await page.title()).toBe("Lab");
    expect(stage.requests).toEqual([]);
  });

  test("100 kB are cut at first, shown on demand in a box of their own, and the page stays as wide as it is", async () => {
    const long = `${"word".repeat(25_000)}end`;
    const card = await lab.mount({ tasks: [asking(form({}, [], long), { serverName: long })] });
    expect((await card.innerText()).length).toBeLessThan(4000);
    await card.getByRole("button", { name: "Show all (100003 characters)" }).click();
    const body = card.locator(".taskrail-text-body");
    expect(await body.innerText()).toContain("wordend");
    expect(await body.evaluate((box) => box.clientHeight)).toBeLessThan(400);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(wide).toBeLessThanOrEqual(0);
  });

  test("at 320 px nothing sticks out", async () => {
    const narrow = await stage.open({ viewport: { width: 320, height: 640 } });
    const url = `https://${"very-long-name.".repeat(12)}example/${"path".repeat(200)}`;
    await drive(narrow).mount({
      scene: "tasks",
      tasks: [
        asking({ kind: "elicitation-url", message: "Sign in", url }, { serverName: "x".repeat(300) }, "a"),
        asking(
          form({ f: { type: "string", title: "y".repeat(300), enum: ["z".repeat(300), "b"] } }),
          {},
          "b",
        ),
      ],
    });
    await narrow.locator(".taskrail-approval").nth(1).waitFor();
    expect(
      await narrow.evaluate(() => document.documentElement.scrollWidth - window.innerWidth),
    ).toBeLessThanOrEqual(0);
    await narrow.context().close();
  });
});
