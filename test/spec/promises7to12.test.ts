/** The promises of the design about people, delivery, time and secrets; the first six are in promises.test.ts. */
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  ConnectionError,
  encryptedStore,
  InputAlreadyAnsweredError,
  StoreError,
  type Settled,
  type TaskInputRequest,
} from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { memoryStore } from "../../src/store/memory.js";
import { scriptedConnection } from "../../src/testing/index.js";
import {
  ack,
  asks,
  done,
  form,
  handle,
  makeClient,
  rig,
  startTask,
  state,
  testStore,
  text,
  virtualClock,
  yes,
} from "../engine/support.js";

const lost = (): ConnectionError => new ConnectionError("reset", { mayHaveRun: true });
const no: JsonObject = { action: "decline" };

describe("Promise 7: Ask once, answer once", () => {
  test("a question is shown once, however many polls repeat it", async () => {
    const shown: TaskInputRequest[] = [];
    const onInputRequest = (request: TaskInputRequest): undefined => void shown.push(request);
    const run = await rig({ "tools/call": handle(), "tasks/get": asks({ k: form() }) }, { onInputRequest });
    await startTask(run);
    await run.clock.advance(30_000);
    expect(run.times("tasks/get").length).toBeGreaterThan(20);
    expect(shown).toHaveLength(1);
  });

  test("the first answer is stored before it is sent, and sent unchanged until it is acknowledged", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    let storedWhenSent = false;
    const update = (_: unknown, n: number): JsonObject | Error => {
      storedWhenSent ||= store.writes.some((value) => value.includes('"state":"answered"'));
      return n < 3 ? lost() : ack;
    };
    const script = { "tools/call": handle(), "tasks/get": asks({ k: form() }), "tasks/update": update };
    const run = await rig(script, { clock, store, instance: "host", answerGraceMs: 600_000 });
    const task = await startTask(run);
    await clock.advance(1500);
    await task.respond("k", yes);
    await clock.advance(60_000);
    expect(storedWhenSent).toBe(true);
    const sent = run.connection.requestsOf("tasks/update").map(({ params }) => params["inputResponses"]);
    expect(sent).toEqual([{ k: yes }, { k: yes }, { k: yes }, { k: yes }]);
  });

  test("an answer that cannot be stored is not sent, and may be given again", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    const script = { "tools/call": handle(), "tasks/get": asks({ k: form() }), "tasks/update": ack };
    const run = await rig(script, { clock, store, instance: "host" });
    const task = await startTask(run);
    await clock.advance(1500);
    store.refuses = (value) => value.includes('"answered"');
    await expect(run.within(task.respond("k", yes))).rejects.toBeInstanceOf(StoreError);
    await clock.advance(5000);
    expect(run.connection.requestsOf("tasks/update")).toEqual([]);
    store.refuses = () => false;
    await run.within(task.respond("k", yes));
    await clock.advance(10);
    expect(run.connection.requestsOf("tasks/update")).toHaveLength(1);
  });

  test("an answer cannot be replaced", async () => {
    const script = { "tools/call": handle(), "tasks/get": asks({ k: form() }), "tasks/update": ack };
    const run = await rig(script);
    const task = await startTask(run);
    await run.clock.advance(1500);
    await task.respond("k", yes);
    await expect(task.respond("k", no)).rejects.toBeInstanceOf(InputAlreadyAnsweredError);
    await run.clock.advance(3000);
    await expect(task.respond("k", no)).rejects.toBeInstanceOf(InputAlreadyAnsweredError);
    const sent = run.connection.requestsOf("tasks/update").map(({ params }) => params["inputResponses"]);
    expect(sent).toEqual([{ k: yes }]);
  });

  test.each([
    ["answered elsewhere", state()],
    ["the task is over", done()],
  ])("a question that disappears is withdrawn: %s", async (_why, after) => {
    const signals: AbortSignal[] = [];
    const onInputRequest = async (request: TaskInputRequest): Promise<undefined> => {
      signals.push(request.signal);
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
    };
    const script = { "tools/call": handle(), "tasks/get": [asks({ k: form() }), after] };
    const run = await rig(script, { onInputRequest });
    await startTask(run);
    await run.clock.advance(1500);
    expect(signals[0]?.aborted).toBe(false);
    await run.clock.advance(1000);
    expect(signals[0]?.aborted).toBe(true);
    expect(run.told.of("inputWithdrawn")).toMatchObject([{ key: "k" }]);
  });
});

