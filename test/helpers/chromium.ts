/** Owns where the tests of pages find a browser. One that is missing fails them: they are not left out. */
import { existsSync } from "node:fs";
import { chromium, type Browser, type LaunchOptions } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Debian's Chromium, or the one that TASKRAIL_CHROMIUM names. */
export function launchChromium(options: LaunchOptions = {}): Promise<Browser> {
  const wanted = process.env["TASKRAIL_CHROMIUM"];
  const places = wanted === undefined ? PLACES : [wanted];
  const executablePath = places.find((path) => existsSync(path));
  if (executablePath === undefined) {
    throw new Error(`No Chromium at ${places.join(", ")}: install it, or set TASKRAIL_CHROMIUM`);
  }
  return chromium.launch({ ...options, executablePath, args: ["--no-sandbox", ...(options.args ?? [])] });
}
