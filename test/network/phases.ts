/** Owns the phases that a fault can hit: what is called, what the server must have seen, what the host must get. */
import type { TaskClient, TaskHandle, ToolCall, WaitTimeoutError } from "../../src/index.js";
import {
  CallOutcomeUnknownError,
  ConnectionError,
  EraNotSupportedError,
  InvalidResponseError,
  RpcError,
  TasksError,
  WaitTimeoutError as WaitTimeout,
} from "../../src/index.js";
import type { LogEntry } from "../../src/testing/index.js";
import type { Fate } from "./faults.js";

/** What a phase needs to run. */
export interface PhaseContext {
  /** In the arguments of every call, so that the server's log tells the cells apart. */
  readonly cell: string;
  readonly client: TaskClient;
  readonly fate: Fate;
  readonly stalls: boolean;
  /** How long a caller waits for the answer to a call. */
  readonly callMs: number;
  /** From here on the fault hits; before it the network is sound. */
  readonly strike: () => void;
  /** What the server has answered so far, of this cell's calls and tasks. */
  readonly log: () => readonly LogEntry[];
}

/** One phase. `run` rejects when a promise was broken, and answers in a few words what the host got. */
export interface Phase {
  readonly name: string;
  readonly method: string;
  /** How many exchanges in a row are hit. */
  readonly times: number;
  /** Set where the fault hits a message on an open stream instead of the whole exchange. */
  readonly until?: string;
  readonly push?: true;
  readonly run: (context: PhaseContext) => Promise<string>;
}

export const SECRET_ANSWER = "geheime-Antwort-ü€𝄞-4711";
const WORDS = "fertig ü€𝄞";

function must(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what);
}

async function caught<T>(promise: Promise<T>): Promise<{ value: T } | { error: unknown }> {
  return promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
}

/** How often the cell's tool ran. */
function runs({ log, cell }: PhaseContext): number {
  return log().filter(
    ({ method, processed, params, answer }) =>
      method === "tools/call" && processed && answer !== "error" && argumentsOf(params)["cell"] === cell,
  ).length;
}

function argumentsOf(params: LogEntry["params"]): Readonly<Record<string, unknown>> {
  const given = params["arguments"];
  return typeof given === "object" && given !== null ? (given as Record<string, unknown>) : {};
}

async function start(
  context: PhaseContext,
  name: string,
  args: Record<string, unknown>,
): Promise<TaskHandle> {
  const { client, cell } = context;
  const call = await client.callTool("srv", { name, arguments: { ...args, cell } });
  must(call.kind === "task", "the call did not become a task");
  return call.task;
}

async function completes(task: TaskHandle, words: string): Promise<void> {
  const result = await task.result();
  const [block] = result.content;
  must(block?.type === "text" && block.text === words, "the result is not the server's");
  must(JSON.stringify(await task.result()) === JSON.stringify(result), "the result is not final");
}

/** What a call may come to, by what the fault leaves possible. */
async function callPhase(context: PhaseContext): Promise<string> {
  const { client, cell, fate } = context;
  context.strike();
  const args = { ms: 50, pollIntervalMs: 100, text: WORDS, cell };
  const got = await caught(
    client.callTool("srv", { name: "slow", arguments: args }, { timeoutMs: context.callMs }),
  );
  const words = await fateOf(context, got);
  must(runs(context) <= 1, "the call ran twice");
  // The server is not given up: what comes next goes through.
  const next = await client.callTool("srv", { name: "echo", arguments: { text: "next" } });
  must(next.kind === "result", "the next call has no result");
  must(runs(context) <= 1, "the call ran twice in the end");
  const expected: Record<Fate, readonly string[]> = {
    // On a machine that has much to do, slow bytes may take longer than the caller waits.
    harmless: ["task, completed", "late answer taken, completed"],
    "not-sent": ["not sent, told so", "repeated unsent, completed"],
    "not-run": ["unknown, told so", "refused, told so", "invalid answer, told so"],
    run: ["unknown, told so", "invalid answer, told so", "refused, told so"],
    either: ["unknown, told so", "task, completed", "repeated unsent, completed"],
    late: ["late answer taken, completed"],
  };
  must(expected[fate].includes(words), `a call that is ${fate} ended as: ${words}`);
  return words;
}

