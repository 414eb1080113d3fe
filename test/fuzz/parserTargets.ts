/** Owns the targets that read what servers answer, each by its own parser. */
import fc from "fast-check";
import { readMessage, rpcError } from "../../src/connection/rpc.js";
import { MAX_RETRY_AFTER_MS, readRetryAfter } from "../../src/connection/failures.js";
import { isTooDeep, type JsonObject } from "../../src/internal/json.js";
import {
  checkInputResponse,
  decodeHeaderValue,
  encodeHeaderValue,
  mirroredHeaders,
  readCallAnswer,
  readCompleteAnswer,
  readDescription,
  readInputRequest,
  readTaskAnswer,
  readToolsPage,
  requestHeaders,
  type InputRequest,
} from "../../src/protocol/index.js";
import {
  isQuestion,
  legacyParams,
  modernCallAnswer,
  modernTask,
  offersToolTasks,
  plainResult,
  questionParams,
  relatedTaskId,
  taskSupportOf,
} from "../../src/protocol/legacy.js";
import { isObject } from "../../src/internal/json.js";
import { honest } from "./fromSchema.js";
import { judged, must, plain, sameJson, structure, type Verdict } from "./guard.js";
import {
  anyJson,
  anyValue,
  hostileJson,
  hostileText,
  mutated,
  objectOf,
  PLANTED,
  type Value,
} from "./hostile.js";

const TASK = PLANTED;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
const EVERYTHING = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

/** Honest answers with changes, and hostile ones; objects, as the connection hands them on. */
function answers(...honestOnes: fc.Arbitrary<Value>[]): fc.Arbitrary<JsonObject> {
  return fc
    .oneof({ weight: 5, arbitrary: mutated(fc.oneof(...honestOnes)) }, { weight: 1, arbitrary: anyJson })
    .map((value) => (isObject(value) ? value : { result: value }) as JsonObject);
}

/** With the task id that was asked for. */
const withId = (value: Value): Value =>
  isObject(value) ? objectOf([...Object.entries(value), ["taskId", TASK]]) : value;
const withType =
  (type: string) =>
  (value: Value): Value =>
    isObject(value) ? objectOf([...Object.entries(value), ["resultType", type]]) : value;

export const callAnswer = answers(
  honest("mcp", "CallToolResult"),
  honest("mcp", "InputRequiredResult").map(withType("input_required")),
  honest("tasks", "CreateTaskResult").map(withType("task")).map(withId),
);
export const taskAnswer = answers(honest("tasks", "GetTaskResult").map(withId));
export const ackAnswer = answers(honest("tasks", "UpdateTaskResult"), honest("tasks", "CancelTaskResult"));
export const toolsAnswer = answers(honest("mcp", "ListToolsResult"));
export const discoverAnswer = answers(honest("mcp", "DiscoverResult"));
export const noticeParams = answers(honest("tasks", "TaskStatusNotificationParams").map(withId));

/** Annotated tools: honest schemas lack the annotation. */
const annotatedTool: fc.Arbitrary<Value> = fc
  .tuple(
    fc.constantFrom<Value>("string", "integer", "boolean", "number", "object"),
    fc.oneof(fc.constantFrom<Value>("Region", "region", "", "a b", "x\r\ny"), hostileText),
    fc.oneof(fc.constantFrom("a", "b", "__proto__"), hostileText),
  )
  .map(([type, header, name]) => ({
    name: "tool",
    inputSchema: { type: "object", properties: objectOf([[name, { type, "x-mcp-header": header }]]) },
  }));

const SAFE_KEYS = ["content", "structuredContent", "isError"];

function checkCallAnswer(raw: JsonObject): Verdict {
  return judged(() => {
    const answer = readCallAnswer(raw);
    if (answer.kind === "task") {
      plain(answer.snapshot, "a snapshot");
      must(answer.snapshot.taskId !== "", "a handle without a task id");
      return;
    }
    if (answer.kind === "input_required") return;
    must(!isTooDeep(answer.result), "a result that is too deep");
    must(
      SAFE_KEYS.some((key) => key in answer.result),
      "a result without content",
    );
    sameJson(readCallAnswer(answer.result), answer, "a result, read again");
  });
}

