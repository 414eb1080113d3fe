/** Questions of tasks, put to the handlers that the host registered on its SDK client. */
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { withTasks, type CallbackError, type JsonObject } from "../../src/index.js";
import { createDeferred } from "../../src/internal/deferred.js";
import { META_CLIENT_CAPABILITIES, META_CLIENT_INFO, TASKS_EXTENSION } from "../../src/protocol/index.js";
import { startServer, stdioServers } from "../connection/sdk/support.js";
import { startRaw, stopServers } from "../helpers/legacy.js";
import { ALL, FAST, hostTwo, httpOne, newOne, newTwo, wrappedOne, wrappedTwo } from "./withTasksSupport.js";

afterAll(stopServers);

const properties = { approve: { type: "boolean" } };
const question = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Sure?",
    requestedSchema: { type: "object", properties, required: ["approve"] },
  },
};
const yes: ElicitResult = { action: "accept", content: { approve: true } };
const sample = { role: "assistant", model: "m", content: { type: "text", text: "hi" } } as const;
const roots = { roots: [{ uri: "file:///here" }] };
const text = ({ content }: { content?: { text?: string }[] }): string => content?.[0]?.text ?? "";

type Handler = (
  request: { params: Record<string, unknown> },
  extra: { signal?: AbortSignal; mcpReq?: { signal: AbortSignal } },
) => Promise<ElicitResult>;

describe("2.x, on a server of 2026-07-28", () => {
  test("elicitation by form and URL, sampling and roots are answered by the client's handlers", async () => {
    const server = await startServer();
    const client = newTwo(ALL);
    const asked: string[] = [];
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(`${params.mode ?? "form"}: ${params.message}`);
      return params.mode === "url" ? { action: "accept" } : yes;
    });
    client.setRequestHandler("sampling/createMessage", async () => sample);
    client.setRequestHandler("roots/list", async () => roots);
    const { call } = await wrappedTwo(server.url, {}, client);
    expect(await call({ name: "deploy" })).toMatchObject({ structuredContent: { deployed: true } });
    expect(await call({ name: "ask_url" })).toMatchObject({
      structuredContent: { answers: { answer: { action: "accept" } } },
    });
    expect(await call({ name: "ask_sampling" })).toMatchObject({
      structuredContent: { answers: { answer: sample } },
    });
    expect(await call({ name: "ask_roots" })).toMatchObject({
      structuredContent: { answers: { answer: roots } },
    });
    expect(asked).toEqual(["form: Deploy to prod?", "url: Sign in to go on"]);
    expect(server.violations()).toEqual([]);
  });

  test("over stdio too", async () => {
    const client = newTwo(ALL);
    client.setRequestHandler("elicitation/create", async () => yes);
    const wrapped = withTasks(client, FAST);
    onTestFinished(() => wrapped.close());
    await wrapped.connect(stdioServers().next());
    const answer = await hostTwo(wrapped).call({ name: "deploy" });
    expect(answer).toMatchObject({ structuredContent: { deployed: true } });
  });

  test("before a task, in several rounds", async () => {
    const server = await startServer();
    const client = newTwo(ALL);
    let round = 0;
    client.setRequestHandler("elicitation/create", async () => ({
      action: "accept",
      content: { name: `n${(round += 1)}` },
    }));
    const { call } = await wrappedTwo(server.url, {}, client);
    const answer = await call({ name: "round_trip", arguments: { rounds: 2, ms: 30 } });
    expect(answer).toMatchObject({
      structuredContent: {
        answers: [{ round_1: { content: { name: "n1" } } }, { round_2: { content: { name: "n2" } } }],
      },
    });
    expect(server.violations()).toEqual([]);
  });

  test.each([
    ["nothing", {}],
    ["forms", { elicitation: { form: {} } }],
    ["all", ALL],
  ])(
    "requests say what the host declared (%s) and who it is, and no key of ours",
    async (_name, capabilities) => {
      const server = await startServer({ push: true });
      const { call } = await wrappedTwo(server.url, { push: "always" }, newTwo(capabilities));
      await call({
        name: "slow",
        arguments: { ms: 600 },
        _meta: {
          "mcp-taskrail/callId": "secret-call",
          "mcp-taskrail/context": { chat: 1 },
          traceparent: "00-a-b-01",
        },
      });
      const ours = server.log().filter(({ id }) => String(id).startsWith("mcp-taskrail-"));
      expect(new Set(ours.map(({ method }) => method))).toContain("subscriptions/listen");
      for (const { params } of ours) {
        const meta = params["_meta"] as JsonObject;
        expect(meta[META_CLIENT_CAPABILITIES]).toEqual({
          ...capabilities,
          extensions: { [TASKS_EXTENSION]: {} },
        });
        expect(meta[META_CLIENT_INFO]).toEqual({ name: "host-two", version: "2.0.0" });
      }
      expect(JSON.stringify(server.log())).not.toContain("mcp-taskrail/");
      expect(ours.find(({ method }) => method === "tools/call")?.params["_meta"]).toMatchObject({
        traceparent: "00-a-b-01",
      });
    },
  );

  test("options of the wrapper come before what the client declares", async () => {
    const server = await startServer();
    const options = { clientInfo: { name: "mine", version: "9" }, onInputRequest: () => yes as JsonObject };
    const { call } = await wrappedTwo(server.url, options, newTwo());
    expect(await call({ name: "deploy" })).toMatchObject({ structuredContent: { deployed: true } });
    const meta = server.log().find(({ method }) => method === "tools/call")?.params["_meta"] as JsonObject;
    expect(meta[META_CLIENT_INFO]).toEqual(options.clientInfo);
  });
});