async function fateOf(context: PhaseContext, got: { value: ToolCall } | { error: unknown }): Promise<string> {
  const { fate } = context;
  if ("value" in got) {
    must(got.value.kind === "task", "the call did not become a task");
    await completes(got.value.task, WORDS);
    must(runs(context) === 1, "a call with a task did not run once");
    return fate === "not-sent" ? "repeated unsent, completed" : "task, completed";
  }
  const { error } = got;
  if (error instanceof WaitTimeout) {
    const { task } = error as WaitTimeoutError<TaskHandle>;
    must(task !== undefined, "a wait that ended carries no handle");
    const settled = await task.settled();
    if (settled.status === "completed") {
      await completes(task, WORDS);
      must(runs(context) === 1, "a call with a task did not run once");
      return "late answer taken, completed";
    }
    must(
      settled.status === "lost" && settled.reason === "call-outcome-unknown",
      `ended as ${settled.status}`,
    );
    return "unknown, told so";
  }
  if (error instanceof CallOutcomeUnknownError) {
    if (fate === "run") must(runs(context) === 1, "the server did not run the call");
    if (fate === "not-run") must(runs(context) === 0, "the server ran a call that never reached it");
    return "unknown, told so";
  }
  if (error instanceof InvalidResponseError) return "invalid answer, told so";
  must(error instanceof TasksError, `not an error of ours: ${String(error)}`);
  // Everything else says that the call did not run.
  must(runs(context) === 0, `${error.name} for a call that ran`);
  if (error instanceof ConnectionError) must(!error.mayHaveRun, "a ConnectionError that leaves it open");
  const refused = error instanceof RpcError || error instanceof EraNotSupportedError;
  return refused ? "refused, told so" : "not sent, told so";
}

/** On a busy machine even a sound network may take longer than the short patience of some cells. */
export async function listed(client: TaskClient): Promise<Awaited<ReturnType<TaskClient["listTools"]>>> {
  for (let attempt = 1; ; attempt += 1) {
    const got = await caught(client.listTools("srv"));
    if ("value" in got) return got.value;
    if (attempt === 5 || !(got.error instanceof ConnectionError)) throw got.error;
  }
}

async function listPhase({ client, fate, strike }: PhaseContext): Promise<string> {
  strike();
  const got = await caught(client.listTools("srv"));
  if ("error" in got) must(got.error instanceof TasksError, `not an error of ours: ${String(got.error)}`);
  else
    must(
      got.value.some(({ name }) => name === "slow"),
      "the list is not the server's",
    );
  if (fate === "harmless") must("value" in got, "a harmless fault cost the list");
  const again = await listed(client);
  must(
    again.some(({ name }) => name === "slow"),
    "the list cannot be had after the fault",
  );
  return "value" in got ? "listed" : "told so, listed again";
}

async function getPhase(context: PhaseContext): Promise<string> {
  const task = await start(context, "slow", { ms: 150, pollIntervalMs: 50, text: WORDS });
  context.strike();
  await completes(task, WORDS);
  must(runs(context) === 1, "the call ran twice");
  return "completed";
}

async function updatePhase(context: PhaseContext): Promise<string> {
  context.strike();
  const task = await start(context, "deploy", { env: "prod", ms: 20 });
  await completes(task, "deployed to prod");
  const updates = context.log().filter(({ method }) => method === "tasks/update");
  must(
    updates.filter(({ applied }) => (applied?.length ?? 0) > 0).length === 1,
    "the answer was not taken once",
  );
  must(
    updates.every(({ conflicting }) => (conflicting?.length ?? 0) === 0),
    "another answer was sent",
  );
  return "answer taken once, completed";
}

async function cancelPhase(context: PhaseContext): Promise<string> {
  const task = await start(context, "cancellable", { ms: 600_000 });
  context.strike();
  await task.cancel();
  const settled = await task.settled();
  must(settled.status === "cancelled", `ended as ${settled.status}`);
  const taken = context.log().filter(({ method, processed }) => method === "tasks/cancel" && processed);
  must(taken.length >= 1, "the cancel did not arrive");
  return "cancelled";
}

async function pushPhase(context: PhaseContext): Promise<string> {
  context.strike();
  let opened = 0;
  const stop = context.client.on("push", ({ state }) => void (opened += state === "open" ? 1 : 0));
  const task = await start(context, "slow", { ms: 1200, pollIntervalMs: 60, text: WORDS });
  await completes(task, WORDS);
  stop();
  const polls = context.log().filter(({ method }) => method === "tasks/get").length;
  must(polls + opened > 0, "neither polls nor a stream told the end");
  return polls > 0
    ? `completed, ${opened > 0 ? "stream and polls" : "polls alone"}`
    : "completed by the stream";
}

/** All phases. */
export const phases: readonly Phase[] = [
  { name: "list", method: "tools/list", times: 1, run: listPhase },
  { name: "call", method: "tools/call", times: 1, run: callPhase },
  { name: "get", method: "tasks/get", times: 2, run: getPhase },
  { name: "update", method: "tasks/update", times: 2, run: updatePhase },
  { name: "cancel", method: "tasks/cancel", times: 2, run: cancelPhase },
  { name: "listen", method: "subscriptions/listen", times: 2, push: true, run: pushPhase },
  {
    name: "notice",
    method: "subscriptions/listen",
    times: 1,
    push: true,
    until: "notifications/tasks",
    run: pushPhase,
  },
];
