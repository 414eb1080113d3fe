/** Each of many open questions asked a failing server for its name, all at once and past the one probe. */
import { expect, onTestFinished, test } from "vitest";
import { TaskClient, httpConnection } from "../../src/index.js";
import { memoryStore } from "../../src/store/memory.js";
import { startTaskServer } from "../../src/testing/index.js";

test("a server is asked for its name once, however many questions are shown", async () => {
  const server = await startTaskServer({ pollIntervalMs: 20 });
  const store = memoryStore();
  onTestFinished(() => server.close());
  const first = new TaskClient({ store, poll: { minIntervalMs: 10 }, onInputRequest: () => undefined });
  await first.connect("srv", httpConnection(server.url));
  const open = counted(first, 20);
  for (let i = 0; i < 20; i += 1) await first.callTool("srv", { name: "deploy" });
  await open;
  await first.close();

  server.addFault({ kind: "hang", method: "server/discover", times: -1 });
  const asked = server.log().filter(({ method }) => method === "server/discover").length;
  const second = new TaskClient({ store, poll: { minIntervalMs: 10 }, onInputRequest: () => undefined });
  onTestFinished(() => second.close({ timeoutMs: 10 }));
  const shown = counted(second, 20);
  await second.connect("srv", httpConnection(server.url));
  await shown;
  const again = server.log().filter(({ method }) => method === "server/discover").length;
  expect(again - asked).toBeLessThanOrEqual(1);
});

/** Resolves when so many questions were shown. */
function counted(client: TaskClient, count: number): Promise<void> {
  let left = count;
  return new Promise((resolve) => {
    client.on("input", () => {
      left -= 1;
      if (left === 0) resolve();
    });
  });
}
