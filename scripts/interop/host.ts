/** Owns one client process of the table: one call through the built package, told line by line. Argument: the job as JSON. */
import * as taskrail from "mcp-taskrail";
import { httpConnection, TaskClient, type Connection, type TaskClientOptions } from "mcp-taskrail";
import { lmdbStore } from "mcp-taskrail/lmdb";
import { connectV1, connectV2 } from "./clients.js";
import type { Job, Told } from "./job.js";

const job = JSON.parse(process.argv[2] ?? "") as Job;
const api = taskrail as unknown as Readonly<Record<string, unknown>>;

function tell(told: Told): void {
  process.stdout.write(`${JSON.stringify(told)}\n`);
}

function textOf(result: unknown): string {
  const content = (result as { content?: { text?: string }[] }).content ?? [];
  const text = content.map((block) => block.text ?? "").join("\n");
  return (result as { isError?: boolean }).isError === true ? `isError: ${text}` : text;
}

function taskOptions(): TaskClientOptions {
  const { answer, store } = job;
  return {
    ...(store === undefined ? {} : { store: lmdbStore(store) }),
    ...(answer === undefined
      ? {}
      : {
          onInputRequest: (request) => {
            tell({ tell: "question", kind: request.kind });
            return answer;
          },
        }),
  };
}

function listen(client: TaskClient): void {
  client.on("created", () => tell({ tell: "created" }));
  client.on("push", ({ state }) => tell({ tell: "push", state }));
  client.on("error", ({ error }) => tell({ tell: "trouble", what: `${error.code}: ${error.message}` }));
  client.on("retry", ({ method, error }) => tell({ tell: "trouble", what: `${method}: ${String(error)}` }));
}

async function connection(): Promise<Connection> {
  if (job.client === "httpConnection") {
    if (job.endpoint.kind !== "http") throw new Error("httpConnection needs a URL");
    return httpConnection(job.endpoint.url);
  }
  const make = api["sdkConnection"] as ((client: object) => Connection) | undefined;
  if (make === undefined) return impossible("this build has no sdkConnection");
  const connect = job.client === "sdk 1.x" ? connectV1 : connectV2;
  const onQuestion = () => tell({ tell: "trouble", what: "the SDK's own handler was asked" });
  return make(await connect({ ...job, answer: job.answer, onQuestion }));
}

/** Calls through a TaskClient. */
async function runTaskClient(): Promise<void> {
  const server = await connection();
  if (server.listen === undefined) tell({ tell: "push", state: "absent" });
  const client = new TaskClient(taskOptions());
  listen(client);
  await client.connect("foreign", server);
  const call = await client.callTool(
    "foreign",
    { name: job.tool, arguments: job.arguments },
    {
      ...(job.callId === undefined ? {} : { callId: job.callId }),
      onProgress: () => tell({ tell: "progress" }),
    },
  );
  if (call.kind === "result") return tell({ tell: "ended", status: "result", text: textOf(call.result) });
  if (job.cancel === true) await call.task.cancel();
  const settled = await call.task.settled();
  tell({ tell: "ended", status: settled.status, text: textOfOutcome(settled) });
}

function textOfOutcome(settled: taskrail.Settled): string {
  switch (settled.status) {
    case "completed":
      return textOf(settled.result);
    case "failed":
      return `${settled.error.code}: ${settled.error.message}`;
    case "lost":
      return settled.reason;
    case "cancelled":
      return "";
  }
}

/** Calls through the drop-in: the SDK's own signature, so a task is followed by events and cancelled by aborting. */
async function runDropIn(): Promise<void> {
  const make = api["withTasks"] as ((client: object, options: object) => DropIn) | undefined;
  if (make === undefined) return impossible("this build has no withTasks");
  const first = job.client === "withTasks 1.x";
  const onQuestion = () => tell({ tell: "question", kind: "elicitation-form" });
  const { onInputRequest: _own, ...options } = taskOptions();
  const connected = await (first ? connectV1 : connectV2)({
    ...job,
    answer: job.answer,
    onQuestion,
  });
  const client = make(connected, { ...options, onAbort: "cancel" });
  listen(client.taskClient);
  const abort = new AbortController();
  if (job.cancel === true)
    client.taskClient.on("created", () => abort.abort(new Error("aborted by the host")));
  const settled = new Promise<Parameters<SettledListener>[0]>((resolve) =>
    client.taskClient.on("settled", resolve),
  );
  const params = {
    name: job.tool,
    arguments: job.arguments,
    ...(job.callId === undefined ? {} : { _meta: { "mcp-taskrail/callId": job.callId } }),
  };
  // After an abort nobody waits for the task, and a process in which nobody waits may end: this one wants to see it.
  const stay = setInterval(() => undefined, 1000);
  const limits = {
    signal: abort.signal,
    timeout: 60_000,
    onprogress: () => tell({ tell: "progress" }),
  };
  try {
    const result = await (first
      ? client.callTool(params, undefined, limits)
      : client.callTool(params, limits));
    tell({ tell: "ended", status: "result", text: textOf(result) });
  } catch (error) {
    if (!abort.signal.aborted) throw error;
    const outcome = await settled;
    tell({
      tell: "ended",
      status: outcome.status,
      text: textOfOutcome(outcome),
    });
  } finally {
    clearInterval(stay);
  }
}

type SettledListener = NonNullable<TaskClientOptions["onSettled"]>;

/** What is used of the drop-in. */
interface DropIn {
  readonly taskClient: TaskClient;
  callTool(params: object, ...rest: readonly unknown[]): Promise<unknown>;
}

function impossible(why: string): never {
  tell({ tell: "impossible", why });
  process.exit(0);
}

try {
  await (job.client.startsWith("withTasks") ? runDropIn() : runTaskClient());
} catch (error) {
  const code = error instanceof taskrail.TasksError ? error.code : "ERROR";
  tell({
    tell: "ended",
    status: `rejected ${code}`,
    text: error instanceof Error ? error.message : String(error),
  });
}
process.exit(0);
