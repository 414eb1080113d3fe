import { Keyv } from "keyv";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  ConnectionError,
  InvalidInputResponseError,
  InvalidResponseError,
  RpcError,
  StoreError,
  TaskClient,
  httpConnection,
  type JsonObject,
  type TaskClientOptions,
  type TaskHandle,
  type TaskInputRequest,
  type TasksError,
} from "../../src/index.js";
import {
  spawnTaskServer,
  type SpawnTaskServerOptions,
  type SpawnedTaskServer,
} from "../../src/testing/index.js";
import { startRawServer } from "../helpers/rawServer.js";

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function serverWith(options: SpawnTaskServerOptions = {}): Promise<SpawnedTaskServer> {
  const server = await spawnTaskServer({ pollIntervalMs: 50, ...options });
  cleanUps.push(() => server.stop());
  return server;
}

function clientWith(options: TaskClientOptions = {}): { client: TaskClient; errors: TasksError[] } {
  const client = new TaskClient({ poll: { minIntervalMs: 20 }, retry: { minDelayMs: 50 }, ...options });
  const errors: TasksError[] = [];
  client.on("error", ({ error }) => errors.push(error));
  cleanUps.push(() => client.close({ timeoutMs: 500 }));
  return { client, errors };
}

async function connected(
  serverOptions: SpawnTaskServerOptions = {},
  clientOptions: TaskClientOptions = {},
): Promise<{ client: TaskClient; errors: TasksError[]; server: SpawnedTaskServer }> {
  const server = await serverWith(serverOptions);
  const { client, errors } = clientWith(clientOptions);
  await client.connect("s", httpConnection(server.url));
  return { client, errors, server };
}

/** Makes every `tasks/get` show these questions. The text is JSON, since object literals cannot say `__proto__`. */
async function showQuestions(
  server: SpawnedTaskServer,
  taskId: string,
  inputRequests: string,
): Promise<void> {
  const task = {
    taskId,
    status: "input_required",
    createdAt: "2026-08-01T00:00:00Z",
    lastUpdatedAt: "2027-08-01T00:00:00Z",
  };
  const fields = JSON.stringify({ resultType: "complete", ttlMs: null, pollIntervalMs: 50, ...task });
  const text = `{"jsonrpc":"2.0","id":%ID%,"result":${fields.slice(0, -1)},"inputRequests":${inputRequests}}}`;
  await server.addFault({ kind: "raw", method: "tasks/get", times: -1, text });
}

const FORM = JSON.stringify({
  method: "elicitation/create",
  params: { mode: "form", message: "Go on?", requestedSchema: { type: "object", properties: {} } },
});

/** What is kept of calls; the roster of processes names none. */
function callsIn(store: Map<string, unknown>): string[] {
  return [...store.keys()].filter((key) => !key.endsWith("!roster"));
}

