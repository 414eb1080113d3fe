import { afterEach, expect, test } from "vitest";
import { sdkConnection } from "../../../src/connection/sdk/sdkConnection.js";
import type { Connection, Notice } from "../../../src/connection/types.js";
import { ClientClosedError, ConnectionError, type JsonObject } from "../../../src/index.js";
import {
  form,
  newSdkClient,
  overHttp,
  startHost,
  startRaw,
  stopServers,
  yes,
  type RawLegacy,
} from "../../helpers/legacy.js";
import { requestOptions } from "../support.js";

afterEach(stopServers);

interface Listening {
  readonly server: RawLegacy;
  readonly connection: Connection;
  readonly taskId: string;
  readonly stop: AbortController;
  readonly acknowledged: (readonly string[])[];
  readonly notices: Notice[];
  readonly host: string[];
  readonly ended: Promise<unknown>;
  life(): number;
}

/** One task, and somebody who listens for it. */
async function listening(questions: JsonObject[] = []): Promise<Listening> {
  const server = await startRaw();
  const sdk = newSdkClient();
  const host: string[] = [];
  sdk.fallbackNotificationHandler = async ({ method }) => void host.push(method);
  await sdk.connect(overHttp(server.url));
  const connection = sdkConnection(sdk);
  const params = { name: "must", arguments: { questions } };
  const { taskId } = (await connection.request("tools/call", params, requestOptions)) as { taskId: string };
  await expect.poll(() => server.control("standAlone")).toBe(1);
  const stop = new AbortController();
  const acknowledged: (readonly string[])[] = [];
  const notices: Notice[] = [];
  let life = 0;
  const ended = connection.listen!([taskId], {
    ...requestOptions,
    signal: stop.signal,
    onAcknowledged: (taskIds) => acknowledged.push(taskIds),
    onNotice: (notice) => notices.push(notice),
    onLife: () => (life += 1),
  }).catch((error: unknown) => error);
  return { server, connection, taskId, stop, acknowledged, notices, host, ended, life: () => life };
}

test("no task is acknowledged, and a status notice is passed on as a whole snapshot of our revision", async () => {
  const run = await listening();
  expect(run.acknowledged).toEqual([[]]);
  await run.server.control("statusNotice");
  await expect.poll(() => run.notices.length).toBe(1);
  expect(run.notices[0]).toMatchObject({
    method: "notifications/tasks",
    params: { taskId: run.taskId, status: "working", ttlMs: null, pollIntervalMs: 20 },
  });
  expect(run.notices[0]?.params).not.toHaveProperty("ttl");
  expect(run.life()).toBeGreaterThan(1);
  expect(run.host).toEqual([]);
});

test("one that says completed comes with the result, which the next poll then has without asking", async () => {
  const run = await listening();
  const result = { content: [{ type: "text", text: "done" }] };
  await run.server.control("finish", { result });
  await run.server.control("statusNotice");
  await expect.poll(() => run.notices.map(({ params }) => params["result"])).toEqual([result]);
  const polled = await run.connection.request("tasks/get", { taskId: run.taskId }, requestOptions);
  expect(polled).toMatchObject({ status: "completed", result });
  expect(await run.server.received("tasks/get")).toEqual([]);
  expect(await run.server.received("tasks/result")).toHaveLength(1);
});

test("without its result it is passed on all the same, and proves nothing", async () => {
  const run = await listening();
  await run.server.control("set", { statuses: { "tasks/result": [503] } });
  await run.server.control("finish", { result: { content: [] } });
  await run.server.control("statusNotice");
  await expect.poll(() => run.notices.length).toBe(1);
  expect(run.notices[0]?.params["status"]).toBe("completed");
  expect(run.notices[0]?.params).not.toHaveProperty("result");
});

test("a question, and the end of a task that was asked about, are told as they come", async () => {
  const run = await listening([form()]);
  await run.connection.request("tasks/get", { taskId: run.taskId }, requestOptions);
  await expect.poll(() => run.notices.length).toBe(1);
  expect(Object.values(run.notices[0]?.params["inputRequests"] as object)).toEqual([form()]);
  await run.server.control("finish", { result: { content: [] } });
  await expect.poll(() => run.notices.at(-1)?.params["status"]).toBe("completed");
  expect(run.notices.at(-1)?.params["result"]).toEqual({ content: [] });
});

test("a notice of a task that is not ours goes to the SDK client", async () => {
  const run = await listening();
  const params = { taskId: "another", status: "working", createdAt: "", lastUpdatedAt: "", ttl: null };
  await run.server.control("notify", { message: { method: "notifications/tasks/status", params } });
  await expect.poll(() => run.host).toEqual(["notifications/tasks/status"]);
  expect(run.notices).toEqual([]);
});

test("it ends by its signal, and when the connection is closed", async () => {
  const first = await listening();
  const enough = new Error("enough");
  first.stop.abort(enough);
  expect(await first.ended).toBe(enough);
  const second = await listening();
  await second.connection.close();
  expect(await second.ended).toBeInstanceOf(ClientClosedError);
});

test("it drops with the session", async () => {
  const server = await startRaw();
  const sdk = newSdkClient();
  await sdk.connect(overHttp(server.url));
  const connection = sdkConnection(sdk);
  const ended = connection.listen!(["t"], {
    ...requestOptions,
    signal: new AbortController().signal,
    onAcknowledged: () => undefined,
    onNotice: () => undefined,
    onLife: () => undefined,
  }).catch((error: unknown) => error);
  await sdk.close();
  expect(await ended).toBeInstanceOf(ConnectionError);
});

test("the server is described by what it said in initialize", async () => {
  const { connection } = await listening();
  expect(await connection.discover(requestOptions)).toMatchObject({
    name: "raw-legacy",
    title: "Raw",
    version: "1.0.0",
    tasks: true,
    ttlMs: null,
  });
});

test("after close nothing is asked of the server any more: the task lives on", async () => {
  const { connection, server, taskId } = await listening([form()]);
  await connection.request("tasks/get", { taskId }, requestOptions);
  await connection.close();
  await expect(connection.request("tasks/get", { taskId }, requestOptions)).rejects.toThrow(
    ClientClosedError,
  );
  await expect(connection.discover(requestOptions)).rejects.toThrow(ClientClosedError);
  expect(await server.received("tasks/cancel")).toEqual([]);
  expect(await server.control<{ status: string }[]>("tasks")).toMatchObject([{ status: "input_required" }]);
});

test("a host hears of the end, and of a question, long before the next poll is due", async () => {
  const server = await startRaw({ pollInterval: 600_000 });
  const host = await startHost(() => overHttp(server.url), { push: "always", onInputRequest: () => yes });
  const pushes: string[] = [];
  host.tasks.on("push", ({ state }) => pushes.push(state));
  await expect.poll(() => server.control("standAlone")).toBe(1);
  const call = await host.tasks.callTool("server", { name: "must", arguments: { task: { holds: true } } });
  if (call.kind !== "task") throw new Error("expected a task");
  await expect.poll(() => pushes).toEqual(["open"]);
  await server.control("ask", { question: form() });
  await server.control("statusNotice");
  await expect
    .poll(() => server.control<{ questions: { answers: unknown[] }[] }[]>("tasks"))
    .toMatchObject([{ questions: [{ answers: [yes] }] }]);
  await server.control("finish", { result: { content: [] } });
  await server.control("statusNotice");
  expect(await call.task.result()).toEqual({ content: [] });
  expect(await server.received("tasks/get")).toEqual([]);
  await host.close();
});
