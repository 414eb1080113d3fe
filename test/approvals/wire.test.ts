import { mkdtempSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { approvalsOf, createTasksStore, type TaskView } from "../../src/approvals/index.js";
import { spawnTaskServer, type SpawnedTaskServer } from "../../src/testing/index.js";
import { spawnHost, type SpawnedHost } from "./spawnHost.js";
import { list, openEvents, post, refusal, shows, stateOf, until } from "./support.js";

const HOSTILE = `<script>alert(1)</script>\u001b[2J\u202Egnp.exe\u2028${"x".repeat(90_000)}`;
const ADA = { "x-user": "ada/Ada" };
const BEA = { "x-user": "ada/Bea" };
const EVE = { "x-user": "eve/Eve" };
const yes = { action: "accept", content: { approve: true } };

let folder: string;
let server: SpawnedTaskServer;
let host: SpawnedHost;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "approvals-"));
  const ask = (message: string, key: string) => ({
    kind: "ask" as const,
    message: "Asking",
    requests: {
      [key]: {
        method: "elicitation/create",
        params: { mode: "form", message, requestedSchema: { type: "object", properties: {} } },
      },
    },
  });
  server = await spawnTaskServer({
    pollIntervalMs: 20,
    taskIds: ["task-that-talks-of-itself"],
    tools: [
      { name: "talks", steps: [ask("I am task-that-talks-of-itself", "key-of-task-that-talks-of-itself")] },
      { name: "hostile", steps: [ask(HOSTILE, "__proto__")] },
    ],
  });
  host = await spawnHost({ serverUrl: server.url, storePath: join(folder, "store"), scopes: ["ada", "eve"] });
});

