/** Owns the host programs of the process tests: each is a short story on one store, told by the public names only. */
import {
  httpConnection,
  TaskClient,
  TasksError,
  type JsonObject,
  type TaskClientOptions,
  type TaskHandle,
} from "../../src/index.js";
import { lmdbStore } from "../../src/store/lmdb.js";
import { programInput } from "./programInput.js";

/** What a host is told. */
export interface HostInput {
  readonly story: keyof typeof stories;
  readonly url: string;
  readonly storePath: string;
  readonly calls?: readonly { readonly tool: string; readonly arguments: JsonObject }[];
  /** Of the story `answers`. */
  readonly answer?: { readonly id: string; readonly key: string; readonly value: JsonObject };
  /** Of the story `polls`: says so once every task has shown this interval. */
  readonly intervalMs?: number;
  /** Of the story `reopens`: how often. */
  readonly times?: number;
}

const input = programInput<HostInput>();
const SERVER = "server";

const stories = {
  /** Makes tasks and has nothing else to do. */
  async leaves() {
    const { tasks } = await started();
    console.log("tracking", tasks.length);
  },

  async waits() {
    const { tasks } = await started();
    console.log("tracking", tasks.length);
    await tellResults(tasks);
  },

  /** Shows questions to nobody here: somebody else answers. */
  async defers() {
    const { tasks } = await started({
      onInputRequest: ({ id, key }) => {
        console.log("asked", JSON.stringify({ id, key }));
        return undefined;
      },
    });
    await tellResults(tasks);
  },

  /** Has no connection: answers into the store, and finds the outcome there. */
  async answers() {
    const client = newClient();
    const { id, key, value } = input.answer ?? { id: "", key: "", value: {} };
    try {
      await client.respond(id, key, value);
      console.log("answered");
    } catch (error) {
      console.log("refused", error instanceof TasksError ? error.code : String(error));
    }
    const task = await client.task(id);
    if (task !== undefined) await tellResults([task]);
  },

  /** Makes its tasks on the first start, and sees them through on every other. */
  async polls() {
    const client = newClient();
    const found = await client.connect(SERVER, httpConnection(input.url));
    console.log("found", found.length);
    const tasks = found.length > 0 ? found : await callAll(client);
    console.log("tracking", tasks.filter(({ status }) => status === "working").length);
    await untilAllShow(tasks, input.intervalMs);
    console.log("steady");
    await tellResults(tasks);
  },

  /** Closes in good order, once told to, and leaves the rest to the next start. */
  async closes() {
    const client = newClient();
    const found = await client.connect(SERVER, httpConnection(input.url));
    const tasks = found.length > 0 ? found : await callAll(client);
    await untilAllShow(tasks, input.intervalMs);
    await client.close();
    console.log("closed");
  },

  /** Closes and opens the same store at once, over and over. */
  async reopens() {
    for (let turn = 0; turn < (input.times ?? 1); turn += 1) {
      const client = newClient();
      const found = await client.connect(SERVER, httpConnection(input.url));
      if (turn === 0) await callAll(client);
      // Another moment of the interval every time.
      await new Promise((resolve) => setTimeout(resolve, 40 + 30 * (turn % 5)));
      if (turn > 0 && found.length === 0) break;
      await client.close();
    }
    const client = newClient();
    await tellResults(await client.connect(SERVER, httpConnection(input.url)));
  },

  /** Closes with a call under way that the server never answers. */
  async closesHung() {
    const { client, tasks } = await started();
    console.log("tracking", tasks.length);
    const waits = tasks.map((task) => task.result().then(() => "a result", codeOf));
    const hung = client.callTool(SERVER, { name: "inline", arguments: {} }).then(() => "a result", codeOf);
    console.log("calling");
    await client.close({ timeoutMs: 300 });
    console.log("closed", JSON.stringify(await Promise.all([hung, ...waits])));
  },
} as const satisfies Readonly<Record<string, () => Promise<void>>>;

await stories[input.story]();

function newClient(options: TaskClientOptions = {}): TaskClient {
  return new TaskClient({
    store: lmdbStore(input.storePath),
    poll: { minIntervalMs: 20 },
    retry: { minDelayMs: 20, maxDelayMs: 200 },
    storeWatchMs: 50,
    ...options,
  });
}

async function started(options?: TaskClientOptions): Promise<{ client: TaskClient; tasks: TaskHandle[] }> {
  const client = newClient(options);
  await client.connect(SERVER, httpConnection(input.url));
  return { client, tasks: await callAll(client) };
}

function callAll(client: TaskClient): Promise<TaskHandle[]> {
  return Promise.all(
    (input.calls ?? []).map(async ({ tool, arguments: args }) => {
      const call = await client.callTool(SERVER, { name: tool, arguments: args });
      if (call.kind === "result") throw new Error(`${tool} made no task`);
      return call.task;
    }),
  );
}

async function untilAllShow(tasks: readonly TaskHandle[], intervalMs: number | undefined): Promise<void> {
  const shows = ({ snapshot, status }: TaskHandle): boolean =>
    intervalMs === undefined || snapshot.pollIntervalMs === intervalMs || status !== "working";
  while (!tasks.every(shows)) await new Promise((resolve) => setTimeout(resolve, 10));
}

async function tellResults(tasks: readonly TaskHandle[]): Promise<void> {
  const results = await Promise.all(tasks.map((task) => task.result()));
  console.log("results", JSON.stringify(results.map(({ content }) => content)));
}

function codeOf(error: unknown): string {
  return error instanceof TasksError ? error.code : String(error);
}
