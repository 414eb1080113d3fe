/**
 * The published JSON Schemas and examples are the judges: what goes out fits the schemas, every published example is
 * read, and what the schemas make required is missed.
 */
import { readFileSync } from "node:fs";
import { Ajv2020, type AnySchema } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { httpConnection } from "../../src/connection/http.js";
import { readMessage } from "../../src/connection/rpc.js";
import type { JsonObject } from "../../src/internal/json.js";
import {
  checkInputResponse,
  inputResponsesObject,
  readCallAnswer,
  readDescription,
  readInputRequest,
  readTaskAnswer,
  readTaskSnapshot,
  type InputRequest,
} from "../../src/protocol/index.js";
import { json, requestOptions, resultText } from "../connection/support.js";
import { startRawServer, type RawServer } from "../helpers/rawServer.js";

const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../fixtures/schema/${name}`, import.meta.url), "utf8"));
const examples = fixture("examples.json") as Record<string, Record<string, JsonObject>>;

const ajv = new Ajv2020({ strict: false, allErrors: true });
(addFormats as unknown as (to: Ajv2020) => void)(ajv);
ajv.addSchema(fixture("mcp.2026-07-28.schema.json") as AnySchema, "mcp");
ajv.addSchema(fixture("tasks-extension.2026-07-28.schema.json") as AnySchema, "tasks");

function problems(schema: "mcp" | "tasks", type: string, value: unknown): string[] {
  const validate = ajv.getSchema(`${schema}#/$defs/${type}`);
  if (validate === undefined) throw new Error(`no schema ${type}`);
  return validate(value)
    ? []
    : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

function each(type: string): [string, JsonObject][] {
  const found = Object.entries(examples[type] ?? {});
  if (found.length === 0) throw new Error(`no examples of ${type}`);
  return found;
}

const EVERYTHING = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };
function question(method: string, params: JsonObject): InputRequest {
  const outcome = readInputRequest(method, params, EVERYTHING);
  if (!outcome.ok) throw new Error(outcome.message);
  return outcome.request;
}

describe("what goes out fits the published schemas", () => {
  let server: RawServer;
  beforeAll(async () => {
    server = await startRawServer();
  });
  afterAll(() => server.stop());

  const inputResponses = inputResponsesObject([
    ["a", { action: "accept", content: { n: 1, s: "x", b: true, l: ["y"] } }],
    ["b", { action: "decline" }],
    ["c", { roots: [{ uri: "file:///a" }] }],
    ["d", { role: "assistant", model: "m", content: { type: "text", text: "t" } }],
  ]);
  const cases: ["mcp" | "tasks", string, string, JsonObject][] = [
    ["mcp", "DiscoverRequest", "server/discover", {}],
    ["mcp", "ListToolsRequest", "tools/list", { cursor: "c" }],
    ["mcp", "CallToolRequest", "tools/call", { name: "t", arguments: { a: 1 } }],
    ["mcp", "CallToolRequest", "tools/call", { name: "t", requestState: "s", inputResponses }],
    ["tasks", "GetTaskRequest", "tasks/get", { taskId: "task-0001" }],
    ["tasks", "UpdateTaskRequest", "tasks/update", { taskId: "task-0001", inputResponses }],
    ["tasks", "CancelTaskRequest", "tasks/cancel", { taskId: "task-0001" }],
    [
      "mcp",
      "SubscriptionsListenRequest",
      "subscriptions/listen",
      { notifications: { taskIds: ["task-0001"] } },
    ],
  ];
  for (const [schema, type, method, params] of cases) {
    it(`${method} is a ${type}`, async () => {
      const connection = httpConnection(await server.script("/schema", json(resultText({}))));
      await connection.request(method, params, {
        ...requestOptions,
        capabilities: { ...EVERYTHING, extensions: {} },
      });
      const message: unknown = JSON.parse((await server.log("/schema")).at(-1)?.body ?? "");
      expect(problems(schema, type, message)).toEqual([]);
      expect(problems("mcp", "RequestParams", (message as { params: unknown }).params)).toEqual([]);
      // The judge is awake: the same without its envelope does not pass.
      expect(problems("mcp", "RequestParams", params)).not.toEqual([]);
    });
  }

  it("normalised input responses are InputResponses of both schemas", () => {
    expect(problems("mcp", "InputResponses", inputResponses)).toEqual([]);
    expect(problems("tasks", "InputResponses", inputResponses)).toEqual([]);
  });
});

