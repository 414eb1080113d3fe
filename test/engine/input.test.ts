/** Field cases of input requests: who is asked what, how often, and what is sent. */
import { describe, expect, test } from "vitest";
import { InvalidInputResponseError, type TaskInputRequest } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { memoryStore } from "../../src/store/memory.js";
import { scriptedConnection, type ScriptedRequest } from "../../src/testing/index.js";
import {
  ack,
  asks,
  done,
  form,
  handle,
  rig,
  startTask,
  text,
  virtualClock,
  yes,
  type Rig,
} from "./support.js";

const updates = (run: Rig): unknown[] =>
  run.connection.requestsOf("tasks/update").map(({ params }) => params["inputResponses"]);
const asking = (requests: JsonObject, more: JsonObject = {}) => ({
  "tools/call": handle(),
  "tasks/get": asks(requests),
  "tasks/update": ack,
  ...more,
});

test("F127: an answer that is acknowledged and dropped: one prompt, sent once more, reported once", async () => {
  const shown: string[] = [];
  const onInputRequest = ({ key }: TaskInputRequest): JsonObject => {
    shown.push(key);
    return yes;
  };
  const run = await rig(asking({ k: form() }), { onInputRequest, answerGraceMs: 10_000 });
  await startTask(run);
  await run.clock.advance(120_000);
  expect(shown).toEqual(["k"]);
  expect(updates(run)).toEqual([{ k: yes }, { k: yes }]);
  expect(run.told.of("error").map(({ error }) => error.code)).toEqual(["INPUT_NOT_TAKEN"]);
});

test("F128: a bad answer is refused here, by name; the good one goes out alone", async () => {
  const run = await rig(asking({ a: form(), b: form("", { n: { type: "integer" } }) }));
  const task = await startTask(run);
  await run.clock.advance(1500);
  await task.respond("a", yes);
  const bad = task.respond("b", { action: "accept", content: { n: 1.5 } });
  await expect(bad).rejects.toBeInstanceOf(InvalidInputResponseError);
  await expect(bad).rejects.toMatchObject({ field: "content.n" });
  await run.clock.advance(5000);
  expect(updates(run)[0]).toEqual({ a: yes });
  expect(task.pendingInputs.map(({ key }) => key)).toEqual(["b"]);
});

describe("F131: a question across a restart", () => {
  test("is asked again only if it is not answered", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const script = asking({ open: form(), answered: form() });
    const first = await rig(script, { clock, store, instance: "host", answerGraceMs: 1e9 });
    const task = await startTask(first);
    await clock.advance(2000);
    await task.respond("answered", yes);
    await clock.advance(2000);
    const shown: string[] = [];
    await rig(script, {
      clock,
      store,
      instance: "host",
      answerGraceMs: 1e9,
      onInputRequest: ({ key }) => void shown.push(key),
    });
    await clock.advance(20_000);
    expect(shown).toEqual(["open"]);
  });

  test("an answer that was stored and not sent is sent by the next process", async () => {
    const clock = virtualClock();
    const store = memoryStore(clock);
    const first = await rig(asking({ k: form() }, { "tasks/update": "hang" }), {
      clock,
      store,
      instance: "host",
    });
    const task = await startTask(first);
    await clock.advance(2000);
    await task.respond("k", yes);
    await clock.advance(100);
    const second = await rig(asking({ k: form() }), { clock, store, instance: "host" });
    await clock.advance(2000);
    expect(updates(second)).toEqual([{ k: yes }]);
  });
});

