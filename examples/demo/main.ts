/**
 * The demo, as a person sees it: three tool calls outlive the process that made them. This process is the screen
 * and the judge; the server and the worker are processes of their own. It ends by itself in under 40 seconds.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { spawnTaskServer } from "mcp-taskrail/testing";
import { printable } from "../printable.js";
import { openKeyboard } from "./keyboard.js";
import type { Row } from "./picture.js";
import { CALLS, type FromWorker } from "./protocol.js";
import { failures, summary } from "./verdict.js";
import { createView } from "./view.js";
import { startWorker, type WorkerProcess } from "./workerProcess.js";

/** The report's step at which the worker is killed. */
const KILL_AT_STEP = 5;
const DOWN_MS = 1500;
/** The person gets this long to answer. */
const ANSWER_MS = 10_000;
const FRAME_MS = 100;
const POLL_INTERVAL_MS = 500;

const startedAtMs = Date.now();
const elapsedMs = (): number => Date.now() - startedAtMs;
const folder = mkdtempSync(join(tmpdir(), "taskrail-demo-"));
const server = await spawnTaskServer({ pollIntervalMs: POLL_INTERVAL_MS });
const view = createView(process.stdout, elapsedMs);
const canAsk = view.live && process.stdin.isTTY;
const keyboard = canAsk ? openKeyboard(process.stdin, () => void interrupted(130)) : undefined;

const rows = new Map<string, Row>(
  CALLS.map(({ name }) => [name, { name, status: "calling", text: "" }] as const),
);
const results = new Map<string, string>();
const resumed: (readonly string[])[] = [];
const trouble: string[] = [];
let prompts = 0;
let lives = 0;
let approved = true;
let isDone = false;
let workerLine = "starting";
let prompt: (() => string) | undefined;
let worker: WorkerProcess | undefined;
let halfWay = (): void => undefined;
const reachedHalf = new Promise<void>((resolve) => (halfWay = resolve));

process.once("SIGINT", () => void interrupted(130));
process.once("SIGTERM", () => void interrupted(143));
process.once("SIGHUP", () => void interrupted(129));
const frames = setInterval(draw, FRAME_MS);

try {
  view.say(`A server runs as process ${server.pid}; a worker is to call ${CALLS.length} tools on it.`);
  const first = startLife();
  await Promise.race([reachedHalf, first.ended.then(tooEarly)]);
  view.say(`Killing the worker (process ${first.pid}) with SIGKILL, half way through.`);
  workerLine = "dead (SIGKILL); nobody watches the tasks, the server goes on with them";
  await first.kill();
  for (const row of rows.values()) rows.set(row.name, { ...row, status: "unwatched" });
  await pause(DOWN_MS);
  const code = await startLife().ended;
  if (code !== 0) throw new Error("The second worker ended without its results");
  draw();
  view.close();
  if (!judge()) process.exitCode = 1;
} catch (error) {
  view.say(`FAILED: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await cleanUp();
}

/** The same program again: whatever it knows of its first life is in lmdb. */
function startLife(): WorkerProcess {
  lives += 1;
  workerLine = "starting";
  const started = startWorker({ url: server.url, folder }, onMessage);
  worker = started;
  view.say(lives === 1 ? `Worker: process ${started.pid}.` : `Worker again: process ${started.pid}.`);
  return started;
}

function tooEarly(): never {
  throw new Error("The worker ended before it was to be killed");
}

function onMessage(message: FromWorker): void {
  switch (message.type) {
    case "connected":
      resumed.push(message.resumed);
      workerLine = `process ${worker?.pid}, life ${lives}, found ${message.resumed.length} tasks in the store`;
      if (lives > 1)
        view.say(`Resumed from lmdb: ${message.resumed.map((name) => printable(name)).join(", ")}.`);
      return;
    case "status":
      // The result itself follows at once.
      if (message.status === "completed") return;
      rows.set(message.name, { name: message.name, status: message.status, text: message.text ?? "" });
      if (lives === 1 && isHalfWay()) halfWay();
      return;
    case "ask":
      void ask(message.server, message.message);
      return;
    case "result":
      results.set(message.name, message.text);
      rows.set(message.name, { name: message.name, status: "completed", text: message.text });
      return;
    case "trouble":
      trouble.push(message.text);
      view.say(`Worker: ${message.text}`);
      return;
    case "done":
      isDone = true;
  }
}

/** All three calls are tasks, and the report is on its way. */
function isHalfWay(): boolean {
  const step = Number(/step (\d+)/.exec(rows.get("report")?.text ?? "")?.[1] ?? 0);
  return step >= KILL_AT_STEP && [...rows.values()].every(({ status }) => status !== "calling");
}

async function ask(from: string, message: string): Promise<void> {
  prompts += 1;
  const question = `${printable(from, 30)} asks: ${printable(message, 40)}`;
  if (keyboard === undefined) {
    view.say(question);
    view.say("Nobody can be asked here, so the demo approves by itself.");
  } else {
    const untilMs = Date.now() + ANSWER_MS;
    prompt = () => `${question} [y/n, in ${Math.ceil((untilMs - Date.now()) / 1000)} s]`;
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), ANSWER_MS);
    const answer = await keyboard.yesOrNo(limit.signal);
    clearTimeout(timer);
    prompt = undefined;
    approved = answer ?? true;
    view.say(answer === undefined ? question : `${question} ${approved ? "yes" : "no"}`);
    if (answer === undefined) view.say("No answer came, so the demo approves by itself.");
  }
  worker?.send({ type: "answer", approve: approved });
}

function draw(): void {
  const log = server.log();
  const count = (method: string): number => log.filter((entry) => entry.method === method).length;
  view.show({
    elapsedMs: elapsedMs(),
    rows: [...rows.values()],
    worker: workerLine,
    server: `process ${server.pid}, got ${count("tools/call")} tool calls, ${count("tasks/get")} polls`,
    prompt: prompt?.(),
  });
}

/** What the server saw decides, not what the client says of itself. */
function judge(): boolean {
  const facts = {
    log: server.log(),
    violations: server.violations().map(({ rule }) => rule),
    resumed: resumed[1] ?? [],
    restarts: lives - 1,
    prompts,
    approved,
    results,
    trouble,
    isDone,
  };
  const wrong = failures(facts);
  const closing = [...summary(facts), ...wrong.map((line) => `FAILED: ${line}`)];
  process.stdout.write(closing.map((line) => `${line}\n`).join(""));
  return wrong.length === 0;
}

async function interrupted(code: number): Promise<never> {
  view.say("Interrupted; ending the worker and the server.");
  await cleanUp();
  process.exit(code);
}

async function cleanUp(): Promise<void> {
  clearInterval(frames);
  view.close();
  keyboard?.close();
  await worker?.kill();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