describe("every published example is read", () => {
  for (const [name, example] of each("CallToolResult")) {
    it(`CallToolResult ${name}`, () => {
      expect(readCallAnswer(example)).toEqual({ kind: "result", result: example });
    });
  }

  for (const [name, example] of each("InputRequiredResult")) {
    it(`InputRequiredResult ${name}`, () => {
      const answer = readCallAnswer(example);
      if (answer.kind !== "input_required") throw new Error(answer.kind);
      expect(answer.requestState).toBe(example["requestState"]);
      expect(answer.inputRequests.map(([key]) => key)).toEqual(Object.keys(example["inputRequests"] ?? {}));
      for (const [, { method, params }] of answer.inputRequests) question(method, params);
    });
  }

  it("InputRequests, answered by InputResponses", () => {
    const [, requests] = each("InputRequests")[0] ?? [];
    const [, responses] = each("InputResponses")[0] ?? [];
    for (const [key, request] of Object.entries(requests ?? {})) {
      const { method, params } = request as { method: string; params: JsonObject };
      const response = responses?.[key];
      expect(checkInputResponse(question(method, params), response)).toEqual(response);
    }
  });

  for (const type of ["ElicitRequest", "CreateMessageRequest", "ListRootsRequest"]) {
    for (const [name, example] of each(type)) {
      it(`${type} ${name}`, () => {
        question(example["method"] as string, (example["params"] ?? {}) as JsonObject);
      });
    }
  }
  for (const [type, method] of [
    ["ElicitRequestFormParams", "elicitation/create"],
    ["ElicitRequestURLParams", "elicitation/create"],
    ["CreateMessageRequestParams", "sampling/createMessage"],
  ] as const) {
    for (const [name, example] of each(type)) it(`${type} ${name}`, () => void question(method, example));
  }

  it("ElicitResult, for the requests they belong to", () => {
    const forms = examples["ElicitRequestFormParams"] ?? {};
    const results = examples["ElicitResult"] ?? {};
    for (const [form, result] of [
      ["elicit-multiple-fields", "input-multiple-fields"],
      ["elicit-single-field", "input-single-field"],
    ] as const) {
      const request = question("elicitation/create", forms[form] ?? {});
      expect(checkInputResponse(request, results[result])).toEqual(results[result]);
    }
    const [, url] = each("ElicitRequestURLParams")[0] ?? [];
    const accepted = results["accept-url-mode-no-content"];
    expect(checkInputResponse(question("elicitation/create", url ?? {}), accepted)).toEqual(accepted);
  });

  for (const [name, example] of each("CreateMessageResult")) {
    it(`CreateMessageResult ${name}`, () => {
      const request = question(
        "sampling/createMessage",
        examples["CreateMessageRequestParams"]?.["request-with-tools"] ?? {},
      );
      expect(checkInputResponse(request, example)).toEqual(example);
    });
  }
  for (const [name, example] of each("ListRootsResult")) {
    it(`ListRootsResult ${name}`, () => {
      expect(checkInputResponse(question("roots/list", {}), example)).toEqual(example);
    });
  }

  for (const type of [
    "BooleanSchema",
    "NumberSchema",
    "StringSchema",
    "TitledMultiSelectEnumSchema",
    "TitledSingleSelectEnumSchema",
    "UntitledMultiSelectEnumSchema",
    "UntitledSingleSelectEnumSchema",
  ]) {
    for (const [name, schema] of each(type)) {
      it(`${type} ${name}: its default is an answer, which the published schema takes too`, () => {
        const request = question("elicitation/create", {
          message: "m",
          requestedSchema: { type: "object", properties: { a: schema } },
        });
        const response = { action: "accept", content: { a: schema["default"] } };
        expect(checkInputResponse(request, response)).toEqual(response);
        expect(problems("mcp", "ElicitResult", response)).toEqual([]);
        expect(() => checkInputResponse(request, { action: "accept", content: { a: { odd: 1 } } })).toThrow();
      });
    }
  }

  it("DiscoverResult", () => {
    const [, example] = each("DiscoverResult")[0] ?? [];
    expect(readDescription(example ?? {})).toMatchObject({
      name: "ExampleServer",
      version: "1.0.0",
      supportedVersions: ["2026-07-28"],
      tasks: false,
      ttlMs: 3_600_000,
    });
  });

  for (const type of [
    "HeaderMismatchError",
    "MissingRequiredClientCapabilityError",
    "UnsupportedProtocolVersionError",
  ]) {
    for (const [name, example] of each(type)) {
      it(`${type} ${name}`, () => {
        const incoming = readMessage({ ...example, id: "own" }, "own");
        expect(incoming).toMatchObject({ kind: "error", error: example["error"] });
      });
    }
  }
  for (const type of ["InternalError", "InvalidParamsError", "MethodNotFoundError"]) {
    for (const [name, example] of each(type)) {
      it(`${type} ${name}`, () => {
        const incoming = readMessage({ jsonrpc: "2.0", id: "own", error: example }, "own");
        expect(incoming).toMatchObject({ kind: "error", error: example });
      });
    }
  }
  for (const type of ["ProgressNotification", "SubscriptionsAcknowledgedNotification"]) {
    for (const [name, example] of each(type)) {
      it(`${type} ${name}`, () => {
        const { method, params } = example;
        expect(readMessage(example, "own")).toEqual({ kind: "notice", notice: { method, params } });
      });
    }
  }
});

