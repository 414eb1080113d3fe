import { afterEach, expect, test } from "vitest";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { sdkConnection, type SdkConnectionOptions } from "../../../src/connection/sdk/sdkConnection.js";
import {
  TaskClient,
  type TaskClientOptions,
  type TaskHandle,
  type TaskInputRequest,
  type ToolCall,
} from "../../../src/index.js";
import { systemClock } from "../../../src/internal/clock.js";
import {
  form,
  overHttp,
  startHost,
  startRaw,
  stopServers,
  yes,
  type Host,
  type RawLegacy,
} from "../../helpers/legacy.js";

const hosts: Host[] = [];

afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close();
  stopServers();
});

interface ServerTask {
  readonly status: string;
  readonly open: number;
  readonly questions: { readonly ids: string[]; readonly answers: unknown[] }[];
}

interface Rig {
  readonly server: RawLegacy;
  readonly host: Host;
  readonly asked: TaskInputRequest[];
  readonly withdrawn: string[];
  /** A new task, with these questions. */
  start(questions?: object[], task?: object): Promise<TaskHandle>;
  tasks(): Promise<ServerTask[]>;
}

async function rig(
  settings: object = {},
  options: TaskClientOptions = {},
  connection: SdkConnectionOptions = {},
): Promise<Rig> {
  const server = await startRaw(settings);
  const asked: TaskInputRequest[] = [];
  const host = await startHost(
    () => overHttp(server.url),
    {
      push: "off",
      ...options,
      onInputRequest(request) {
        asked.push(request);
        return options.onInputRequest?.(request);
      },
    },
    connection,
  );
  hosts.push(host);
  const withdrawn: string[] = [];
  host.tasks.on("inputWithdrawn", ({ key }) => withdrawn.push(key));
  return {
    server,
    host,
    asked,
    withdrawn,
    async start(questions = [form()], task = {}) {
      return taskOf(await host.tasks.callTool("server", { name: "must", arguments: { questions, task } }));
    },
    tasks: () => server.control<ServerTask[]>("tasks"),
  };
}

function taskOf(call: ToolCall): TaskHandle {
  if (call.kind !== "task") throw new Error("expected a task");
  return call.task;
}

const answered = (...answers: object[]): object => ({
  content: [{ type: "text", text: JSON.stringify(answers) }],
});

/** Waits for so many more polls of the task. */
async function polls({ server }: Rig, more: number): Promise<void> {
  const before = (await server.received("tasks/get")).length;
  await expect
    .poll(async () => (await server.received("tasks/get")).length)
    .toBeGreaterThanOrEqual(before + more);
}

test("a question is shown once, however often it is polled, and without the marks of the wire", async () => {
  const run = await rig();
  const task = await run.start();
  await expect.poll(() => run.asked.length).toBe(1);
  await polls(run, 5);
  expect(run.asked).toHaveLength(1);
  expect(JSON.stringify([run.asked, await run.host.tasks.pendingInputs()])).not.toContain(task.taskId);
  expect(await run.server.received("tasks/result")).toHaveLength(1);
  await task.respond(run.asked[0]?.key ?? "", yes);
  expect(await task.result()).toEqual(answered(yes));
});

test("questions side by side have their own answers, given one by one", async () => {
  const run = await rig();
  const no = { action: "decline" };
  const task = await run.start([form("A?"), form("B?")]);
  await expect.poll(() => task.pendingInputs.length).toBe(2);
  const keyOf = (message: string): string =>
    run.asked.find((each) => each.kind === "elicitation-form" && each.message === message)?.key ?? "";
  await task.respond(keyOf("B?"), no);
  await expect.poll(() => task.pendingInputs.length).toBe(1);
  await task.respond(keyOf("A?"), yes);
  expect(await task.result()).toEqual(answered(yes, no));
  expect(run.asked).toHaveLength(2);
});

