/** Compiled, never run: a wrong public type fails `npm run typecheck`. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { Keyv } from "keyv";
import {
  TaskClient,
  httpConnection,
  type JsonObject,
  type Settled,
  type StoreInput,
  type TaskHandle,
  type TaskInputRequest,
  type ToolCall,
} from "../../src/index.js";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** The type parameter is the test; the value is only there to be looked at. */
function same<_Holds extends true>(_value?: unknown): void {
  // Nothing to run.
}

const client = new TaskClient({
  onInputRequest: (request) => {
    switch (request.kind) {
      case "elicitation-form":
        same<Equal<typeof request.message, string>>();
        return { action: "accept", content: {} };
      case "elicitation-url":
        same<Equal<typeof request.url, string>>();
        return { action: "decline" };
      case "sampling":
        return undefined;
      case "roots":
        return { roots: [] };
    }
  },
  onSettled: async (settled) => {
    if (settled.status === "completed") same<Equal<typeof settled.result, JsonObject>>();
    if (settled.status === "lost") {
      same<Equal<typeof settled.reason, "expired" | "unknown" | "gave-up" | "call-outcome-unknown">>();
    }
  },
});

export async function usage(keyv: Keyv, map: Map<string, unknown>): Promise<void> {
  const stores: StoreInput[] = [keyv, map];
  new TaskClient({ store: stores[0] as StoreInput });

  const handles = await client.connect("ci", httpConnection("https://ci.example/mcp"));
  same<Equal<typeof handles, TaskHandle[]>>(handles);
  const call: ToolCall = await client.callTool("ci", { name: "deploy", arguments: { env: "prod" } });
  if (call.kind === "result") same<Equal<typeof call.result, CallToolResult>>();
  else {
    same<Equal<typeof call.task, TaskHandle>>();
    same<Equal<Awaited<ReturnType<typeof call.task.result>>, CallToolResult>>();
    same<Equal<Awaited<ReturnType<typeof call.task.settled>>, Settled>>();
    for await (const snapshot of call.task.updates()) same<Equal<typeof snapshot.status, string>>(snapshot);
    same<Equal<"then" extends keyof TaskHandle ? true : false, false>>();
  }
  const pending = await client.pendingInputs({ state: "input" });
  same<Equal<typeof pending, TaskInputRequest[]>>(pending);
  const stop = client.on("settled", (settled) => same<Equal<typeof settled, Settled>>(settled));
  stop();

  // @ts-expect-error No such event.
  client.on("nothing", () => undefined);
  // @ts-expect-error The name of the tool is missing.
  await client.callTool("ci", { arguments: {} });
  // @ts-expect-error Not a policy.
  await client.callTool("ci", { name: "x" }, { onUnknownOutcome: "always" });
  // @ts-expect-error A number is no store.
  new TaskClient({ store: 5 });
}