describe("F133: what is asked and answered is checked as stand-alone requests are", () => {
  test("unknown modes, missing schemas, undeclared capabilities and odd URLs are never shown, and reported once each", async () => {
    const shown: string[] = [];
    const requests: JsonObject = {
      telepathy: { method: "elicitation/create", params: { mode: "telepathy", message: "?" } },
      schemaless: { method: "elicitation/create", params: { mode: "form", message: "?" } },
      undeclared: { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } },
      script: {
        method: "elicitation/create",
        params: { mode: "url", message: "?", url: "javascript:alert(1)", elicitationId: "e" },
      },
      later: { method: "dreams/list", params: {} },
      good: form(),
    };
    const capabilities = { elicitation: { form: {}, url: {} } };
    const onInputRequest = ({ key }: TaskInputRequest): undefined => void shown.push(key);
    const run = await rig(asking(requests), { onInputRequest, capabilities });
    const task = await startTask(run);
    await run.clock.advance(20_000);
    expect(shown).toEqual(["good"]);
    expect(task.pendingInputs.map(({ key }) => key)).toEqual(["good"]);
    expect(run.told.of("error")).toHaveLength(5);
    expect(updates(run)).toEqual([]);
  });

  test.each([[{ action: "bogus" }], [{}], [{ action: "accept" }], ["yes"], [null], [[]]])(
    "the answer %j is refused and not sent",
    async (answer) => {
      const question = { method: "elicitation/create", params: { ...formParams(), mode: "form" } };
      const run = await rig(asking({ k: question }));
      const task = await startTask(run);
      await run.clock.advance(1500);
      await expect(task.respond("k", answer as unknown as JsonObject)).rejects.toBeInstanceOf(
        InvalidInputResponseError,
      );
      await run.clock.advance(5000);
      expect(updates(run)).toEqual([]);
    },
  );
});

function formParams(): JsonObject {
  const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  return { message: "Name?", requestedSchema };
}

