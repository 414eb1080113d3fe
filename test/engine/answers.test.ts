/** Who answered what and when, and what becomes of a question when nobody is there. */
import { describe, expect, test } from "vitest";
import {
  CallbackError,
  RpcError,
  type JsonObject,
  type Settled,
  type TaskInputRequest,
} from "../../src/index.js";
import {
  virtualClock,
  ack,
  asks,
  done,
  form,
  handle,
  rig,
  startTask,
  state,
  testStore,
  yes,
} from "./support.js";

const MINUTE = 60_000;
const asking = { "tools/call": handle(), "tasks/get": asks({ k: form() }), "tasks/update": ack };
const sampling = {
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: "Why?" } }], maxTokens: 10 },
};

describe("the answers of a call", () => {
  test("are told with whoever gave them, to onSettled and on the handle; their content only until delivery", async () => {
    const taken: Settled[] = [];
    const script = { ...asking, "tasks/get": [asks({ k: form("Ship it?") }), done()] };
    const run = await rig(script, { onSettled: (settled) => void taken.push(settled) });
    const task = await startTask(run);
    await run.clock.advance(1000);
    await run.client.respond(task.id, "k", yes, { by: "ana@example.com" });
    expect(task.answers).toEqual([
      {
        key: "k",
        version: expect.any(String) as string,
        method: "elicitation/create",
        message: "Ship it?",
        action: "accept",
        response: yes,
        by: "ana@example.com",
        source: "respond",
        answeredAt: new Date(run.clock.now()),
      },
    ]);
    const { answers } = await run.within(task.settled());
    await run.clock.advance(1000);
    expect(taken[0]?.answers).toEqual(answers);
    expect(answers[0]).toMatchObject({ by: "ana@example.com", response: yes });
    const later = (await run.client.task(task.id))!;
    expect(later.answers[0]).toMatchObject({ by: "ana@example.com", response: { action: "accept" } });
    expect(later.answers[0]?.response).toEqual({ action: "accept" });
    expect(later.outcome?.status).toBe("completed");
  });

  test("of onInputRequest say so, and survive a round before there is a task", async () => {
    const round = { resultType: "input_required", inputRequests: { first: form() }, requestState: "s" };
    const script = {
      ...asking,
      "tools/call": [round, handle()],
      "tasks/get": [asks({ second: form() }), done()],
    };
    const run = await rig(script, { onInputRequest: () => yes });
    const task = await startTask(run);
    const { answers } = await run.within(task.settled());
    expect(answers.map(({ key, source, by }) => [key, source, by])).toEqual([
      ["first", "handler", undefined],
      ["second", "handler", undefined],
    ]);
  });

  test("that another process stored while the task ended are told all the same", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    const script = { ...asking, "tasks/get": [asks({ k: form() }), done()] };
    const a = await rig(script, { clock, store, storeWatchMs: MINUTE });
    const task = await startTask(a);
    await clock.advance(1000);
    const b = await rig({}, { clock, store });
    await b.within(b.client.respond(task.id, "k", yes, { by: "ben" }), 100);
    const { answers } = await a.within(task.settled());
    expect(answers).toMatchObject([{ key: "k", by: "ben", source: "respond" }]);
  });

  test.each([
    [{ by: "" }, /by/],
    [{ by: "x".repeat(257) }, /by/],
    [{ who: "ana" }, /who/],
    [{ by: 7 }, /by/],
  ])("refuse %j", async (options, message) => {
    const run = await rig(asking);
    const task = await startTask(run);
    await run.clock.advance(1000);
    const wrong = options as { by?: string };
    await expect(task.respond("k", yes, wrong)).rejects.toThrow(message);
    await expect(run.client.respond(task.id, "k", yes, wrong)).rejects.toThrow(TypeError);
    expect(task.pendingInputs).toHaveLength(1);
  });
});

