import { afterEach, describe, expect, it, vi } from "vitest";
import {
  approvalsOf,
  createTasksStore,
  filterTasks,
  TasksStoreError,
  type SnapshotEvent,
  type TasksStore,
  type TasksStoreOptions,
  type TaskView,
} from "../../src/approvals/index.js";
import { fakeClock, type FakeClock } from "../../src/testing/index.js";
import { startPageHost, type PageHost } from "./pageHost.js";
import { stateOf, until } from "./support.js";

const AT = "2026-08-01T00:00:00.000Z";
const question = {
  kind: "elicitation-form",
  message: "Go on?",
  requestedSchema: {},
  key: "go",
  version: "v1",
  serverName: "CI",
  askedAt: AT,
} as const;

function view(id: string, more: Partial<TaskView> = {}): TaskView {
  return {
    id,
    server: "ci",
    tool: "deploy",
    status: "working",
    createdAt: AT,
    cancelRequested: false,
    inputs: [],
    answers: [],
    ...more,
  };
}

const asks = (id: string): TaskView => view(id, { status: "input_required", inputs: [question] });
const snapshot = (...tasks: TaskView[]): SnapshotEvent => ({ now: AT, tasks, truncated: false });

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

async function host(): Promise<PageHost> {
  const started = await startPageHost();
  opened.push(started);
  return started;
}

function storeOf(url: string, options: TasksStoreOptions = {}): TasksStore {
  const store = createTasksStore(url, options);
  opened.unshift(store);
  return store;
}

/** A page that is live, with these calls. */
async function live(
  tasks: TaskView[],
  options: TasksStoreOptions = {},
): Promise<{ page: PageHost; store: TasksStore; stop: () => void }> {
  const page = await host();
  page.onEvents = (stream) => stream.send("snapshot", snapshot(...tasks));
  const store = storeOf(page.url, options);
  const stop = store.subscribe(() => undefined);
  await stateOf(store, ({ connection }) => connection === "live");
  return { page, store, stop };
}

