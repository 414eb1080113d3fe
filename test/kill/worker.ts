/** Owns one process life of the kill test: a host that calls a tool, answers questions and takes the outcome, by the public names only. */
import { appendFileSync, closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import {
  httpConnection,
  TaskClient,
  TasksError,
  type JsonObject,
  type Settled,
  type TaskHandle,
  type TaskInputRequest,
} from "../../src/index.js";
import { lmdbStore } from "../../src/store/lmdb.js";
import { programInput } from "../process/programInput.js";
import { killSwitch } from "./killSwitch.js";
import type { Delivery, Trace, WorkerPlan } from "./plan.js";

const SERVER = "server";
const FIRST_ANSWER_AFTER_MS = 40;
/** Far enough behind the first one to travel alone. */
const LATER_ANSWERS_AFTER_MS = 250;
const RESOLVE_AFTER_MS = 30;

const plan = programInput<WorkerPlan>();
const { life } = plan;
const kill = killSwitch(plan.kill, { log: plan.serverLog, life: `${plan.callId}/${life}` });
let tellDelivered: () => void = () => undefined;
const delivered = new Promise<void>((resolve) => (tellDelivered = resolve));
let asked = 0;

process.on("unhandledRejection", (reason) => {
  trace({ life, what: "unhandled", message: String(reason) });
  process.exit(70);
});

trace({ life, what: "started" });
const client = new TaskClient({
  store: kill.wrapStore(lmdbStore(plan.storePath)),
  onInputRequest: answer,
  onSettled: take,
  poll: { minIntervalMs: 20 },
  retry: { minDelayMs: 20, maxDelayMs: 200 },
});
client.on("error", ({ error }) => trace({ life, what: "error", code: error.code, message: error.message }));

const found = await client.connect(
  SERVER,
  httpConnection(plan.url, { fetch: kill.fetch, identity: "the-server" }),
);
console.log("connected");
kill.at("program", "connected");

const isNew = (await client.task(plan.callId)) === undefined;
const calls = plan.replay || life === 1;
const expectsOutcome = found.length > 0 || (isNew && calls);
const task = calls ? await call() : found[0];
kill.at("program", "called");
if (plan.cancel && calls && task !== undefined) {
  await task.cancel();
  kill.at("program", "cancelled");
}
if (expectsOutcome) {
  // Only who waits keeps the process alive; the delivery begins in the moment in which the wait ends.
  await task?.settled();
  await delivered;
}
if (plan.close) await client.close();
trace({ life, what: "finished" });
// A life that the parent is to end waits for it.
if (plan.kill?.seam === "parent") setInterval(() => undefined, 1000);

async function call(): Promise<TaskHandle | undefined> {
  try {
    const answered = await client.callTool(
      SERVER,
      { name: plan.tool, arguments: plan.arguments },
      { callId: plan.callId, context: { run: plan.callId } },
    );
    trace({ life, what: "called", how: answered.kind });
    return answered.kind === "task" ? answered.task : undefined;
  } catch (error) {
    trace({ life, what: "called", how: error instanceof TasksError ? error.code : String(error) });
    return undefined;
  }
}

async function answer(request: TaskInputRequest): Promise<JsonObject> {
  asked += 1;
  const nth = asked;
  trace({ life, what: "asked", key: request.key });
  kill.at("input", "asked", nth);
  await wait(nth === 1 ? FIRST_ANSWER_AFTER_MS : LATER_ANSWERS_AFTER_MS);
  kill.at("input", "returning", nth);
  // Another process life answers something else: the server would notice a second answer.
  switch (request.kind) {
    case "sampling":
      return { role: "assistant", content: { type: "text", text: `life-${life}` }, model: "m" };
    default:
      return { action: "accept", content: contentFor(request.key) };
  }
}

function contentFor(key: string): JsonObject {
  if (key === "approval") return { approve: true, note: `life-${life}` };
  if (key === "size") return { size: life % 2 === 1 ? "small" : "large" };
  return { name: `life-${life}` };
}

async function take(settled: Settled): Promise<void> {
  kill.at("settled", "before");
  const { id, cancelRequested, status } = settled;
  append(plan.deliveries, {
    life,
    id,
    status,
    ...(settled.status === "lost" ? { reason: settled.reason } : {}),
    ...(settled.status === "completed" ? { result: settled.result } : {}),
    ...(settled.status === "failed" ? { error: settled.error } : {}),
    cancelRequested,
  } satisfies Delivery);
  kill.at("settled", "written");
  await wait(RESOLVE_AFTER_MS);
  kill.at("settled", "waiting");
  tellDelivered();
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function trace(entry: Trace): void {
  // What a process has written is safe from its own death; only a power cut would need more.
  appendFileSync(plan.trace, `${JSON.stringify(entry)}\n`);
}

function append(file: string, entry: Delivery): void {
  const fd = openSync(file, "a");
  writeSync(fd, `${JSON.stringify(entry)}\n`);
  fsyncSync(fd);
  closeSync(fd);
}
