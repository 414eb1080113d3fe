/** Owns the stories in which workers are killed: a tool, its arguments, and what must have come of it in the end. */
import type { JsonObject } from "../../src/index.js";
import type { Delivery } from "./plan.js";

/** One story. */
export interface Scenario {
  readonly tool: string;
  readonly arguments: JsonObject;
  /** `tools/call` requests of the whole story: more than one only for the multi round trip. */
  readonly calls: number;
  /** The keys that are answered, in the order of the story. */
  readonly keys: readonly string[];
  readonly cancel?: boolean;
  /** Notices instead of polls. */
  readonly push?: "always";
  readonly status: Delivery["status"];
  /** A part of the delivered outcome. */
  readonly outcome: JsonObject;
}

const text = (words: string): JsonObject => ({ content: [{ type: "text", text: words }] });

export const scenarios = {
  immediate: {
    tool: "count",
    arguments: {},
    calls: 1,
    keys: [],
    status: "completed",
    outcome: { result: {} },
  },
  task: {
    tool: "slow",
    arguments: { ms: 180, text: "the dish" },
    calls: 1,
    keys: [],
    status: "completed",
    outcome: { result: text("the dish") },
  },
  /** Still at work when it is polled for the second time. */
  longTask: {
    tool: "slow",
    arguments: { ms: 900, text: "the slow dish" },
    calls: 1,
    keys: [],
    status: "completed",
    outcome: { result: text("the slow dish") },
  },
  approval: {
    tool: "deploy",
    arguments: { env: "prod", ms: 30, afterMs: 200 },
    calls: 1,
    keys: ["approval"],
    status: "completed",
    outcome: { result: text("deployed to prod") },
  },
  twoQuestions: {
    tool: "two_questions",
    arguments: { ms: 0 },
    calls: 1,
    keys: ["name", "size"],
    status: "completed",
    outcome: { result: text("answered") },
  },
  oneAfterTheOther: {
    tool: "two_questions",
    arguments: { ms: 0, sequential: true },
    calls: 1,
    keys: ["name", "size"],
    status: "completed",
    outcome: { result: text("answered") },
  },
  roundTrip: {
    tool: "round_trip",
    arguments: { rounds: 2, ms: 60 },
    calls: 3,
    keys: ["round_1", "round_2"],
    status: "completed",
    outcome: { result: text("after 2 rounds") },
  },
  failing: {
    tool: "fail_rpc",
    arguments: { ms: 60, code: -32050, message: "The disk is full" },
    calls: 1,
    keys: [],
    status: "failed",
    outcome: { error: { code: -32050, message: "The disk is full" } },
  },
  cancelled: {
    tool: "cancellable",
    arguments: { ms: 600_000, lagMs: 60 },
    calls: 1,
    keys: [],
    cancel: true,
    status: "cancelled",
    outcome: { cancelRequested: true },
  },
  sampling: {
    tool: "ask_sampling",
    arguments: { ms: 30 },
    calls: 1,
    keys: ["answer"],
    status: "completed",
    outcome: { result: text("answered") },
  },
  /** Told of its end by a notice, long before it would be polled. */
  pushed: {
    tool: "slow",
    arguments: { ms: 400, pollIntervalMs: 1500, text: "the pushed dish" },
    calls: 1,
    keys: [],
    push: "always",
    status: "completed",
    outcome: { result: text("the pushed dish") },
  },
  /** Long enough for a kill at a random time to find it anywhere. */
  long: {
    tool: "deploy",
    arguments: { env: "prod", ms: 200, afterMs: 250 },
    calls: 1,
    keys: ["approval"],
    status: "completed",
    outcome: { result: text("deployed to prod") },
  },
} as const satisfies Readonly<Record<string, Scenario>>;

export type ScenarioName = keyof typeof scenarios;
