/**
 * Servers of 2025-11-25 that mix things up: an id used for a second question took the first one's answer with it, the
 * result of another task was taken for ours, an early empty answer to tasks/result for the outcome; a status notice from
 * the future kept a task's questions from being asked for; one request went out for every notice; and what was over
 * stayed in memory for an hour.
 */
import { afterEach, expect, test } from "vitest";
import { legacyConnection } from "../../src/connection/legacy/legacyConnection.js";
import type { ChannelReceiver, ClientAnswer, LegacyChannel } from "../../src/connection/legacy/types.js";
import type { Connection } from "../../src/connection/types.js";
import { InvalidResponseError } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { fakeClock, type FakeClock } from "../../src/testing/index.js";

const RELATED = "io.modelcontextprotocol/related-task";
const AT = "2026-08-01T00:00:00Z";
const asks = { clientInfo: { name: "host", version: "1.0.0" }, capabilities: {} };
const closings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

const task = (taskId: string, more: JsonObject = {}): JsonObject => ({
  taskId,
  status: "working",
  createdAt: AT,
  lastUpdatedAt: AT,
  ttl: null,
  pollInterval: 1000,
  ...more,
});
const result = (text: string, of?: string): JsonObject => ({
  content: [{ type: "text", text }],
  ...(of !== undefined && { _meta: { [RELATED]: { taskId: of } } }),
});
const yes = (words: string): JsonObject => ({ action: "accept", content: { words } });

interface Session {
  readonly connection: Connection;
  readonly clock: FakeClock;
  readonly answers: (readonly [string | number, ClientAnswer])[];
  count(method: string): number;
  /** The messages of the open questions, by key. */
  open(taskId: string): Promise<Map<string, string>>;
  ask(id: number, taskId: string, message: string): Promise<void>;
  notice(params: JsonObject): void;
  answer(taskId: string, key: string, response: JsonObject): Promise<JsonObject>;
}

/** A session whose server answers as told; "hang": not before it is given up. */
function session(
  tasksGet: (taskId: string) => JsonObject,
  tasksResult: (n: number) => JsonObject | "hang",
): Session {
  const clock = fakeClock();
  const methods: string[] = [];
  const answers: (readonly [string | number, ClientAnswer])[] = [];
  let receiver: ChannelReceiver | undefined;
  const channel: LegacyChannel = {
    async request(method, params, { signal }) {
      methods.push(method);
      if (method === "tasks/get") return tasksGet(params["taskId"] as string);
      const given = tasksResult(methods.filter((each) => each === method).length);
      if (given !== "hang") return given;
      return new Promise((_resolve, reject) =>
        signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true }),
      );
    },
    answer: async (id, given) => void answers.push([id, given]),
    capabilities: () => ({}),
    serverInfo: () => undefined,
    protocolVersion: () => "2025-11-25",
    receive: (given) => void (receiver = given),
    release: () => undefined,
    close: async () => undefined,
  };
  const connection = legacyConnection(channel, { identity: "server", clock, timeoutMs: 5000 });
  closings.push(() => connection.close());
  return {
    connection,
    clock,
    answers,
    count: (method) => methods.filter((each) => each === method).length,
    async open(taskId) {
      const asked = connection.request("tasks/get", { taskId }, asks);
      await clock.advance(600);
      const { inputRequests = {} } = await asked;
      return new Map(
        Object.entries(inputRequests as Record<string, { params: { message: string } }>).map(
          ([key, { params }]) => [key, params.message],
        ),
      );
    },
    async ask(id, taskId, message) {
      const params = { mode: "form", message, requestedSchema: { type: "object", properties: {} } };
      receiver?.onRequest({
        id,
        method: "elicitation/create",
        params: { ...params, _meta: { [RELATED]: { taskId } } },
      });
      await clock.advance(1);
    },
    notice: (params) => void receiver?.onNotice({ method: "notifications/tasks/status", params }),
    answer: (taskId, key, response) =>
      connection.request("tasks/update", { taskId, inputResponses: { [key]: response } }, asks),
  };
}

