/** The whole way: a task server, a host with the real handler, two pages whose providers make their own stores. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { spawnTaskServer, type SpawnedTaskServer } from "../../src/testing/index.js";
import { spawnHost, type SpawnedHost } from "../approvals/spawnHost.js";
import { drive } from "./labDriver.js";
import { setStage, type Stage } from "./stage.js";

let folder: string;
let server: SpawnedTaskServer;
let host: SpawnedHost;
let stage: Stage;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "react-"));
  server = await spawnTaskServer({ pollIntervalMs: 20 });
  host = await spawnHost({ serverUrl: server.url, storePath: join(folder, "store"), scopes: ["ada"] });
  stage = await setStage(19, host.url);
}, 60_000);
afterAll(async () => {
  await stage?.close();
  await host?.kill();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("one page answers, the other's card closes by itself and says who; the result is shown in both", async () => {
  const [first, second] = await Promise.all([stage.open(), stage.open()]);
  await drive(first).mount({ scene: "url", url: "/approvals", user: "ada/Ada", strict: true });
  await drive(second).mount({ scene: "url", url: "/approvals", user: "ada/Bea" });
  await host.call("ada", "deploy", { env: "prod" });

  const question = first.locator(".taskrail-approval");
  const others = second.locator(".taskrail-approval");
  await others.waitFor();
  await question.getByRole("radio", { name: "Yes" }).or(question.getByRole("checkbox")).first().check();
  await question.getByRole("button", { name: "Accept" }).click();
  await question.getByText("You answered: accepted").waitFor();
  await others.getByText("Answered by Ada: accepted").waitFor();
  for (const page of [first, second]) {
    await page.locator(".taskrail-task[data-status='completed']").waitFor();
    await page.getByText("Result", { exact: true }).click();
    await page.locator(".taskrail-details", { hasText: "prod" }).waitFor();
    expect(await drive(page).problems()).toEqual([]);
  }
});