describe("tasks: reader and published schema agree on what matters", () => {
  const base = {
    taskId: "task-0001",
    createdAt: "2026-07-28T10:30:00Z",
    lastUpdatedAt: "2026-07-28T10:30:00Z",
    ttlMs: 60_000,
    pollIntervalMs: 500,
  };
  const states: Record<string, JsonObject> = {
    working: { ...base, status: "working", statusMessage: "half" },
    unlimited: { ...base, status: "working", ttlMs: null },
    input_required: {
      ...base,
      status: "input_required",
      inputRequests: examples["InputRequests"]?.["elicitation-and-sampling-input-requests"] ?? {},
    },
    completed: {
      ...base,
      status: "completed",
      result: examples["CallToolResult"]?.["result-with-unstructured-text"] ?? {},
    },
    failed: { ...base, status: "failed", error: examples["InternalError"]?.["unexpected-error"] ?? {} },
    cancelled: { ...base, status: "cancelled" },
  };

  for (const [name, state] of Object.entries(states)) {
    it(`${name}: what the schema takes is read without a warning`, () => {
      const answer = { resultType: "complete", ...state };
      expect(problems("tasks", "GetTaskResult", answer)).toEqual([]);
      const snapshot = readTaskAnswer(answer, "task-0001");
      expect(snapshot.warnings).toEqual([]);
      expect(readTaskSnapshot(state)).toEqual(snapshot);
    });

    it(`${name}: without task id or status neither takes it`, () => {
      for (const field of ["taskId", "status"]) {
        const { [field]: _, ...without }: JsonObject = { resultType: "complete", ...state };
        expect(problems("tasks", "GetTaskResult", without)).not.toEqual([]);
        expect(() => readTaskAnswer(without, "task-0001")).toThrow();
      }
    });
  }

  for (const [name, payload] of [
    ["completed", "result"],
    ["failed", "error"],
  ] as const) {
    it(`${name} without its ${payload}: the schema refuses it, the reader warns`, () => {
      const { [payload]: _, ...without } = states[name] ?? {};
      expect(problems("tasks", "DetailedTask", without)).not.toEqual([]);
      expect(readTaskSnapshot(without).warnings).toEqual([expect.stringContaining(payload)]);
    });
  }

  it("CreateTaskResult, and the pushed state", () => {
    const handle = { resultType: "task", ...states["working"] };
    expect(problems("tasks", "CreateTaskResult", handle)).toEqual([]);
    expect(readCallAnswer(handle)).toMatchObject({ kind: "task", snapshot: { status: "working" } });
    const pushed = { jsonrpc: "2.0", method: "notifications/tasks", params: states["completed"] };
    expect(problems("tasks", "TaskStatusNotification", pushed)).toEqual([]);
    expect(readTaskSnapshot(pushed.params)).toMatchObject({ status: "completed", warnings: [] });
  });
});
