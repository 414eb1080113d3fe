/** Owns the built-in tools that show the ordinary ways of a task. Each is a few lines; state is the book's. */
import type { JsonValue } from "../internal/json.js";
import { form, roots, sampling, visit } from "./requests.js";
import {
  accepted,
  boolean,
  jsonArg,
  ms,
  number,
  numberArg,
  numbersArg,
  schema,
  string,
  stringArg,
  text,
} from "./toolBasics.js";
import type { CallTool, TaskStep, TestInputRequest } from "./types.js";

const approval = (env: string): TestInputRequest =>
  form(`Deploy to ${env}?`, { approve: { type: "boolean", title: "Approve" }, note: { type: "string" } }, [
    "approve",
  ]);

const asking =
  (request: TestInputRequest): CallTool["call"] =>
  (context) => ({
    kind: "task",
    steps: [
      { kind: "work", ms: numberArg(context.arguments, "ms", 0), message: "Getting ready" },
      { kind: "ask", requests: { answer: request }, message: "Waiting for an answer" },
    ],
  });

const showAnswers: NonNullable<CallTool["finish"]> = (_args, answers) => ({
  result: text("answered", { answers }),
});

/** The tools that every testing server has, beside the conformance suite's. */
export const builtinTools: readonly CallTool[] = [
  {
    name: "echo",
    description: "Answers its arguments at once. Never a task.",
    inputSchema: schema({ text: string }),
    annotations: { readOnlyHint: true },
    call: ({ arguments: args }) => ({
      kind: "result",
      result: text(stringArg(args, "text", ""), { ...args }),
    }),
  },
  {
    name: "inline",
    description:
      "Answers after `steps` times `stepMs` on the same request, with progress notifications. Never a task.",
    inputSchema: schema({ steps: number, stepMs: ms }),
    async call({ arguments: args, progress, sleep }) {
      const steps = numberArg(args, "steps", 3);
      for (let step = 1; step <= steps; step += 1) {
        await sleep(numberArg(args, "stepMs", 20));
        progress(step, steps, `step ${step} of ${steps}`);
      }
      return { kind: "result", result: text(`${steps} steps`) };
    },
  },
  {
    name: "count",
    description: "Adds one to a counter and answers at once. Not idempotent: shows whether a call ran twice.",
    inputSchema: schema({}),
    call: ({ earlierCalls }) => ({
      kind: "result",
      result: text(String(earlierCalls + 1), { count: earlierCalls + 1 }),
    }),
  },
  {
    name: "slow",
    description: "Completes after `ms`.",
    inputSchema: schema({ ms, ttlMs: ms, pollIntervalMs: ms, text: string }),
    taskSupport: "optional",
    call: ({ arguments: args }) => ({
      kind: "task",
      ttlMs: typeof args["ttlMs"] === "number" ? args["ttlMs"] : undefined,
      pollIntervalMs: typeof args["pollIntervalMs"] === "number" ? args["pollIntervalMs"] : undefined,
      steps: [{ kind: "work", ms: numberArg(args, "ms", 500), message: "Working" }],
    }),
    finish: (args) => ({
      result: text(stringArg(args, "text", "slow is done"), { ms: numberArg(args, "ms", 500) }),
    }),
  },
  {
    name: "report",
    description:
      "Completes after `steps` times `stepMs`; the status message changes with every step. Idempotent.",
    inputSchema: schema({ steps: number, stepMs: ms }),
    taskSupport: "optional",
    annotations: { idempotentHint: true },
    call: ({ arguments: args }) => ({
      kind: "task",
      steps: counted(args, "step", numberArg(args, "steps", 3)),
    }),
    finish: (args) => ({ result: text(`report of ${numberArg(args, "steps", 3)} steps`) }),
  },
  {
    name: "crawl",
    description: "Reads `pages` pages at `stepMs` each and answers their list. Read only.",
    inputSchema: schema({ pages: number, stepMs: ms }),
    taskSupport: "optional",
    annotations: { readOnlyHint: true, openWorldHint: true },
    call: ({ arguments: args }) => ({
      kind: "task",
      steps: counted(args, "page", numberArg(args, "pages", 5)),
    }),
    finish(args) {
      const pages = Array.from({ length: numberArg(args, "pages", 5) }, (_, i) => `/page/${i + 1}`);
      return { result: text(`read ${pages.length} pages`, { pages }) };
    },
  },
  {
    name: "deploy",
    description:
      "Asks for one approval after `ms`, works for `afterMs`, and completes with what was answered.",
    inputSchema: schema({ env: string, ms, afterMs: ms }),
    annotations: { destructiveHint: true },
    taskSupport: "required",
    call: ({ arguments: args }) => ({
      kind: "task",
      steps: [
        { kind: "work", ms: numberArg(args, "ms", 0), message: "Planning" },
        {
          kind: "ask",
          requests: { approval: approval(stringArg(args, "env", "prod")) },
          message: "Waiting for approval",
        },
        { kind: "work", ms: numberArg(args, "afterMs", 0), message: "Deploying" },
      ],
    }),
    finish(args, answers) {
      const env = stringArg(args, "env", "prod");
      const deployed = accepted(answers["approval"], "approve");
      return {
        result: text(deployed ? `deployed to ${env}` : `not deployed to ${env}`, { env, deployed, answers }),
      };
    },
  },
  {
    name: "two_questions",
    description: "Asks two forms side by side, or one after the other with `sequential`.",
    inputSchema: schema({ sequential: boolean, ms }),
    taskSupport: "required",
    call({ arguments: args }) {
      const name = form("Which name?", { name: { type: "string", minLength: 1 } });
      const size = form("Which size?", { size: { type: "string", enum: ["small", "large"] } });
      const asks: TaskStep[] =
        args["sequential"] === true
          ? [
              { kind: "ask", requests: { name }, message: "Waiting for the name" },
              { kind: "ask", requests: { size }, message: "Waiting for the size" },
            ]
          : [{ kind: "ask", requests: { name, size }, message: "Waiting for two answers" }];
      return { kind: "task", steps: [{ kind: "work", ms: numberArg(args, "ms", 0) }, ...asks] };
    },
    finish: showAnswers,
  },
  {
    name: "ask_sampling",
    description: "Asks the client's model for a completion.",
    inputSchema: schema({ ms }),
    taskSupport: "required",
    call: asking(sampling("Summarise the change in one sentence.")),
    finish: showAnswers,
  },
  {
    name: "ask_roots",
    description: "Asks for the client's roots.",
    inputSchema: schema({ ms }),
    taskSupport: "required",
    call: asking(roots),
    finish: showAnswers,
  },
  {
    name: "ask_url",
    description: "Asks the user to visit `url`.",
    inputSchema: schema({ ms, url: string }),
    taskSupport: "required",
    call: (context) =>
      asking(
        visit("Sign in to go on", stringArg(context.arguments, "url", "https://login.example/start?state=1")),
      )(context),
    finish: showAnswers,
  },
  {
    name: "fail_rpc",
    description: "Fails after `ms` with the JSON-RPC error {code, message, data}.",
    inputSchema: schema({ ms, code: number, message: string, data: {} }),
    taskSupport: "required",
    call: ({ arguments: args }) => ({
      kind: "task",
      steps: [{ kind: "work", ms: numberArg(args, "ms", 0) }],
    }),
    finish: (args) => ({
      error: {
        code: numberArg(args, "code", -32000),
        message: stringArg(args, "message", "The disk is full"),
        data: jsonArg(args, "data") ?? { reason: "disk" },
      },
    }),
  },
  {
    name: "fail_result",
    description: "Completes after `ms` with a result whose isError is true.",
    inputSchema: schema({ ms, text: string }),
    taskSupport: "required",
    call: ({ arguments: args }) => ({
      kind: "task",
      steps: [{ kind: "work", ms: numberArg(args, "ms", 0) }],
    }),
    finish: (args) => ({ result: text(stringArg(args, "text", "The build is red"), undefined, true) }),
  },
  {
    name: "cancellable",
    description: "Works for `ms` (a minute); ends as cancelled `lagMs` after a cancel.",
    inputSchema: schema({ ms, lagMs: ms }),
    taskSupport: "required",
    call: ({ arguments: args }) => ({
      kind: "task",
      cancelLagMs: numberArg(args, "lagMs", 0),
      steps: [{ kind: "work", ms: numberArg(args, "ms", 60_000), message: "Working" }],
    }),
  },
  {
    name: "stubborn",
    description: "Acknowledges a cancel, does not heed it, and completes after `ms`.",
    inputSchema: schema({ ms }),
    taskSupport: "required",
    call: ({ arguments: args }) => ({
      kind: "task",
      cancel: "ignore",
      steps: [{ kind: "work", ms: numberArg(args, "ms", 500), message: "Working" }],
    }),
    finish: () => ({ result: text("completed all the same") }),
  },
  {
    name: "short_lived",
    description: "Works for `ms` (a minute) but lives for `ttlMs` only: unknown to the server after that.",
    inputSchema: schema({ ttlMs: ms, ms }),
    taskSupport: "required",
    call: ({ arguments: args }) => ({
      kind: "task",
      ttlMs: numberArg(args, "ttlMs", 300),
      steps: [{ kind: "work", ms: numberArg(args, "ms", 60_000), message: "Working" }],
    }),
  },
  {
    name: "hints",
    description: "Shows the next of `intervals` (and of `ttls`) with every answer; completes after `ms`.",
    inputSchema: schema({ intervals: { type: "array", items: number }, ttls: { type: "array" }, ms }),
    taskSupport: "required",
    call({ arguments: args }) {
      const ttls = Array.isArray(args["ttls"]) ? args["ttls"] : undefined;
      return {
        kind: "task",
        intervals: numbersArg(args, "intervals") ?? [100, 300, 100],
        ttls: ttls?.filter((ttl): ttl is number | null => ttl === null || typeof ttl === "number"),
        steps: [{ kind: "work", ms: numberArg(args, "ms", 1000), message: "Working" }],
      };
    },
  },
  {
    name: "round_trip",
    description: "Answers `rounds` times input_required with a request state, then makes a task of `ms`.",
    inputSchema: schema({ rounds: number, ms, stateless: boolean, stateOnly: boolean }),
    taskSupport: "required",
    call({ arguments: args, state, inputResponses }) {
      // Without a request state the answers alone tell the rounds apart, so there is just one.
      const stateless = args["stateless"] === true;
      const rounds = stateless ? 1 : numberArg(args, "rounds", 1);
      const answers = stateless
        ? Object.keys(inputResponses).length > 0
          ? [inputResponses]
          : []
        : Array.isArray(state)
          ? [...(state as JsonValue[]), inputResponses]
          : [];
      if (answers.length < rounds) {
        const round = answers.length + 1;
        const question = form(`Round ${round}: which name?`, { name: { type: "string" } });
        return {
          kind: "input_required",
          ...(args["stateOnly"] === true ? {} : { requests: { [`round_${round}`]: question } }),
          ...(stateless ? {} : { state: answers }),
        };
      }
      const result = text(`after ${rounds} rounds`, { answers });
      return {
        kind: "task",
        steps: [
          { kind: "work", ms: numberArg(args, "ms", 0) },
          { kind: "complete", result },
        ],
      };
    },
  },
  {
    name: "flaky",
    description: "Completes after `ms`, but its first `failures` polls fail with HTTP `status` (503).",
    inputSchema: schema({ failures: number, status: number, ms }),
    taskSupport: "required",
    call({ arguments: args, failPolls }) {
      failPolls(numberArg(args, "failures", 2), numberArg(args, "status", 503));
      return { kind: "task", steps: [{ kind: "work", ms: numberArg(args, "ms", 0) }] };
    },
  },
  {
    name: "regional",
    description:
      "Completes after `ms`; region, priority, dry and place.zone travel as Mcp-Param headers too.",
    inputSchema: schema({
      region: { type: "string", "x-mcp-header": "Region" },
      priority: { type: "integer", "x-mcp-header": "Priority" },
      dry: { type: "boolean", "x-mcp-header": "Dry-Run" },
      place: { type: "object", properties: { zone: { type: "string", "x-mcp-header": "Zone" } } },
      ms,
    }),
    taskSupport: "optional",
    call: ({ arguments: args }) => ({
      kind: "task",
      steps: [{ kind: "work", ms: numberArg(args, "ms", 0) }],
    }),
    finish: (args) => ({ result: text("regional is done", { ...args }) }),
  },
  {
    name: "never",
    description: "A task that never ends by itself. A cancel ends it.",
    inputSchema: schema({}),
    taskSupport: "required",
    call: () => ({ kind: "task", ttlMs: null, steps: [{ kind: "wait", message: "Waiting for ever" }] }),
  },
];

function counted(args: Readonly<Record<string, unknown>>, noun: string, count: number): TaskStep[] {
  const stepMs = typeof args["stepMs"] === "number" ? args["stepMs"] : 100;
  return Array.from({ length: count }, (_, i) => ({
    kind: "work",
    ms: stepMs,
    message: `${noun} ${i + 1} of ${count}`,
  }));
}