describe("an answer is to the question that was seen", () => {
  test("a question that the server swapped under its key refuses the answer to the one before", async () => {
    const run = await rig({
      ...asking,
      "tasks/get": [asks({ k: form("Delete the file?") }), asks({ k: form("Pay?") })],
    });
    const task = await startTask(run);
    await run.clock.advance(1000);
    const version = task.pendingInputs[0]?.version;
    await run.clock.advance(1000);
    expect(task.pendingInputs).toMatchObject([{ key: "k", message: "Pay?" }]);
    const late = task.respond("k", yes, { version });
    await expect(late).rejects.toMatchObject({ code: "INVALID_INPUT_RESPONSE", field: "key" });
    expect(task.answers).toEqual([]);
    await task.respond("k", yes, { version: task.pendingInputs[0]?.version });
    expect(task.answers).toMatchObject([{ message: "Pay?" }]);
  });

  test("the same question asked again in the next round is another one", async () => {
    const round = (requestState: string): JsonObject => ({
      resultType: "input_required",
      inputRequests: { confirm: form("Sure?") },
      requestState,
    });
    const run = await rig({ ...asking, "tools/call": [round("1"), round("2"), handle()] });
    const call = run.client.callTool("srv", { name: "deploy" }, { callId: "c" });
    await run.clock.advance(1000);
    const seen = (): Promise<TaskInputRequest[]> => run.client.pendingInputs();
    const [first] = await seen();
    await run.client.respond("c", "confirm", yes, { by: "ana", version: first?.version });
    await run.clock.advance(1000);
    const [second] = await seen();
    expect(second?.key).toBe("confirm");
    expect(second?.version).not.toBe(first?.version);
    const retry = run.client.respond("c", "confirm", yes, { by: "ana", version: first?.version });
    await expect(retry).rejects.toMatchObject({ field: "key" });
    await run.client.respond("c", "confirm", yes, { version: second?.version });
    await run.within(call);
  });

  test("what the server refused is listed for another answer, and both answers are told", async () => {
    const refuses = new RpcError({ code: -32602, message: "no" });
    const script = { ...asking, "tasks/update": [refuses, ack] };
    const run = await rig(script);
    const task = await startTask(run);
    await run.clock.advance(1000);
    const version = task.pendingInputs[0]?.version;
    await task.respond("k", yes, { by: "ana", version });
    await run.clock.advance(1000);
    expect(task.pendingInputs).toMatchObject([{ key: "k", refused: true }]);
    expect(task.pendingInputs[0]?.version).not.toBe(version);
    expect(await run.client.tasks({ state: "input" })).toHaveLength(1);
    await task.respond("k", { action: "decline" }, { by: "ben" });
    expect(task.answers.map(({ by, action }) => [by, action])).toEqual([
      ["ana", "accept"],
      ["ben", "decline"],
    ]);
    expect(task.pendingInputs).toEqual([]);
  });

  test("one that came in another process while the question went away is told all the same", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    const script = { ...asking, "tasks/get": [asks({ k: form() }), state(), state(), done()] };
    const a = await rig(script, { clock, store, storeWatchMs: MINUTE });
    const task = await startTask(a);
    await clock.advance(1000);
    const b = await rig({}, { clock, store });
    await b.within(b.client.respond(task.id, "k", yes, { by: "ben" }), 100);
    await clock.advance(1500);
    const { answers } = await a.within(task.settled());
    expect(answers).toMatchObject([{ key: "k", by: "ben", action: "accept" }]);
  });
});

describe("a process that is not in charge", () => {
  test("cancels at once, however it came by the task", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    const script = { "tools/call": handle(), "tasks/get": state(), "tasks/cancel": ack };
    const a = await rig(script, { clock, store });
    const b = await rig(script, { clock, store });
    const { id } = await startTask(a);
    const [task] = await b.client.tasks();
    expect(task?.id).toBe(id);
    await b.within(task!.cancel(), 100);
    expect(b.connection.requestsOf("tasks/cancel")).toHaveLength(1);
  });

  test("names the asking server as that names itself", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    const _meta = {
      "io.modelcontextprotocol/serverInfo": { name: "ci", title: "CI & Billing", version: "1" },
    };
    const script = { ...asking, "tasks/get": asks({ k: form() }, { _meta }) };
    const a = await rig(script, { clock, store });
    await startTask(a);
    await clock.advance(1000);
    const b = await rig({}, { clock, store });
    const [seen] = await b.client.pendingInputs();
    expect(seen?.serverDisplayName).toBe("CI & Billing");
  });

  test("asks the host's policy once per question, however often it is read", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    const a = await rig(asking, { clock, store });
    await startTask(a);
    await clock.advance(1000);
    let asked = 0;
    const unanswered = (): undefined => void (asked += 1);
    const b = await rig({}, { clock, store, unanswered });
    for (let n = 0; n < 5; n += 1) expect(await b.client.pendingInputs()).toHaveLength(1);
    expect(asked).toBe(1);
  });
});