describe("Promise 8: People are slow, and that is fine", () => {
  test("while a handler waits, polls go on, other questions are shown, answers go out as they come", async () => {
    const answer = new Map<string, (response: JsonObject) => void>();
    const onInputRequest = ({ key }: TaskInputRequest): Promise<JsonObject> =>
      new Promise((resolve) => answer.set(key, resolve));
    const open = new Map([
      ["a", form("a")],
      ["b", form("b")],
    ]);
    const script = {
      "tools/call": handle(),
      "tasks/get": () => (open.size === 0 ? done() : asks(Object.fromEntries(open))),
      "tasks/update": ({ params }: { params: JsonObject }) => {
        for (const key of Object.keys(params["inputResponses"] as JsonObject)) open.delete(key);
        return ack;
      },
    };
    const run = await rig(script, { onInputRequest });
    const task = await startTask(run);
    await run.clock.advance(60_000);
    expect([...answer.keys()]).toEqual(["a", "b"]);
    expect(run.times("tasks/get").length).toBeGreaterThan(50);
    answer.get("b")!(yes);
    await run.clock.advance(5000);
    const sent = run.connection.requestsOf("tasks/update").map(({ params }) => params["inputResponses"]);
    expect(sent).toEqual([{ b: yes }]);
    answer.get("a")!(yes);
    expect(await run.within(task.result())).toEqual(text("done"));
  });

  test("a handler may defer, and anyone may answer later, from another process on that store", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const script = {
      "tools/call": handle(),
      "tasks/get": asks({ k: form() }),
      "tasks/update": ack,
    };
    const run = await rig(script, { clock, store, instance: "host", onInputRequest: () => undefined });
    const { id } = await startTask(run, { context: { chat: 7 } });
    await clock.advance(2000);
    const elsewhere = makeClient(clock, { store });
    const [request] = await elsewhere.pendingInputs();
    expect(request).toMatchObject({ id, key: "k", kind: "elicitation-form", context: { chat: 7 } });
    await elsewhere.respond(id, "k", yes);
    await clock.advance(10_000);
    expect(run.connection.requestsOf("tasks/update")[0]?.params["inputResponses"]).toEqual({ k: yes });
  });
});

describe("Promise 9: Nothing is decided for the user", () => {
  test("without a handler a question stays open and is reported; nothing was declared, nothing is answered", async () => {
    const run = await rig({ "tools/call": handle(), "tasks/get": asks({ k: form() }), "tasks/update": ack });
    const task = await startTask(run);
    await run.clock.advance(600_000);
    expect(task.pendingInputs.map(({ key }) => key)).toEqual(["k"]);
    expect(run.told.of("input")).toMatchObject([{ handled: false, request: { key: "k" } }]);
    expect(run.connection.requestsOf("tasks/update")).toEqual([]);
    for (const { options } of run.connection.requests) {
      expect(options.capabilities).toEqual({ extensions: { "io.modelcontextprotocol/tasks": {} } });
    }
  });

  test("a handler that fails or answers wrongly decides nothing either", async () => {
    const onInputRequest = ({ key }: TaskInputRequest): JsonObject => {
      if (key === "throws") throw new Error("no screen");
      return { action: "bogus" };
    };
    const script = {
      "tools/call": handle(),
      "tasks/get": asks({ throws: form(), wrong: form() }),
      "tasks/update": ack,
    };
    const run = await rig(script, { onInputRequest });
    const task = await startTask(run);
    await run.clock.advance(10_000);
    expect(run.connection.requestsOf("tasks/update")).toEqual([]);
    expect(task.pendingInputs).toHaveLength(2);
    expect(run.told.of("error").map(({ error }) => error.code)).toEqual([
      "CALLBACK",
      "INVALID_INPUT_RESPONSE",
    ]);
  });
});

