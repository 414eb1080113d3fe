/** Owns the host program of the trouble tests: it does what its standard input says, and writes down what it sees. */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import {
  httpConnection,
  TaskClient,
  TasksError,
  type JsonObject,
  type TaskInputRequest,
} from "../../../src/index.js";
import { faultPoints, type FaultPoint } from "../../../src/testing/index.js";
import { openStore } from "../../kill/openStore.js";
import type { StorePlan } from "../../kill/plan.js";
import { programInput } from "../../process/programInput.js";

/** What a host is told at its start. */
export interface TroubleInput {
  readonly url: string;
  readonly store: StorePlan;
  /** Gets a JSON line per {@link Seen}. */
  readonly seen: string;
  readonly leaseMs: number;
  /** Stops itself there, by SIGSTOP; whoever wants it to go on sends SIGCONT. */
  readonly stopAt?: FaultPoint;
}

/** What it is told then, a JSON line each. */
export type Order =
  | { readonly do: "connect" }
  | {
      readonly do: "call";
      readonly id: string;
      readonly tool: string;
      readonly arguments: JsonObject;
      readonly timeoutMs?: number;
    }
  /** Lets the handler of every question answer this, also of those that come. */
  | { readonly do: "answer"; readonly note: string }
  | { readonly do: "close" };

/** One thing that it saw. */
export type Seen =
  | { readonly what: "connected"; readonly found: readonly string[] }
  | { readonly what: "refused"; readonly code: string; readonly message: string }
  /** How `callTool` ended: "task", "result", or an error's code. `tracked`: the error carries a task. */
  | { readonly what: "called"; readonly id: string; readonly how: string; readonly tracked: boolean }
  | { readonly what: "asked" | "withdrawn"; readonly id: string }
  | { readonly what: "settled"; readonly id: string; readonly status: string; readonly outcome: string }
  | { readonly what: "error"; readonly code: string; readonly message: string }
  | { readonly what: "closed" };

const input = programInput<TroubleInput>();
const see = (seen: Seen): void => {
  appendFileSync(input.seen, `${JSON.stringify(seen)}\n`);
  console.log(`${seen.what} ${"id" in seen ? seen.id : ""}`);
};
const points = faultPoints({
  point: input.stopAt,
  act: () => process.kill(process.pid, "SIGSTOP"),
});
const store = openStore(input.store);
let note: string | undefined;
const waiting = new Set<() => void>();

const client = new TaskClient({
  store: points.store(store.keyValue),
  onInputRequest: answer,
  onSettled: (settled) =>
    see({
      what: "settled",
      id: settled.id,
      status: settled.status === "lost" ? settled.reason : settled.status,
      outcome: JSON.stringify(settled.status === "completed" ? settled.result : null),
    }),
  poll: { minIntervalMs: 20 },
  retry: { minDelayMs: 50, maxDelayMs: 300 },
  requestTimeoutMs: 1000,
  storeWatchMs: 150,
  push: "off",
  leaseMs: input.leaseMs,
});
client.on("error", ({ error }) => see({ what: "error", code: error.code, message: error.message }));
console.log("started");
for await (const line of createInterface({ input: process.stdin })) {
  void obey(JSON.parse(line) as Order).catch((error: unknown) => {
    const code = error instanceof TasksError ? error.code : "?";
    see({ what: "refused", code, message: error instanceof Error ? error.message : String(error) });
  });
}

async function obey(order: Order): Promise<void> {
  switch (order.do) {
    case "connect": {
      const connection = httpConnection(input.url, { fetch: points.fetch(), identity: "the-server" });
      const found = await client.connect("server", connection);
      return see({ what: "connected", found: found.map(({ id }) => id) });
    }
    case "call":
      return call(order);
    case "answer":
      note = order.note;
      for (const wake of [...waiting]) wake();
      return;
    case "close":
      await client.close();
      await store.close();
      see({ what: "closed" });
      process.exit(0);
  }
}

async function call(order: Extract<Order, { do: "call" }>): Promise<void> {
  const { id, tool, arguments: args, timeoutMs } = order;
  let how: string;
  let tracked = false;
  try {
    const answered = await client.callTool(
      "server",
      { name: tool, arguments: args },
      { callId: id, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
    );
    how = answered.kind;
  } catch (error) {
    how = error instanceof TasksError ? error.code : String(error);
    tracked = error instanceof Object && "task" in error && error.task !== undefined;
  }
  see({ what: "called", id, how, tracked });
}

async function answer(request: TaskInputRequest): Promise<JsonObject> {
  const { id, signal } = request;
  see({ what: "asked", id });
  signal.addEventListener("abort", () => see({ what: "withdrawn", id }));
  while (note === undefined) {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        waiting.delete(wake);
        resolve();
      };
      waiting.add(wake);
    });
  }
  return { action: "accept", content: { approve: true, note } };
}
