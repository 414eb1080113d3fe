/**
 * Questions of running tasks, put to a person one at a time: forms, a page to visit, and one that is left open and
 * answered by another process. Where there is no terminal, a script answers, and says what it answers.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  InvalidInputResponseError,
  TaskClient,
  httpConnection,
  type JsonObject,
  type TaskInputRequest,
} from "mcp-taskrail";
import { lmdbStore } from "mcp-taskrail/lmdb";
import { spawnTaskServer } from "mcp-taskrail/testing";
import { printable } from "../printable.js";
import { personAtTerminal, scriptedPerson } from "./person.js";
import { prompt } from "./prompt.js";

const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
const person = isTerminal
  ? personAtTerminal()
  : scriptedPerson({
      "Answer (y)": ["y", "y", "y", "y"],
      Approve: ["yes"],
      note: [""],
      name: ["Ada"],
      // The first one is none of the choices: the library refuses it, and the form is shown again.
      size: ["medium", "small"],
      "Done there": ["n"],
    });

const folder = mkdtempSync(join(tmpdir(), "taskrail-approvals-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const server = await spawnTaskServer();
const store = lmdbStore(folder);
const tasks = new TaskClient({ store, storeWatchMs: 500, onInputRequest });
const refused: string[] = [];
/** Called for a question that the person leaves for later: the example waits no longer for its task. */
const leftOpen = new Map<string, () => undefined>();
let turn: Promise<unknown> = Promise.resolve();

try {
  await tasks.connect("tools", httpConnection(server.url));
  const answers = await Promise.all([
    outcome("staging", "deploy", { env: "staging", ms: 100 }, "me"),
    outcome("order", "two_questions", {}, "me"),
    outcome("sign-in", "ask_url", { url: "https://login.example/start?state=1" }, "me"),
    outcome("production", "deploy", { env: "prod", ms: 100 }, "release-team"),
  ]);
  person.say("");
  for (const line of answers) person.say(line);
  check(answers);
  person.say("OK: every question was asked once, and no answer was sent twice");
} finally {
  person.close();
  await tasks.close();
  await store.disconnect();
  await server.stop();
}

/** Questions of different tasks arrive side by side; a terminal can show one at a time. */
function onInputRequest(request: TaskInputRequest): Promise<JsonObject | undefined> | undefined {
  if (request.context !== "me") {
    // Somebody else is to answer this one. Nothing is decided here: the question stays open in the store.
    void answerElsewhere();
    return undefined;
  }
  const mine = turn.then(() => askUntilItFits(request));
  turn = mine.catch(() => undefined);
  return mine;
}

/** The answer is checked when it is stored; what does not fit is not sent, and the person may try again. */
async function askUntilItFits(request: TaskInputRequest): Promise<undefined> {
  for (;;) {
    // Withdrawn while it waited for its turn, or while it was shown: answered elsewhere, or the task is over.
    if (request.signal.aborted) return undefined;
    const response = await prompt(request, person);
    if (response === undefined) return leftOpen.get(request.id)?.();
    try {
      return void (await tasks.respond(request.id, request.key, response));
    } catch (error) {
      if (!(error instanceof InvalidInputResponseError)) throw error;
      refused.push(error.field);
      person.say(`  That does not fit: ${printable(error.message)}`);
    }
  }
}

/** `approver` is the task's context: it comes back with every question, here and in other processes. */
async function outcome(callId: string, tool: string, args: JsonObject, approver: string): Promise<string> {
  const params = { name: tool, arguments: args };
  const left = new Promise<undefined>((resolve) => leftOpen.set(callId, () => void resolve(undefined)));
  const call = await tasks.callTool("tools", params, { callId, context: approver });
  const result = call.kind === "result" ? call.result : await Promise.race([call.task.result(), left]);
  if (result === undefined) return `${callId}: left open`;
  return `${callId}: ${printable(JSON.stringify(result.structuredContent ?? {}), 200)}`;
}

async function answerElsewhere(): Promise<void> {
  const file = fileURLToPath(new URL("./answerElsewhere.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", file, folder], { stdio: "inherit" });
  await once(child, "exit");
}

function check([staging, order, signIn, production]: readonly string[]): void {
  assert.match(production ?? "", /"deployed":true/);
  const updates = server.log().filter(({ method }) => method === "tasks/update");
  assert.deepEqual(
    updates.flatMap(({ repeated = [], conflicting = [] }) => [...repeated, ...conflicting]),
    [],
  );
  assert.deepEqual(server.violations(), []);
  if (isTerminal) return;
  assert.match(staging ?? "", /"deployed":true/);
  assert.match(order ?? "", /"name":"Ada"/);
  assert.match(order ?? "", /"size":"small"/);
  assert.match(signIn ?? "", /"action":"decline"/);
  assert.deepEqual(refused, ["content.size"]);
}
