/**
 * Runs the published @keyv/test-suite against dist/store/lmdb.js (build first). The suite is installed into a
 * temporary folder and not as a dependency, since it brings packages that compile on installation.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const adapter = fileURLToPath(new URL("../dist/store/lmdb.js", import.meta.url));
const PACKAGES = ["@keyv/test-suite@2", "keyv@5", "vitest@4"];

const suite = (store) => `
import * as test from "vitest";
import { Keyv } from "keyv";
import keyvTestSuite, { keyvIteratorTests } from "@keyv/test-suite";
import { lmdbStore } from ${JSON.stringify(pathToFileURL(adapter).href)};

const store = () => lmdbStore(${JSON.stringify(store)});
keyvTestSuite(test, Keyv, store);
keyvIteratorTests(test, Keyv, store);
`;

if (!existsSync(adapter)) {
  console.error("dist/store/lmdb.js is missing: run npm run build first");
  process.exit(1);
}

const folder = await mkdtemp(join(tmpdir(), "keyv-suite-"));
try {
  process.exitCode = await main();
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function main() {
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ name: "keyv-suite", private: true, type: "module" }),
  );
  const installed = npm(
    "install",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    ...PACKAGES,
  );
  if (installed.status !== 0) {
    const reason = installed.error?.message ?? installed.stderr.trim().split("\n")[0];
    console.log(`skipped: ${PACKAGES.join(", ")} could not be installed (${reason})`);
    return 0;
  }

  const report = join(folder, "report.json");
  await writeFile(join(folder, "suite.test.js"), suite(join(folder, "db")));
  await writeFile(
    join(folder, "vitest.config.js"),
    "export default { test: { include: ['suite.test.js'] } };\n",
  );
  const ran = npm("exec", "--", "vitest", "run", "--reporter=json", `--outputFile=${report}`);
  if (!existsSync(report)) {
    console.error(ran.stdout, ran.stderr);
    return 1;
  }

  const { numTotalTests, numPassedTests, testResults } = JSON.parse(await readFile(report, "utf8"));
  for (const file of testResults) {
    if (file.message) console.error(file.message);
    for (const each of file.assertionResults) {
      if (each.status !== "passed")
        console.error(`${each.status}: ${each.fullName}\n${each.failureMessages.join("\n")}`);
    }
  }
  console.log(`@keyv/test-suite on lmdbStore: ${numPassedTests} of ${numTotalTests} passed`);
  return ran.status === 0 && numTotalTests > 0 && numPassedTests === numTotalTests ? 0 : 1;
}

function npm(...args) {
  return spawnSync("npm", args, { cwd: folder, encoding: "utf8", shell: process.platform === "win32" });
}