function checkTaskAnswer(raw: JsonObject): Verdict {
  return judged(() => {
    const snapshot = readTaskAnswer(raw, TASK);
    plain({ ...snapshot, result: 0, error: 0, extra: 0, inputRequests: 0 }, "a snapshot");
    must(snapshot.taskId === TASK, "the state of another task");
    for (const ms of [snapshot.ttlMs, snapshot.pollIntervalMs]) {
      must(
        ms === undefined || ms === null || (Number.isSafeInteger(ms) && ms > 0),
        "a hint that is no duration",
      );
    }
    must(!snapshot.warnings.join().includes(PLANTED), "a warning shows a secret");
    // Whatever was kept can be stored.
    JSON.stringify(snapshot);
  });
}

function checkTools([raw, args]: [JsonObject, Value]): Verdict {
  let usable = false;
  const verdict = judged(
    () => {
      const page = readToolsPage(raw);
      for (const tool of page.tools) {
        const headers = mirroredHeaders(tool, isObject(args) ? args : {});
        for (const [name, value] of Object.entries(headers)) {
          must(/^Mcp-Param-[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name), "a header name that is none");
          must(HEADER_VALUE.test(value), "a header value that is none");
        }
      }
      usable = page.tools.length > 0;
    },
    { shows: "server text" },
  );
  return usable ? verdict : "refused";
}

function checkLegacy([raw, meta]: [JsonObject, Value]): Verdict {
  plain(modernTask(raw), "a task");
  plainResult(raw);
  legacyParams(raw, isObject(meta) ? meta : undefined);
  questionParams(raw);
  isQuestion("elicitation/create", raw);
  must(["required", "optional", "forbidden"].includes(taskSupportOf(raw)), "no task support");
  offersToolTasks(raw);
  relatedTaskId(raw);
  return checkCallAnswer(modernCallAnswer(raw));
}

function checkQuestion([raw, answer]: [Value, unknown]): Verdict {
  const { method, params } = (isObject(raw) ? raw : {}) as { method?: unknown; params?: unknown };
  if (typeof method !== "string" || !isObject(params)) return "refused";
  const read = readInputRequest(method, params as JsonObject, EVERYTHING);
  if (!read.ok) {
    must(!read.message.includes(PLANTED), "a refusal shows a secret");
    return "refused";
  }
  if (read.request.kind === "elicitation-url") {
    const { protocol, username, password } = new URL(read.request.url);
    must(/^https?:$/.test(protocol) && username + password === "", "a URL that must not be shown");
  }
  return checkAnswer([read.request, answer]);
}

/** The answer as it would be sent is JSON, and fits again. */
function checkAnswer([request, answer]: [InputRequest, unknown]): Verdict {
  return judged(
    () => {
      const checked = checkInputResponse(request, answer);
      const text = JSON.stringify(checked);
      sameJson(checkInputResponse(request, JSON.parse(text)), checked, "an answer, checked again");
    },
    { shows: "server text" },
  );
}

const formSchema: fc.Arbitrary<Value> = fc
  .dictionary(
    fc.constantFrom("a", "b", "__proto__", "constructor"),
    mutated(honest("mcp", "PrimitiveSchemaDefinition")),
    { maxKeys: 3 },
  )
  .map((properties) => ({
    type: "object",
    properties: objectOf(Object.entries(properties)),
    $defs: { a: { $ref: "#/$defs/a" }, b: { type: "string" } },
  }));
const formValue = fc.oneof(
  hostileText,
  fc.integer({ min: -10, max: 10 }),
  fc.double(),
  fc.boolean(),
  fc.array(hostileText, { maxLength: 3 }),
  anyValue,
);
const formAnswer: fc.Arbitrary<unknown> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .array(fc.tuple(fc.constantFrom("a", "b", "__proto__", "constructor"), formValue), { maxLength: 3 })
      .map((entries) => ({ action: "accept", content: objectOf(entries) })),
  },
  { weight: 1, arbitrary: anyValue },
);

const retryAfterText = fc.oneof(
  fc.constantFrom(
    "0",
    "5",
    "1.5",
    "1e9",
    "99999999999999999999",
    "-1",
    "Wed, 21 Oct 2026 07:28:00 GMT",
    "soon",
    "",
  ),
  fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  hostileText,
);

