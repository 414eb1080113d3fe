/** Owns the targets of what hosts pass in: a mistake is a TypeError that names the field, or an error of ours. */
import fc from "fast-check";
import { CLIENT_OPTIONS, POLL_OPTIONS, PUSH_OPTIONS, RETRY_OPTIONS } from "../../src/client/options.js";
import { encryptedStore, httpConnection, sdkConnection, TaskClient, withTasks } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { memoryStore } from "../../src/store/memory.js";
import { judged, judgedAsync, must, refusal, structure, type Verdict } from "./guard.js";
import { anyValue, hostileText, PLANTED } from "./hostile.js";
import { scriptedConnection } from "../../src/testing/index.js";

const CALL = [
  "callId",
  "context",
  "timeoutMs",
  "waitMs",
  "onUnknownOutcome",
  "meta",
  "headers",
  "onProgress",
  "outputSchema",
];
const HTTP = ["headers", "fetch", "timeoutMs", "maxResponseBytes", "identity", "earlier", "clock"];
const MORE = [
  "options",
  "params",
  "arguments",
  "name",
  "url",
  "signal",
  "key",
  "previousKeys",
  "client",
  "server",
];
const FIELDS = [
  ...CLIENT_OPTIONS,
  ...POLL_OPTIONS,
  ...PUSH_OPTIONS,
  ...RETRY_OPTIONS,
  ...CALL,
  ...HTTP,
  ...MORE,
  "unknown option",
];

const RIGHT: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    1,
    10,
    1000,
    "auto",
    "always",
    "off",
    "track",
    "cancel",
    "fail",
    "retry",
    "never",
    "only",
  ),
  fc.constantFrom<unknown>(() => 0.5, undefined, { a: "b" }, {}, "some words"),
);

/** An object of some of the options, right and wrong, and rarely of one that there is not; or no object at all. */
function options(
  names: readonly string[],
  nested: Readonly<Record<string, readonly string[]>> = {},
): fc.Arbitrary<unknown> {
  const value = (name: string): fc.Arbitrary<unknown> => {
    const inner = nested[name];
    const flat = fc.oneof({ weight: 3, arbitrary: RIGHT }, { weight: 2, arbitrary: anyValue });
    return inner === undefined ? flat : fc.oneof(flat, options(inner));
  };
  const entry = fc.constantFrom(...names).chain((name) => value(name).map((given) => [name, given] as const));
  return fc.oneof(
    {
      weight: 20,
      arbitrary: fc.array(entry, { maxLength: 3 }).map((entries) => Object.fromEntries(entries) as unknown),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(hostileText, anyValue).map(([name, given]) => ({ [name]: given })),
    },
    { weight: 1, arbitrary: anyValue },
  );
}

const named = { named: FIELDS, shows: "server text" } as const;

function clientOptions(given: unknown): Verdict {
  let client: TaskClient | undefined;
  const verdict = judged(() => (client = new TaskClient(given as never)), named);
  // Nothing was started, so nothing has to be ended.
  must(verdict === "refused" || client !== undefined, "no client");
  return verdict;
}

function httpOptions([url, given]: [unknown, unknown]): Verdict {
  try {
    httpConnection(url as never, given as never);
    return "accepted";
  } catch (error) {
    const secret = error instanceof TypeError && /^(?:headers|url)/.test(error.message);
    // The name of a header is told, by contract; its value never is.
    const shown = secret ? error.message.replace(`the value of ${PLANTED} is`, "") : "";
    must(!shown.includes(PLANTED), "a message shows the value of a header, or a password");
    return refusal(error, named);
  }
}

const urls = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>(
      "https://a.example/mcp",
      "http://127.0.0.1:1/",
      new URL("https://b.example"),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(
      `https://u:${PLANTED}@a.example/`,
      "file:///etc",
      "x",
      `//${PLANTED}`,
    ),
  },
  { weight: 1, arbitrary: anyValue },
);

const HANDLE: JsonObject = {
  resultType: "task",
  taskId: "t-1",
  status: "input_required",
  ttlMs: null,
  pollIntervalMs: 1,
};
const QUESTION: JsonObject = {
  method: "elicitation/create",
  params: { message: "?", requestedSchema: { type: "object", properties: { a: { type: "string" } } } },
};

/** As many questions as one task may have open: each input answers its own. */
const QUESTIONS = 200;

