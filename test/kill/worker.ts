/** Owns one process life of the kill test: a host that calls a tool, answers questions and takes the outcome, by the public names only. */
import { appendFileSync, closeSync, fsyncSync, openSync, writeFileSync, writeSync } from "node:fs";
import {
  httpConnection,
  TaskClient,
  TasksError,
  type JsonObject,
  type Settled,
  type TaskClientOptions,
  type TaskHandle,
  type TaskInputRequest,
} from "../../src/index.js";
import { faultPoints, readLog } from "../../src/testing/index.js";
import { programInput } from "../process/programInput.js";
import { openStore } from "./openStore.js";
import type { Delivery, Place, Trace, WorkerPlan } from "./plan.js";

const SERVER = "server";
const FIRST_ANSWER_AFTER_MS = 40;
/** Far enough behind the first one to travel alone. */
const LATER_ANSWERS_AFTER_MS = 250;
const RESOLVE_AFTER_MS = 30;

const plan = programInput<WorkerPlan>();
const { life } = plan;
const who = `${plan.callId}/${life}`;
const points = faultPoints({
  point: plan.kill === undefined || plan.kill.at === "parent" ? undefined : plan.kill,
  hasRun: ({ id }) =>
    readLog(plan.serverLog).some((entry) => entry.id === id && entry.headers["x-life"] === who),
});
const at = (place: Place): void => points.at(place);
let tellDelivered: () => void = () => undefined;
const delivered = new Promise<void>((resolve) => (tellDelivered = resolve));
const asked = new Map<string, number>();

process.on("unhandledRejection", (reason) => {
  trace({ life, what: "unhandled", message: String(reason) });
  process.exit(70);
});

trace({ life, what: "started" });
const store = openStore(plan.store);
const client = new TaskClient({
  store: points.store(store.keyValue),
  onInputRequest: answer,
  onSettled: take,
  poll: { minIntervalMs: 20 },
  retry: { minDelayMs: 20, maxDelayMs: 200 },
  ...(plan.shared === true ? { storeWatchMs: 100 } : {}),
  push: plan.push ?? "off",
  ...leases(),
});
client.on("error", ({ error }) => trace({ life, what: "error", code: error.code, message: error.message }));

const found = await client.connect(
  SERVER,
  httpConnection(plan.url, { fetch: points.fetch(), headers: { "x-life": who }, identity: "the-server" }),
);
console.log("connected");
if (plan.standing === true) await stand();
else await story();
trace({ life, what: "finished" });
if (plan.passed !== undefined) writeFileSync(plan.passed, JSON.stringify(points.passed()));
// A life that the parent is to end waits for it.
if (plan.kill?.at === "parent") setInterval(() => undefined, 1000);
// An open connection would keep the process; lmdb needs no goodbye.
else if (plan.store.kind === "redis") await store.close();

async function story(): Promise<void> {
  at("connected");
  const isNew = (await client.task(plan.callId)) === undefined;
  const calls = plan.replay || life === 1;
  const own = found.find(({ id }) => id === plan.callId);
  const expectsOutcome = own !== undefined || (isNew && calls);
  const task = calls ? await call() : own;
  at("called");
  if (plan.cancel && calls && task !== undefined) {
    await task.cancel();
    at("cancelled");
  }
  if (expectsOutcome) {
    // Only who waits keeps the process alive; the delivery begins in the moment in which the wait ends.
    await task?.settled();
    if (plan.shared !== true) await delivered;
    // The delivery is stored a moment after the handler is through.
    if (plan.store.kind === "redis") await wait(RESOLVE_AFTER_MS);
  }
  if (plan.close || plan.store.kind === "redis") await client.close();
}

/** Until the parent closes our standard input. */
async function stand(): Promise<void> {
  await new Promise((resolve) => process.stdin.on("end", resolve).resume());
  await client.close();
}

function leases(): Pick<TaskClientOptions, "leaseMs" | "instance"> {
  return {
    ...(plan.leaseMs === undefined ? {} : { leaseMs: plan.leaseMs }),
    ...(plan.instance === undefined ? {} : { instance: plan.instance }),
  };
}

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
  const nth = (asked.get(request.id) ?? 0) + 1;
  asked.set(request.id, nth);
  trace({ life, what: "asked", id: request.id, key: request.key });
  at("asked");
  await wait(nth === 1 ? FIRST_ANSWER_AFTER_MS : LATER_ANSWERS_AFTER_MS);
  at("returning");
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
  at("settled: before");
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
  at("settled: written");
  await wait(RESOLVE_AFTER_MS);
  at("settled: waiting");
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