function checkHeaders([value, date, text]: [string, string, string]): Verdict {
  const headers = new Map([
    ["retry-after", value],
    ["date", date],
  ]);
  const ms = readRetryAfter({ get: (name) => headers.get(name) ?? null }, 1_790_000_000_000);
  must(ms === undefined || (ms >= 0 && ms <= MAX_RETRY_AFTER_MS), "a delay out of bounds");
  const encoded = encodeHeaderValue(text);
  must(HEADER_VALUE.test(encoded), "a header value that is none");
  // UTF-8 has no lone surrogates: those arrive as U+FFFD.
  must(decodeHeaderValue(encoded) === Buffer.from(text).toString(), "a value changes on its way");
  decodeHeaderValue(text);
  requestHeaders("tasks/get", { taskId: text });
  return ms === undefined ? "refused" : "accepted";
}

function checkMessage([message, params]: [Value, Value]): Verdict {
  return judged(() => {
    const incoming = readMessage(message, "id-1");
    if (incoming.kind === "error") {
      const secret = {
        taskId: TASK,
        requestState: PLANTED,
        ...(isObject(params) ? params : {}),
      } as JsonObject;
      const error = rpcError(incoming.error, { method: "tasks/get", params: secret, credentials: [PLANTED] });
      must(!error.message.includes(PLANTED), "a message shows a secret");
      const { data } = error as { data?: unknown };
      must(!(JSON.stringify(data) ?? "").includes(PLANTED), "error data shows a secret");
    }
    if (incoming.kind === "result") must(isObject(incoming.result), "a result that is no object");
  });
}

const message = mutated(
  fc.oneof(
    honest("mcp", "JSONRPCMessage"),
    hostileJson.map((result): Value => ({ jsonrpc: "2.0", id: "id-1", result })),
    fc
      .tuple(fc.constantFrom(-32602, -32601, -32021, -32003, -32022, -32603, 1), hostileText, anyJson)
      .map(([code, words, data]): Value => ({
        jsonrpc: "2.0",
        id: "id-1",
        error: { code, message: words, data },
      })),
  ),
);

export const parserTargets = [
  structure("tools/call answer", 10, callAnswer, checkCallAnswer),
  structure("tasks/get answer", 10, taskAnswer, checkTaskAnswer),
  structure("update and cancel answers", 5, ackAnswer, (raw) =>
    judged(() => sameJson(readCompleteAnswer(raw, "tasks/update"), raw, "an acknowledgement")),
  ),
  structure(
    "tools/list, x-mcp-header",
    6,
    fc.tuple(
      fc.oneof(
        toolsAnswer,
        fc.array(mutated(annotatedTool), { maxLength: 3 }).map((tools): JsonObject => ({ tools })),
      ),
      anyJson,
    ),
    checkTools,
  ),
  structure("server/discover", 4, discoverAnswer, (raw) => judged(() => void readDescription(raw))),
  structure(
    "2025-11-25 answers",
    8,
    fc.tuple(
      answers(
        honest("mcp", "CallToolResult"),
        honest("tasks", "Task").map((task): Value => ({ task })),
      ),
      anyJson,
    ),
    checkLegacy,
  ),
  structure("JSON-RPC message", 8, fc.tuple(message, anyJson), checkMessage),
  structure(
    "input request, URL, sampling",
    6,
    fc.tuple(
      mutated(
        fc.oneof(
          honest("mcp", "InputRequest"),
          fc
            .webUrl({ validSchemes: ["https", "http", "ftp"], withQueryParameters: true })
            .map((url): Value => ({
              method: "elicitation/create",
              params: { mode: "url", message: "go", url },
            })),
        ),
      ),
      fc.oneof(
        fc.constantFrom<unknown>({ action: "cancel" }, { action: "accept" }),
        mutated(honest("mcp", "ElicitResult")),
        mutated(honest("mcp", "CreateMessageResult")),
        anyValue,
      ),
    ),
    checkQuestion,
  ),
  structure(
    "form schema × answer",
    8,
    fc.tuple(
      formSchema.map((requestedSchema): InputRequest => ({
        kind: "elicitation-form",
        message: "?",
        requestedSchema: requestedSchema as JsonObject,
      })),
      formAnswer,
    ),
    checkAnswer,
  ),
  structure(
    "header values, Retry-After",
    5,
    fc.tuple(retryAfterText, retryAfterText, hostileText),
    checkHeaders,
  ),
];
