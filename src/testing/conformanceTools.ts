/** Owns the tools that the official conformance suite's tasks scenarios name. Their behaviour is the suite's to set. */
import { form } from "./requests.js";
import { accepted, number, numberArg, schema, string, stringArg, text } from "./toolBasics.js";
import { isObject } from "../internal/json.js";
import type { CallTool } from "./types.js";

/** The fixtures of the tasks scenarios. */
export const conformanceTools: readonly CallTool[] = [
  {
    name: "greet",
    description: "Answers with a greeting at once.",
    inputSchema: schema({ name: string }, ["name"]),
    call: ({ arguments: args }) => ({
      kind: "result",
      result: text(`Hello, ${stringArg(args, "name", "")}!`),
    }),
  },
  {
    name: "slow_compute",
    description: "Completes after `seconds`; a cancel ends it.",
    inputSchema: schema({ seconds: number, label: string }),
    taskSupport: "optional",
    call: ({ arguments: args }) => ({
      kind: "task",
      steps: [{ kind: "work", ms: numberArg(args, "seconds", 1) * 1000, message: "Computing" }],
    }),
    finish: (args) => ({ result: text(`computed ${stringArg(args, "label", "it")}`) }),
  },
  {
    name: "failing_job",
    description: "Completes with a tool error after a second.",
    inputSchema: schema({}),
    taskSupport: "required",
    call: () => ({ kind: "task", steps: [{ kind: "work", ms: 1000, message: "Trying" }] }),
    finish: () => ({ result: text("The job went wrong", undefined, true) }),
  },
  {
    name: "protocol_error_job",
    description: "Fails with a JSON-RPC error.",
    inputSchema: schema({}),
    taskSupport: "required",
    call: () => ({ kind: "task", steps: [{ kind: "work", ms: 300, message: "Trying" }] }),
    finish: () => ({ error: { code: -32603, message: "The job broke the server" } }),
  },
  {
    name: "confirm_delete",
    description: "Asks for a confirmation, then completes.",
    inputSchema: schema({ filename: string }),
    taskSupport: "required",
    call: ({ arguments: args }) => ({
      kind: "task",
      steps: [
        {
          kind: "ask",
          requests: {
            confirm: form(`Delete ${stringArg(args, "filename", "the file")}?`, {
              confirm: { type: "boolean" },
            }),
          },
        },
      ],
    }),
    finish: (args, answers) => ({
      result: text(
        `${stringArg(args, "filename", "the file")} was ${accepted(answers["confirm"], "confirm") ? "" : "not "}deleted`,
      ),
    }),
  },
  {
    name: "multi_input",
    description: "Asks two questions side by side, then completes.",
    inputSchema: schema({}),
    taskSupport: "required",
    call: () => ({
      kind: "task",
      steps: [
        {
          kind: "ask",
          requests: {
            name: form("Which name?", { name: { type: "string" } }),
            confirm: form("Sure?", { confirm: { type: "boolean" } }),
          },
        },
      ],
    }),
    finish: (_args, answers) => ({ result: text("both answered", { answers }) }),
  },
  {
    name: "test_tool_with_task",
    description: "Asks for user_name before it makes a task, whose result has the name.",
    inputSchema: schema({}),
    taskSupport: "required",
    call({ inputResponses }) {
      const answer = inputResponses["user_name"];
      if (answer === undefined) {
        return {
          kind: "input_required",
          requests: { user_name: form("Who are you?", { name: { type: "string" } }) },
          state: 1,
        };
      }
      const content = isObject(answer["content"]) ? answer["content"] : {};
      return {
        kind: "task",
        steps: [
          { kind: "work", ms: 200, message: "Greeting" },
          { kind: "complete", result: text(`Hello, ${stringArg(content, "name", "")}!`) },
        ],
      };
    },
  },
];