describe("Promise 10: Outcomes are delivered", () => {
  test("onSettled runs until it resolves, also after a restart; then once is enough", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const failing = vi.fn((_: Settled): void => {
      throw new Error("the database is down");
    });
    const script = { "tools/call": handle(), "tasks/get": done() };
    const first = await rig(script, { clock, store, instance: "host", onSettled: failing });
    const { id } = await startTask(first, { context: "chat-7" });
    await clock.advance(10_000);
    expect(failing.mock.calls.length).toBeGreaterThanOrEqual(3);
    const closed = first.client.close({ timeoutMs: 1 });
    await clock.advance(2);
    await closed;

    const working = vi.fn((_: Settled): void => undefined);
    await rig({}, { clock, store, instance: "host", onSettled: working });
    await clock.advance(1000);
    expect(working.mock.calls).toMatchObject([
      [{ id, status: "completed", result: text("done"), context: "chat-7" }],
    ]);
    await rig({}, { clock, store, instance: "host", onSettled: working });
    await clock.advance(100_000);
    expect(working).toHaveBeenCalledTimes(1);
  });

  test("the outcome stays for retentionMs after its delivery, and not for ever", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const onSettled = (): void => undefined;
    const options = { clock, store, instance: "host", onSettled, retentionMs: 60_000 };
    const run = await rig({ "tools/call": handle(), "tasks/get": done() }, options);
    const { id } = await startTask(run);
    await clock.advance(30_000);
    const task = await makeClient(clock, { store }).task(id);
    expect(await task!.result()).toEqual(text("done"));
    await clock.advance(62_000);
    expect(await makeClient(clock, { store }).task(id)).toBeUndefined();
  });
});

describe("Promise 11: Time is not trusted", () => {
  test("wall-clock jumps neither hurry polls nor expire a task", async () => {
    const run = await rig({
      "tools/call": handle({ ttlMs: 3_600_000 }),
      "tasks/get": state({ ttlMs: 3_600_000 }),
    });
    const task = await startTask(run);
    for (const jumpMs of [10 * 3_600_000, -20 * 3_600_000, 365 * 86_400_000]) {
      run.clock.jump(jumpMs);
      await run.clock.advance(10_000);
    }
    expect(run.times("tasks/get")).toHaveLength(30);
    expect(task.status).toBe("working");
  });

  test.each([0, -1, NaN, Infinity, 1e18, 2 ** 31, "5", null, true, [[]]].map((hint) => [hint]))(
    "a hostile pollIntervalMs or ttlMs causes no busy loop, no instant expiry and no hang: %s",
    async (hint) => {
      const hostile = { pollIntervalMs: hint, ttlMs: hint } as JsonObject;
      let isDone = false;
      const get = (): JsonObject => (isDone ? done("done", hostile) : state(hostile));
      const run = await rig({ "tools/call": handle(hostile), "tasks/get": get });
      const task = await startTask(run);
      await run.clock.advance(10_000);
      expect(run.times("tasks/get").length).toBeLessThanOrEqual(10);
      expect(task.status).toBe("working");
      isDone = true;
      // No hint parks a task for longer than poll.maxIntervalMs, an hour.
      expect(await run.within(task.result(), 3_600_000)).toEqual(text("done"));
    },
  );
});

