/** Owns the host process of a soak run: it calls, answers, cancels, takes outcomes, and looks at itself every few seconds. */
import { getEventListeners, setMaxListeners } from "node:events";
import { appendFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
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
import { callOf, type Delivered, type HostEnd, type HostPlan, type Sample, type SoakCall } from "./plan.js";

const plan = programInput<HostPlan>();
const NANO = 1e6;

const collect = (globalThis as { gc?: () => void }).gc;
if (collect === undefined) throw new Error("start it with --expose-gc");
const warnings: string[] = [];
process.on("warning", ({ name, message }) => warnings.push(`${name}: ${message}`));
process.on("unhandledRejection", (reason) => {
  console.error("unhandled", reason);
  process.exit(70);
});

/** One for all calls and waits, as a host has that ends with its turn. */
const turn = new AbortController();
setMaxListeners(0, turn.signal);
/** The timer of the measurement: an idle loop shows this much. */
const RESOLUTION_MS = 5;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
const shown = new Set<string>();
const failedOnce = new Set<number>();
const open = new Set<number>();
const errors: Record<string, number> = {};
const counts = { called: 0, delivered: 0, asked: 0, repeatedQuestions: 0 };
let tellEmpty: () => void = () => undefined;
const startedAt = performance.now();

const client = new TaskClient({
  store: lmdbStore(plan.storePath),
  onInputRequest: answer,
  onSettled: take,
  retry: { minDelayMs: 200, maxDelayMs: 5000, authRetryMs: 1000, refusedRetryMs: 1000 },
  requestTimeoutMs: 5000,
  answerGraceMs: 3000,
  retentionMs: 30_000,
  concurrency: 64,
  push: { mode: "auto", cooldownMs: 10_000, idleMs: 20_000 },
});
client.on("error", ({ error }) => (errors[error.code] = (errors[error.code] ?? 0) + 1));
for (const [at, name] of plan.servers.entries()) {
  await client.connect(name, httpConnection(plan.urls[at] ?? "", { timeoutMs: 5000 }));
}
const timersBefore = timers();
const heapBeforeBytes = heap();
delay.enable();
let sampledAt = performance.now();
const sampling = setInterval(sample, plan.sampleMs);
console.log("started");

const everything = new Promise<void>((resolve) => (tellEmpty = resolve));
for (let number = 0; number < plan.tasks; number += 1) {
  const dueMs = (number * plan.arrivalMs) / plan.tasks;
  const leftMs = startedAt + dueMs - performance.now();
  if (leftMs > 0) await pause(leftMs);
  counts.called += 1;
  open.add(number);
  void begin(callOf(plan, number));
}
console.log("called");
await everything;
clearInterval(sampling);
// Not at its time, so not late.
sampledAt = performance.now();
sample();
// What ends a moment later: late answers to requests that were given up, streams.
await pause(1000);
delay.disable();
const stats = client.stats() as unknown as JsonObject;
await client.close();
await pause(200);
const end: HostEnd = {
  warnings,
  errors,
  asked: counts.asked,
  repeatedQuestions: counts.repeatedQuestions,
  stats,
  timersBefore,
  timersAfter: timers(),
  listenersAfter: getEventListeners(turn.signal, "abort").length,
  heapBeforeBytes,
  heapAfterBytes: heap(),
};
console.log(`end ${JSON.stringify(end)}`);

async function begin(call: SoakCall): Promise<void> {
  try {
    const answered = await client.callTool(
      call.server,
      { name: call.tool, arguments: call.arguments },
      { callId: `call-${call.number}`, context: { number: call.number }, signal: turn.signal },
    );
    if (answered.kind === "task") await accompany(answered.task, call);
  } catch (error) {
    const code = error instanceof TasksError ? error.code : String(error);
    append(plan.rejected, { number: call.number, code });
    // Nothing is in the store, and nothing will be delivered.
    if ((await client.task(`call-${call.number}`)) === undefined) done(call.number);
  }
}

/** What hosts do beside a task: wait for it, follow it, cancel it. */
async function accompany(task: TaskHandle, call: SoakCall): Promise<void> {
  if (call.cancelAfterMs !== undefined) {
    setTimeout(() => void task.cancel().catch(() => undefined), call.cancelAfterMs);
  }
  if (call.waits === "result") {
    // How it ended is what onSettled is told too.
    await task.result({ signal: turn.signal }).catch(() => undefined);
  } else if (call.waits === "updates") {
    try {
      for await (const _snapshot of task.updates({ signal: turn.signal }));
    } catch {
      // The call was lost.
    }
  }
}

async function answer(request: TaskInputRequest): Promise<JsonObject | undefined> {
  const { number } = request.context as { number: number };
  const question = `${number} ${request.key}`;
  counts.asked += 1;
  if (shown.has(question)) counts.repeatedQuestions += 1;
  shown.add(question);
  const call = callOf(plan, number);
  const response = { action: "accept", content: contentFor(request.key, call) };
  if (call.defers) {
    setTimeout(
      () => void client.respond(request.id, request.key, response).catch(() => undefined),
      call.answerAfterMs,
    );
    return undefined;
  }
  await pause(call.answerAfterMs);
  return response;
}

function contentFor(key: string, { number, approve }: SoakCall): JsonObject {
  if (key === "approval") return { approve, note: `note ${number}.` };
  if (key === "size") return { size: number % 2 === 0 ? "small" : "large" };
  return { name: `name ${number}.` };
}

function take(settled: Settled): void {
  const { number } = settled.context as { number: number };
  if (callOf(plan, number).failsDelivery && !failedOnce.has(number)) {
    failedOnce.add(number);
    throw new Error("the host's own store is down");
  }
  append(plan.deliveries, {
    number,
    status: settled.status,
    reason: settled.status === "lost" ? settled.reason : undefined,
    outcome: JSON.stringify(
      settled.status === "completed" ? settled.result : settled.status === "failed" ? settled.error : null,
    ),
  } satisfies Delivered);
  done(number);
}

function done(number: number): void {
  if (!open.delete(number)) return;
  counts.delivered += 1;
  failedOnce.delete(number);
  for (const key of ["approval", "name", "size", "round_1", "round_2"]) shown.delete(`${number} ${key}`);
  if (counts.delivered === plan.tasks) tellEmpty();
}

function sample(): void {
  // A loop that stood still all the time has measured nothing yet: then it is this look that comes late.
  const lateMs = Math.max(0, performance.now() - sampledAt - plan.sampleMs);
  const counted = delay.count > 0;
  const seen = {
    p50: counted ? delayMs(delay.percentile(50)) : lateMs,
    p99: counted ? delayMs(delay.percentile(99)) : lateMs,
    max: Math.max(delayMs(delay.max), lateMs),
  };
  // Our own collections and looks are not the client's delays.
  delay.disable();
  const heapBytes = heap();
  const { requests, store } = client.stats();
  append(plan.samples, {
    atMs: Math.round(performance.now() - startedAt),
    heapBytes,
    rssBytes: process.memoryUsage().rss,
    live: open.size,
    called: counts.called,
    delivered: counts.delivered,
    delay: seen,
    timers: timers(),
    sockets: process.getActiveResourcesInfo().filter((name) => name.startsWith("TCP")).length,
    listeners: getEventListeners(turn.signal, "abort").length,
    requests: Object.values(requests).reduce((sum, count) => sum + count, 0),
    storeWrites: store.writes,
  } satisfies Sample);
  delay.reset();
  delay.enable();
  sampledAt = performance.now();
}

function delayMs(nanoseconds: number): number {
  return Math.max(0, nanoseconds / NANO - RESOLUTION_MS);
}

/** The heap after a full collection. */
function heap(): number {
  collect?.();
  return process.memoryUsage().heapUsed;
}

/** Timers that keep a process alive. */
function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
}

function append(file: string, entry: object): void {
  appendFileSync(file, `${JSON.stringify(entry)}\n`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