describe("options of the wrong type", () => {
  const cases: [string, unknown, RegExp][] = [
    ["options", 5, /^options: expected an object, got 5$/],
    ["store", { store: 5 }, /^store must be a Keyv.* but is a number$/],
    ["store without methods", { store: {} }, /^store must be .* without get, set, delete$/],
    ["a name that nobody reads", { onInput: 1 }, /^options: unknown option "onInput" \(known: store, /],
    ["poll with such a name", { poll: { intervalMs: 1 } }, /^poll: unknown option "intervalMs"/],
    ["retry with such a name", { retry: { delay: 1 } }, /^retry: unknown option "delay"/],
    ["scope", { scope: "" }, /^scope: expected a non-empty string, got ""$/],
    ["onInputRequest", { onInputRequest: "ask" }, /^onInputRequest: expected a function, got "ask"$/],
    ["onSettled", { onSettled: 1 }, /^onSettled: expected a function, got 1$/],
    ["clock", { clock: {} }, /^clock: expected an object with now\(\)/],
    ["poll", { poll: 5 }, /^poll: expected an object, got 5$/],
    ["poll.defaultIntervalMs", { poll: { defaultIntervalMs: "5" } }, /^poll\.defaultIntervalMs: .*got "5"$/],
    ["poll.minIntervalMs", { poll: { minIntervalMs: 0 } }, /^poll\.minIntervalMs: .*got 0$/],
    [
      "poll.maxIntervalMs",
      { poll: { maxIntervalMs: 10 } },
      /^poll\.maxIntervalMs: expected at least poll\.minIntervalMs/,
    ],
    ["poll.giveUpAfterMs", { poll: { giveUpAfterMs: NaN } }, /^poll\.giveUpAfterMs: .*got NaN$/],
    [
      "retry.factor",
      { retry: { factor: 0.5 } },
      /^retry\.factor: expected a number of at least 1, got 0\.5$/,
    ],
    ["concurrency", { concurrency: 1.5 }, /^concurrency: expected a positive integer, got 1\.5$/],
    ["retentionMs", { retentionMs: -1 }, /^retentionMs: .*got -1$/],
    ["onLateHandle", { onLateHandle: "drop" }, /^onLateHandle: expected "track" or "cancel", got "drop"$/],
    ["capabilities", { capabilities: [] }, /^capabilities: expected an object, got an array$/],
    [
      "clientInfo",
      { clientInfo: { name: "x" } },
      /^clientInfo\.version: expected a non-empty string, got undefined$/,
    ],
  ];
  it.each(cases)("%s", (_name, options, message) => {
    const make = (): TaskClient => new TaskClient(options as TaskClientOptions);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
  });
});

describe("calls of the wrong shape", () => {
  it("names what is wrong, and sends and stores nothing", async () => {
    const store = new Map<string, unknown>();
    const { client, server } = await connected({}, { store });
    const circular: { self?: unknown } = {};
    circular.self = circular;
    const wrong: [() => Promise<unknown>, RegExp][] = [
      [
        () => client.callTool("nobody", { name: "echo" }),
        /^server: "nobody" is not connected \(connected: "s"\)$/,
      ],
      [() => client.callTool("", { name: "echo" }), /^server: expected a non-empty string/],
      [() => client.callTool("s", { name: "" }), /^name: expected a non-empty string/],
      [() => client.callTool("s", undefined as never), /^params: expected an object/],
      [
        () => client.callTool("s", { name: "echo", arguments: [] as never }),
        /^arguments: expected an object, got an array$/,
      ],
      [
        () => client.callTool("s", { name: "echo", arguments: { at: new Date() } }),
        /^arguments: .*arguments\.at is a Date$/,
      ],
      [
        () => client.callTool("s", { name: "echo", arguments: { n: NaN } }),
        /^arguments: .*arguments\.n is NaN$/,
      ],
      [
        () => client.callTool("s", { name: "echo", arguments: { big: 1n } }),
        /^arguments: .*arguments\.big is a bigint$/,
      ],
      [
        () => client.callTool("s", { name: "echo", arguments: { run: () => 1 } }),
        /^arguments: .*arguments\.run is a function$/,
      ],
      [() => client.callTool("s", { name: "echo", arguments: circular }), /^arguments: .*refers to itself$/],
      [
        () => client.callTool("s", { name: "echo" }, { callId: "x".repeat(257) }),
        /^callId: expected at most 256 characters, got 257$/,
      ],
      [
        () => client.callTool("s", { name: "echo" }, { context: new Map() as never }),
        /^context: .*is a Map$/,
      ],
      [() => client.callTool("s", { name: "echo" }, { timeoutMs: 0 }), /^timeoutMs: .*got 0$/],
      [
        () => client.callTool("s", { name: "echo" }, { onUnknownOutcome: "maybe" as never }),
        /^onUnknownOutcome: /,
      ],
      [() => client.callTool("s", { name: "echo" }, { headers: { a: 1 } as never }), /^headers: /],
      [() => client.connect("s", httpConnection(server.url)), /^name: the server "s" is connected already$/],
      [() => client.connect("", httpConnection(server.url)), /^name: expected a non-empty string/],
      [() => client.connect("t", {} as never), /^connection: expected a connection/],
      [
        () => client.callTool("s", { name: "echo" }, { callID: "x" } as never),
        /^options: unknown option "callID" \(known: callId, /,
      ],
      [() => client.callTool("s", { name: "echo", args: {} } as never), /^params: unknown option "args"/],
      [() => client.callTool("s", { name: "echo" }, { waitMs: -1 }), /^waitMs: expected 0 or a positive/],
      [() => client.tasks({ status: "working" } as never), /^filter: unknown option "status"/],
      [
        () => client.pendingInputs({ state: "open" } as never),
        /^state: expected "live", "settled" or "input"/,
      ],
      [async () => client.on("done" as never, () => undefined), /^event: expected created, .*got "done"$/],
      [
        async () => httpConnection(server.url, { timeout: 1 } as never),
        /^httpConnection: unknown option "timeout"/,
      ],
      [() => client.adopt("s", ""), /^taskId: expected a non-empty string/],
      [() => client.respond("nobody", "k", {}), /^id: no call with this id/],
    ];
    for (const [call, message] of wrong) {
      const error: unknown = await call().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(TypeError);
      expect((error as TypeError).message).toMatch(message);
    }
    expect(server.log()).toEqual([]);
    expect(callsIn(store)).toEqual([]);
  });

  it("passes on what the server says of an unknown tool, and keeps nothing of it", async () => {
    const store = new Map<string, unknown>();
    const { client } = await connected({}, { store });
    const call = client.callTool("s", { name: "no_such_tool" });
    await expect(call).rejects.toBeInstanceOf(RpcError);
    await expect(call).rejects.toMatchObject({ rpcCode: -32602 });
    expect(callsIn(store)).toEqual([]);
  });
});

describe("a store that is down", () => {
  /** A Keyv as hosts have it: errors are emitted, not thrown. */
  function keyvOver(map: Map<string, unknown>, down: () => boolean): Keyv {
    const fail = (): never => {
      throw new Error("ECONNREFUSED store");
    };
    const keyv = new Keyv({
      store: {
        opts: {},
        get: async (key: string) => (down() ? fail() : map.get(key)),
        set: async (key: string, value: unknown) => (down() ? fail() : map.set(key, value)),
        delete: async (key: string) => (down() ? fail() : map.delete(key)),
        clear: async () => map.clear(),
        on: () => undefined,
      },
    });
    keyv.on("error", () => undefined);
    return keyv;
  }

  it("rejects the call before anything is sent", async () => {
    let down = false;
    const { client, server } = await connected({}, { store: keyvOver(new Map(), () => down) });
    down = true;
    const error: unknown = await client.callTool("s", { name: "echo" }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StoreError);
    expect((error as StoreError).task).toBeUndefined();
    expect(server.log().filter((entry) => entry.method === "tools/call")).toEqual([]);
    await expect(client.connect("t", httpConnection(server.url))).rejects.toBeInstanceOf(StoreError);
    down = false;
    await expect(client.connect("t", httpConnection(server.url))).resolves.toEqual([]);
  });

  it("hands over the handle that it could not store, and goes on in memory (F100)", async () => {
    const server = await serverWith();
    let down = false;
    const { client } = clientWith({ store: keyvOver(new Map(), () => down) });
    // The store goes down between the server's answer and the moment the handle would be stored.
    const answeredThenDown: typeof fetch = async (url, init) => {
      const response = await fetch(url, init);
      down = true;
      return response;
    };
    await client.connect("s", httpConnection(server.url, { fetch: answeredThenDown }));
    const error = (await client
      .callTool("s", { name: "slow", arguments: { ms: 100 } })
      .catch((reason: unknown) => reason)) as StoreError<TaskHandle>;
    expect(error).toBeInstanceOf(StoreError);
    expect(error.task?.taskId).toEqual(expect.any(String));
    expect(JSON.stringify(error) + error.stack).not.toContain(error.task?.taskId);
    await expect(error.task?.result()).resolves.toMatchObject({ content: [{ type: "text" }] });
  });
});

describe("records that cannot be read", () => {
  it("are set aside or left alone, reported, and stop nobody", async () => {
    const store = new Map<string, unknown>();
    const server = await serverWith();
    const first = clientWith({ store }).client;
    await first.connect("s", httpConnection(server.url));
    const slow = { name: "slow", arguments: { ms: 400 } };
    for (const callId of ["good", "bad", "newer"]) await first.callTool("s", slow, { callId });
    await first.close();

    const keyOf = (id: string): string => [...store.keys()].find((key) => key.endsWith(`:${id}`)) ?? "";
    const newer = String(store.get(keyOf("newer"))).replace('\\"v\\":1', '\\"v\\":999');
    store.set(keyOf("bad"), '{"value":"\\u0000\\u0000\\u0000"}');
    store.set(keyOf("newer"), newer);

    const { client, errors } = clientWith({ store });
    const handles = await client.connect("s", httpConnection(server.url));
    expect(handles.map((handle) => handle.id)).toEqual(["good"]);
    await expect(handles[0]?.result()).resolves.toBeDefined();
    expect(errors.map((error) => error.message).sort()).toEqual([
      "A stored record cannot be read and was set aside: the text is not JSON",
      "A stored record is not used: record version 999 is newer than 1, which this release reads",
    ]);
    // Nothing is lost: the corrupt text is kept, the newer record is as it was.
    expect(
      [...store.entries()].some(
        ([key, value]) => key.includes("corrupt") && String(value).includes("\\u0000"),
      ),
    ).toBe(true);
    expect(store.get(keyOf("newer"))).toBe(newer);
    await expect(client.callTool("s", slow, { callId: "newer" })).rejects.toBeInstanceOf(StoreError);
  });
});

describe("answers that do not fit the question", () => {
  it("are refused with the field named, and the question stays open", async () => {
    const { client, server } = await connected({}, { capabilities: { elicitation: { form: {} } } });
    const call = await client.callTool("s", { name: "deploy", arguments: { env: "prod" } });
    if (call.kind !== "task") throw new Error("expected a task");
    await vi.waitFor(() => expect(call.task.pendingInputs).toHaveLength(1));
    const wrong: [unknown, string][] = [
      [{ action: "bogus" }, "action"],
      [{ action: "accept" }, "content"],
      [{ action: "accept", content: {} }, "content.approve"],
      [{ action: "accept", content: { approve: "yes" } }, "content.approve"],
      [{ action: "accept", content: { approve: true, extra: 1 } }, "content.extra"],
      ["accept", "response"],
    ];
    for (const [response, field] of wrong) {
      const error: unknown = await call.task
        .respond("approval", response as JsonObject)
        .catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(InvalidInputResponseError);
      expect((error as InvalidInputResponseError).field).toContain(field);
    }
    await expect(call.task.respond("no-such-key", { action: "cancel" })).rejects.toMatchObject({
      field: "key",
    });
    expect(server.log().filter((entry) => entry.method === "tasks/update")).toEqual([]);
    expect(call.task.pendingInputs).toHaveLength(1);
    await call.task.respond("approval", { action: "accept", content: { approve: true } });
    await expect(call.task.result()).resolves.toMatchObject({ structuredContent: { deployed: true } });
  });
});

describe("hostile servers", () => {
  it.each([
    ["10 kB", "t".repeat(10_000)],
    ["line breaks", "a\r\nX-Injected: 1\n"],
    ["the header sentinel", "=?base64?eA==?="],
    ["not ASCII", " tâsk "],
  ])("task ids with %s work, and appear in no store key", async (_name, taskId) => {
    const store = new Map<string, unknown>();
    const { client, server } = await connected({ taskIds: [taskId], strict: true }, { store });
    const call = await client.callTool("s", { name: "slow", arguments: { ms: 10 } });
    if (call.kind !== "task") throw new Error("expected a task");
    expect(call.task.taskId).toBe(taskId);
    await expect(call.task.result()).resolves.toBeDefined();
    expect([...store.keys()].some((key) => key.includes(taskId))).toBe(false);
    expect(server.violations()).toEqual([]);
  });

  it("keys such as __proto__ are keys like others (F176)", async () => {
    const asked: TaskInputRequest[] = [];
    const { client, server } = await connected(
      {},
      {
        onInputRequest: (request) => {
          asked.push(request);
          return { action: "accept", content: {} };
        },
      },
    );
    const call = await client.callTool("s", { name: "never" });
    if (call.kind !== "task") throw new Error("expected a task");
    await showQuestions(server, call.task.taskId ?? "", `{"__proto__":${FORM},"constructor":${FORM}}`);
    await vi.waitFor(() => expect(asked.map(({ key }) => key).sort()).toEqual(["__proto__", "constructor"]));
    await vi.waitFor(() => {
      const updates = server.log().filter((entry) => entry.method === "tasks/update");
      const sent = updates.map((entry) => JSON.stringify(entry)).join();
      expect(sent).toContain('"__proto__":{"action":"accept"');
      expect(sent).toContain('"constructor":{"action":"accept"');
    });
    expect(({} as { action?: unknown }).action).toBeUndefined();
  });

  it("10,000 questions at once are bounded, reported once, and those shown can be answered (F178)", async () => {
    let asked = 0;
    const { client, errors, server } = await connected(
      {},
      {
        onInputRequest: () => {
          asked += 1;
          return undefined;
        },
      },
    );
    const call = await client.callTool("s", { name: "never" });
    if (call.kind !== "task") throw new Error("expected a task");
    const many = Array.from({ length: 10_000 }, (_, i) => `"q${i}":${FORM}`).join(",");
    await showQuestions(server, call.task.taskId ?? "", `{${many}}`);
    await vi.waitFor(() => expect(asked).toBeGreaterThan(0));
    const polls = client.stats().polls;
    await vi.waitFor(() => expect(client.stats().polls).toBeGreaterThan(polls + 3), { timeout: 10_000 });
    expect(asked).toBe(256);
    expect(call.task.pendingInputs).toHaveLength(256);
    expect(errors.filter((error) => error.message.includes("256"))).toHaveLength(1);
    await expect(call.task.respond("q0", { action: "decline" })).resolves.toBeUndefined();
  });

  it("an answer of 100 MB is refused by its size, for a call and for a poll", async () => {
    const raw = await startRawServer();
    cleanUps.push(() => raw.stop());
    const url = await raw.script("/huge", {
      headers: { "content-type": "application/json" },
      steps: [
        { text: '{"jsonrpc":"2.0","id":"{{id}}","result":{"content":[{"type":"text","text":"' },
        { repeat: { text: "x".repeat(65_536), writes: 1600 } },
      ],
    });
    const { client } = clientWith();
    await client.connect("s", httpConnection(url));
    const call = client.callTool("s", { name: "echo" });
    await expect(call).rejects.toBeInstanceOf(InvalidResponseError);
    await expect(call).rejects.toThrow(/16777216 bytes/);

    // A poll: the task goes on, the error is told, and a smaller answer is taken.
    const retries: unknown[] = [];
    client.on("retry", ({ error }) => retries.push(error));
    await client.adopt("s", "some-task-of-ours");
    await vi.waitFor(() => expect(retries.length).toBeGreaterThan(0), { timeout: 10_000 });
    expect(retries[0]).toBeInstanceOf(InvalidResponseError);
    expect((await client.tasks({ state: "live" })).length).toBe(1);
  });

  it("a server that is not there is a ConnectionError that names no secret, and leaves nothing behind", async () => {
    const store = new Map<string, unknown>();
    const { client } = clientWith({ store, retry: { minDelayMs: 10 } });
    const server = await serverWith();
    await server.kill();
    await client.connect(
      "s",
      httpConnection(server.url, { headers: { authorization: "Bearer secret-token" } }),
    );
    const error = (await client
      .callTool("s", { name: "echo", arguments: { password: "secret-argument" } }, { timeoutMs: 1000 })
      .catch((reason: unknown) => reason)) as ConnectionError;
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.mayHaveRun).toBe(false);
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toMatch(/secret-/);
    expect(callsIn(store)).toEqual([]);
  });
});
