/** Owns the client that the inputs of one target share, with a task that has questions open. It judges nothing. */
import { TaskClient } from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { memoryStore } from "../../src/store/memory.js";
import { scriptedConnection } from "../../src/testing/index.js";
import { PLANTED } from "./hostile.js";

/** Of one call, which has as many questions open as were asked for: `k0`, `k1`, … */
export interface SharedClient {
  readonly client: TaskClient;
  /** The local id of the call. Its task id is the planted secret. */
  readonly id: string;
  /** The local id of another call: it runs and asks nothing, so that it can be cancelled while the first one asks. */
  readonly runningId: string;
  /** By key. */
  readonly versions: ReadonlyMap<string, string>;
}

const HANDLE: JsonObject = {
  resultType: "task",
  taskId: PLANTED,
  status: "input_required",
  ttlMs: null,
  pollIntervalMs: 1,
};
const RUNNING: JsonObject = {
  ...HANDLE,
  taskId: `${PLANTED}-2`,
  status: "working",
  pollIntervalMs: 60_000,
};
/** A server that tells its secret wherever it may say something. */
export const QUESTION: JsonObject = {
  method: "elicitation/create",
  params: {
    message: `May ${PLANTED} go on?`,
    requestedSchema: { type: "object", properties: { a: { type: "string", description: PLANTED } } },
  },
};

/** What a server answers whose one task asks `questions` questions. */
export function askingServer(questions: number): Parameters<typeof scriptedConnection>[0] {
  const inputRequests = Object.fromEntries(Array.from({ length: questions }, (_, n) => [`k${n}`, QUESTION]));
  return {
    "tools/call": [HANDLE, RUNNING, { content: [] }],
    "tasks/get": ({ params }) =>
      params["taskId"] === HANDLE["taskId"]
        ? { ...HANDLE, resultType: "complete", statusMessage: `of ${PLANTED}`, inputRequests }
        : { ...RUNNING, resultType: "complete" },
    "tasks/update": { resultType: "complete" },
    "tasks/cancel": { resultType: "complete" },
  };
}

async function open(questions: number): Promise<SharedClient> {
  const client = new TaskClient({
    store: memoryStore(),
    capabilities: { elicitation: {} },
    push: "off",
    poll: { minIntervalMs: 20, defaultIntervalMs: 20 },
  });
  await client.connect("srv", scriptedConnection(askingServer(questions)));
  const call = await client.callTool("srv", { name: "t" }, { callId: "asks", context: { user: "ann" } });
  const other = await client.callTool("srv", { name: "t" }, { callId: "runs" });
  if (call.kind === "result" || other.kind === "result") throw new Error("no task");
  const { task } = call;
  while (task.pendingInputs.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const versions = new Map(task.pendingInputs.map(({ key, version }) => [key, version]));
  return { client, id: task.id, runningId: other.task.id, versions };
}

let opened: Promise<SharedClient> | undefined;

/** The client that is open, or a new one: what one caller does wrong costs no other. */
export function sharedClient(questions: number): Promise<SharedClient> {
  return (opened ??= open(questions));
}

/** Ends it. The next input has a new one. */
export async function closeShared(): Promise<void> {
  const shared = await opened;
  opened = undefined;
  await shared?.client.close({ timeoutMs: 20 });
}
