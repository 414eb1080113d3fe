import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { TaskHandle, ToolCall, TaskInputRequest, TaskClientOptions } from "../../../src/index.js";
import {
  officialStdio,
  overHttp,
  startHost,
  startOfficial,
  stopServers,
  yes,
  type Host,
} from "../../helpers/legacy.js";

let url: string;
const hosts: Host[] = [];

beforeAll(async () => {
  ({ url } = await startOfficial());
});
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close();
});
afterAll(stopServers);

async function host(transport = () => overHttp(url), options?: TaskClientOptions): Promise<Host> {
  const made = await startHost(transport, options);
  hosts.push(made);
  return made;
}

function taskOf(call: ToolCall): TaskHandle {
  if (call.kind !== "task") throw new Error("expected a task");
  return call.task;
}

const text = (value: string): object => ({ content: [{ type: "text", text: value }] });

describe.each([
  ["stdio", () => officialStdio()],
  ["Streamable HTTP", () => overHttp(url)],
])("a server on the official SDK 1.x, over %s", (_name, transport) => {
  test("an ordinary tool answers at once", async () => {
    const { tasks } = await host(transport);
    expect(await tasks.callTool("server", { name: "plain" })).toEqual({
      kind: "result",
      result: text("plain"),
    });
  });

  test.each(["may", "must"])(
    "the tool %s becomes a task, whose result says nothing of its id",
    async (name) => {
      const { tasks, errors } = await host(transport);
      const task = taskOf(await tasks.callTool("server", { name }));
      expect(task.snapshot).toMatchObject({ ttlMs: null, pollIntervalMs: 30 });
      expect(await task.result()).toEqual(text("done"));
      expect(JSON.stringify(await task.result())).not.toContain("related-task");
      expect(errors).toEqual([]);
    },
  );

  test("a question of the task is put to the host, and its answer reaches the task", async () => {
    const asked: TaskInputRequest[] = [];
    const { tasks, errors } = await host(transport, {
      onInputRequest(request) {
        asked.push(request);
        return yes;
      },
    });
    const task = taskOf(await tasks.callTool("server", { name: "asks" }));
    expect(await task.result()).toEqual(text(JSON.stringify(yes)));
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ kind: "elicitation-form", message: "Sure?", tool: "asks" });
    expect(errors).toEqual([]);
  });

  test("so is one for a sample of the host's model", async () => {
    const reply = { role: "assistant", model: "m", content: { type: "text", text: "hi" } };
    const { tasks } = await host(transport, {
      onInputRequest: (request) => (request.kind === "sampling" ? reply : undefined),
    });
    const task = taskOf(await tasks.callTool("server", { name: "samples" }));
    expect(await task.result()).toEqual(text("hi"));
  });

  test("a tool that failed answers what the call would have answered, not a failed task", async () => {
    const { tasks } = await host(transport);
    const task = taskOf(await tasks.callTool("server", { name: "fails" }));
    expect(await task.result()).toEqual({ ...text("it went wrong"), isError: true });
  });

  test("a task that failed without a result has failed, and the error names no task id", async () => {
    const { tasks } = await host(transport);
    const task = taskOf(await tasks.callTool("server", { name: "breaks" }));
    const settled = await task.settled();
    // Why, says the state; its tasks/result only knows that there is none.
    expect(settled).toMatchObject({ status: "failed", error: { code: -32603, message: "broken" } });
    expect(JSON.stringify(settled)).not.toContain(task.taskId);
  });

  test("cancels", async () => {
    const { tasks, errors } = await host(transport);
    const task = taskOf(await tasks.callTool("server", { name: "slow" }));
    await task.cancel();
    expect(await task.settled()).toMatchObject({ status: "cancelled" });
    expect(errors).toEqual([]);
  });

  test("a task that is over is not an error to cancel", async () => {
    const { tasks, errors } = await host(transport);
    const first = taskOf(await tasks.callTool("server", { name: "may" }));
    await first.result();
    const again = await tasks.adopt("server", first.taskId ?? "");
    await again.cancel();
    expect(await again.settled()).toMatchObject({ status: "completed", result: text("done") });
    expect(errors).toEqual([]);
  });

  test("an unknown task is lost", async () => {
    const { tasks } = await host(transport);
    const task = await tasks.adopt("server", "no-such-task");
    expect(await task.settled()).toMatchObject({ status: "lost", reason: "unknown" });
  });

  test("ordinary requests of the SDK client go on beside it", async () => {
    const { tasks, sdk } = await host(transport);
    const task = taskOf(await tasks.callTool("server", { name: "may" }));
    const listed = await Promise.all(Array.from({ length: 20 }, () => sdk.listTools()));
    expect(listed.every(({ tools }) => tools.length === 9)).toBe(true);
    expect(await task.result()).toEqual(text("done"));
  });
});

test("a task outlives the session that made it, where the server keeps it", async () => {
  const { tasks, reconnect } = await host();
  const task = taskOf(await tasks.callTool("server", { name: "later" }));
  await reconnect();
  expect(await task.result()).toEqual(text("late"));
});

test("the stock store ties a task to its session: in a new one it is lost, and the call is not made again", async () => {
  const { url: boundUrl } = await startOfficial("bound");
  const { tasks, reconnect } = await host(() => overHttp(boundUrl));
  const task = taskOf(await tasks.callTool("server", { name: "slow" }));
  await reconnect();
  expect(await task.settled()).toMatchObject({ status: "lost", reason: "unknown" });
});