test("a repeat under another id is the same question, and both ids get the answer", async () => {
  const run = await rig();
  const task = await run.start();
  await expect.poll(() => run.asked.length).toBe(1);
  await run.server.control("repeat");
  await polls(run, 2);
  await task.respond(run.asked[0]?.key ?? "", yes);
  await task.result();
  expect(run.asked).toHaveLength(1);
  const [seen] = await run.tasks();
  expect(seen?.questions[0]?.ids).toHaveLength(2);
  await expect.poll(async () => (await run.tasks())[0]?.questions[0]?.answers).toEqual([yes, yes]);
});

test("an identical question after the answer is a new one: no approval is used twice", async () => {
  const run = await rig({}, { onInputRequest: () => yes });
  const task = await run.start([form()], { holds: true });
  await expect.poll(async () => (await run.tasks())[0]?.status).toBe("working");
  await polls(run, 2);
  await run.server.control("ask", { question: form() });
  await expect.poll(() => run.asked.length).toBe(2);
  expect(run.asked[0]?.key).not.toBe(run.asked[1]?.key);
  await run.server.control("finish", { result: { content: [] } });
  await task.result();
});

test("a question that comes while the task says that it works is shown all the same", async () => {
  const run = await rig();
  const task = await run.start([form("first")], { holds: true });
  await expect.poll(() => run.asked.length).toBe(1);
  await task.respond(run.asked[0]?.key ?? "", yes);
  await expect.poll(async () => (await run.tasks())[0]?.status).toBe("working");
  await run.server.control("ask", { question: { ...form("second"), quiet: true } });
  await expect.poll(() => run.asked.length).toBe(2);
  await expect.poll(() => task.status).toBe("input_required");
});

test("a question that the server takes back is withdrawn", async () => {
  const run = await rig();
  const task = await run.start();
  await expect.poll(() => run.asked.length).toBe(1);
  await run.server.control("takeBack");
  await expect.poll(() => run.withdrawn).toEqual([run.asked[0]?.key]);
  expect(run.asked[0]?.signal.aborted).toBe(true);
  expect(task.pendingInputs).toEqual([]);
});

test("tasks/result that drops is opened again, at most once for each poll, and the question is the same", async () => {
  // A client whose transport tells that a stream broke off.
  const server = await startRaw();
  const client = new Client(
    { name: "host", version: "1" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "legacy" } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
  const asked: TaskInputRequest[] = [];
  const withdrawn: string[] = [];
  const tasks = new TaskClient({
    push: "off",
    poll: { minIntervalMs: 10 },
    onInputRequest(request) {
      asked.push(request);
      return undefined;
    },
  });
  tasks.on("inputWithdrawn", ({ key }) => withdrawn.push(key));
  await tasks.connect("server", sdkConnection(client));
  const task = taskOf(await tasks.callTool("server", { name: "must", arguments: { questions: [form()] } }));
  for (let i = 1; i < 6; i += 1) {
    await expect.poll(async () => (await server.control<ServerTask[]>("tasks"))[0]?.open).toBe(1);
    await server.control("dropStreams");
    await expect.poll(async () => (await server.received("tasks/result")).length).toBe(i + 1);
  }
  expect((await server.received("tasks/get")).length).toBeGreaterThanOrEqual(6);
  expect(asked).toHaveLength(1);
  expect(withdrawn).toEqual([]);
  await task.respond(asked[0]?.key ?? "", yes);
  expect(await task.result()).toEqual(answered(yes));
  await tasks.close();
  await client.close();
});

test("a stream that broke off unnoticed is replaced when the task waits but nothing is asked", async () => {
  let shiftMs = 0;
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + shiftMs };
  const run = await rig({}, {}, { clock });
  const task = await run.start([], { status: "input_required" });
  await expect.poll(async () => (await run.tasks())[0]?.open).toBe(1);
  // The transport of the SDK 1.x says nothing of it.
  await run.server.control("dropStreams");
  await run.server.control("ask", { question: form() });
  await polls(run, 3);
  expect(await run.server.received("tasks/result")).toHaveLength(1);
  shiftMs = 10_000;
  await expect.poll(() => run.asked.length).toBe(1);
  expect(await run.server.received("tasks/result")).toHaveLength(2);
  await task.respond(run.asked[0]?.key ?? "", yes);
  expect(await task.result()).toEqual(answered(yes));
});