describe("state", () => {
  it("is one object until something changes, and unchanged calls stay the same objects", async () => {
    const { page, store } = await live([view("b"), view("a")]);
    const before = store.getSnapshot();
    expect(store.getSnapshot()).toBe(before);
    const told = vi.fn();
    store.subscribe(told);
    page.send("task", { now: AT, task: view("a") });
    page.send("task", { now: AT, task: asks("b") });
    const after = await stateOf(store, (state) => approvalsOf(state).length === 1);
    // The first event said nothing new.
    expect(told).toHaveBeenCalledTimes(1);
    expect(after).not.toBe(before);
    expect(after.tasks.map(({ id }) => id)).toEqual(["b", "a"]);
    expect(after.tasks[1]).toBe(before.tasks.find(({ id }) => id === "a"));
    page.send("snapshot", snapshot(asks("b"), view("a"), view("c")));
    const third = await stateOf(store, ({ tasks }) => tasks.length === 3);
    expect(third.tasks[0]).toBe(after.tasks[0]);
    page.send("removed", { id: "b" });
    expect((await stateOf(store, ({ tasks }) => tasks.length === 2)).tasks.map(({ id }) => id)).toEqual([
      "a",
      "c",
    ]);
  });

  it("a snapshot that lacks a call drops it, also one that was given for server rendering", async () => {
    const page = await host();
    page.onEvents = (stream) => stream.send("snapshot", { ...snapshot(view("new")), truncated: true });
    const store = storeOf(page.url, { initial: snapshot(view("old")) });
    const initial = store.getServerSnapshot();
    expect(initial).toMatchObject({
      connection: "idle",
      loaded: true,
      tasks: [{ id: "old" }],
      clockOffsetMs: 0,
    });
    expect(store.getSnapshot()).toBe(initial);
    store.subscribe(() => undefined);
    const state = await stateOf(store, ({ connection }) => connection === "live");
    expect(state.tasks.map(({ id }) => id)).toEqual(["new"]);
    expect(state.truncated).toBe(true);
    expect(store.getServerSnapshot()).toBe(initial);
  });

  it("knows the host's clock, whatever the page's own says", async () => {
    const clock = fakeClock({ nowMs: Date.parse(AT) - 90_000 });
    const { store } = await live([], { clock });
    expect(store.getSnapshot().clockOffsetMs).toBe(90_000);
  });

  it.each(["+275760-09-12T00:00:00Z", "1990-01-01T00:00:00Z"])(
    "a host's clock at %s is none",
    async (now) => {
      const page = await host();
      page.onEvents = (stream) => stream.send("snapshot", { ...snapshot(), now });
      const store = storeOf(page.url, { clock: fakeClock({ nowMs: Date.parse(AT) }) });
      store.subscribe(() => undefined);
      expect((await stateOf(store, ({ loaded }) => loaded)).clockOffsetMs).toBe(0);
    },
  );

  it("a listener that throws is reported, and harms nobody else", async () => {
    const reported: unknown[] = [];
    vi.stubGlobal("reportError", (error: unknown) => reported.push(error));
    try {
      const fault = new Error("a view failed");
      const page = await host();
      page.onEvents = (stream) => stream.send("snapshot", snapshot(view("a")));
      const store = storeOf(page.url);
      store.subscribe(() => {
        throw fault;
      });
      await stateOf(store, ({ connection }) => connection === "live");
      page.send("task", { now: AT, task: view("b") });
      await stateOf(store, ({ tasks }) => tasks.length === 2);
      store.refresh();
      await until(() => page.streams.length === 2);
      store.close();
      expect(new Set(reported)).toEqual(new Set([fault]));
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it("what nobody could show is left out, from the stream, from load() and from what was given", async () => {
    const odd = {
      ...view("a"),
      statusMessage: 5,
      inputs: [
        null,
        { ...question, kind: null },
        { ...question, message: { toString: 1 } },
        { ...question, key: 7 },
        { ...question, kind: "sampling", params: "x" },
        { ...question, kind: "elicitation-url" },
        question,
        question,
        { key: "where", version: "v1", serverName: "CI", askedAt: AT, kind: "roots" },
      ],
      answers: [null, 1, { key: "k" }, { key: "k", action: "accept", answeredAt: AT, by: [] }],
      outcome: { status: 1 },
    };
    const read = {
      ...view("a"),
      inputs: [question, { key: "where", kind: "roots" }],
      unshownInputs: 6,
      answers: [],
      cancelRequested: false,
    };
    const { page, store } = await live([odd as never, null as never, { ...view("b"), tool: 1 } as never]);
    expect(store.getSnapshot().tasks).toMatchObject([read]);
    expect(store.getSnapshot().tasks[0]).not.toHaveProperty("outcome", expect.anything());
    page.reply = { status: 200, body: { ...odd, result: [] } };
    expect(await store.load("a")).toMatchObject(read);
    expect(await store.load("a")).not.toHaveProperty("result", expect.anything());
    const given = storeOf(page.url, { initial: snapshot(odd as never, null as never) });
    expect(given.getSnapshot().tasks).toMatchObject([read]);
  });

  it("what is no event of ours changes nothing", async () => {
    const { page, store } = await live([view("a")]);
    const before = store.getSnapshot();
    for (const data of [null, [], { task: null }, { task: { id: 1 } }, { task: { id: "x" } }])
      page.send("task", data);
    page.send("snapshot", { tasks: "none" });
    page.send("unheard-of", { id: "a" });
    page.write("event: task\ndata: {\n\n");
    page.send("task", { now: AT, task: view("z") });
    const after = await stateOf(store, ({ tasks }) => tasks.length === 2);
    expect(after.tasks).toContain(before.tasks[0]);
  });
});

describe("the stream", () => {
  it("F169: mount, unmount, mount opens one stream; the last unsubscribe ends it; nothing is left", async () => {
    const clock = fakeClock();
    const page = await host();
    page.onEvents = (stream) => stream.send("snapshot", snapshot());
    const store = storeOf(page.url, { clock });
    const listener = (): void => undefined;
    store.subscribe(listener)();
    const stops = [store.subscribe(listener), store.subscribe(listener)];
    await until(() => store.getSnapshot().connection === "live");
    await clock.advance(10_000);
    expect(page.streams).toHaveLength(1);
    stops[0]?.();
    stops[0]?.();
    await clock.advance(10_000);
    expect(store.getSnapshot().connection).toBe("live");
    stops[1]?.();
    await clock.advance(999);
    expect(store.getSnapshot().connection).toBe("live");
    await clock.advance(1);
    expect(store.getSnapshot().connection).toBe("idle");
    await until(() => page.open === 0 && clock.timers === 0);
    // And again.
    store.subscribe(listener);
    await until(() => page.streams.length === 2);
  });

  it("comes back with growing, bounded delays that chance lengthens, and at once on refresh()", async () => {
    const clock = fakeClock();
    const page = await host();
    page.refuseEvents = { status: 502, body: "<html>" };
    const store = storeOf(page.url, { clock, random: () => 0.5 });
    store.subscribe(() => undefined);
    const delays: number[] = [];
    for (let i = 1; i <= 8; i += 1) {
      await until(() => page.requests("events").length === i && clock.nextInMs <= 30_000);
      delays.push(clock.nextInMs);
      await clock.advance(clock.nextInMs);
    }
    expect(delays).toEqual([375, 750, 1500, 3000, 6000, 7500, 7500, 7500]);
    expect(store.getSnapshot()).toMatchObject({ connection: "reconnecting", loaded: false });
    expect(store.getSnapshot().problem).toContain("502");
    await until(() => page.requests("events").length === 9 && clock.nextInMs <= 30_000);
    page.refuseEvents = undefined;
    page.onEvents = (stream) => stream.send("snapshot", snapshot());
    store.refresh();
    await until(() => store.getSnapshot().connection === "live");
    expect(store.getSnapshot()).not.toHaveProperty("problem");
  });

  it.each([401, 403])("%i is said, and tried again slowly", async (status) => {
    const clock = fakeClock();
    const page = await host();
    page.refuseEvents = { status, body: "" };
    const store = storeOf(page.url, { clock });
    store.subscribe(() => undefined);
    await until(() => store.getSnapshot().connection === "refused" && clock.timers === 1);
    expect(clock.nextInMs).toBe(60_000);
    page.refuseEvents = undefined;
    page.onEvents = (stream) => stream.send("snapshot", snapshot());
    await clock.advance(60_000);
    await until(() => store.getSnapshot().connection === "live");
  });

  it.each([
    [401, "refused", { loaded: false, truncated: false, tasks: [] }],
    [403, "refused", { loaded: false, truncated: false, tasks: [] }],
    [503, "reconnecting", { loaded: true, truncated: true, tasks: [{ id: "a" }] }],
  ] as const)("%i: %s, and what was shown is %o", async (status, connection, left) => {
    const page = await host();
    page.onEvents = (stream) => stream.send("snapshot", { ...snapshot(asks("a")), truncated: true });
    const store = storeOf(page.url);
    store.subscribe(() => undefined);
    await stateOf(store, ({ loaded }) => loaded);
    page.refuseEvents = { status, body: "" };
    store.refresh();
    expect(await stateOf(store, (state) => state.connection === connection)).toMatchObject(left);
    page.refuseEvents = undefined;
    store.refresh();
    const back = await stateOf(store, (state) => state.connection === "live");
    expect(back).toMatchObject({ loaded: true, truncated: true, tasks: [{ id: "a" }] });
  });

  it("without a byte for 45 s it is dead; comments keep it alive", async () => {
    const clock = fakeClock();
    const { page } = await live([], { clock });
    await clock.advance(40_000);
    const [first] = page.streams;
    page.write(":\n\n");
    // The comment has come when the next event has.
    page.send("task", { now: AT, task: view("a") });
    const store = opened[0] as TasksStore;
    await stateOf(store, ({ tasks }) => tasks.length === 1);
    await clock.advance(44_000);
    expect(first?.isOpen).toBe(true);
    await clock.advance(1000);
    await until(() => first?.isOpen === false);
    await until(() => store.getSnapshot().connection === "reconnecting");
    expect(store.getSnapshot().problem).toBe("The stream was silent for too long");
  });

  describe("F053: where there is a page", () => {
    const page = Object.assign(new EventTarget(), { visibilityState: "hidden" });
    const shell = new EventTarget();
    afterEach(() => vi.unstubAllGlobals());

    async function lost(clock: FakeClock): Promise<{ host: PageHost; store: TasksStore }> {
      vi.stubGlobal("document", page);
      vi.stubGlobal("window", shell);
      const started = await host();
      started.refuseEvents = { status: 503, body: "" };
      const store = storeOf(started.url, { clock });
      store.subscribe(() => undefined);
      await until(() => started.requests("events").length === 1 && clock.nextInMs <= 30_000);
      started.refuseEvents = undefined;
      started.onEvents = (stream) => stream.send("snapshot", snapshot());
      return { host: started, store };
    }

    it("that becomes visible, the stream is opened at once, and once", async () => {
      const clock = fakeClock();
      const { host: started, store } = await lost(clock);
      page.visibilityState = "hidden";
      page.dispatchEvent(new Event("visibilitychange"));
      expect(clock.timers).toBe(1);
      page.visibilityState = "visible";
      for (let i = 0; i < 5; i += 1) page.dispatchEvent(new Event("visibilitychange"));
      await until(() => store.getSnapshot().connection === "live");
      expect(started.requests("events")).toHaveLength(2);
      store.close();
      await until(() => clock.timers === 0);
    });

    it("whose network is back: the same", async () => {
      const { store } = await lost(fakeClock());
      shell.dispatchEvent(new Event("online"));
      await until(() => store.getSnapshot().connection === "live");
    });

    it("that slept for hours (its timers stood still) asks anew on waking; a live one is left alone", async () => {
      const clock = fakeClock();
      const { host: started, store } = await lost(clock);
      shell.dispatchEvent(new Event("online"));
      await until(() => store.getSnapshot().connection === "live");
      page.visibilityState = "visible";
      page.dispatchEvent(new Event("visibilitychange"));
      expect(started.requests("events")).toHaveLength(2);
      clock.jump(3 * 3_600_000);
      page.dispatchEvent(new Event("visibilitychange"));
      await until(
        () => started.streams.filter(({ isOpen }) => isOpen).length === 1 && started.streams.length === 2,
      );
      expect(store.getSnapshot().connection).toBe("live");
    });
  });

  it("asks for the headers each time; what that function throws is a problem, not an end", async () => {
    const clock = fakeClock();
    const page = await host();
    page.onEvents = (stream) => stream.send("snapshot", snapshot());
    let token = 0;
    const store = storeOf(page.url, {
      clock,
      headers: async () => {
        token += 1;
        if (token === 1) throw new Error("signed out: secret-token");
        return { authorization: `Bearer ${token}` };
      },
    });
    store.subscribe(() => undefined);
    await until(() => store.getSnapshot().connection === "reconnecting" && clock.timers === 1);
    expect(store.getSnapshot().problem).not.toContain("secret-token");
    await clock.advance(clock.nextInMs);
    await until(() => store.getSnapshot().connection === "live");
    expect(page.requests("events")[0]?.headers["authorization"]).toBe("Bearer 2");
    page.reply = { status: 202, body: {} };
    await store.cancel("a");
    expect(page.requests("cancel")[0]?.headers["authorization"]).toBe("Bearer 3");
  });

  it("close() ends it for good", async () => {
    const { page, store } = await live([view("a")]);
    store.close();
    expect(store.getSnapshot()).toMatchObject({ connection: "closed", tasks: [{ id: "a" }] });
    await until(() => page.open === 0);
    store.subscribe(() => undefined)();
    store.refresh();
    store.close();
    expect(page.streams).toHaveLength(1);
  });
});

describe("answers", () => {
  const accept = { action: "accept", content: { ok: true } };

  it("F139: submit, then Escape within 10 ms: exactly one POST, and the second hears of the first", async () => {
    const { page, store } = await live([asks("a")]);
    page.reply = { status: 200, body: { answeredAt: AT } };
    const outcomes = await Promise.all([
      store.answer("a", "go", accept),
      store.answer("a", "go", { action: "cancel" }),
      store.answer("a", "go", { content: { ok: true }, action: "accept" }),
    ]);
    expect(outcomes).toEqual([
      { kind: "answered", answeredAt: AT },
      { kind: "already-answered", answeredAt: AT },
      { kind: "answered", answeredAt: AT },
    ]);
    expect(page.requests("answer").map(({ body }) => body)).toEqual([
      { id: "a", key: "go", version: "v1", response: accept },
    ]);
    expect(store.getSnapshot().tasks[0]).toMatchObject({
      inputs: [],
      answers: [{ key: "go", action: "accept", answeredAt: AT, message: "Go on?" }],
    });
  });

  it("other questions are answered side by side", async () => {
    const { page, store } = await live([asks("a"), asks("b")]);
    page.reply = { status: 200, body: { answeredAt: AT } };
    await Promise.all([store.answer("a", "go", accept), store.answer("b", "go", accept)]);
    expect(page.requests("answer")).toHaveLength(2);
  });

  it("an event that was sent before the answer does not open the card again; a later word of the host counts", async () => {
    const clock = fakeClock();
    const { page, store } = await live([asks("a")], { clock });
    page.reply = { status: 200, body: { answeredAt: AT } };
    await store.answer("a", "go", accept);
    page.send("task", { now: AT, task: { ...asks("a"), statusMessage: "older" } });
    const older = await stateOf(store, ({ tasks }) => tasks[0]?.statusMessage === "older");
    expect(approvalsOf(older)).toEqual([]);
    await clock.advance(10_000);
    page.send("task", { now: AT, task: asks("a") });
    await stateOf(store, (state) => approvalsOf(state).length === 1);
  });

  it("the next round under the same key is another question: shown at once, answered for itself", async () => {
    const { page, store } = await live([asks("a")]);
    page.reply = { status: 200, body: { answeredAt: AT } };
    await store.answer("a", "go", accept);
    const next = { ...asks("a"), inputs: [{ ...question, version: "v2", message: "And on?" }] };
    page.send("task", { now: AT, task: next });
    const state = await stateOf(store, (each) => approvalsOf(each).length === 1);
    expect(approvalsOf(state)[0]?.input).toMatchObject({ version: "v2", message: "And on?" });
    // An answer to what is gone says so, and leaves the other one open.
    page.reply = { status: 410, body: refused("over") };
    expect(await store.answer("a", "go", accept, { version: "v1" })).toEqual({ kind: "over" });
    expect(approvalsOf(store.getSnapshot())).toHaveLength(1);
    page.reply = "hang";
    void store.answer("a", "go", accept, { version: "v1" });
    void store.answer("a", "go", { action: "decline" });
    await until(() => page.requests("answer").length === 4);
    const versions = page.requests("answer").map(({ body }) => (body as { version: string }).version);
    expect(versions.sort()).toEqual(["v1", "v1", "v1", "v2"]);
  });

  it("what is not shown cannot be answered without its version", async () => {
    const { page, store } = await live([view("a")]);
    expect(await store.answer("a", "go", accept)).toMatchObject({ kind: "failed" });
    expect(page.requests("answer")).toEqual([]);
    page.reply = { status: 410, body: refused("over") };
    expect(await store.answer("a", "go", accept, { version: "v1" })).toEqual({ kind: "over" });
    await expect(store.answer("a", "go", accept, { version: 1 as never })).rejects.toThrow("version");
  });

  const refused = (code: string, more: object = {}) => ({ error: { code, message: "why", ...more } });
  it.each([
    [
      409,
      refused("already-answered", { answeredAt: AT, by: "Bea" }),
      { kind: "already-answered", answeredAt: AT, by: "Bea" },
      0,
    ],
    [409, refused("already-answered", { answeredAt: {}, by: 5 }), { kind: "already-answered" }, 0],
    [410, refused("over"), { kind: "over" }, 0],
    [404, refused("not-found"), { kind: "over" }, 0],
    [
      422,
      refused("invalid-answer", { field: "content.ok" }),
      { kind: "invalid", field: "content.ok", message: "why" },
      1,
    ],
    [413, refused("too-large"), { kind: "invalid", message: "why" }, 1],
    [403, refused("forbidden"), { kind: "refused", message: "why" }, 1],
    [503, refused("unavailable"), { kind: "failed", message: "why" }, 1],
    [401, "", { kind: "refused", message: expect.stringContaining("401") as string }, 1],
    [404, "<html>", { kind: "failed", message: expect.stringContaining("404") as string }, 1],
    [200, "<html>sign in</html>", { kind: "failed", message: expect.stringContaining("200") as string }, 1],
    [200, { ok: true }, { kind: "failed", message: expect.any(String) as string }, 1],
  ])("%i %j -> %j", async (status, body, outcome, left) => {
    const { page, store } = await live([asks("a")]);
    page.reply = { status, body };
    expect(await store.answer("a", "go", accept)).toEqual(outcome);
    expect(approvalsOf(store.getSnapshot())).toHaveLength(left);
  });

  it("an answer that nobody answers fails in time, and may be given again", async () => {
    const clock = fakeClock();
    const { page, store } = await live([asks("a")], { clock });
    page.reply = "hang";
    const lost = store.answer("a", "go", accept);
    await until(() => page.requests("answer").length === 1);
    const other = store.answer("a", "go", { action: "decline" });
    await clock.advance(30_000);
    expect(await lost).toMatchObject({ kind: "failed" });
    expect(await other).toMatchObject({ kind: "failed" });
    expect(page.requests("answer")).toHaveLength(1);
    page.reply = { status: 200, body: { answeredAt: AT } };
    expect(await store.answer("a", "go", accept)).toMatchObject({ kind: "answered" });
  });

  it("headers() that never answers holds nothing up for longer than the host may", async () => {
    const clock = fakeClock();
    const page = await host();
    page.onEvents = (stream) => stream.send("snapshot", snapshot());
    page.reply = { status: 200, body: { answeredAt: AT } };
    let hangs = true;
    const headers = (): Record<string, string> | Promise<never> =>
      hangs ? new Promise(() => undefined) : {};
    const store = storeOf(page.url, { clock, headers });
    store.subscribe(() => undefined);
    const lost = store.answer("a", "go", accept, { version: "v1" });
    const loading = expect(store.load("a")).rejects.toThrow("30000 ms");
    await clock.advance(30_000);
    expect(await lost).toMatchObject({ kind: "failed" });
    await loading;
    await clock.advance(15_000);
    await stateOf(store, ({ connection }) => connection === "reconnecting");
    await clock.advance(clock.nextInMs);
    hangs = false;
    store.refresh();
    await stateOf(store, ({ connection }) => connection === "live");
    expect(await store.answer("a", "go", accept, { version: "v1" })).toMatchObject({ kind: "answered" });
    expect(page.requests("answer")).toHaveLength(1);
  });

  it("so does a fetch that never heeds its signal; what it brings too late is closed", async () => {
    const clock = fakeClock();
    const late: ((response: Response) => void)[] = [];
    const store = storeOf("https://host.example/approvals", {
      clock,
      fetch: () => new Promise((resolve) => late.push(resolve)),
    });
    store.subscribe(() => undefined);
    const lost = store.answer("a", "go", accept, { version: "v1" });
    await until(() => late.length === 2);
    await clock.advance(30_000);
    expect(await lost).toMatchObject({ kind: "failed" });
    store.refresh();
    await until(() => late.length === 3);
    const cancel = vi.fn();
    late[0]?.(new Response(new ReadableStream({ cancel })));
    await until(() => cancel.mock.calls.length === 1);
  });

  it("cancelling is shown at once; one wish is under way per call", async () => {
    const { page, store } = await live([view("a")]);
    page.reply = { status: 202, body: {} };
    expect(await Promise.all([store.cancel("a"), store.cancel("a")])).toEqual([
      { kind: "asked" },
      { kind: "asked" },
    ]);
    expect(page.requests("cancel")).toHaveLength(1);
    expect(store.getSnapshot().tasks[0]?.cancelRequested).toBe(true);
    page.reply = { status: 410, body: refused("over") };
    expect(await store.cancel("a")).toEqual({ kind: "over" });
    page.reply = { status: 403, body: refused("forbidden") };
    expect(await store.cancel("a")).toMatchObject({ kind: "refused" });
    page.reply = { status: 500, body: "" };
    expect(await store.cancel("a")).toMatchObject({ kind: "failed" });
  });

  it("load() answers the call with its result, or rejects with a TasksStoreError", async () => {
    const page = await host();
    const store = storeOf(`${page.url}/?tenant=7`);
    page.reply = { status: 200, body: { ...view("a b/ü"), result: { content: [] } } };
    expect(await store.load("a b/ü")).toMatchObject({ id: "a b/ü", result: { content: [] } });
    expect(page.requests("task")[0]?.path).toBe("/approvals/task?tenant=7&id=a%20b%2F%C3%BC");
    page.reply = { status: 404, body: refused("not-found") };
    await expect(store.load("b")).rejects.toBeInstanceOf(TasksStoreError);
    await expect(store.load("b")).rejects.toMatchObject({
      code: "TASKS_STORE",
      refusal: "not-found",
      status: 404,
    });
    page.reply = "hang";
    const abort = new AbortController();
    const loading = store.load("a", { signal: abort.signal });
    abort.abort(new Error("left"));
    await expect(loading).rejects.toThrow("left");
  });

  it("a caller's mistakes are TypeErrors, and nothing is sent", async () => {
    const { page, store } = await live([]);
    await expect(store.answer("", "go", accept)).rejects.toThrow(TypeError);
    await expect(store.answer("a", 1 as never, accept)).rejects.toThrow("key");
    await expect(store.answer("a", "go", [] as never)).rejects.toThrow("response");
    await expect(store.answer("a", "go", { content: NaN })).rejects.toThrow("response");
    await expect(store.cancel(undefined as never)).rejects.toThrow("id");
    await expect(store.load("")).rejects.toThrow("id");
    expect(() => store.subscribe(1 as never)).toThrow("listener");
    expect(page.requests("answer")).toEqual([]);
    expect(() => createTasksStore("")).toThrow("url");
    expect(() => createTasksStore("/a", { header: {} } as never)).toThrow("header");
    expect(() => createTasksStore("/a", { headers: "x" } as never)).toThrow("headers");
    expect(() => createTasksStore("/a", { initial: {} } as never)).toThrow("initial");
  });
});

describe("filters", () => {
  const tasks = [
    asks("a"),
    view("b", { context: { chat: 1 } }),
    view("c", { server: "mail", outcome: { status: "completed", settledAt: AT } }),
  ];
  it.each([
    [{}, "abc"],
    [{ state: "input" }, "a"],
    [{ state: "live" }, "ab"],
    [{ state: "settled" }, "c"],
    [{ server: "mail" }, "c"],
    [{ tool: "deploy", state: "live" }, "ab"],
    [{ context: { chat: 1 } }, "b"],
    [{ context: (context: unknown) => context === undefined }, "ac"],
  ] as const)("%j: %s", (filter, ids) => {
    const found = filterTasks(tasks, filter);
    expect(found.map(({ id }) => id).join("")).toBe(ids);
    for (const task of found) expect(tasks).toContain(task);
    expect(
      approvalsOf(tasks, filter)
        .map(({ task }) => task.id)
        .join(""),
    ).toBe(ids.includes("a") ? "a" : "");
  });
});
