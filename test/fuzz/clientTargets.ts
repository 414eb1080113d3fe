/** Owns the targets that run a whole client: over a server that answers anything, over a store that holds anything. */
import fc from "fast-check";
import {
  TaskClient,
  TasksError,
  type Connection,
  type JsonObject,
  type ListenOptions,
} from "../../src/index.js";
import { httpConnection } from "../../src/index.js";
import { RpcError, WaitTimeoutError } from "../../src/errors.js";
import { isObject } from "../../src/internal/json.js";
import { readDescription } from "../../src/protocol/index.js";
import { memoryStore } from "../../src/store/memory.js";
import { rosterStore } from "../../src/store/roster.js";
import { countedStore } from "../../src/store/countedStore.js";
import { judgedAsync, must, refusal, structure, type Verdict } from "./guard.js";
import { anyJson, anyValue, hostileText, mutated, PLANTED, type Value } from "./hostile.js";
import {
  ackAnswer,
  callAnswer,
  discoverAnswer,
  noticeParams,
  taskAnswer,
  toolsAnswer,
} from "./parserTargets.js";

const TASK = PLANTED;
const DONE: JsonObject = {
  resultType: "complete",
  taskId: TASK,
  status: "completed",
  ttlMs: null,
  result: { content: [] },
};
const HANDLE: JsonObject = {
  resultType: "task",
  taskId: TASK,
  status: "working",
  ttlMs: null,
  pollIntervalMs: 1,
};

/** What a server answers, in order; the honest end comes after it. */
interface Script {
  readonly call: JsonObject;
  readonly gets: readonly JsonObject[];
  readonly acks: readonly JsonObject[];
  readonly list: JsonObject;
  readonly discover: JsonObject;
  readonly notices: readonly JsonObject[];
  readonly answer: unknown;
}

const script: fc.Arbitrary<Script> = fc.record({
  call: fc.oneof({ weight: 2, arbitrary: callAnswer }, { weight: 3, arbitrary: fc.constant(HANDLE) }),
  gets: fc.array(taskAnswer, { maxLength: 3 }),
  acks: fc.array(ackAnswer, { maxLength: 2 }),
  list: toolsAnswer,
  discover: discoverAnswer,
  notices: fc.array(noticeParams, { maxLength: 3 }),
  answer: anyValue,
});

function scripted({ call, gets, acks, list, discover, notices }: Script): Connection {
  const left = { gets: [...gets], acks: [...acks] };
  const answers: Record<string, () => JsonObject> = {
    "tools/call": () => call,
    "tasks/get": () => left.gets.shift() ?? DONE,
    "tasks/update": () => left.acks.shift() ?? { resultType: "complete" },
    "tasks/cancel": () => left.acks.shift() ?? { resultType: "complete" },
    "tools/list": () => list,
  };
  return {
    identity: "fuzz",
    async request(method) {
      const answer = answers[method]?.();
      if (answer === undefined) throw new RpcError({ code: -32601, message: "no" });
      return answer;
    },
    async discover() {
      return readDescription(discover);
    },
    async listen(taskIds, options: ListenOptions) {
      options.onAcknowledged(taskIds);
      for (const params of notices) options.onNotice({ method: "notifications/tasks", params });
      await new Promise((_, reject) => {
        options.signal.addEventListener("abort", () => reject(options.signal.reason as Error), {
          once: true,
        });
      });
    },
    close: () => Promise.resolve(),
  };
}

const WAIT_MS = 40;
/** Time in which people answer counts for no limit but the caller's signal. */
const PATIENCE_MS = 80;