describe("unanswered", () => {
  test.each([Number.MAX_SAFE_INTEGER, 8.64e15, 1e300])("after %d ms is never", async (afterMs) => {
    const run = await rig(asking, { unanswered: { afterMs, response: yes } });
    const task = await startTask(run);
    await run.clock.advance(10 * MINUTE);
    expect(task.pendingInputs).toHaveLength(1);
    expect(task.pendingInputs[0]?.unanswered).toBeUndefined();
  });

  test("a policy that is asynchronous is reported, and ends nothing by its rejection", async () => {
    const unanswered = (() => Promise.reject(new Error("no"))) as unknown as () => undefined;
    const run = await rig(asking, { unanswered });
    const task = await startTask(run);
    await run.clock.advance(1000);
    expect(run.told.of("error")).toHaveLength(1);
    expect(task.pendingInputs).toHaveLength(1);
  });

  test("by default a question waits as long as the task does", async () => {
    const run = await rig(asking);
    const task = await startTask(run);
    await run.clock.advance(60 * MINUTE);
    expect(task.pendingInputs).toHaveLength(1);
    expect(task.pendingInputs[0]?.unanswered).toBeUndefined();
    expect(run.connection.requestsOf("tasks/update")).toEqual([]);
  });

  test("after its time an elicitation is dismissed, the open prompt is withdrawn, and the policy is named", async () => {
    const shown: TaskInputRequest[] = [];
    const onInputRequest = (request: TaskInputRequest): Promise<undefined> => {
      shown.push(request);
      return new Promise((resolve) => request.signal.addEventListener("abort", () => resolve(undefined)));
    };
    const run = await rig(asking, { onInputRequest, unanswered: { afterMs: 10 * MINUTE } });
    const task = await startTask(run);
    await run.clock.advance(1000);
    const at = new Date(run.clock.now() + 10 * MINUTE);
    expect(shown[0]?.unanswered).toEqual({ at, action: "cancel" });
    await run.clock.advance(10 * MINUTE - 1);
    expect(run.connection.requestsOf("tasks/update")).toEqual([]);
    await run.clock.advance(1);
    expect(run.connection.requestsOf("tasks/update")[0]?.params).toMatchObject({
      inputResponses: { k: { action: "cancel" } },
    });
    expect(shown[0]?.signal.aborted).toBe(true);
    expect(task.answers).toMatchObject([{ key: "k", action: "cancel", source: "policy", answeredAt: at }]);
    expect(run.told.of("error")).toEqual([]);
  });

  test("a person who was faster stands", async () => {
    const run = await rig(asking, { unanswered: { afterMs: MINUTE, response: { action: "decline" } } });
    const task = await startTask(run);
    await run.clock.advance(30_000);
    await task.respond("k", yes, { by: "ana" });
    await run.clock.advance(5 * MINUTE);
    expect(task.answers).toMatchObject([{ source: "respond", by: "ana" }]);
    const sent = run.connection.requestsOf("tasks/update").map(({ params }) => params);
    expect(JSON.stringify(sent)).not.toContain("decline");
  });

  test("0: at once, where there is no handler (F134)", async () => {
    const run = await rig(asking, { unanswered: { afterMs: 0 } });
    const task = await startTask(run);
    await run.clock.advance(1000);
    expect(task.answers).toMatchObject([{ action: "cancel", source: "policy" }]);
  });

  test("is said per question, sampling included", async () => {
    const script = { ...asking, "tasks/get": asks({ a: form("A"), b: form("B"), s: sampling }) };
    const sample = { role: "assistant", content: { type: "text", text: "No." }, model: "none" };
    const run = await rig(script, {
      unanswered(request) {
        if (request.kind === "sampling") return { afterMs: MINUTE, response: sample };
        return request.key === "a" ? { afterMs: MINUTE, response: { action: "decline" } } : undefined;
      },
    });
    const task = await startTask(run);
    await run.clock.advance(2 * MINUTE);
    expect(task.answers.map(({ key, action, source }) => [key, action, source])).toEqual([
      ["a", "decline", "policy"],
      ["s", "answered", "policy"],
    ]);
    expect(task.pendingInputs.map(({ key }) => key)).toEqual(["b"]);
  });

  test("what is said for all leaves sampling and roots open", async () => {
    const script = { ...asking, "tasks/get": asks({ s: sampling, r: { method: "roots/list" } }) };
    const run = await rig(script, { unanswered: { afterMs: MINUTE, response: { action: "cancel" } } });
    const task = await startTask(run);
    await run.clock.advance(5 * MINUTE);
    expect(task.pendingInputs).toHaveLength(2);
  });

  test("an answer that does not fit, or a policy that throws, is reported and the question stays open", async () => {
    const wrong: JsonObject = { action: "accept", content: { ok: "yes" } };
    const policies = [
      () => ({ afterMs: MINUTE, response: wrong }),
      () => ({ afterMs: -1 }),
      (): undefined => {
        throw new Error("host's fault");
      },
    ];
    for (const unanswered of policies) {
      const run = await rig(asking, { unanswered });
      const task = await startTask(run);
      await run.clock.advance(2 * MINUTE);
      expect(task.pendingInputs).toHaveLength(1);
      expect(run.told.of("error")).toHaveLength(1);
    }
    const run = await rig(asking, { unanswered: policies[2]! });
    await startTask(run);
    await run.clock.advance(1000);
    expect(run.told.of("error")[0]?.error).toBeInstanceOf(CallbackError);
  });

  test("a restart goes on with the window, but leaves people a minute of it", async () => {
    const clock = virtualClock();
    const store = testStore(clock);
    const options = { clock, store, unanswered: { afterMs: 10 * MINUTE } };
    const first = await rig(asking, options);
    await startTask(first);
    await clock.advance(2 * MINUTE);
    await first.client.close();
    await clock.advance(4 * MINUTE);
    const second = await rig(asking, options);
    await clock.advance(2 * MINUTE);
    const [open] = await second.client.pendingInputs();
    // Asked a second after the beginning.
    expect(open?.unanswered?.at.getTime()).toBe((open?.askedAt.getTime() ?? 0) + 10 * MINUTE);
    await second.client.close();
    await clock.advance(30 * MINUTE);
    const third = await rig(asking, options);
    await clock.advance(59_000);
    expect(third.connection.requestsOf("tasks/update")).toEqual([]);
    await clock.advance(2000);
    expect(third.connection.requestsOf("tasks/update")).toHaveLength(1);
  });

  test("P11: a wall clock that jumps ahead answers nothing before its time", async () => {
    const run = await rig(asking, { unanswered: { afterMs: 10 * MINUTE } });
    await startTask(run);
    await run.clock.advance(1000);
    run.clock.jump(24 * 60 * MINUTE);
    await run.clock.advance(9 * MINUTE);
    expect(run.connection.requestsOf("tasks/update")).toEqual([]);
    await run.clock.advance(MINUTE);
    expect(run.connection.requestsOf("tasks/update")).toHaveLength(1);
  });

  test.each([
    ["never", /unanswered/],
    [{ afterMs: "soon" }, /unanswered\.afterMs/],
    [{ afterMs: NaN }, /unanswered\.afterMs/],
    [{ afterMs: -5 }, /unanswered\.afterMs/],
    [{ afterMs: 5, response: "no" }, /unanswered\.response/],
    [{ afterMs: 5, answer: {} }, /unanswered\.answer/],
    [null, /unanswered/],
  ])("%j is a TypeError that names it", async (unanswered, message) => {
    const made = rig(asking, { unanswered: unanswered as unknown as "keep-open" });
    await expect(made).rejects.toThrow(message);
    await expect(rig(asking, { unanswered: unanswered as unknown as "keep-open" })).rejects.toThrow(
      TypeError,
    );
  });
});

describe("a cancellation that was acknowledged and forgotten", () => {
  test("is asked for once more after the grace time, and then left to the server", async () => {
    const run = await rig({ "tools/call": handle(), "tasks/get": state(), "tasks/cancel": ack });
    const task = await startTask(run);
    await run.within(task.cancel());
    await run.clock.advance(9000);
    expect(run.connection.requestsOf("tasks/cancel")).toHaveLength(1);
    await run.clock.advance(5000);
    expect(run.connection.requestsOf("tasks/cancel")).toHaveLength(2);
    await run.clock.advance(60 * MINUTE);
    expect(run.connection.requestsOf("tasks/cancel")).toHaveLength(2);
  });

  test("is not repeated where the task has ended meanwhile", async () => {
    const cancelled = state({ status: "cancelled" });
    const run = await rig({
      "tools/call": handle(),
      "tasks/get": [state(), cancelled],
      "tasks/cancel": ack,
    });
    const task = await startTask(run);
    await run.within(task.cancel());
    expect((await run.within(task.settled())).status).toBe("cancelled");
    await run.clock.advance(60 * MINUTE);
    expect(run.connection.requestsOf("tasks/cancel")).toHaveLength(1);
  });
});
