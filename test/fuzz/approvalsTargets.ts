/** Owns the targets of the approvals handler: whatever is sent to it gets a proper answer that shows no secret. */
import fc from "fast-check";
import { approvalsHandler, type RefusalCode } from "../../src/approvals/index.js";
import { isObject } from "../../src/internal/json.js";
import { chunksOf, type BytePlan } from "./bytes.js";
import { judged, must, structure, type ByteTarget, type Verdict } from "./guard.js";
import { anyValue, PLANTED } from "./hostile.js";
import { options } from "./hostileOptions.js";
import {
  filledIn,
  HONEST,
  MAX_BODY_BYTES,
  ORIGIN,
  OTHER_ORIGIN,
  sent,
  type Host,
  type Sent,
  type Shown,
} from "./hostileRequests.js";
import { closeShared, sharedClient, type SharedClient } from "./sharedClient.js";

/** Few, so that lists stay small: once all are answered there is another client. */
const QUESTIONS = 20;
const CREDENTIALS = { authorization: `Bearer ${PLANTED}`, cookie: `session=${PLANTED}` };

const STATUS: Readonly<Record<RefusalCode, number>> = {
  "bad-request": 400,
  forbidden: 403,
  "not-found": 404,
  "method-not-allowed": 405,
  "already-answered": 409,
  over: 410,
  "too-large": 413,
  "unsupported-media-type": 415,
  "invalid-answer": 422,
  unavailable: 503,
  internal: 500,
};

interface Served {
  readonly shared: SharedClient;
  readonly ask: (request: Request, host: Host) => Promise<Response>;
  readonly told: unknown[];
  /** The next question that nobody has answered; of a call that asks nothing, where it is to be cancelled. */
  readonly next: (route: string) => Shown;
  answered: number;
}

const served = new WeakMap<SharedClient, Served>();

/** The handler over the client that is open now. */
async function serve(): Promise<Served> {
  const shared = await sharedClient(QUESTIONS);
  const known = served.get(shared);
  if (known !== undefined) return known;
  let host = HONEST;
  const told: unknown[] = [];
  const handler = approvalsHandler(shared.client, {
    authorize: () => host.authorize() as undefined,
    context: (context) => context,
    origins: [OTHER_ORIGIN],
    maxBodyBytes: MAX_BODY_BYTES,
    onError: (error) => told.push(error),
  });
  const made: Served = {
    shared,
    told,
    answered: 0,
    ask(request, now) {
      host = now;
      return handler(request);
    },
    next(route) {
      if (route === "cancel") return { id: shared.runningId, key: "", version: "" };
      const key = `k${made.answered % QUESTIONS}`;
      return { id: shared.id, key, version: shared.versions.get(key) ?? "" };
    },
  };
  served.set(shared, made);
  return made;
}

/** Judges an answer, and counts which question it has taken. */
async function judgedResponse(response: Response, host: Host, to: Served): Promise<Verdict> {
  const { status, headers } = response;
  const isStream = headers.get("content-type") === "text/event-stream";
  const text = isStream ? await beginning(response) : await response.text();
  const told = to.told.splice(0);
  must(!text.includes(PLANTED), `a body shows a secret, with status ${status}`);
  must(!/\bat .*\.[jt]s:\d/.test(text), "a body shows a stack");
  must(
    told.length === 0 || !host.isHonest,
    `a stranger's request is told as the host's fault: ${String(told[0])}`,
  );
  if (headers.get("x-own") === "yes") return "refused";
  must(/\bno-store\b/.test(headers.get("cache-control") ?? ""), "an answer that caches may keep");
  must(
    headers.get("x-content-type-options") === "nosniff",
    "an answer that browsers may take for something else",
  );
  if (status === 204 || (response.ok && (isStream || text === ""))) return "accepted";
  if (response.ok) {
    const body: unknown = JSON.parse(text);
    must(isObject(body), "an answer that is no object");
    // The question has its answer: the next input takes another.
    if ("answeredAt" in body) to.answered += 1;
    if (to.answered === QUESTIONS) await closeShared();
    return "accepted";
  }
  if (text === "") return "refused";
  const { error } = JSON.parse(text) as { error: { code: RefusalCode; message: string } };
  must(STATUS[error.code] === status, `the status ${status} does not belong to the code ${error.code}`);
  must(
    typeof error.message === "string" && error.message.length < 1000,
    "a refusal without words, or with too many",
  );
  must(status < 500 || !host.isHonest, `a stranger's request ends as ${status}: ${error.message}`);
  must(status !== 405 || headers.has("allow"), "a refused method, and none is named");
  return "refused";
}

async function beginning(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  while (!text.includes("\n\n")) {
    const { done, value } = await reader.read();
    must(!done, "a stream that ends before it began");
    text += decoder.decode(value, { stream: true });
  }
  must(text.startsWith("event: snapshot\ndata: {"), "a stream that begins otherwise");
  await reader.cancel();
  return text;
}