afterAll(async () => {
  await host.kill();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A call with an open question. */
async function asked(tool = "deploy", args: object = { env: "prod" }, more: object = {}): Promise<TaskView> {
  const id = await host.call("ada", tool, args, more);
  await until(async () => (await detail(id)).inputs.length > 0);
  return detail(id);
}

/** Of its first question. */
const versionOf = ({ inputs }: TaskView): string => inputs[0]?.version ?? "";

async function detail(id: string, headers: Record<string, string> = ADA): Promise<TaskView> {
  return (await (
    await fetch(`${host.url}/task?id=${encodeURIComponent(id)}`, { headers })
  ).json()) as TaskView;
}

it("leaves out the server's task ids, also where the server writes them into its texts and keys", async () => {
  const stream = await openEvents(host.url, ADA);
  const first = await asked("talks", {});
  const { tasks } = await list(host.url, ADA);
  expect(first.inputs).toMatchObject([{ key: "key-of-[task]", message: "I am [task]" }]);
  const event = await stream.until(shows((task) => task.id === first.id && task.inputs.length > 0));
  const [input] = first.inputs;
  const answer = await post(
    host.url,
    "answer",
    { id: first.id, key: input?.key, version: input?.version, response: { action: "accept" } },
    ADA,
  );
  const repeated = await post(
    host.url,
    "answer",
    { id: first.id, key: input?.key, version: input?.version, response: { action: "accept" } },
    ADA,
  );
  expect(repeated.status).toBe(200);
  const bytes = JSON.stringify([tasks, first, event, await answer.json(), await detail(first.id)]);
  expect((await server.tasks()).map(({ taskId }) => taskId)).toContain("task-that-talks-of-itself");
  for (const { taskId } of await server.tasks()) expect(bytes).not.toContain(taskId);
  await stream.close();
});

it("shows a question in the page, takes the answer, shows the outcome", async () => {
  const store = createTasksStore(host.url, { headers: ADA });
  const live = await stateOf(store, ({ connection }) => connection === "live");
  expect(live.loaded).toBe(true);
  const stop = store.subscribe(() => undefined);
  const id = await host.call("ada", "deploy", { env: "prod" }, { context: "conversation 1" });
  const isIt = (task: TaskView): boolean => task.id === id;
  await stateOf(store, (state) => approvalsOf(state).some(({ task }) => isIt(task)));
  const [approval] = approvalsOf(store.getSnapshot().tasks.filter(isIt));
  expect(approval).toMatchObject({
    task: { id, tool: "deploy", server: "ci", status: "input_required", context: "conversation 1" },
    input: { key: "approval", kind: "elicitation-form", message: "Deploy to prod?" },
  });
  expect(await store.answer(id, "approval", yes)).toMatchObject({ kind: "answered" });
  expect(approvalsOf(store.getSnapshot().tasks.filter(isIt))).toEqual([]);
  const over = await stateOf(store, ({ tasks }) => tasks.find(isIt)?.outcome !== undefined);
  expect(over.tasks.find(isIt)).toMatchObject({
    status: "completed",
    answers: [{ key: "approval", action: "accept", by: "Ada", source: "respond" }],
  });
  expect((await store.load(id)).result).toMatchObject({ content: [{ text: "deployed to prod" }] });
  stop();
  store.close();
});

it("F152: two calls of one tool with one key are two questions; an answer to one leaves the other", async () => {
  const [a, b] = [await asked(), await asked()];
  expect(a.id).not.toBe(b.id);
  expect(
    (await post(host.url, "answer", { id: a.id, key: "approval", version: versionOf(a), response: yes }, ADA))
      .status,
  ).toBe(200);
  expect((await detail(a.id)).inputs).toEqual([]);
  expect((await detail(b.id)).inputs).toMatchObject([{ key: "approval" }]);
});

it("F176: hostile texts and keys pass as they are; ids such as __proto__ find nothing and harm nothing", async () => {
  const call = await asked("hostile", {});
  expect(call.inputs).toMatchObject([{ key: "__proto__", message: HOSTILE }]);
  for (const id of ["__proto__", "constructor", "\u0000", "../tasks"]) {
    const response = await fetch(`${host.url}/task?id=${encodeURIComponent(id)}`, { headers: ADA });
    expect(await refusal(response)).toMatchObject({ status: 404, code: "not-found" });
  }
  const body = `{"id":"${call.id}","key":"__proto__","version":"${versionOf(call)}","response":{"action":"decline","__proto__":{"polluted":1}}}`;
  expect((await post(host.url, "answer", body, ADA)).status).toBe(200);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect((await detail(call.id)).answers).toMatchObject([{ key: "__proto__", action: "decline" }]);
});

describe("who sees what", () => {
  it("F175: another scope's calls do not exist, in any route", async () => {
    const mine = await asked();
    const responses = [
      await fetch(`${host.url}/task?id=${mine.id}`, { headers: EVE }),
      await post(
        host.url,
        "answer",
        { id: mine.id, key: "approval", version: versionOf(mine), response: yes },
        EVE,
      ),
      await post(host.url, "cancel", { id: mine.id }, EVE),
    ];
    const unknown = await fetch(`${host.url}/task?id=nothing-of-that-name`, { headers: EVE });
    const expected = await refusal(unknown);
    expect(expected).toMatchObject({ status: 404, code: "not-found" });
    for (const response of responses) expect(await refusal(response)).toEqual(expected);
    expect((await list(host.url, EVE)).tasks).toEqual([]);
    const stream = await openEvents(host.url, EVE);
    expect(await stream.next()).toMatchObject({ event: "snapshot", data: { tasks: [] } });
    await stream.close();
    expect((await detail(mine.id)).inputs).toHaveLength(1);
  });

  it("sends authorize's own response, and refuses a scope without a client", async () => {
    const response = await fetch(`${host.url}/tasks`);
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Session"]);
    const nobody = await fetch(`${host.url}/tasks`, { headers: { "x-user": "mallory/M" } });
    expect(await refusal(nobody)).toMatchObject({ status: 403, code: "forbidden" });
  });
});

describe("answers", () => {
  it("are idempotent for one person, also when the call is over; another's are told who was faster (409)", async () => {
    const call = await asked();
    const { id } = call;
    const version = versionOf(call);
    const answer = (response: object, who: Record<string, string>) =>
      post(host.url, "answer", { id, key: "approval", version, response }, who);
    const first = (await (await answer(yes, ADA)).json()) as { answeredAt: string };
    expect(Number.isNaN(Date.parse(first.answeredAt))).toBe(false);
    const again = { content: { approve: true }, action: "accept" };
    expect(await (await answer(again, ADA)).json()).toEqual(first);
    expect(await refusal(await answer(yes, BEA))).toMatchObject({
      status: 409,
      code: "already-answered",
      answeredAt: first.answeredAt,
      by: "Ada",
    });
    expect(await refusal(await answer({ action: "decline" }, ADA))).toMatchObject({ status: 409, by: "Ada" });
    await until(async () => (await detail(id)).outcome !== undefined);
    expect(await (await answer(yes, ADA)).json()).toEqual(first);
    expect(await refusal(await answer(yes, BEA))).toMatchObject({ status: 409, by: "Ada" });
  });

  it("of many at once exactly one is taken, and it is sent once", async () => {
    const call = await asked();
    const { id } = call;
    const version = versionOf(call);
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        post(
          host.url,
          "answer",
          { id, key: "approval", version, response: i % 2 === 0 ? yes : { action: "decline" } },
          { "x-user": `ada/P${i}` },
        ),
      ),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(11).fill(409)]);
    await until(async () => (await detail(id)).outcome !== undefined);
    expect((await server.counters()).answersConflicting).toBe(0);
  });

  it("that do not fit name the field (422), and nothing is stored", async () => {
    const call = await asked();
    const { id } = call;
    const version = versionOf(call);
    const answer = (response: object) =>
      post(host.url, "answer", { id, key: "approval", version, response }, ADA).then(refusal);
    expect(await answer({ action: "accept", content: { approve: "yes" } })).toMatchObject({
      status: 422,
      code: "invalid-answer",
      field: "content.approve",
    });
    expect(await answer({ action: "perhaps" })).toMatchObject({ status: 422, field: "action" });
    expect((await detail(id)).inputs).toHaveLength(1);
  });

  it("to a call that is over, or a question that is not open, are too late (410)", async () => {
    const call = await asked();
    const { id } = call;
    const version = versionOf(call);
    const noSuchKey = { id, key: "nothing", version, response: yes };
    expect(await refusal(await post(host.url, "answer", noSuchKey, ADA))).toMatchObject({ status: 410 });
    const done = await host.call("ada", "slow", { ms: 0 });
    await until(async () => (await detail(done)).outcome !== undefined);
    const late = await post(host.url, "answer", { id: done, key: "approval", version, response: yes }, ADA);
    expect(await refusal(late)).toMatchObject({ status: 410, code: "over" });
  });
});