test("tasks/result that is refused is asked for once per poll, and the task goes on", async () => {
  const refused = { code: -32600, message: "not now" };
  const run = await rig({ errors: { "tasks/result": Array.from({ length: 4 }, () => refused) } });
  const task = await run.start();
  await expect.poll(() => run.asked.length).toBe(1);
  const [results, gets] = [await run.server.received("tasks/result"), await run.server.received("tasks/get")];
  expect(results).toHaveLength(5);
  expect(gets.length).toBeGreaterThanOrEqual(5);
  await task.respond(run.asked[0]?.key ?? "", yes);
  expect(await task.result()).toEqual(answered(yes));
});

test("a question before the handle waits for it; one that is not ours goes to the SDK client", async () => {
  const run = await rig({ earlyQuestion: [form("ours"), { ...form("foreign"), foreign: true }] });
  const others: unknown[] = [];
  const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
  run.host.sdk.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    others.push(params.message);
    return { action: "decline" };
  });
  const task = await run.start([], { status: "input_required" });
  await expect
    .poll(() => run.asked.map((each) => each.kind === "elicitation-form" && each.message))
    .toEqual(["ours"]);
  await expect.poll(() => others).toEqual(["foreign"]);
  await task.respond(run.asked[0]?.key ?? "", yes);
  expect(await task.result()).toEqual(answered(yes));
});

test("a session that ends with a question open: the person is not asked again, and the answer goes to the new session", async () => {
  const run = await rig();
  const task = await run.start();
  await expect.poll(() => run.asked.length).toBe(1);
  await run.server.control("endSessions");
  await expect.poll(async () => (await run.tasks())[0]?.open).toBe(1);
  await polls(run, 3);
  expect(run.asked).toHaveLength(1);
  expect(run.withdrawn).toEqual([]);
  await task.respond(run.asked[0]?.key ?? "", yes);
  expect(await task.result()).toEqual(answered(yes));
});

test("an answer given while there is no session waits for the question to be asked again", async () => {
  const run = await rig();
  const task = await run.start();
  await expect.poll(() => run.asked.length).toBe(1);
  await run.host.sdk.close();
  await run.server.control("endSessions");
  await task.respond(run.asked[0]?.key ?? "", yes);
  await run.host.reconnect();
  expect(await task.result()).toEqual(answered(yes));
  expect(run.asked).toHaveLength(1);
});

test("a question of an earlier session that is not asked again ends when the server asks others", async () => {
  const run = await rig();
  const task = await run.start([{ ...form("old"), once: true }]);
  await expect.poll(() => run.asked.length).toBe(1);
  await run.server.control("endSessions");
  await expect.poll(async () => (await run.tasks())[0]?.open).toBe(1);
  expect(task.pendingInputs).toHaveLength(1);
  await run.server.control("ask", { question: form("new") });
  await expect.poll(() => run.withdrawn).toEqual([run.asked[0]?.key]);
  expect(task.pendingInputs).toHaveLength(1);
  expect(run.asked).toHaveLength(2);
});

test("a request with params nested too deep is refused, and the others are shown", async () => {
  let deep: object = {};
  for (let i = 0; i < 600; i += 1) deep = { deep };
  const run = await rig();
  await run.start([form()]);
  await run.server.control("ask", { question: { method: "elicitation/create", params: deep } });
  await expect.poll(() => run.asked.length).toBe(1);
  await expect
    .poll(async () => (await run.tasks())[0]?.questions[1]?.answers)
    .toEqual([{ code: -32602, message: "The params are nested too deep to be used" }]);
});
