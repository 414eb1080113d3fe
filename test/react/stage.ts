/** Owns the stage of the React tests: bundles for React 19 and 18, a server that hands them out, one browser. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import {
  createServer,
  request as send,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { build, type BuildOptions } from "esbuild";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { launchChromium } from "../helpers/chromium.js";
import type * as rendering from "./page/render.js";

const ROOT = resolve(import.meta.dirname, "../..");
const CACHE = join(ROOT, "node_modules/.cache/mcp-taskrail");

export type ReactVersion = 18 | 19;

/** What esbuild must put in the place of `react` and `react-dom`. React 18 cannot be installed beside 19: it gets a folder of its own. */
export function reactAlias(version: ReactVersion): Record<string, string> {
  if (version === 19) return {};
  const folder = join(CACHE, "react-18");
  const modules = join(folder, "node_modules");
  if (!existsSync(join(modules, "react-dom/package.json"))) {
    mkdirSync(folder, { recursive: true });
    execFileSync(
      "npm",
      ["i", "--prefix", folder, "--no-audit", "--no-fund", "react@18.2", "react-dom@18.2"],
      {
        stdio: "pipe",
      },
    );
  }
  return { react: join(modules, "react"), "react-dom": join(modules, "react-dom") };
}

/** A script of `test/react/page` with everything in it. */
export async function bundle(
  entry: string,
  version: ReactVersion,
  options: BuildOptions = {},
): Promise<string> {
  const result = await build({
    entryPoints: [join(import.meta.dirname, "page", entry)],
    bundle: true,
    format: "iife",
    platform: "browser",
    jsx: "automatic",
    alias: reactAlias(version),
    define: { "process.env.NODE_ENV": '"development"' },
    write: false,
    logLevel: "silent",
    ...options,
  });
  const [file] = result.outputFiles ?? [];
  if (file === undefined) throw new Error("nothing was built");
  return file.text;
}

/** What `page/render.tsx` exports, with this React inside, run as a server would. */
export async function serverSide(version: ReactVersion): Promise<typeof rendering> {
  const file = join(CACHE, `render-${version}-${process.pid}.cjs`);
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(file, await bundle("render.tsx", version, { platform: "node", format: "cjs" }));
  try {
    return createRequire(import.meta.url)(file) as typeof rendering;
  } finally {
    rmSync(file);
  }
}

export interface Stage {
  readonly url: string;
  /** Requests that reached the server besides those for the page itself. */
  readonly requests: string[];
  /** A page with the lab in it; what it complains of fails the test that looks at `lab.problems`. */
  open(options?: BrowserContextOptions): Promise<Page>;
  close(): Promise<void>;
}

/** `approvals`: where a handler is, which the pages then have at `/approvals`. */
export async function setStage(version: ReactVersion = 19, approvals?: string): Promise<Stage> {
  const [script, browser] = await Promise.all([bundle("lab.tsx", version), launchChromium()]);
  const requests: string[] = [];
  const server = await serve(script, requests, approvals);
  const url = `http://localhost:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    open: (options) => openPage(browser, url, options),
    async close() {
      await browser.close();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({
    reducedMotion: "reduce",
    timezoneId: "Europe/Berlin",
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  await page.goto(url);
  return page;
}

async function serve(script: string, requests: string[], approvals?: string): Promise<Server> {
  const css = readFileSync(join(ROOT, "src/react/styles.css"), "utf8");
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Lab</title><link rel="icon" href="data:,">
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${css}
body { margin: 0; padding: 16px; font-family: system-ui, sans-serif; background: #eef0f3; }
@media (prefers-color-scheme: dark) { body { background: #14161b; } }
main { display: grid; gap: 16px; grid-template-columns: minmax(0, 1fr); }
</style></head><body><header><h1 style="position:absolute;clip-path:inset(50%)">Lab</h1></header><main></main><script src="/lab.js"></script></body></html>`;
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    if (path === "/") return void response.setHeader("content-type", "text/html").end(html);
    if (path === "/lab.js") return void response.setHeader("content-type", "text/javascript").end(script);
    if (approvals !== undefined && path.startsWith("/approvals/")) {
      return forward(request, response, approvals + path.slice("/approvals".length));
    }
    requests.push(`${request.method} ${path}`);
    response.setHeader("content-type", "text/html").end("<title>Other</title>other");
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return server;
}

/** As a proxy in front of the host: the page and the handler are of one origin. */
function forward(request: IncomingMessage, response: ServerResponse, url: string): void {
  const onward = send(url, { method: request.method, headers: request.headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    response.flushHeaders();
    answer.pipe(response);
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}