async function exchange(sent: Sent): Promise<Verdict> {
  const to = await serve();
  const { route, method, path, query, host } = sent;
  const real = to.next(route);
  const url = `https://chat.example${path}${query.replace("real", encodeURIComponent(real.id))}`;
  const headers = new Headers(CREDENTIALS);
  for (const [name, value] of sent.headers) setLegal(headers, name, value);
  const hasBody = !/^(?:get|head)$/i.test(method);
  const request = new Request(url, {
    method,
    headers,
    body: hasBody ? (sent.body(real) ?? null) : null,
    duplex: "half",
  } as RequestInit);
  const verdict = await judgedResponse(await to.ask(request, host), host, to);
  const { pathname } = new URL(request.url);
  const isOurs = /\/(?:tasks|task|events|answer|cancel)\/*$/.test(pathname);
  if (verdict === "accepted") {
    must(isOurs, "a path that leads nowhere is served");
    if (request.method !== "OPTIONS") mustBeLetIn(request);
  }
  return verdict;
}

/** What no page of another site may have done. */
function mustBeLetIn({ method, headers }: Request): void {
  const origin = headers.get("origin");
  const site = headers.get("sec-fetch-site");
  const isNamed = origin === OTHER_ORIGIN;
  must(origin !== "null", "a page that hides where it comes from is served");
  must(isNamed || site === null || site === "same-origin" || site === "none", "another site is served");
  must(
    isNamed ||
      origin === null ||
      site !== null ||
      hostOf(origin) === "chat.example" ||
      hostOf(origin) === headers.get("host"),
    "another origin is served",
  );
  if (method === "POST")
    must(/^application\/json\b/i.test(headers.get("content-type") ?? ""), "what a form can send is taken");
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** What no server could hand on is not sent. */
function setLegal(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch {
    headers.delete(name);
  }
}

/** What the bytes of a body stand for is put in before they are cut. */
async function bodyOfBytes(bytes: Buffer, _chunks: Uint8Array[], plan: BytePlan): Promise<Verdict> {
  const to = await serve();
  const route = BODY_ROUTES[plan.base % BODY_ROUTES.length] ?? "answer";
  const real = to.next(route);
  const whole = Buffer.from(filledIn(bytes.toString("latin1"), real), "latin1");
  const chunks = chunksOf(whole, plan);
  const breaksOff = plan.extra % 11 === 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = chunks.shift();
      if (chunk !== undefined) controller.enqueue(chunk);
      else if (breaksOff) controller.error(new Error(PLANTED));
      else controller.close();
    },
  });
  const request = new Request(`https://chat.example/approvals/${route}`, {
    method: "POST",
    headers: { ...CREDENTIALS, "content-type": "application/json" },
    body,
    duplex: "half",
  } as RequestInit);
  const verdict = await judgedResponse(await to.ask(request, HONEST), HONEST, to);
  if (verdict === "refused") return verdict;
  must(!breaksOff && whole.length <= MAX_BODY_BYTES, "half a body, or too much of one, is taken");
  const read: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(whole));
  must(isObject(read) && read["id"] === real.id, "the call of another body");
  return verdict;
}

const BODY_ROUTES = ["answer", "answer", "cancel"];
const BODIES = [
  { id: "<id>", key: "<key>", version: "<version>", response: { action: "accept", content: { a: "ü€𝄞" } } },
  {
    id: "<id>",
    key: "<key>",
    version: "<version>",
    response: { action: "decline", more: [1.5, null, true, PLANTED] },
  },
  { id: "<id>" },
].map((body) => Buffer.from(JSON.stringify(body)));

export const HANDLER_OPTIONS = [
  "authorize",
  "context",
  "origins",
  "maxBodyBytes",
  "keepAliveMs",
  "maxStreamMs",
  "reauthorizeMs",
  "refreshMs",
  "maxTasks",
  "clock",
  "onError",
];

/** Options that are taken make a handler that answers. */
async function handlerOptions([source, given, lets]: [unknown, unknown, boolean]): Promise<Verdict> {
  const { client } = await sharedClient(QUESTIONS);
  const all = lets && isObject(given) ? { authorize: () => HONEST.authorize(), ...given } : given;
  let handler: ReturnType<typeof approvalsHandler> | undefined;
  const verdict = judged(
    () => (handler = approvalsHandler((source === "client" ? client : source) as never, all as never)),
    { named: [...HANDLER_OPTIONS, "tasks", "options", "unknown option"], shows: "server text" },
  );
  if (handler === undefined) return verdict;
  for (const asked of ["tasks", "events"]) {
    const answer = await handler(new Request(`https://chat.example/${asked}`));
    must(answer instanceof Response, "no answer");
    must(
      !(answer.status >= 400 && (await answer.clone().text()).includes(PLANTED)),
      "a refusal shows a secret",
    );
    await answer.body?.cancel();
  }
  return verdict;
}

export const approvalsTargets = [
  structure("approvals: requests", 7, sent, exchange),
  {
    kind: "bytes",
    name: "approvals: bodies of bytes",
    weight: 5,
    bases: BODIES,
    run: bodyOfBytes,
  } satisfies ByteTarget,
  structure(
    "options of approvalsHandler",
    4,
    fc.tuple(
      fc.oneof({ weight: 8, arbitrary: fc.constant<unknown>("client") }, { weight: 1, arbitrary: anyValue }),
      options(
        HANDLER_OPTIONS,
        {},
        {
          origins: fc.constantFrom<unknown>([ORIGIN], [], ["capacitor://localhost"], ["*"], [`${ORIGIN}/`]),
          maxTasks: fc.constantFrom<unknown>(1, 0.5, 1e308),
        },
      ),
      fc.boolean(),
    ),
    handlerOptions,
  ),
];
