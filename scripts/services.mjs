// Installs what the tests need beside npm's packages, where it is missing and can be installed: Chromium for the tests of
// the pages, Redis for those of the stores. Elsewhere it says what is missing: tests of Redis are left out then, tests of
// the pages fail. TASKRAIL_CHROMIUM names another browser of that family.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const has = (command) => spawnSync(command, ["--version"]).error === undefined;

const missing = [];
if (![process.env.TASKRAIL_CHROMIUM, ...CHROMIUM].some((path) => path !== undefined && existsSync(path))) {
  missing.push("chromium", "fonts-liberation");
}
if (!has("redis-server")) missing.push("redis-server");

if (missing.length > 0) {
  const canInstall = process.getuid?.() === 0 && has("apt-get");
  if (!canInstall) console.error(`The tests also need ${missing.join(" and ")}; install what is missing.`);
  else {
    console.log(`Installing ${missing.join(" and ")}`);
    const apt = (...args) =>
      spawnSync("apt-get", args, {
        stdio: ["ignore", "ignore", "inherit"],
        env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      });
    apt("update", "-qq");
    const { status } = apt("install", "-y", "-qq", "--no-install-recommends", ...missing);
    if (status !== 0) console.error("That failed; see above.");
  }
}
