/** Owns the targets of the page's side of the approvals: what a host, or a proxy before it, may answer to a page. */
import fc from "fast-check";
import {
  approvalsOf,
  createTasksStore,
  filterTasks,
  TasksStoreError,
  type TasksState,
} from "../../src/approvals/index.js";
import { readTask } from "../../src/approvals/readView.js";
import {
  judged,
  judgedAsync,
  must,
  plain,
  sameJson,
  structure,
  type ByteTarget,
  type Verdict,
} from "./guard.js";
import { anyJson, anyValue, hostileText, mutated, PLANTED, type Value } from "./hostile.js";
import { options } from "./hostileOptions.js";
import { fits, INPUTS, INSTANT, view } from "./pageViews.js";

function read(value: unknown): Verdict {
  const task = readTask(value);
  if (task === undefined) return "refused";
  fits(task);
  plain(task, "a call");
  must(readTask(task) === task, "a call that was read is changed when it is read again");
  return "accepted";
}

/** Ordered, each once, each as it should be; and nothing of what was sent is in the words about the connection. */
function checkState(state: TasksState): void {
  const { tasks, problem, clockOffsetMs } = state;
  tasks.forEach(fits);
  must(new Set(tasks.map(({ id }) => id)).size === tasks.length, "a call is shown twice");
  must(!(problem ?? "").includes(PLANTED), "a problem quotes what was sent");
  must(Number.isFinite(clockOffsetMs), "a clock that tells no time");
  const open = approvalsOf(state);
  must(open.length === tasks.reduce((sum, { inputs }) => sum + inputs.length, 0), "questions are lost");
  must(
    filterTasks(state, { state: "input" }).every((task, at) => task === tasks[at]),
    "calls with questions are not first",
  );
  filterTasks(state, { context: { user: ["ann"] } });
}

/** What a page shows after the stream of these bytes. */
async function pageOver(chunks: readonly Uint8Array[]): Promise<TasksState> {
  const left = [...chunks];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = left.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
  });
  const store = createTasksStore("/approvals", {
    fetch: async () => new Response(body, { headers: { "content-type": "text/event-stream" } }),
    random: () => 0.5,
  });
  try {
    return await new Promise((resolve, reject) => {
      store.subscribe(() => {
        const state = store.getSnapshot();
        try {
          checkState(state);
        } catch (error) {
          reject(error);
        }
        if (state.connection === "reconnecting" || state.connection === "refused") resolve(state);
      });
    });
  } finally {
    store.close();
    must(store.getSnapshot().connection === "closed", "a page that goes on");
  }
}

const event = (name: string, data: unknown, eol = "\n"): string =>
  `event: ${name}${eol}data: ${JSON.stringify(data)}${eol}${eol}`;
const [FIRST] = fc.sample(view, { numRuns: 1, seed: 3 });
const BASES = ["\n", "\r\n", "\r"].map((eol) =>
  Buffer.from(
    [
      event("snapshot", { now: INSTANT, tasks: [FIRST], truncated: false }, eol),
      `:${eol}${eol}`,
      event("task", { now: INSTANT, task: { ...(FIRST as object), id: "ü€𝄞", statusMessage: PLANTED } }, eol),
      event("removed", { id: "1" }, eol),
    ].join(""),
  ),
);

/** However the bytes are cut, the page is the same. */
async function streamOfBytes(bytes: Buffer, chunks: Uint8Array[]): Promise<Verdict> {
  const one = await pageOver([Uint8Array.from(bytes)]);
  const cut = await pageOver(chunks);
  sameJson(
    [one.tasks, one.loaded, one.truncated],
    [cut.tasks, cut.loaded, cut.truncated],
    "the page of the same bytes",
  );
  return cut.loaded ? "accepted" : "refused";
}

const sentEvent: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 4,
    arbitrary: mutated(
      fc.array(view, { maxLength: 3 }).map((tasks): Value => ({ now: INSTANT, tasks, truncated: false })),
    ).map((data) => event("snapshot", data)),
  },
  {
    weight: 4,
    arbitrary: mutated(view.map((task): Value => ({ now: INSTANT, task }))).map((data) =>
      event("task", data),
    ),
  },
  { weight: 1, arbitrary: hostileText.map((id) => event("removed", { id })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom("snapshot", "task", "removed", "more"), anyJson)
      .map(([name, data]) => event(name, data)),
  },
  { weight: 1, arbitrary: fc.tuple(hostileText, anyJson).map(([name, data]) => event(name, data)) },
);

async function streamOfEvents(events: readonly string[]): Promise<Verdict> {
  const state = await pageOver([Buffer.from(events.join(""))]);
  return state.loaded ? "accepted" : "refused";
}

/** What the host answers, and what the page asks. */
interface Asking {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly fails: "not" | "at once" | "half way";
  readonly answer: readonly [unknown, unknown, unknown, unknown];
}

const KINDS = ["answered", "already-answered", "over", "invalid", "refused", "failed", "asked"];
const initial = {
  now: INSTANT,
  tasks: [{ ...(FIRST as object), id: "1", inputs: INPUTS }],
  truncated: false,
} as never;

