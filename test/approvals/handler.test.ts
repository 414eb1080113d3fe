import { describe, expect, it, vi } from "vitest";
import {
  approvalsHandler,
  type ApprovalsHandler,
  type ApprovalsHandlerOptions,
  type Authorization,
  type TaskView,
} from "../../src/approvals/index.js";
import { StoreError, TaskClient, type TaskHandle } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import type { FakeClock } from "../../src/testing/index.js";
import {
  ack,
  asks,
  form,
  handle,
  rig,
  startTask,
  state,
  testStore,
  virtualClock,
  yes,
} from "../engine/support.js";
import { readStream, refusal, shows, taskOf, type OpenStream } from "./support.js";

const ada = { scope: "default", actor: "Ada" };
const authorize = (): Authorization => ada;
const BASE = "https://host.example/anywhere/approvals";

const get = (handler: ApprovalsHandler, path: string, init: RequestInit = {}): Promise<Response> =>
  handler(new Request(`${BASE}/${path}`, init));

const post = (handler: ApprovalsHandler, path: string, body: JsonObject): Promise<Response> =>
  get(handler, path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

/** The version of the first question that is open. */
const versionOf = ({ pendingInputs }: TaskHandle): string => pendingInputs[0]?.version ?? "";

/** A server whose task asks one question, and ends when that is answered. */
const asking = {
  "tools/call": handle(),
  "tasks/get": asks({ go: form() }),
  "tasks/update": ack,
  "tasks/cancel": ack,
};

/** A store whose readings of everything can be counted, slowed down, and made to fail. */
function watchedStore(clock: FakeClock) {
  const store = testStore(clock);
  const all =
    store.entries?.bind(store) ??
    (() => {
      throw new Error("testStore has entries");
    });
  const reading = { count: 0, slowMs: 0, fails: false, hangs: false };
  return Object.assign(store, {
    reading,
    async *entries(prefix: string) {
      reading.count += 1;
      if (reading.fails) throw new Error("unreachable");
      if (reading.hangs) await new Promise<never>(() => undefined);
      if (reading.slowMs > 0) await new Promise<void>((resolve) => clock.setTimer(reading.slowMs, resolve));
      yield* all(prefix);
    },
  });
}

describe("options", () => {
  const client = new TaskClient();

  it.each([
    ["authorize", {}],
    ["authorize", { authorize: true }],
    ["origins", { authorize, origins: ["*"] }],
    ["origins", { authorize, origins: ["https://chat.example/"] }],
    ["origins", { authorize, origins: "https://chat.example" }],
    ["maxBodyBytes", { authorize, maxBodyBytes: 0 }],
    ["keepAliveMs", { authorize, keepAliveMs: NaN }],
    ["maxStreamMs", { authorize, maxStreamMs: Infinity }],
    ["reauthorizeMs", { authorize, reauthorizeMs: -1 }],
    ["refreshMs", { authorize, refreshMs: "2000" }],
    ["maxTasks", { authorize, maxTasks: -1 }],
    ["context", { authorize, context: "all" }],
    ["onError", { authorize, onError: 1 }],
    ["clock", { authorize, clock: {} }],
    ["authorise", { authorize, authorise: authorize }],
  ])("a wrong %s is a TypeError that names it", (name, options) => {
    expect(() => approvalsHandler(client, options as never)).toThrow(TypeError);
    expect(() => approvalsHandler(client, options as never)).toThrow(name);
  });

  it("takes a client or a function, and nothing else", () => {
    expect(() => approvalsHandler({} as never, { authorize })).toThrow(/^tasks: /);
    expect(() => approvalsHandler(client, undefined as never)).toThrow(TypeError);
  });
});

describe("authorize", () => {
  const serve = (answer: unknown, more: Partial<ApprovalsHandlerOptions> = {}): ApprovalsHandler =>
    approvalsHandler(new TaskClient(), { authorize: async () => answer as Authorization, ...more });

  it.each([[undefined], [null], [false]])("%s refuses", async (answer) => {
    expect(await refusal(await get(serve(answer), "tasks"))).toMatchObject({
      status: 403,
      code: "forbidden",
    });
  });

  it.each([
    [true],
    ["ada"],
    [{}],
    [{ scope: "default" }],
    [{ scope: "default", actor: "" }],
    [{ scope: "", actor: "Ada" }],
    [{ scope: "default", actor: "x".repeat(257) }],
    [{ scope: 1, actor: "Ada" }],
  ])("%j lets nobody in, and is told (500)", async (answer) => {
    const onError = vi.fn();
    const response = await get(serve(answer, { onError }), "tasks");
    expect(await refusal(response)).toMatchObject({ status: 500, code: "internal" });
    expect(onError).toHaveBeenCalledExactlyOnceWith(expect.any(TypeError));
  });

  it("another scope than the client's is refused", async () => {
    const handler = serve({ scope: "other", actor: "Ada" });
    expect(await refusal(await get(handler, "tasks"))).toMatchObject({ status: 403 });
  });

  it("a response is sent as it is", async () => {
    const response = await get(serve(Response.redirect("https://host.example/login", 303)), "events");
    expect([response.status, response.headers.get("location")]).toEqual([303, "https://host.example/login"]);
  });

  it("what it throws is told, and not to the page; onError may throw too", async () => {
    const secret = new Error("the password of the database");
    const told: unknown[] = [];
    const handler = approvalsHandler(new TaskClient(), {
      authorize: () => Promise.reject(secret),
      onError(error) {
        told.push(error);
        throw new Error("and more");
      },
    });
    const response = await get(handler, "tasks");
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("password");
    expect(told).toEqual([secret]);
  });

  it("is asked for every request, before anything is read", async () => {
    const asked = vi.fn(() => undefined);
    const find = vi.fn(() => undefined);
    const handler = approvalsHandler(find, { authorize: asked });
    for (const path of ["tasks", "task?id=a", "events"]) expect((await get(handler, path)).status).toBe(403);
    for (const path of ["answer", "cancel"]) expect((await post(handler, path, {})).status).toBe(403);
    expect(asked).toHaveBeenCalledTimes(5);
    expect(find).not.toHaveBeenCalled();
  });

  it("a client of another scope, given by the host's function, is the host's mistake (500)", async () => {
    const onError = vi.fn();
    const handler = approvalsHandler(() => new TaskClient({ scope: "eve" }), { authorize, onError });
    expect((await get(handler, "tasks")).status).toBe(500);
    expect(onError).toHaveBeenCalledOnce();
  });
});

describe("what the page sees", () => {
  it("nothing of the context by default; what the option lets through; nothing where that fails, told once", async () => {
    const run = await rig(asking);
    await startTask(run, { context: { conversation: 7, token: "hidden" } });
    await startTask(run, { context: { conversation: 8, token: "hidden" } });
    const contexts = async (options: Partial<ApprovalsHandlerOptions>): Promise<unknown[]> => {
      const response = await get(approvalsHandler(run.client, { authorize, ...options }), "tasks");
      return ((await response.json()) as { tasks: { context?: unknown }[] }).tasks.map(
        (task) => task.context,
      );
    };
    expect(await contexts({})).toEqual([undefined, undefined]);
    const chosen = (context: unknown) => (context as { conversation: number }).conversation;
    expect((await contexts({ context: chosen })).sort()).toEqual([7, 8]);
    const onError = vi.fn();
    const fails = (): never => {
      throw new Error("no");
    };
    expect(await contexts({ context: fails, onError })).toEqual([undefined, undefined]);
    expect(await contexts({ context: () => new Map() as never, onError })).toEqual([undefined, undefined]);
    expect(onError).toHaveBeenCalledTimes(2);
  });

  it.each([
    "tool",
    "server",
    "status",
    "working",
    "input_required",
    "createdAt",
    "answeredAt",
    "properties",
    "2026",
    "title",
    "default",
    '","tool":"x',
  ])("a server that calls its task %j changes only its own texts", async (taskId) => {
    const run = await rig({
      ...asking,
      "tools/call": handle({ taskId }),
      "tasks/get": asks(
        { go: form(`Shall ${taskId} go on?`), again: form("Go?") },
        { taskId, statusMessage: `This is ${taskId}` },
      ),
    });
    const task = await startTask(run, { callId: "the-tool-of-default" });
    await run.clock.runUntil(() => task.pendingInputs.length === 2, 60_000);
    const handler = approvalsHandler(run.client, { authorize, clock: run.clock });
    const view = (await (await get(handler, "task?id=the-tool-of-default")).json()) as TaskView;
    expect(view).toMatchObject({
      id: "the-tool-of-default",
      server: task.server,
      tool: task.tool,
      status: "input_required",
      createdAt: task.createdAt.toISOString(),
      statusMessage: "This is [task]",
      answers: [],
    });
    expect(view.inputs).toHaveLength(2);
    for (const [i, input] of view.inputs.entries()) {
      const request = task.pendingInputs[i];
      expect(input).toMatchObject({ key: request?.key, askedAt: request?.askedAt.toISOString() });
    }
    expect(view.inputs).toContainEqual(expect.objectContaining({ message: "Shall [task] go on?" }));
  });

  it("its task id is in no text of a form, and the form can still be answered", async () => {
    const id = "task-secret-1";
    const requestedSchema = {
      type: "object",
      title: id,
      $comment: id,
      properties: {
        a: { type: "string", title: id, description: id, pattern: `^${id}$` },
        title: { type: "string", title: `title of ${id}` },
        b: { type: "string", oneOf: [{ const: id, title: `it is ${id}` }] },
      },
      required: ["a"],
    };
    const run = await rig({
      ...asking,
      "tools/call": handle({ taskId: id }),
      "tasks/get": asks(
        { go: { method: "elicitation/create", params: { mode: "form", message: "Go?", requestedSchema } } },
        { taskId: id },
      ),
    });
    const task = await startTask(run, { callId: "a" });
    await run.clock.runUntil(() => task.pendingInputs.length === 1, 60_000);
    const handler = approvalsHandler(run.client, { authorize, clock: run.clock });
    const view = (await (await get(handler, "task?id=a")).json()) as TaskView;
    expect(view.inputs[0]).toMatchObject({
      requestedSchema: {
        type: "object",
        title: "[task]",
        $comment: "[task]",
        properties: {
          // A pattern that was changed would refuse what the host takes.
          a: { type: "string", title: "[task]", description: "[task]" },
          title: { type: "string", title: "title of [task]" },
          b: { type: "string", oneOf: [{ const: id, title: "it is [task]" }] },
        },
        required: ["a"],
      },
    });
    expect(JSON.stringify(view)).not.toContain("pattern");
  });

  it("what one question weighs is limited: texts are cut, and what is larger still is counted only", async () => {
    const large = { a: { type: "string", description: "x".repeat(300_000) } };
    const run = await rig({
      ...asking,
      "tasks/get": asks({
        long: form("m".repeat(150_000)),
        large: form("Go?", large),
        sampled: {
          method: "sampling/createMessage",
          params: {
            messages: [{ role: "user", content: { type: "text", text: "x".repeat(300_000) } }],
            maxTokens: 5,
          },
        },
      }),
    });
    const task = await startTask(run, { callId: "a" });
    await run.clock.runUntil(() => task.pendingInputs.length === 3, 60_000);
    const handler = approvalsHandler(run.client, { authorize, clock: run.clock });
    const view = (await (await get(handler, "task?id=a")).json()) as TaskView;
    expect(view.inputs).toHaveLength(1);
    expect(view.inputs[0]?.key).toBe("long");
    expect(view.inputs).toMatchObject([{ message: `${"m".repeat(131_072)}… [cut]` }]);
    expect(view.unshownInputs).toBe(2);
  });

  it("calls with open questions first, then the newest; the rest is cut, and that is said", async () => {
    const run = await rig({
      ...asking,
      "tools/call": (_request, n) => handle({ taskId: `task-secret-${n}` }),
      "tasks/get": ({ params }) =>
        params["taskId"] === "task-secret-1"
          ? asks({ go: form() }, { taskId: "task-secret-1" })
          : state({ taskId: params["taskId"] as string }),
    });
    for (const callId of ["a", "b", "c", "d"]) {
      await startTask(run, { callId });
      await run.clock.advance(1000);
    }
    await run.clock.runUntil(() => run.told.of("input").length === 1, 60_000);
    const options = { authorize, clock: run.clock, maxTasks: 3 };
    const list = (await (await get(approvalsHandler(run.client, options), "tasks")).json()) as {
      tasks: { id: string }[];
      truncated: boolean;
    };
    expect(list.tasks.map(({ id }) => id)).toEqual(["b", "d", "c"]);
    expect(list.truncated).toBe(true);
  });
});

describe("which question an answer is to", () => {
  it("needs its version (400)", async () => {
    const run = await rig(asking);
    await startTask(run, { callId: "a" });
    const handler = approvalsHandler(run.client, { authorize, clock: run.clock });
    for (const version of [undefined, "", 1]) {
      const body = { id: "a", key: "go", response: yes, ...(version === undefined ? {} : { version }) };
      expect(await refusal(await post(handler, "answer", body))).toMatchObject({ status: 400 });
    }
  });

  it("is what the person saw: a question that the server changed under its key is another (410)", async () => {
    let message = "Delete the temporary file?";
    const run = await rig({ ...asking, "tasks/get": () => asks({ go: form(message) }) });
    const task = await startTask(run, { callId: "a" });
    await run.clock.runUntil(() => task.pendingInputs.length === 1, 60_000);
    const handler = approvalsHandler(run.client, { authorize, clock: run.clock });
    const shown = ((await (await get(handler, "task?id=a")).json()) as TaskView).inputs[0];
    message = "Pay everything to somebody?";
    await run.clock.runUntil(() => versionOf(task) !== shown?.version, 60_000);
    const answer = (version: string) =>
      post(handler, "answer", { id: "a", key: "go", version, response: yes });
    const late = await refusal(await answer(shown?.version ?? ""));
    expect(late).toMatchObject({ status: 410, code: "over" });
    expect(late.message).toContain("changed the question");
    expect(task.answers).toEqual([]);
    const now = versionOf(task);
    expect((await answer(now)).status).toBe(200);
    // The earlier one was never answered, and is not now.
    expect(await refusal(await answer(shown?.version ?? ""))).toMatchObject({ status: 410, code: "over" });
    const view = (await (await get(handler, "task?id=a")).json()) as TaskView;
    expect(view.answers).toMatchObject([{ key: "go", version: now }]);
  });

  it("a retry of the answer to one round is not the answer to the next round under the same key", async () => {
    const questions = ["Stop the service?", "Delete the database?"];
    let round = 0;
    const run = await rig({
      ...asking,
      "tools/call": () => {
        const message = questions[round];
        round += 1;
        return message === undefined
          ? { content: [] }
          : {
              resultType: "input_required",
              requestState: `state-${round}`,
              inputRequests: { go: form(message) },
            };
      },
    });
    const called = run.client.callTool("srv", { name: "deploy", arguments: {} }, { callId: "a" });
    called.catch(() => undefined);
    await run.clock.runUntil(() => run.told.of("input").length === 1, 60_000);
    const handler = approvalsHandler(run.client, { authorize, clock: run.clock });
    const open = async () => ((await (await get(handler, "task?id=a")).json()) as TaskView).inputs[0];
    const first = await open();
    const answer = async (version: string) =>
      post(handler, "answer", { id: "a", key: "go", version, response: yes });
    const stored: unknown = await (await answer(first?.version ?? "")).json();
    await run.clock.runUntil(() => run.told.of("input").length === 2, 60_000);
    // The page has lost what it was told, and gives the same answer again.
    expect(await (await answer(first?.version ?? "")).json()).toEqual(stored);
    const second = await open();
    expect(second).toMatchObject({ key: "go", message: "Delete the database?" });
    expect(second?.version).not.toBe(first?.version);
    expect(round).toBe(2);
  });

  it("what one scope answered is no memory of another's", async () => {
    const scopes = ["a/ada", "b/ada"];
    const runs = new Map<string, Awaited<ReturnType<typeof rig>>>();
    for (const scope of scopes) runs.set(scope, await rig({ ...asking, "tasks/update": "hang" }, { scope }));
    const handler = approvalsHandler((scope) => runs.get(scope)?.client, {
      authorize: (request) => ({ scope: request.headers.get("x-scope") ?? "", actor: "ada" }),
    });
    const answer = async (scope: string, ok: boolean): Promise<number> => {
      const task = await runs.get(scope)?.client.task("report");
      const version = task?.pendingInputs[0]?.version ?? task?.answers[0]?.version ?? "";
      const yesOrNo = { action: "accept", content: { ok } };
      const response = await get(handler, "answer", {
        method: "POST",
        headers: { "content-type": "application/json", "x-scope": scope },
        body: JSON.stringify({ id: "report", key: "go", version, response: yesOrNo }),
      });
      return response.status;
    };
    for (const run of runs.values()) {
      const task = await startTask(run, { callId: "report" });
      await run.clock.runUntil(() => task.pendingInputs.length === 1, 60_000);
    }
    expect(await answer("b/ada", true)).toBe(200);
    expect(await answer("b/ada", false)).toBe(409);
    expect(await answer("a/ada", false)).toBe(200);
    expect(await answer("b/ada", false)).toBe(409);
    expect(await answer("b/ada", true)).toBe(200);
  });
});

describe("when the host cannot answer", () => {
  it("its store fails: 503, told, and nothing of it said; a stream does not begin", async () => {
    const clock = virtualClock();
    const store = watchedStore(clock);
    const run = await rig(asking, { clock, store });
    const task = await startTask(run, { callId: "a" });
    await run.clock.runUntil(() => task.pendingInputs.length === 1, 60_000);
    const onError = vi.fn();
    const handler = approvalsHandler(run.client, { authorize, clock, onError });
    store.refuses = () => true;
    const answer = await post(handler, "answer", {
      id: "a",
      key: "go",
      version: versionOf(task),
      response: yes,
    });
    expect(await refusal(answer)).toMatchObject({ status: 503, code: "unavailable" });
    store.refuses = () => false;
    store.reading.fails = true;
    for (const path of ["tasks", "events"]) {
      const response = await get(handler, path);
      expect(response.status).toBe(503);
      expect(await response.text()).not.toContain("unreachable");
    }
    expect(onError).toHaveBeenCalledTimes(3);
    store.reading.fails = false;
    expect(
      (await post(handler, "answer", { id: "a", key: "go", version: versionOf(task), response: yes })).status,
    ).toBe(200);
  });

  it("its client is closed: streams end, and requests get 503", async () => {
    const run = await rig(asking);
    const handler = approvalsHandler(run.client, { authorize, clock: run.clock });
    const stream = readStream(await get(handler, "events"));
    expect(await stream.next()).toMatchObject({ event: "snapshot" });
    const closed = run.client.close();
    await stream.ended();
    expect(await refusal(await get(handler, "tasks"))).toMatchObject({ status: 503, code: "unavailable" });
    expect((await get(handler, "events")).status).toBe(503);
    await run.within(closed);
  });

  it("the server does not acknowledge a cancellation: the page does not wait for it, and it goes on", async () => {
    const run = await rig({ ...asking, "tasks/cancel": "hang" });
    await startTask(run, { callId: "a" });
    const handler = approvalsHandler(run.client, { authorize, clock: run.clock });
    const response = await run.within(post(handler, "cancel", { id: "a" }), 1500);
    expect(response.status).toBe(202);
    expect((await run.client.task("a"))?.cancelRequested).toBe(true);
    run.connection.script("tasks/cancel", ack);
    await run.clock.runUntil(() => run.connection.requestsOf("tasks/cancel").length > 1, 600_000);
  });
});

describe("the stream", () => {
  async function open(handler: ApprovalsHandler, signal?: AbortSignal): Promise<OpenStream> {
    return readStream(await get(handler, "events", signal === undefined ? {} : { signal }));
  }

  it("begins with a snapshot, then tells what changed, once per change", async () => {
    const run = await rig(asking);
    const handler = approvalsHandler(run.client, { authorize, clock: run.clock });
    const stream = await open(handler);
    expect(Object.fromEntries(stream.response.headers)).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
      "x-content-type-options": "nosniff",
    });
    expect(await stream.next()).toMatchObject({ event: "snapshot", data: { tasks: [], truncated: false } });
    const task = await startTask(run, { callId: "a" });
    expect(taskOf(await stream.next())).toMatchObject({ id: "a", status: "working", inputs: [] });
    const shown = stream.until(shows(({ inputs }) => inputs.length === 1));
    expect(taskOf(await run.within(shown, 60_000))).toMatchObject({ id: "a", status: "input_required" });
    expect(
      (await post(handler, "answer", { id: "a", key: "go", version: versionOf(task), response: yes })).status,
    ).toBe(200);
    const answered = await stream.until(shows(({ answers }) => answers.length === 1));
    expect(taskOf(answered)).toMatchObject({ inputs: [], answers: [{ by: "Ada", action: "accept" }] });
    await task.forget();
    expect(await run.within(stream.next(), 60_000)).toMatchObject({ event: "removed", data: { id: "a" } });
    await stream.close();
  });

  it("many streams share the bytes of what there is; each has the time at which it began", async () => {
    const run = await rig({
      ...asking,
      "tools/call": (_request, n) => handle({ taskId: `task-secret-${n}`, pollIntervalMs: 3_600_000 }),
    });
    for (const callId of ["a", "b"]) await startTask(run, { callId });
    const handler = approvalsHandler(run.client, { authorize, clock: run.clock, refreshMs: 60_000 });
    const bodies = [];
    for (let i = 0; i < 3; i += 1) {
      bodies.push((await get(handler, "events")).body?.getReader());
      await run.clock.advance(1000);
    }
    const firsts: Uint8Array[][] = [];
    for (const reader of bodies) {
      const pieces: Uint8Array[] = [];
      while (!new TextDecoder().decode(pieces.at(-1)).endsWith("\n\n")) {
        const { value } = (await reader?.read()) as { value: Uint8Array };
        pieces.push(value);
      }
      firsts.push(pieces);
    }
    const shared = firsts[0]?.find((bytes) => new TextDecoder().decode(bytes).startsWith("[{"));
    expect(shared).toBeDefined();
    for (const pieces of firsts) expect(pieces.some(({ buffer }) => buffer === shared?.buffer)).toBe(true);
    const events = firsts.map((pieces) => {
      const text = pieces.map((bytes) => new TextDecoder().decode(bytes)).join("");
      return JSON.parse(text.slice(text.indexOf("{"))) as { now: string; tasks: { id: string }[] };
    });
    expect(new Set(events.map(({ now }) => now)).size).toBe(3);
    for (const { tasks } of events) expect(tasks.map(({ id }) => id).sort()).toEqual(["a", "b"]);
    for (const reader of bodies) await reader?.cancel();
  });

  it("leaves nothing behind: no timers, no listeners, no reading once the last page is gone", async () => {
    const clock = virtualClock();
    const store = watchedStore(clock);
    const run = await rig({ ...asking, "tasks/get": asks({ go: form() }) }, { clock, store });
    const listeners = vi.spyOn(run.client, "on");
    const handler = approvalsHandler(run.client, { authorize, clock });
    const timersBefore = clock.timers;
    const first = await open(handler);
    const second = await open(handler);
    expect(listeners).toHaveBeenCalledTimes(5);
    await first.next();
    await second.next();
    await clock.advance(60_000);
    // One watcher for both.
    expect(store.reading.count).toBeGreaterThan(20);
    expect(store.reading.count).toBeLessThan(40);
    await first.close();
    await second.close();
    await clock.advance(0);
    store.reading.count = 0;
    expect(clock.timers).toBe(timersBefore);
    await clock.advance(60_000);
    expect(store.reading.count).toBe(0);
    const stops = listeners.mock.results.map(({ value }) => value as () => unknown);
    // A listener that is still there would be found and removed now.
    expect(stops.map((stop) => stop())).toEqual(stops.map(() => undefined));
  });

  it("holds the client while anybody looks, once; a client that knows no hold is fine", async () => {
    const run = await rig(asking);
    const holds = vi.spyOn(run.client, "hold");
    const release = vi.fn();
    holds.mockReturnValue(release);
    const handler = approvalsHandler(run.client, { authorize, clock: run.clock });
    const streams = [await open(handler), await open(handler)];
    for (const stream of streams) await stream.next();
    expect(holds).toHaveBeenCalledOnce();
    await streams[0]?.close();
    expect(release).not.toHaveBeenCalled();
    await streams[1]?.close();
    expect(release).toHaveBeenCalledOnce();
    Object.defineProperty(run.client, "hold", { value: undefined });
    const stream = await open(handler);
    expect(await stream.next()).toMatchObject({ event: "snapshot" });
    await stream.close();
  });

  it("ends when the request is aborted, also where the runtime cancels nothing", async () => {
    const run = await rig(asking);
    const handler = approvalsHandler(run.client, { authorize, clock: run.clock });
    const before = run.clock.timers;
    const abort = new AbortController();
    const stream = await open(handler, abort.signal);
    await stream.next();
    abort.abort();
    await stream.ended();
    expect(run.clock.timers).toBe(before);
    const late = await open(handler, AbortSignal.abort());
    await late.ended();
    expect(run.clock.timers).toBe(before);
  });

  it("shows that it lives, and ends after maxStreamMs for the page to be authorised again", async () => {
    const run = await rig(asking);
    const options = { authorize, clock: run.clock, keepAliveMs: 1000, maxStreamMs: 3500, refreshMs: 1e9 };
    const response = await get(approvalsHandler(run.client, options), "events");
    const text = response.text();
    await run.clock.advance(3600);
    expect((await text).match(/^:$/gm)).toHaveLength(3);
  });

  it.each([
    ["refuses", () => undefined, 0],
    ["answers a response", () => new Response(null, { status: 401 }), 0],
    ["knows another scope", () => ({ scope: "other", actor: "Ada" }), 0],
    ["throws", () => Promise.reject(new Error("no session store")), 1],
    ["answers nonsense", () => ({}) as never, 1],
    ["never answers", () => new Promise<never>(() => undefined), 0],
  ])(
    "ends once authorize %s of its request, asked again every reauthorizeMs",
    async (_what, later, tells) => {
      const run = await rig(asking);
      let answers: ApprovalsHandlerOptions["authorize"] = authorize;
      const asked = vi.fn((request: Request) => answers(request));
      const onError = vi.fn();
      const before = run.clock.timers;
      const options = { authorize: asked, clock: run.clock, reauthorizeMs: 1000, onError };
      const handler = approvalsHandler(run.client, options);
      const request = new Request(`${BASE}/events`);
      const stream = readStream(await handler(request));
      await stream.next();
      await run.clock.advance(5500);
      expect(asked).toHaveBeenCalledTimes(6);
      expect(asked.mock.calls.every(([each]) => each === request)).toBe(true);
      const ended = stream.ended();
      answers = later;
      await run.clock.advance(2000);
      await ended;
      expect(onError).toHaveBeenCalledTimes(tells);
      expect(run.clock.timers).toBe(before);
    },
  );

  it.each([
    ["calls", 400, 10],
    ["bytes", 200, 60_000],
  ])(
    "a page that reads nothing and has missed too many %s gets one fresh snapshot, and is broken off in the end",
    async (_what, calls, size) => {
      const run = await rig({
        ...asking,
        "tools/call": (_request, n) =>
          handle({ taskId: `task-secret-${n}`, statusMessage: "x".repeat(size), pollIntervalMs: 3_600_000 }),
      });
      const options = { authorize, clock: run.clock, maxStreamMs: 600_000, maxTasks: 500, refreshMs: 60_000 };
      const slow = await get(approvalsHandler(run.client, options), "events");
      for (let i = 0; i < calls; i += 1) {
        await startTask(run, { callId: `call-${i}` });
        await run.clock.advance(0);
      }
      const stream = readStream(slow);
      await stream.next();
      let before = 0;
      const fresh = await stream.until(({ event }) => {
        if (event === "task") before += 1;
        return event === "snapshot";
      });
      // What was handed over before it fell behind, and then everything at once, as it is now.
      expect(before).toBeLessThan(calls / 3);
      expect(fresh.data["tasks"]).toHaveLength(calls);
      // Reads no more: its buffer fills, and the end finds it full.
      for (let i = 0; i < 100; i += 1) await startTask(run, { callId: `more-${i}` });
      await run.clock.advance(600_000);
      await expect(stream.ended()).rejects.toMatchObject({ name: "AbortError" });
    },
  );

  it("changes that pile up for one call come as one event, the newest", async () => {
    let message = 0;
    const run = await rig({
      ...asking,
      "tasks/get": () => state({ statusMessage: `${(message += 1)} ${"x".repeat(20_000)}` }),
    });
    const handler = approvalsHandler(run.client, { authorize, clock: run.clock });
    await startTask(run, { callId: "a" });
    const response = await get(handler, "events");
    await run.clock.advance(30_000);
    const stream = readStream(response);
    let events = 0;
    await stream.until((event) => {
      events += 1;
      return taskOf(event)?.statusMessage?.startsWith(`${message} `) === true;
    });
    expect(message).toBeGreaterThan(25);
    expect(events).toBeLessThan(6);
    await stream.close();
  });

  it("a store that is slow to read is read less often: a twentieth of the time at most", async () => {
    const clock = virtualClock();
    const store = watchedStore(clock);
    const run = await rig(asking, { clock, store });
    store.reading.slowMs = 1000;
    const opened = open(approvalsHandler(run.client, { authorize, clock, maxStreamMs: 1e9 }));
    const stream = await run.within(opened, 60_000);
    await stream.next();
    store.reading.count = 0;
    await clock.advance(200_000);
    expect(store.reading.count).toBeGreaterThan(5);
    expect(store.reading.count).toBeLessThanOrEqual(11);
    await stream.close();
  });

  it("a store that fails meanwhile is told of once; the stream stays and goes on", async () => {
    const clock = virtualClock();
    const store = watchedStore(clock);
    const run = await rig(asking, { clock, store });
    const onError = vi.fn();
    const stream = await open(approvalsHandler(run.client, { authorize, clock, onError }));
    await stream.next();
    store.reading.fails = true;
    await clock.advance(60_000);
    expect(onError).toHaveBeenCalledOnce();
    store.reading.fails = false;
    await startTask(run, { callId: "a" });
    expect(taskOf(await run.within(stream.next(), 60_000))).toMatchObject({ id: "a" });
    await stream.close();
  });

  it("a reading of the store that never ends is given up, told of once, and tried again", async () => {
    const clock = virtualClock();
    const store = watchedStore(clock);
    const run = await rig(asking, { clock, store });
    const onError = vi.fn();
    const handler = approvalsHandler(run.client, { authorize, clock, onError });
    const stream = await open(handler);
    await stream.next();
    store.reading.hangs = true;
    await clock.advance(200_000);
    expect(onError).toHaveBeenCalledExactlyOnceWith(expect.any(StoreError));
    store.reading.hangs = false;
    await startTask(run, { callId: "a" });
    expect(taskOf(await run.within(stream.next(), 100_000))).toMatchObject({ id: "a" });
    await stream.close();
  });

  it("a reading that never ends holds up nobody who comes later, and leaves no timer", async () => {
    const clock = virtualClock();
    const store = watchedStore(clock);
    const run = await rig(asking, { clock, store });
    const timersBefore = clock.timers;
    const handler = approvalsHandler(run.client, { authorize, clock });
    const first = await open(handler);
    await first.next();
    store.reading.hangs = true;
    await clock.advance(5000);
    await first.close();
    expect(clock.timers).toBe(timersBefore);
    store.reading.hangs = false;
    const second = await open(handler);
    await second.next();
    await startTask(run, { callId: "a" });
    expect(taskOf(await run.within(second.next(), 10_000))).toMatchObject({ id: "a" });
    store.reading.hangs = true;
    await clock.advance(3000);
    await second.close();
    // Nothing can be read at all: a stream does not begin, and says so.
    const refused = await run.within(get(handler, "events"), 60_000);
    expect(await refusal(refused)).toMatchObject({ status: 503, code: "unavailable" });
  });

  it("more calls than are sent: the page hears that there are more, and the oldest leave", async () => {
    const run = await rig({
      ...asking,
      "tools/call": (_request, n) => handle({ taskId: `task-secret-${n}` }),
      "tasks/get": ({ params }) => state({ taskId: params["taskId"] as string }),
    });
    const handler = approvalsHandler(run.client, { authorize, clock: run.clock, maxTasks: 2 });
    const stream = await open(handler);
    await stream.next();
    for (const callId of ["a", "b", "c"]) {
      await startTask(run, { callId });
      await run.clock.advance(10);
    }
    const isMore = await stream.until(({ event }) => event === "snapshot");
    expect(isMore.data).toMatchObject({ truncated: true, tasks: [{ id: "c" }, { id: "b" }] });
    await startTask(run, { callId: "d" });
    expect(taskOf(await stream.next())).toMatchObject({ id: "d" });
    expect(await stream.next()).toMatchObject({ event: "removed", data: { id: "b" } });
    await stream.close();
  });
});