function keyOf(open: Map<string, string>, message: string): string {
  const found = [...open].find(([, shown]) => shown === message);
  if (found === undefined) throw new Error("the question is not open");
  return found[0];
}

test.each([
  ["of the same task", "one"],
  ["of another task", "two"],
])(
  "an id that is used again for a question %s does not carry the first one's answer to it",
  async (_, other) => {
    const run = session(
      (taskId) => task(taskId, { status: "input_required" }),
      () => "hang",
    );
    for (const taskId of ["one", "two"]) await run.open(taskId);
    await run.ask(7, "one", "Greet?");
    const greet = keyOf(await run.open("one"), "Greet?");
    await run.ask(7, other, "Delete?");
    const waits = run.answer("one", greet, yes("greet")).catch((error: unknown) => error);
    await run.clock.advance(6000);
    expect(await waits).toBeInstanceOf(Error);
    expect(run.answers).toEqual([]);
    // Asked again under an id of its own, it has its answer, and nobody is asked anew.
    await run.ask(8, "one", "Greet?");
    expect(run.answers).toEqual([[8, { result: yes("greet") }]]);
    await run.answer(other, keyOf(await run.open(other), "Delete?"), yes("delete"));
    expect(run.answers[1]).toEqual([7, { result: yes("delete") }]);
  },
);

test("a result that bears another task's mark is not ours; one that bears ours, or none, is", async () => {
  let mark: string | undefined = "two";
  const run = session(
    (taskId) => task(taskId, { status: "completed" }),
    () => result("secret", mark),
  );
  await expect(run.connection.request("tasks/get", { taskId: "one" }, asks)).rejects.toBeInstanceOf(
    InvalidResponseError,
  );
  mark = "one";
  expect(await run.connection.request("tasks/get", { taskId: "one" }, asks)).toMatchObject({
    status: "completed",
    result: result("secret"),
  });
});

test("what tasks/result answers before the end, and is no result, is not kept for one", async () => {
  let status = "input_required";
  const run = session(
    (taskId) => task(taskId, { status }),
    (n) => (n === 1 ? {} : result("real")),
  );
  await run.open("one");
  status = "completed";
  expect(await run.connection.request("tasks/get", { taskId: "one" }, asks)).toMatchObject({
    result: result("real"),
  });
});

test("a notice from the future does not overrule polls: the questions are asked for", async () => {
  let status = "working";
  const run = session(
    (taskId) => task(taskId, { status }),
    () => "hang",
  );
  await run.open("one");
  run.notice(task("one", { lastUpdatedAt: "9999-01-01T00:00:00Z" }));
  status = "input_required";
  await run.open("one");
  expect(run.count("tasks/result")).toBe(1);
});

test("an end that notices repeat is asked for once between two polls, and watched no longer than a minute", async () => {
  let outcome: JsonObject = {};
  const run = session(
    (taskId) => task(taskId),
    () => outcome,
  );
  const closing = new AbortController();
  const told: JsonObject[] = [];
  const listening = run.connection.listen?.([], {
    ...asks,
    signal: closing.signal,
    onAcknowledged: () => undefined,
    onLife: () => undefined,
    onNotice: ({ params }) => void told.push(params as JsonObject),
  });
  listening?.catch(() => undefined);
  await run.open("one");
  for (let n = 0; n < 1000; n += 1) run.notice(task("one", { status: "failed" }));
  await run.clock.advance(1);
  expect(run.count("tasks/result")).toBe(1);
  outcome = result("done");
  await run.open("two");
  run.notice(task("two", { status: "completed" }));
  await run.clock.advance(120_000);
  expect(told.at(-1)).toMatchObject({ taskId: "two", result: result("done") });
  // Another task is looked at: what is over is known no more, and asked for anew.
  await run.open("three");
  const before = run.count("tasks/get");
  await run.open("two");
  expect(run.count("tasks/get")).toBe(before + 1);
  closing.abort(new Error("over"));
});