/** Runs a call that its caller gives up after a while, with an error of ours as the reason. */
async function givenUp<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const caller = new AbortController();
  const timer = setTimeout(() => caller.abort(new WaitTimeoutError(PATIENCE_MS, "given up")), PATIENCE_MS);
  try {
    return await run(caller.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Whatever is answered, the host gets an outcome or an error of ours, and hears of errors of ours alone. */
async function runClient(given: Script): Promise<Verdict> {
  const told: unknown[] = [];
  const client = new TaskClient({
    onInputRequest: () => given.answer as JsonObject,
    poll: { minIntervalMs: 1, defaultIntervalMs: 1, maxIntervalMs: 2, jitter: 0 },
    retry: { minDelayMs: 1, maxDelayMs: 2, refusedRetryMs: 2 },
    push: { mode: "always", ackTimeoutMs: 20, minLifeMs: 1 },
    answerGraceMs: 2,
    requestTimeoutMs: 50,
    lateAnswerMs: 5,
  });
  client.on("error", ({ error }) => told.push(error));
  client.on("retry", ({ error }) => told.push(error));
  try {
    await client.connect("srv", scripted(given));
    const verdict = await judgedAsync(async () => {
      const call = await givenUp((signal) =>
        client.callTool("srv", { name: "t", arguments: {} }, { timeoutMs: WAIT_MS, signal }),
      );
      if (call.kind === "result") return;
      const settled = await call.task.settled({ timeoutMs: WAIT_MS });
      must(typeof settled.status === "string", "an outcome without a status");
    });
    await judgedAsync(() => client.listTools("srv"));
    for (const task of await client.tasks()) {
      JSON.stringify(task);
      void task.expiresAt;
      await judgedAsync(() => task.forget());
    }
    told.forEach((error) => refusal(error));
    return verdict;
  } finally {
    await client.close({ timeoutMs: 20 });
  }
}

/** Texts of real entries: what a client wrote that was in the middle of things. */
const entries = await (async () => {
  const inner = memoryStore();
  const client = new TaskClient({ store: inner, onInputRequest: () => undefined });
  await client.connect("srv", scripted({ ...emptyScript(), call: HANDLE }));
  await client.callTool("srv", { name: "t" }, { callId: "a", context: { user: "u" } });
  await client.callTool("srv", { name: "t" }, { callId: "b" });
  await client.close({ timeoutMs: 20 });
  const found: [string, string][] = [];
  for await (const [key, value] of inner.entries("")) found.push([key, settledText(String(value))]);
  return found;
})();

/** Without what differs from run to run: a seed stands for the same inputs ever after. */
function settledText(text: string): string {
  return text
    .replace(/"owner":"[^"]*"/, '"owner":"somebody"')
    .replace(/"(\w+AtMs|notBeforeMs)":\d+/g, '"$1":1790000000000');
}

function emptyScript(): Script {
  return {
    call: HANDLE,
    gets: [],
    acks: [],
    list: { tools: [] },
    discover: {},
    notices: [],
    answer: undefined,
  };
}

const storedText: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(...entries)
      .chain(([, text]) => mutated(fc.constant(JSON.parse(text) as Value)))
      .map((value) => JSON.stringify(value)),
  },
  { weight: 1, arbitrary: anyJson.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: hostileText },
);

/** A client starts over it, and what can be read goes on. */
async function startOver(texts: readonly string[]): Promise<Verdict> {
  const store = memoryStore();
  for (const [at, [key]] of entries.entries()) await store.set(key, texts[at] ?? "{}", undefined);
  const told: unknown[] = [];
  const client = new TaskClient({
    store,
    poll: { minIntervalMs: 1, defaultIntervalMs: 1, maxIntervalMs: 2 },
    retry: { minDelayMs: 1, maxDelayMs: 2 },
    push: "off",
    storeWatchMs: 5,
  });
  client.on("error", ({ error }) => told.push(error));
  try {
    const verdict = await judgedAsync(async () => {
      const found = await client.connect("srv", scripted(emptyScript()));
      for (const task of await client.tasks()) {
        JSON.stringify(task.snapshot);
        void [task.expiresAt, task.pendingInputs, task.context, task.statusMessage];
      }
      await client.pendingInputs();
      await judgedAsync(() =>
        givenUp((signal) =>
          client.callTool("srv", { name: "t" }, { callId: "a", timeoutMs: WAIT_MS, signal }),
        ),
      );
      await Promise.all(found.map((task) => judgedAsync(() => task.settled({ timeoutMs: WAIT_MS }))));
      if (found.length === 0) throw new TasksError("STORE", "nothing to go on with");
    });
    told.forEach((error) => refusal(error));
    return verdict;
  } finally {
    await client.close({ timeoutMs: 20 });
  }
}