describe("Promise 12: Handles are secrets", () => {
  const SECRETS = /task-secret-1|state-secret|answer-secret|token-secret/;

  test("no secret is in an event, an error, a handle as text, a store key or the console", async () => {
    const printed: unknown[] = [];
    for (const method of ["log", "warn", "error", "info", "debug"] as const) {
      const spy = vi.spyOn(console, method).mockImplementation((...args) => void printed.push(args));
      onTestFinished(() => spy.mockRestore());
    }
    const clock = virtualClock();
    const store = testStore(clock);
    const question = form("Password?", { password: { type: "string" } });
    const script = {
      "tools/call": [
        { resultType: "input_required", inputRequests: { a: question }, requestState: "state-secret" },
        handle({ ttlMs: "x" }),
      ],
      "tasks/get": [lost(), state({ taskId: "another" }), asks({ k: question }), done()],
      "tasks/update": [lost(), ack],
    };
    const onInputRequest = (): JsonObject => ({ action: "accept", content: { password: "answer-secret" } });
    const run = await rig(script, { clock, store, instance: "host", onInputRequest });
    const headers = { authorization: "Bearer token-secret" };
    const task = await startTask(run, { headers });
    await run.within(task.result());
    const events = run.told.all.map(({ event }) => printable(event));
    expect(events.length).toBeGreaterThan(5);
    expect(events.filter((line) => SECRETS.test(line))).toEqual([]);
    expect(printable(task) + printable(printed)).not.toMatch(SECRETS);
    const keys = (await store.dump()).split("\n").map((line) => line.split(" ")[0]);
    expect(keys.join()).not.toMatch(SECRETS);
    expect(store.writes.join()).not.toContain("token-secret");
  });

  test("a task is never polled over another server's or another scope's connection", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const first = await rig(
      { "tools/call": handle(), "tasks/get": state() },
      { clock, store, instance: "host" },
    );
    const { id } = await startTask(first);
    const stranger = scriptedConnection({ "tasks/get": done() }, { clock, identity: "another server" });
    const renamed = await rig({}, { clock, store, instance: "host", connection: stranger });
    const scoped = await rig(
      { "tasks/get": done() },
      { clock, store, instance: "host", scope: "another principal" },
    );
    await clock.advance(60_000);
    expect(stranger.requests).toEqual([]);
    expect(scoped.connection.requests).toEqual([]);
    expect(await scoped.client.task(id)).toBeUndefined();
    expect(renamed.told.of("error")).toHaveLength(1);
  });

  test("an answer about another task is not believed", async () => {
    const script = {
      "tools/call": handle(),
      "tasks/get": [done("wrong", { taskId: "other" }), done("right")],
    };
    const run = await rig(script);
    const task = await startTask(run);
    expect(await run.within(task.result())).toEqual(text("right"));
  });

  test("arguments are kept only while the call may have to be repeated; outcomes until delivered", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    const run = await rig(
      { "tools/call": handle(), "tasks/get": done("outcome") },
      { clock, store, instance: "host" },
    );
    const params = { name: "deploy", arguments: { env: "argument-secret" } };
    const task = await startTask(run, {}, params);
    expect(store.writes[0]).toContain("argument-secret");
    expect(await store.dump()).not.toContain("argument-secret");
    await run.within(task.result());
  });

  test("an ordinary result that was handed over is not kept at all", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    const run = await rig({ "tools/call": text("secret result") }, { clock, store, instance: "host" });
    await run.within(run.client.callTool("srv", { name: "read" }));
    await clock.advance(1000);
    expect(await store.dump()).toBe("");
  });

  test("encryptedStore: nothing of a record can be read at rest, and it works as ever", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    const key = new Uint8Array(32).fill(7);
    const first = await rig(
      { "tools/call": handle() },
      { clock, instance: "host", store: encryptedStore(store, key) },
    );
    const { id } = await startTask(first, { context: "chat-7" });
    expect(await store.dump()).not.toMatch(/task-secret-1|deploy|chat-7/);
    const second = await rig(
      { "tasks/get": done() },
      { clock, instance: "host", store: encryptedStore(store, key) },
    );
    const task = await second.client.task(id);
    expect(await second.within(task!.result())).toEqual(text("done"));
  });
});

/** Whatever a log could show: own enumerable members, and what errors hold. */
function printable(value: unknown, depth = 0): string {
  if (depth > 8) return "…";
  if (value instanceof Error) {
    const { name, message, stack, cause } = value;
    return [name, message, stack, printable(cause, depth + 1), JSON.stringify(value)].join(" ");
  }
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([key, member]) => `${key}=${printable(member, depth + 1)}`)
    .join(" ");
}
