/** A server that repeats what it was sent put answers, tokens and task ids into the messages of our errors. */
import { expect, onTestFinished, test } from "vitest";
import { httpConnection, type RpcError } from "../../src/index.js";
import { rpcError } from "../../src/connection/rpc.js";
import { readTaskAnswer } from "../../src/protocol/index.js";
import { startTaskServer } from "../../src/testing/index.js";

test("answers of people", () => {
  const inputResponses = {
    login: { action: "accept", content: { password: "hunter2-secret", remember: true, pins: ["pin-4711"] } },
  };
  const message = 'accept: "hunter2-secret" and pin-4711 are wrong';
  const error = rpcError({ code: -32602, message }, { method: "tasks/update", params: { inputResponses } });
  expect(error.message).toBe('accept: "[hidden]" and [hidden] are wrong');
});

test("the credentials of the request's headers", async () => {
  const server = await startTaskServer({
    faults: [
      { kind: "rpcError", code: -32000, message: "No rights for Bearer token-4711-secret; key=key-secret-1" },
    ],
  });
  onTestFinished(() => server.close());
  const connection = httpConnection(server.url, {
    headers: { authorization: "Bearer token-4711-secret", "x-api-key": "key-secret-1" },
  });
  const clientInfo = { name: "test", version: "1" };
  const request = connection.request("tools/list", {}, { clientInfo, capabilities: {} });
  await expect(request).rejects.toThrow("No rights for Bearer [hidden]; key=[hidden]");
});

test("the id of a failed task", () => {
  const error = { code: -32000, message: "task-secret-1 ran out of memory" };
  const task = { taskId: "task-secret-1", status: "failed", ttlMs: null, error };
  expect(readTaskAnswer(task, "task-secret-1").error?.message).toBe("[task] ran out of memory");
});

test("the data of errors, which a logged error prints", () => {
  const params = {
    taskId: "task-secret-1",
    inputResponses: { pin: { action: "accept", content: { pin: "pin-4711" } } },
  };
  const data = { task: "task-secret-1", refused: ["pin-4711"], limit: 3 };
  const error = rpcError(
    { code: -32000, message: "no", data },
    { method: "tasks/update", params },
  ) as RpcError;
  expect(error.data).toEqual({ task: "[task]", refused: ["[hidden]"], limit: 3 });
  const failed = {
    taskId: "task-secret-1",
    status: "failed",
    ttlMs: null,
    error: { code: 1, message: "", data },
  };
  expect(readTaskAnswer(failed, "task-secret-1").error?.data).toEqual({ ...data, task: "[task]" });
});