describe("F134: capabilities are declared exactly when they can be answered", () => {
  test.each([
    ["no handler: none", {}, {}],
    [
      "a handler: all",
      { onInputRequest: (): undefined => undefined },
      { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
    ],
    [
      "what the host says",
      { onInputRequest: (): undefined => undefined, capabilities: { roots: {} } },
      { roots: {} },
    ],
  ])("%s", async (_what, options, expected) => {
    const run = await rig({ "tools/call": handle(), "tasks/get": done() }, options);
    await run.within((await startTask(run)).result());
    expect(run.connection.requests.length).toBeGreaterThan(1);
    for (const { options: sent } of run.connection.requests) {
      expect(sent.capabilities).toEqual({ ...expected, extensions: { "io.modelcontextprotocol/tasks": {} } });
    }
  });
});

test("F139: submit and dismiss at the same moment: exactly one answer goes out", async () => {
  const run = await rig(asking({ k: form() }));
  const task = await startTask(run);
  await run.clock.advance(1500);
  const both = await Promise.allSettled([task.respond("k", yes), task.respond("k", { action: "cancel" })]);
  expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  await run.clock.advance(3000);
  expect(updates(run)).toEqual([{ k: yes }]);
});

test("one answer per key: an answer by respond() withdraws the handler's prompt, whose own answer then comes too late", async () => {
  let prompt: TaskInputRequest | undefined;
  let submit: (answer: JsonObject) => void = () => undefined;
  const onInputRequest = (request: TaskInputRequest): Promise<JsonObject> => {
    prompt = request;
    return new Promise((resolve) => (submit = resolve));
  };
  const run = await rig(asking({ k: form() }), { onInputRequest, answerGraceMs: 1e9 });
  const task = await startTask(run);
  await run.clock.advance(1500);
  await task.respond("k", yes);
  expect(prompt?.signal.aborted).toBe(true);
  submit({ action: "decline" });
  await run.clock.advance(5000);
  expect(updates(run)).toEqual([{ k: yes }]);
  expect(run.told.of("inputWithdrawn")).toMatchObject([{ key: "k" }]);
});

test("F149: a decline is final for its key", async () => {
  const shown: string[] = [];
  const onInputRequest = ({ key }: TaskInputRequest): JsonObject => {
    shown.push(key);
    return { action: "decline", content: { ignored: true } };
  };
  const run = await rig(asking({ k: form() }), { onInputRequest, answerGraceMs: 1e9 });
  await startTask(run);
  await run.clock.advance(60_000);
  expect(shown).toEqual(["k"]);
  expect(updates(run)).toEqual([{ k: { action: "decline" } }]);
});

test("F152: two tasks of one tool with one key are two questions; answering one leaves the other", async () => {
  const script = {
    "tools/call": (_: unknown, n: number) => handle({ taskId: `task-${n}` }),
    "tasks/get": ({ params }: ScriptedRequest) => asks({ confirm: form() }, { taskId: params["taskId"]! }),
    "tasks/update": ack,
  };
  const run = await rig(script);
  const [first, second] = [await startTask(run), await startTask(run)];
  await run.clock.advance(1500);
  expect(await run.client.pendingInputs()).toHaveLength(2);
  await first.respond("confirm", yes);
  await run.clock.advance(1000);
  expect(second.pendingInputs.map(({ key }) => key)).toEqual(["confirm"]);
  expect(run.connection.requestsOf("tasks/update").map(({ params }) => params["taskId"])).toEqual(["task-0"]);
});

test("a question whose text changes while it is open is withdrawn and asked anew", async () => {
  const prompts: TaskInputRequest[] = [];
  const script = asking(
    {},
    { "tasks/get": [asks({ k: form("Delete 1 file?") }), asks({ k: form("Delete all files?") })] },
  );
  const run = await rig(script, { onInputRequest: (request) => void prompts.push(request) });
  await startTask(run);
  await run.clock.advance(5000);
  expect(prompts.map((prompt) => [(prompt as { message?: string }).message, prompt.signal.aborted])).toEqual([
    ["Delete 1 file?", true],
    ["Delete all files?", false],
  ]);
});

test("an answer of the handler to a question that changed meanwhile is not sent", async () => {
  let submit: (answer: JsonObject) => void = () => undefined;
  const onInputRequest = ({ kind, ...request }: TaskInputRequest): Promise<JsonObject> | undefined =>
    kind === "elicitation-form" && "message" in request && request.message === "Delete 1 file?"
      ? new Promise((resolve) => (submit = resolve))
      : undefined;
  const script = asking(
    {},
    { "tasks/get": [asks({ k: form("Delete 1 file?") }), asks({ k: form("Delete all files?") })] },
  );
  const run = await rig(script, { onInputRequest });
  await startTask(run);
  await run.clock.advance(2500);
  submit(yes);
  await run.clock.advance(5000);
  expect(updates(run)).toEqual([]);
});

test("answers to several questions at one moment travel together or one after the other, each once", async () => {
  const keys = Array.from({ length: 20 }, (_, i) => `k${i}`);
  const script = asking(Object.fromEntries(keys.map((key) => [key, form(key)])));
  const run = await rig(script, { onInputRequest: () => yes, answerGraceMs: 1e9 });
  await startTask(run);
  await run.clock.advance(10_000);
  const sent = updates(run).flatMap((responses) => Object.keys(responses as object));
  expect(sent.sort()).toEqual([...keys].sort());
});

test("the display name is the server's own, asked for once for all questions", async () => {
  const clock = virtualClock();
  const names: string[] = [];
  const onInputRequest = ({ serverDisplayName }: TaskInputRequest): undefined =>
    void names.push(serverDisplayName);
  const description = { title: "The CI", name: "ci" };
  const connection = scriptedConnection(asking({ a: form(), b: form() }), { clock, description });
  let asked = 0;
  const discover = connection.discover.bind(connection);
  connection.discover = (options) => {
    asked += 1;
    return discover(options);
  };
  const run = await rig({}, { clock, onInputRequest, connection });
  await startTask(run);
  await run.clock.advance(2000);
  expect([names, asked]).toEqual([["The CI", "The CI"], 1]);
});

test("a question may come with the handle; without a handler it can be answered from pendingInputs", async () => {
  const seed = handle({ status: "input_required", inputRequests: { k: form() } });
  const run = await rig({ "tools/call": seed, "tasks/get": done(), "tasks/update": ack });
  const task = await startTask(run);
  expect(task.status).toBe("input_required");
  const [request] = await run.client.pendingInputs({ state: "input", server: "srv" });
  await run.client.respond(request!.id, request!.key, yes);
  await run.clock.advance(500);
  expect(updates(run)).toEqual([{ k: yes }]);
  expect(await run.within(task.result())).toEqual(text("done"));
  await expect(task.respond("k", yes)).rejects.toMatchObject({
    code: expect.stringMatching(/INPUT/) as string,
  });
  await expect(run.client.respond("nobody", "k", yes)).rejects.toBeInstanceOf(TypeError);
});