/** The roster: whatever stands there, a process can write itself in. */
async function roster(text: string): Promise<Verdict> {
  const inner = memoryStore();
  await inner.set("roster", text, undefined);
  const store = rosterStore(countedStore(inner), async () => "roster");
  const before = await store.read();
  const after = await store.change(
    ({ owners, departures }) => ({
      owners: new Map([...owners, ["me", { beat: 1, leaseMs: 10 }]]),
      departures,
    }),
    1000,
  );
  must(after.owners.get("me")?.beat === 1, "a process cannot write itself in");
  must((await store.read()).owners.size === after.owners.size, "the roster, read again");
  return before.owners.size > 0 ? "accepted" : "refused";
}

const rosterText = fc.oneof(
  mutated(
    fc
      .array(
        fc.tuple(hostileText, fc.record({ beat: fc.integer(), leaseMs: fc.integer({ min: -1, max: 99 }) })),
        {
          maxLength: 3,
        },
      )
      .map((owners): Value => ({ v: 1, departures: 1, owners: owners as Value })),
  ).map((value) => JSON.stringify(value)),
  hostileText,
);

/** An HTTP answer as a host's fetch may give it. */
interface HttpAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

const CREDENTIAL = PLANTED;
const httpAnswer: fc.Arbitrary<HttpAnswer> = fc.record({
  status: fc.oneof(
    fc.constantFrom(200, 200, 200, 200, 200, 200, 200, 202, 301, 307, 400, 401, 403, 404, 429, 500, 503),
    fc.nat(999),
  ),
  headers: fc.array(
    fc.tuple(
      fc.constantFrom("content-type", "retry-after", "www-authenticate", "location", "date"),
      fc.oneof(
        fc.constantFrom(
          "application/json",
          "application/json",
          "text/event-stream",
          "5",
          "/other",
          "//evil.example/",
          `Bearer realm="${CREDENTIAL}"`,
        ),
        hostileText,
      ),
    ),
    { maxLength: 4 },
  ),
  body: fc.oneof(
    fc.oneof(taskAnswer, anyJson).map((result) => JSON.stringify({ jsonrpc: "2.0", id: "{id}", result })),
    fc
      .tuple(fc.constantFrom(-32602, -32601, -32022, -32021, 7), hostileText, anyJson)
      .map(([code, message, data]) =>
        JSON.stringify({ jsonrpc: "2.0", id: "{id}", error: { code, message, data } }),
      ),
    hostileText,
  ),
});

/** No error shows the task id or the credential, whatever echoes them. */
async function exchange(answer: HttpAnswer): Promise<Verdict> {
  const headers = new Map(answer.headers);
  if (answer.headers.length !== 3) headers.set("content-type", "application/json");
  const connection = httpConnection("https://fuzz.example/mcp", {
    earlier: "never",
    headers: { authorization: `Bearer ${CREDENTIAL}` },
    async fetch(_url, init) {
      const { id } = JSON.parse(init.body) as { id: string };
      const event = headers.get("content-type") === "text/event-stream";
      const text = answer.body.replace("{id}", id);
      return {
        status: answer.status,
        headers: { get: (name) => headers.get(name) ?? null },
        body: new Blob([event ? `data: ${text}\n\n` : text]).stream(),
      };
    },
  });
  return judgedAsync(async () => {
    const result = await connection.request(
      "tasks/get",
      { taskId: TASK },
      {
        clientInfo: { name: "fuzz", version: "1" },
        capabilities: {},
      },
    );
    must(isObject(result), "a result that is no object");
  });
}

export const clientTargets = [
  structure("client over hostile answers, notices", 0.5, script, runClient),
  structure(
    "client over a store with garbage",
    0.5,
    fc.array(storedText, { minLength: entries.length, maxLength: entries.length }),
    startOver,
  ),
  structure("roster", 4, rosterText, roster),
  structure("HTTP status, headers, body", 6, httpAnswer, exchange),
];