describe("cancelling", () => {
  it("is answered when it was asked (202), shown, and 410 once the call is over", async () => {
    const stream = await openEvents(host.url, ADA);
    const id = await host.call("ada", "cancellable", { lagMs: 50 });
    const response = await post(host.url, "cancel", { id }, ADA);
    expect([response.status, await response.json()]).toEqual([202, {}]);
    await stream.until(shows((task) => task.id === id && task.cancelRequested));
    await stream.until(shows((task) => task.id === id && task.outcome?.status === "cancelled"));
    const again = await post(host.url, "cancel", { id }, ADA);
    expect(await refusal(again)).toMatchObject({ status: 410, code: "over" });
    await stream.close();
  });
});

describe("requests that are not as expected", () => {
  const cancel = (init: RequestInit) => fetch(`${host.url}/cancel`, { method: "POST", ...init });
  const json = { ...ADA, "content-type": "application/json" };

  it.each([
    ["no such route", 404, "not-found", () => fetch(`${host.url}/nothing`, { headers: ADA })],
    [
      "a path that decodes to nothing",
      404,
      "not-found",
      () => fetch(`${host.url}/%E0%A4%A`, { headers: ADA }),
    ],
    [
      "an object's own names as a route",
      404,
      "not-found",
      () => fetch(`${host.url}/constructor`, { headers: ADA }),
    ],
    ["no id", 400, "bad-request", () => fetch(`${host.url}/task`, { headers: ADA })],
    [
      "a query without end",
      400,
      "bad-request",
      () => fetch(`${host.url}/task?id=a&${"x".repeat(9000)}`, { headers: ADA }),
    ],
    [
      "an id without end",
      404,
      "not-found",
      () => fetch(`${host.url}/task?id=${"x".repeat(5000)}`, { headers: ADA }),
    ],
    [
      "a query that decodes to nothing",
      404,
      "not-found",
      () => fetch(`${host.url}/task?id=%zz`, { headers: ADA }),
    ],
    ["no JSON", 400, "bad-request", () => cancel({ headers: json, body: "{" })],
    [
      "no UTF-8",
      400,
      "bad-request",
      () => cancel({ headers: json, body: new Uint8Array([0x22, 0xff, 0x22]) }),
    ],
    ["no object", 400, "bad-request", () => cancel({ headers: json, body: "[]" })],
    ["no body", 400, "bad-request", () => cancel({ headers: json })],
    ["an id that is no text", 400, "bad-request", () => cancel({ headers: json, body: '{"id":1}' })],
    [
      "a deep body",
      400,
      "bad-request",
      () => cancel({ headers: json, body: '{"id":'.repeat(2000) + "1" + "}".repeat(2000) }),
    ],
    [
      "a body that a form could send",
      415,
      "unsupported-media-type",
      () => cancel({ headers: { ...ADA, "content-type": "text/plain" }, body: "{}" }),
    ],
    [
      "a type that only begins like JSON",
      415,
      "unsupported-media-type",
      () => cancel({ headers: { ...ADA, "content-type": "application/json-seq" }, body: "{}" }),
    ],
    [
      "a large body",
      413,
      "too-large",
      () => cancel({ headers: json, body: JSON.stringify({ id: "x".repeat(300_000) }) }),
    ],
  ] as const)("%s: %i %s", async (_what, status, code, send) => {
    const response = await send();
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await refusal(response)).toMatchObject({ status, code });
  });

  it("a charset beside application/json is fine", async () => {
    const headers = { ...ADA, "content-type": "application/json; charset=utf-8" };
    expect((await cancel({ headers, body: '{"id":"nothing"}' })).status).toBe(404);
  });

  it("bytes are counted while they come, without a content-length (413)", async () => {
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(0x20)),
    });
    const response = await cancel({ headers: json, body, duplex: "half" } as RequestInit);
    expect(await refusal(response)).toMatchObject({ status: 413, code: "too-large" });
  });

  it("other methods are told which is meant (405), OPTIONS gets no CORS headers, HEAD no body", async () => {
    const wrong = await fetch(`${host.url}/answer`, { headers: ADA });
    expect(wrong.headers.get("allow")).toBe("POST, OPTIONS");
    expect(await refusal(wrong)).toMatchObject({ status: 405, code: "method-not-allowed" });
    const put = await fetch(`${host.url}/tasks`, { method: "PUT", headers: ADA });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    const options = await fetch(`${host.url}/answer`, { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow")]).toEqual([204, "POST, OPTIONS"]);
    expect([...options.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    for (const route of ["tasks", "events"]) {
      const head = await fetch(`${host.url}/${route}`, { method: "HEAD", headers: ADA });
      expect([head.status, await head.text()]).toEqual([200, ""]);
    }
  });
});

describe("requests of other sites", () => {
  /** By node:http, which sends the headers that fetch keeps to itself. */
  function send(headers: Record<string, string>, method = "POST"): Promise<number> {
    const route = method === "POST" ? "cancel" : "tasks";
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        `${host.url}/${route}`,
        { method, headers: { ...ADA, "content-type": "application/json", ...headers } },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      request.once("error", reject);
      request.end(method === "POST" ? '{"id":"nothing"}' : undefined);
    });
  }

  it.each([
    ["no browser at all", {}, 404],
    ["the same origin", { "sec-fetch-site": "same-origin", origin: "http://127.0.0.1" }, 404],
    ["typed by the person", { "sec-fetch-site": "none" }, 404],
    ["another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }, 403],
    ["another site that hides its origin", { "sec-fetch-site": "cross-site" }, 403],
    ["a sister site", { "sec-fetch-site": "same-site", origin: "https://other.example" }, 403],
    ["an older browser, another host", { origin: "https://evil.example" }, 403],
    ["an older browser, nonsense", { origin: "nonsense" }, 403],
    ["a sandboxed frame", { origin: "null" }, 403],
    ["a sandboxed frame that says more", { origin: "null", "sec-fetch-site": "same-origin" }, 403],
    ["an origin that is let in", { origin: "https://chat.example", "sec-fetch-site": "cross-site" }, 404],
    ["an origin that only looks like it", { origin: "https://chat.example.evil.example" }, 403],
  ] as const)("%s: %j %i", async (_what, headers, status) => {
    expect(await send(headers)).toBe(status);
  });

  it("an older browser behind a proxy that ends TLS: the host is the same, the scheme is not", async () => {
    expect(await send({ origin: `https://127.0.0.1:${host.port}` })).toBe(404);
    expect(await send({ origin: `https://127.0.0.1:${host.port + 1}` })).toBe(403);
  });

  it("are refused for reading too: nobody else's page holds our streams", async () => {
    expect(await send({ "sec-fetch-site": "cross-site" }, "GET")).toBe(403);
    expect(await send({ "sec-fetch-site": "same-origin" }, "GET")).toBe(200);
  });
});

it("nothing failed within the host", () => {
  expect(host.errors()).toBe("");
});