/** One client for many inputs: what one caller does wrong costs no other. */
async function openClient(): Promise<{ client: TaskClient; id: string }> {
  const inputRequests = Object.fromEntries(Array.from({ length: QUESTIONS }, (_, n) => [`k${n}`, QUESTION]));
  const connection = scriptedConnection({
    "tools/call": [HANDLE, { content: [] }],
    "tasks/get": { ...HANDLE, resultType: "complete", inputRequests },
    "tasks/update": { resultType: "complete" },
  });
  const client = new TaskClient({
    store: memoryStore(),
    capabilities: { elicitation: {} },
    push: "off",
    poll: { minIntervalMs: 20, defaultIntervalMs: 20 },
  });
  await client.connect("srv", connection);
  const call = await client.callTool("srv", { name: "t" }, { callId: "asks" });
  if (call.kind === "result") throw new Error("no task");
  while (call.task.pendingInputs.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  return { client, id: call.task.id };
}

let opened: ReturnType<typeof openClient> | undefined;
const shared = (): ReturnType<typeof openClient> => (opened ??= openClient());
let calls = 0;

async function callOptions([server, params, given]: [unknown, unknown, unknown]): Promise<Verdict> {
  const { client } = await shared();
  calls += 1;
  // Calls are made for the checks alone: another id each, so that none piles up as the same.
  const verdict = await judgedAsync(() => client.callTool(server as never, params as never, given as never), {
    named: [...FIELDS, "server", "srv"],
    shows: "server text",
  });
  if (calls % 200 === 0) for (const task of await client.tasks({ state: "settled" })) await task.forget();
  return verdict;
}

let answered = 0;

async function respond([id, key, response]: [unknown, unknown, unknown]): Promise<Verdict> {
  answered += 1;
  if (answered % QUESTIONS === 0) await closeShared();
  const { client, id: real } = await shared();
  const to = id === "real" ? real : id;
  const at = key === "k" ? `k${answered % QUESTIONS}` : key;
  return judgedAsync(() => client.respond(to as never, at as never, response as never), {
    named: ["id", "key", "response", "content"],
    shows: "server text",
  });
}

async function filters([filter, id, task, event]: [unknown, unknown, unknown, unknown]): Promise<Verdict> {
  const { client } = await shared();
  const allowed = {
    named: ["filter", "server", "tool", "state", "context", "id", "taskId", "event", "listener"],
    shows: "server text",
  } as const;
  const verdicts = [
    await judgedAsync(() => client.tasks(filter as never), allowed),
    await judgedAsync(() => client.pendingInputs(filter as never), allowed),
    await judgedAsync(() => client.task(id as never), allowed),
    await judgedAsync(() => client.adopt("nobody", task as never, filter as never), {
      ...allowed,
      named: [...allowed.named, "options", "nobody"],
    }),
    judged(() => client.on(event as never, () => undefined)(), allowed),
  ];
  return verdicts[0] ?? "refused";
}

function sdkOptions([client, given]: [unknown, unknown]): Verdict {
  const allowed = {
    named: [...FIELDS, "reconnect", "identity", "onAbort", "server"],
    shows: "server text",
  } as const;
  judged(() => void sdkConnection(client as never, given as never), allowed);
  const verdict = judged(() => void withTasks(client as never, given as never), allowed);
  return verdict;
}

/** Enough of an SDK client to be taken for one. */
const sdkLike = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constant(null).map((): unknown => ({
      transport: undefined,
      getServerVersion: () => undefined,
      getServerCapabilities: () => undefined,
      connect: async () => undefined,
      close: async () => undefined,
      request: async () => ({}),
      callTool: async () => ({}),
      listTools: async () => ({ tools: [] }),
      setRequestHandler: () => undefined,
      setNotificationHandler: () => undefined,
    })),
  },
  { weight: 1, arbitrary: anyValue },
);

function encryption([store, key, given]: [unknown, unknown, unknown]): Verdict {
  return judged(() => void encryptedStore(store as never, key as never, given as never), {
    named: FIELDS,
  });
}

const keys = fc.oneof(
  { weight: 3, arbitrary: fc.constant<unknown>(new Uint8Array(32).fill(1)) },
  { weight: 1, arbitrary: fc.nat(64).map((length): unknown => new Uint8Array(length)) },
  { weight: 1, arbitrary: anyValue },
);

export const publicTargets = [
  structure(
    "options of TaskClient",
    8,
    options(CLIENT_OPTIONS, { poll: POLL_OPTIONS, push: PUSH_OPTIONS, retry: RETRY_OPTIONS }),
    clientOptions,
  ),
  structure("options of httpConnection", 8, fc.tuple(urls, options(HTTP)), httpOptions),
  structure(
    "callTool: params, options, callId, context",
    3,
    fc.tuple(
      fc.oneof({ weight: 8, arbitrary: fc.constant<unknown>("srv") }, { weight: 1, arbitrary: anyValue }),
      fc.oneof(
        { weight: 5, arbitrary: anyValue.map((args): unknown => ({ name: "t", arguments: args })) },
        { weight: 3, arbitrary: fc.constant<unknown>({ name: "t" }) },
        { weight: 1, arbitrary: anyValue },
      ),
      options(CALL),
    ),
    callOptions,
  ),
  structure(
    "respond(id, key, response)",
    3,
    fc.tuple(
      fc.oneof({ weight: 5, arbitrary: fc.constant<unknown>("real") }, { weight: 1, arbitrary: anyValue }),
      fc.oneof({ weight: 5, arbitrary: fc.constant<unknown>("k") }, { weight: 1, arbitrary: anyValue }),
      fc.oneof(
        { weight: 5, arbitrary: anyValue },
        { weight: 5, arbitrary: anyValue.map((a): unknown => ({ action: "accept", content: { a } })) },
        { weight: 2, arbitrary: fc.constantFrom<unknown>({ action: "decline" }, { action: "cancel" }) },
      ),
    ),
    respond,
  ),
  structure(
    "tasks, pendingInputs, task, adopt, on",
    3,
    fc.tuple(
      options(["server", "tool", "state", "context"]),
      anyValue,
      anyValue,
      fc.oneof(fc.constant<unknown>("error"), anyValue),
    ),
    filters,
  ),
  structure(
    "withTasks, sdkConnection",
    4,
    fc.tuple(
      sdkLike,
      options([...CLIENT_OPTIONS, "server", "identity", "reconnect", "onAbort"], {
        poll: POLL_OPTIONS,
        push: PUSH_OPTIONS,
      }),
    ),
    sdkOptions,
  ),
  structure(
    "encryptedStore",
    3,
    fc.tuple(
      fc.oneof(
        fc.constant(null).map((): unknown => new Map()),
        anyValue,
      ),
      keys,
      fc.oneof(fc.constant<unknown>(undefined), options(["previousKeys"])),
    ),
    encryption,
  ),
];

/** Ends what the targets share. */
export async function closeShared(): Promise<void> {
  const client = await opened;
  opened = undefined;
  await client?.client.close({ timeoutMs: 20 });
}
