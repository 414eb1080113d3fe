/** A long page of tools ended in a RangeError, and a listing that never ends was taken for complete after 1000 pages. */
import { expect, onTestFinished, test } from "vitest";
import { InvalidResponseError, TaskClient } from "../../src/index.js";
import { scriptedConnection, type ScriptedStep } from "../../src/testing/index.js";

async function listing(step: ScriptedStep): Promise<TaskClient> {
  const client = new TaskClient();
  onTestFinished(() => client.close());
  await client.connect("srv", scriptedConnection({ "tools/list": step }));
  return client;
}

test("a page of 200 000 tools is read", async () => {
  const client = await listing({
    tools: Array<never>(200_000).fill({ name: "a", inputSchema: {} } as never),
  });
  expect(await client.listTools("srv")).toHaveLength(200_000);
});

test("a listing that never ends is refused, as one that goes in circles is", async () => {
  const endless = await listing((_, n) => ({ tools: [], nextCursor: String(n) }));
  await expect(endless.listTools("srv")).rejects.toThrow(InvalidResponseError);
  const circle = await listing((_, n) => ({ tools: [], nextCursor: String(n % 3) }));
  await expect(circle.listTools("srv")).rejects.toThrow(InvalidResponseError);
});