interface Rig {
  /** Wraps a client with this handler, connects it, and calls a tool that asks. */
  start(handler: Handler | undefined): Promise<{
    answer: Promise<Record<string, unknown>>;
    taskClient: ReturnType<typeof withTasks>["taskClient"];
    /** The question is answered elsewhere, or the task ends. */
    withdraw(): Promise<void>;
    /** The client loses its transport, and gets another. */
    reconnect(): Promise<void>;
  }>;
}

const legacyRig: Rig = {
  async start(handler) {
    const server = await startRaw();
    const client = newOne(ALL);
    if (handler !== undefined) client.setRequestHandler(ElicitRequestSchema, handler);
    const { call, client: wrapped } = await wrappedOne(server.url, { identity: "raw" }, client);
    const answer = call({ name: "must", arguments: { questions: [question] } });
    answer.catch(() => undefined);
    return {
      answer,
      taskClient: wrapped.taskClient,
      async withdraw() {
        for (const task of await wrapped.taskClient.tasks()) await task.cancel();
      },
      async reconnect() {
        await client.close();
        await wrapped.connect(httpOne(server.url));
      },
    };
  },
};

const modernRig: Rig = {
  async start(handler) {
    const server = await startServer();
    const client = newTwo(ALL);
    if (handler !== undefined) client.setRequestHandler("elicitation/create", handler as never);
    const { call, client: wrapped } = await wrappedTwo(server.url, { identity: "modern" }, client);
    const answer = call({ name: "deploy" });
    answer.catch(() => undefined);
    return {
      answer,
      taskClient: wrapped.taskClient,
      async withdraw() {
        for (const task of await wrapped.taskClient.tasks()) await task.cancel();
      },
      async reconnect() {
        await client.close();
        const { httpTwo } = await import("./withTasksSupport.js");
        await wrapped.connect(httpTwo(server.url));
      },
    };
  },
};

describe.each([
  ["1.x", legacyRig],
  ["2.x", modernRig],
])("handlers of a client %s", (_name, rig) => {
  test("F134: without one, the question stays open for whoever answers it", async () => {
    const { answer, taskClient } = await rig.start(undefined);
    await expect.poll(async () => (await taskClient.pendingInputs()).length, { timeout: 10_000 }).toBe(1);
    const [pending] = await taskClient.pendingInputs();
    if (pending === undefined) throw new Error("no question");
    expect(pending).toMatchObject({ kind: "elicitation-form" });
    await taskClient.respond(pending.id, pending.key, yes as JsonObject);
    expect(JSON.stringify(await answer)).toContain("approve");
  });

  test("one that throws is told, and the question stays open", async () => {
    const { answer, taskClient } = await rig.start(async () => Promise.reject(new Error("the dialog broke")));
    const errors: unknown[] = [];
    taskClient.on("error", ({ error }) => errors.push(error));
    await expect.poll(() => errors.length, { timeout: 10_000 }).toBe(1);
    expect((errors[0] as CallbackError).code).toBe("CALLBACK");
    expect(String((errors[0] as CallbackError).cause)).toContain("the dialog broke");
    const [pending] = await taskClient.pendingInputs();
    if (pending === undefined) throw new Error("no question");
    await taskClient.respond(pending.id, pending.key, yes as JsonObject);
    await answer;
    expect(errors).toHaveLength(1);
  });

  test("a question that is withdrawn aborts its handler's signal", async () => {
    const aborted = createDeferred<void>();
    const asked = createDeferred<void>();
    const run = await rig.start(async (_request, { signal, mcpReq }) => {
      asked.resolve();
      const given = signal ?? mcpReq?.signal;
      return new Promise((resolve) =>
        given?.addEventListener("abort", () => {
          aborted.resolve();
          resolve(yes);
        }),
      );
    });
    await asked.promise;
    await run.withdraw();
    await aborted.promise;
  });

  test("a transport that is lost while the handler runs: it is asked again over the next, once", async () => {
    const asked: string[] = [];
    const first = createDeferred<void>();
    const run = await rig.start(async ({ params }) => {
      asked.push(params["message"] as string);
      first.resolve();
      // The first dialog never ends; its client is gone.
      return asked.length === 1 ? new Promise(() => undefined) : yes;
    });
    await first.promise;
    await run.reconnect();
    await expect.poll(() => asked.length, { timeout: 10_000 }).toBe(2);
    await expect
      .poll(async () => (await run.taskClient.tasks())[0]?.status, { timeout: 10_000 })
      .toBe("completed");
    expect(asked).toHaveLength(2);
  });
});

test("1.x: sampling and roots of a task go to the client's handlers; what is no task's goes there by itself", async () => {
  const server = await startRaw();
  const client = newOne(ALL);
  const asked: string[] = [];
  client.setRequestHandler(CreateMessageRequestSchema, async () => {
    asked.push("sampling");
    return sample;
  });
  client.setRequestHandler(ListRootsRequestSchema, async () => {
    asked.push("roots");
    return roots;
  });
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    asked.push(params.mode === "url" ? "url" : "form");
    return params.mode === "url" ? { action: "accept" } : yes;
  });
  const { call } = await wrappedOne(server.url, {}, client);
  const questions = [
    { method: "sampling/createMessage", params: { messages: [], maxTokens: 10 } },
    { method: "roots/list", params: {} },
    {
      method: "elicitation/create",
      params: { mode: "url", message: "Go", url: "https://a.example/", elicitationId: "e" },
    },
    question,
  ];
  const answer = await call({ name: "must", arguments: { questions } });
  expect(JSON.parse(text(answer))).toEqual([sample, roots, { action: "accept" }, yes]);
  expect(asked.sort()).toEqual(["form", "roots", "sampling", "url"]);
});
