/** An answer of the policy that throws when its action is read broke off every reading of the open questions, and rejected unhandled. */
import { expect, onTestFinished, test } from "vitest";
import { CallbackError } from "../../src/errors.js";
import { TaskClient } from "../../src/index.js";
import { scriptedConnection } from "../../src/testing/index.js";

const HANDLE = {
  resultType: "task",
  taskId: "t-1",
  status: "input_required",
  ttlMs: null,
  pollIntervalMs: 1,
};
const QUESTION = {
  method: "elicitation/create",
  params: { message: "Go on?", requestedSchema: { type: "object", properties: { a: { type: "string" } } } },
};

test("a policy whose answer throws when it is read is told of; its question is read and answered", async () => {
  const client = new TaskClient({
    capabilities: { elicitation: {} },
    push: "off",
    poll: { minIntervalMs: 1, defaultIntervalMs: 1 },
    unanswered: () => ({
      afterMs: 60_000,
      response: {
        get action(): string {
          throw new Error("the host's own bug");
        },
      },
    }),
  });
  onTestFinished(() => client.close({ timeoutMs: 20 }));
  const errors: unknown[] = [];
  client.on("error", ({ error }) => errors.push(error));
  const asked = new Promise((resolve) => client.on("input", resolve));
  await client.connect(
    "srv",
    scriptedConnection({
      "tools/call": HANDLE,
      "tasks/get": { ...HANDLE, resultType: "complete", inputRequests: { k: QUESTION } },
      "tasks/update": { resultType: "complete" },
    }),
  );
  const call = await client.callTool("srv", { name: "t" });
  if (call.kind === "result") throw new Error("no task");
  await asked;
  const [open] = await client.pendingInputs();
  expect(open?.key).toBe("k");
  expect(open?.unanswered).toBeUndefined();
  expect(errors).toEqual([expect.any(CallbackError)]);
  expect(errors[0]).toMatchObject({ cause: new Error("the host's own bug") });
  await call.task.respond("k", { action: "decline" });
  expect(call.task.answers).toMatchObject([{ key: "k", action: "decline", source: "respond" }]);
});
