/** Owns the targets of what hosts pass in: a mistake is a TypeError that names the field, or an error of ours. */
import fc from "fast-check";
import { CLIENT_OPTIONS, POLL_OPTIONS, PUSH_OPTIONS, RETRY_OPTIONS } from "../../src/client/options.js";
import { encryptedStore, httpConnection, sdkConnection, TaskClient, withTasks } from "../../src/index.js";
import { judged, judgedAsync, must, refusal, structure, type Verdict } from "./guard.js";
import { anyValue, PLANTED } from "./hostile.js";
import { options } from "./hostileOptions.js";
import { closeShared, sharedClient } from "./sharedClient.js";

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

/** As many questions as one task may have open: each input answers its own. */
const QUESTIONS = 200;
const shared = (): ReturnType<typeof sharedClient> => sharedClient(QUESTIONS);
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
