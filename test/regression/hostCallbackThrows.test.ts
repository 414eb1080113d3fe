/** A callback of the host that threw broke the call off, and one that was async and rejected ended the process. */
import { expect, onTestFinished, test } from "vitest";
import { createEmitter } from "../../src/internal/emitter.js";
import { TaskClient, httpConnection } from "../../src/index.js";
import { startTaskServer } from "../../src/testing/index.js";

test.each([
  ["throws", () => failing()],
  ["rejects", async () => failing()],
])("onProgress that %s costs neither the result nor the process", async (_, onProgress) => {
  const server = await startTaskServer();
  const client = new TaskClient();
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  const errors: unknown[] = [];
  client.on("error", ({ error }) => errors.push(error.cause));
  await client.connect("srv", httpConnection(server.url));
  // eslint-disable-next-line @typescript-eslint/no-misused-promises -- hosts do it.
  const call = await client.callTool("srv", { name: "inline" }, { onProgress });
  expect(call).toMatchObject({ kind: "result", result: { content: [{ text: "3 steps" }] } });
  expect(errors).toContainEqual(new Error("the host's own bug"));
});

test("a listener that is async and rejects is told of as one that throws", async () => {
  const told: unknown[] = [];
  const emitter = createEmitter<{ created: number }>((error) => told.push(error));
  // eslint-disable-next-line @typescript-eslint/no-misused-promises -- hosts do it.
  emitter.on("created", async () => failing());
  emitter.on("created", () => failing());
  emitter.emit("created", 1);
  await Promise.resolve();
  expect(told).toEqual([new Error("the host's own bug"), new Error("the host's own bug")]);
});

function failing(): never {
  throw new Error("the host's own bug");
}
