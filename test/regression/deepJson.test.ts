/** JSON that is nested deep enough ended in a RangeError: a handle was lost, and outcomes were never told. */
import { expect, onTestFinished, test } from "vitest";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { TaskClient, httpConnection, InvalidResponseError, RpcError } from "../../src/index.js";

const DEEP = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
const task = (status: string, more = ""): string =>
  `{"resultType":"task","taskId":"task-secret-1","status":"${status}","ttlMs":null,"pollIntervalMs":10${more}}`;
const done = task("completed", ',"result":{"content":[]}');

/** A server whose n-th answer to a method is the n-th text (the last one stays). */
async function serve(answers: Record<string, readonly string[]>): Promise<TaskClient> {
  const used = new Map<string, number>();
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => answer(Buffer.concat(parts).toString(), response));
  });
  function answer(body: string, response: ServerResponse): void {
    const { id, method } = JSON.parse(body) as { id: string; method: string };
    const n = used.get(method) ?? 0;
    used.set(method, n + 1);
    const text = answers[method]?.[Math.min(n, (answers[method]?.length ?? 1) - 1)] ?? '"result":{}';
    response.setHeader("content-type", "application/json");
    response.end(`{"jsonrpc":"2.0","id":"${id}",${text}}`);
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = new TaskClient({
    poll: { minIntervalMs: 10, defaultIntervalMs: 10 },
    onInputRequest: () => ({ action: "accept" }),
  });
  onTestFinished(async () => {
    await client.close({ timeoutMs: 10 });
    server.closeAllConnections();
    server.close();
  });
  await client.connect("srv", httpConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
  return client;
}

test("a handle with deep unknown members is tracked to its end", async () => {
  const client = await serve({
    "tools/call": [`"result":${task("working", `,"more":${DEEP}`)}`],
    "tasks/get": [`"result":${done}`],
  });
  const call = await client.callTool("srv", { name: "deploy" });
  if (call.kind !== "task") throw new Error("expected a task");
  expect(await call.task.settled()).toMatchObject({ status: "completed" });
});

test("a task whose result is too deep at first ends with the usable one, and the deep one is reported", async () => {
  const deep = task("completed", `,"result":{"content":[],"structuredContent":${DEEP}}`);
  const client = await serve({
    "tools/call": [`"result":${task("working")}`],
    "tasks/get": [`"result":${deep}`, `"result":${deep}`, `"result":${done}`],
  });
  const errors: Error[] = [];
  client.on("error", ({ error }) => errors.push(error));
  const call = await client.callTool("srv", { name: "deploy" });
  if (call.kind !== "task") throw new Error("expected a task");
  expect(await call.task.settled()).toMatchObject({ status: "completed", result: { content: [] } });
  expect(errors.length).toBeGreaterThan(0);
  for (const error of errors) expect(error).toBeInstanceOf(InvalidResponseError);
});

test("a deep result, deep error data and a deep input request end the call with what they are", async () => {
  const result = await serve({ "tools/call": [`"result":{"content":[],"structuredContent":${DEEP}}`] });
  await expect(result.callTool("srv", { name: "a" }, { callId: "a" })).rejects.toThrow(InvalidResponseError);
  const error = await serve({ "tools/call": [`"error":{"code":-1,"message":"no","data":${DEEP}}`] });
  await expect(error.callTool("srv", { name: "a" }, { callId: "a" })).rejects.toThrow(RpcError);
  const asking = `{"k":{"method":"elicitation/create","params":{"message":"?","x":${DEEP}}}}`;
  const client = await serve({
    "tools/call": [`"result":${task("working")}`],
    "tasks/get": [`"result":${task("input_required", `,"inputRequests":${asking}`)}`, `"result":${done}`],
  });
  const call = await client.callTool("srv", { name: "deploy" });
  if (call.kind !== "task") throw new Error("expected a task");
  expect(await call.task.settled()).toMatchObject({ status: "completed" });
});