/** Each end is an outcome; no error quotes the credential, or what a failing network said. */
async function askHost({ status, type, body, fails, answer }: Asking): Promise<Verdict> {
  const urls: string[] = [];
  const store = createTasksStore("https://host.example/approvals/?tenant=a", {
    headers: { authorization: `Bearer ${PLANTED}` },
    initial,
    async fetch(url) {
      urls.push(url);
      if (fails === "at once") throw new TypeError(`no route for ${PLANTED}`);
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(Buffer.from(body));
          if (fails === "half way") controller.error(new Error(PLANTED));
          else controller.close();
        },
      });
      return new Response([204, 205, 304].includes(status) ? null : stream, {
        status,
        headers: { "content-type": type },
      });
    },
  });
  const [id, key, response, more] = answer;
  const named = { named: ["id", "key", "response", "version"] };
  const isQuoted = body.includes(PLANTED);
  const verdict = await judgedAsync(
    async () => {
      const outcomes = [
        await store.answer(id as never, key as never, response as never, more as never),
        await store.cancel(id as never),
      ];
      for (const outcome of outcomes) {
        must(KINDS.includes(outcome.kind), "an outcome of no kind");
        const words = "message" in outcome ? outcome.message : "";
        must(
          typeof words === "string" && words.length <= 2000,
          "an outcome without words, or with a book of them",
        );
        must(isQuoted || !words.includes(PLANTED), "an outcome shows a secret");
      }
      checkState(store.getSnapshot());
      const loaded = await store.load(id as never);
      fits(loaded);
    },
    { ...named, shows: isQuoted ? "server text" : "nothing planted" },
  );
  store.close();
  must(
    urls.every((url) => /^https:\/\/host\.example\/approvals\/\w+\?tenant=a(?:&id=[^&#]*)?$/.test(url)),
    "another address is asked",
  );
  return verdict;
}

const refusalBody = fc
  .tuple(
    fc.constantFrom(
      "already-answered",
      "over",
      "not-found",
      "invalid-answer",
      "forbidden",
      "too-large",
      "internal",
      "new",
    ),
    hostileText,
  )
  .map(([code, message]): Value => ({
    error: { code, message, field: "content.a", answeredAt: INSTANT, by: "bob" },
  }));
const asking: fc.Arbitrary<Asking> = fc.record({
  status: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(200, 202) },
    { weight: 2, arbitrary: fc.integer({ min: 200, max: 599 }) },
  ),
  type: fc.constantFrom("application/json", "text/html"),
  body: fc.oneof(
    { weight: 4, arbitrary: view.map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: mutated(view).map((value) => JSON.stringify(value)) },
    {
      weight: 2,
      arbitrary: mutated(fc.constant<Value>({ answeredAt: INSTANT })).map((value) => JSON.stringify(value)),
    },
    { weight: 3, arbitrary: mutated(refusalBody).map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: anyJson.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: hostileText },
  ),
  fails: fc.oneof(
    { weight: 10, arbitrary: fc.constant("not" as const) },
    { weight: 1, arbitrary: fc.constantFrom("at once" as const, "half way" as const) },
  ),
  answer: fc.tuple(
    fc.oneof({ weight: 6, arbitrary: fc.constant<unknown>("1") }, { weight: 1, arbitrary: anyValue }),
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom<unknown>("a", "b", "c", "__proto__") },
      { weight: 1, arbitrary: anyValue },
    ),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant<unknown>({ action: "decline" }) },
      { weight: 1, arbitrary: anyValue },
    ),
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom<unknown>(undefined, {}, { version: "v" }) },
      { weight: 1, arbitrary: anyJson.map((version): unknown => ({ version })) },
    ),
  ),
});

const STORE_OPTIONS = ["headers", "fetch", "credentials", "clock", "random", "initial"];

/** Options that are taken make a store that can be looked at, and left. */
async function storeOptions([url, given]: [unknown, unknown]): Promise<Verdict> {
  let store: ReturnType<typeof createTasksStore> | undefined;
  const verdict = judged(() => (store = createTasksStore(url as never, given as never)), {
    named: [...STORE_OPTIONS, "url", "options", "unknown option"],
    shows: "server text",
  });
  if (store === undefined) return verdict;
  checkState(store.getSnapshot());
  const page = store;
  const states: TasksState[] = [];
  page.subscribe(() => states.push(page.getSnapshot()));
  await new Promise((resolve) => setImmediate(resolve));
  const { kind } = await page.answer("1", "a", { action: "decline" }, { version: "v" });
  must(KINDS.includes(kind), "an outcome of no kind");
  page.refresh();
  page.close();
  // Not in the listener: what that throws is the page's own.
  states.forEach(checkState);
  return verdict;
}

export const pageTargets = [
  structure(
    "page: call",
    6,
    fc.oneof({ weight: 8, arbitrary: mutated(view) }, { weight: 1, arbitrary: anyJson }),
    read,
  ),
  {
    kind: "bytes",
    name: "page: stream, cut anywhere",
    weight: 4,
    bases: BASES,
    run: streamOfBytes,
  } satisfies ByteTarget,
  structure("page: events", 4, fc.array(sentEvent, { maxLength: 4 }), streamOfEvents),
  structure("page: answers of the host", 5, asking, askHost),
  structure(
    "options of createTasksStore",
    4,
    fc.tuple(
      fc.oneof(
        { weight: 8, arbitrary: fc.constantFrom<unknown>("/approvals", "no-host", "?a=b#c") },
        { weight: 1, arbitrary: anyValue },
      ),
      options(
        STORE_OPTIONS,
        {},
        {
          initial: fc
            .oneof(view, mutated(view))
            .map((task): unknown => ({ now: INSTANT, tasks: [task, task], truncated: true })),
          fetch: fc.constantFrom<unknown>(
            async () => new Response("no", { status: 403 }),
            () => Promise.reject(new TasksStoreError(PLANTED)),
            () => {
              throw new Error(PLANTED);
            },
          ),
          credentials: fc.constantFrom<unknown>("include", "omit", "same-origin", "all"),
        },
      ),
    ),
    storeOptions,
  ),
];
