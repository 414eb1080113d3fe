/**
 * The host's worker: calls three tools and waits for their results. It is killed half way and started again; the
 * second life runs this very file, and finds its tasks in lmdb. It draws nothing and decides nothing for the person.
 */
import { TaskClient, httpConnection, type TaskInputRequest } from "mcp-taskrail";
import { lmdbStore } from "mcp-taskrail/lmdb";
import {
  CALLS,
  SERVER,
  type CallName,
  type FromWorker,
  type ToWorker,
  type WorkerSettings,
} from "./protocol.js";

const { url, folder } = JSON.parse(process.argv[2] ?? "{}") as WorkerSettings;
const store = lmdbStore(folder);
const tasks = new TaskClient({ store, onInputRequest: askThePerson });

// Without a screen there is nobody to work for.
process.once("disconnect", () => process.exit(0));
tasks.on("error", ({ error }) => send({ type: "trouble", text: `${error.name}: ${error.message}` }));

const found = await tasks.connect(SERVER, httpConnection(url));
send({ type: "connected", resumed: found.map((task) => task.id) });
await Promise.all(CALLS.map(run));
send({ type: "done" });
await tasks.close();
await store.disconnect();
process.disconnect();

/** The same line in both lives: a `callId` that is in the store is not sent again. */
async function run({ name, arguments: args }: (typeof CALLS)[number]): Promise<void> {
  const call = await tasks.callTool(SERVER, { name, arguments: args }, { callId: name });
  if (call.kind === "result") return sendResult(name, call.result.content);
  for await (const { status, statusMessage } of call.task.updates()) {
    send({ type: "status", name, status, text: statusMessage });
  }
  sendResult(name, (await call.task.result()).content);
}

function askThePerson(request: TaskInputRequest): Promise<{ action: string; content?: { approve: true } }> {
  const message = request.kind === "elicitation-form" ? request.message : request.kind;
  send({ type: "ask", name: request.id, server: request.serverDisplayName, message });
  return new Promise((resolve) => {
    process.once("message", ({ approve }: ToWorker) =>
      resolve(approve ? { action: "accept", content: { approve: true } } : { action: "decline" }),
    );
  });
}

function sendResult(name: CallName, content: readonly { type: string }[]): void {
  const first = content[0] as { type: string; text?: string } | undefined;
  send({ type: "result", name, text: first?.text ?? "(no text)" });
}

function send(message: FromWorker): void {
  process.send?.(message);
}
