/** Owns what the browser tests play on: the real chat example in its processes, and one browser. It asserts nothing. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from "playwright-core";
import { buildPage } from "../../examples/chat/buildPage.js";
import type { HostReady, HostSettings } from "../../examples/chat/host.js";
import { startProcess, type Life } from "../../examples/chat/processes.js";
import type { ServerReady, ServerSettings } from "../../examples/chat/server.js";
import { signIn } from "../../examples/chat/smoke.js";
import type { TestInputRequest, TestTask } from "../../src/testing/index.js";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** A stage that is set. */
export interface Stage {
  readonly url: string;
  readonly browser: Browser;
  /** A signed-in page in a context of its own, on the conversation. */
  open(options?: OpenOptions): Promise<Page>;
  /** Sends a message as this person; answers its id, of which the calls are `<id>.0` and so on. */
  say(text: string, actor?: string): Promise<string>;
  /** Has the task server ask; answers the call's id. */
  ask(requests: Readonly<Record<string, TestInputRequest>>, more?: object): Promise<string>;
  /** Every task that the server knows, newest last. */
  tasks(): Promise<readonly TestTask[]>;
  /** SIGKILL; resolves once it is dead. */
  killHost(): Promise<void>;
  startHost(): Promise<void>;
  close(): Promise<void>;
}

export interface OpenOptions extends BrowserContextOptions {
  readonly actor?: string;
  /** A second tab: the same context. */
  readonly beside?: Page;
}

/** Builds the page, starts both processes and the browser. `more`: what the host is told beside; `onMessage`: what it tells. */
export async function setStage(
  more: Partial<HostSettings> = {},
  onMessage?: (message: unknown) => void,
): Promise<Stage> {
  const executablePath = findBrowser();
  const folder = mkdtempSync(join(tmpdir(), "taskrail-browser-"));
  const data = join(folder, "data");
  const pageFolder = join(folder, "page");
  mkdirSync(data);
  const serverSettings: ServerSettings = { folder: data, port: 0 };
  const [server, browser] = await Promise.all([
    startProcess<ServerReady>("server.ts", serverSettings),
    chromium.launch({ executablePath, args: ["--no-sandbox", "--force-color-profile=srgb"] }),
    buildPage(pageFolder),
  ]);
  const hostOn = (port: number): Promise<Life<HostReady>> =>
    startProcess<HostReady>(
      "host.ts",
      { serverUrl: server.ready.url, folder: data, page: pageFolder, port, ...more } satisfies HostSettings,
      onMessage,
    );
  let host = await hostOn(0);
  const { url, port } = host.ready;

  async function api<Body>(path: string, body: object, cookie: string): Promise<Body> {
    const response = await fetch(new URL(path, url), {
      method: "POST",
      headers: { "content-type": "application/json", cookie },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    return (await response.json()) as Body;
  }

  async function say(text: string, actor = "Ada"): Promise<string> {
    const id = crypto.randomUUID();
    await api("/api/chat", { id, text }, await signIn(url, actor));
    return id;
  }

  return {
    url,
    browser,
    async open({ actor = "Ada", beside, ...options } = {}) {
      const context = beside?.context() ?? (await signedIn(browser, options, await signIn(url, actor), url));
      const page = await context.newPage();
      page.setDefaultTimeout(15_000);
      await page.goto(url);
      await page.getByText("Live", { exact: true }).waitFor();
      return page;
    },
    say,
    ask: async (requests, more = {}) =>
      `${await say(`/call ask ${JSON.stringify({ requests, ...more })}`)}.0`,
    async tasks() {
      const response = await fetch(new URL("/__control", server.ready.url), {
        method: "POST",
        body: JSON.stringify({ op: "state" }),
      });
      return ((await response.json()) as { tasks: readonly TestTask[] }).tasks;
    },
    killHost: () => host.end("SIGKILL"),
    async startHost() {
      host = await hostOn(port);
    },
    async close() {
      await browser.close();
      await host.end("SIGTERM");
      await server.end("SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function signedIn(
  browser: Browser,
  options: BrowserContextOptions,
  cookie: string,
  url: string,
): Promise<BrowserContext> {
  const context = await browser.newContext({ locale: "en-GB", timezoneId: "Europe/Berlin", ...options });
  const [name = "", ...value] = cookie.split("=");
  await context.addCookies([{ name, value: value.join("="), url }]);
  return context;
}

/** A missing browser is a failure: what is not run proves nothing. */
function findBrowser(): string {
  const wanted = process.env["TASKRAIL_CHROMIUM"];
  const found = (wanted === undefined ? PLACES : [wanted]).find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new Error(
    `No Chromium at ${(wanted === undefined ? PLACES : [wanted]).join(", ")}: install Debian's "chromium", or set TASKRAIL_CHROMIUM`,
  );
}
