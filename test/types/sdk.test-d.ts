/** Compiled, never run: the clients of both SDKs fit, and stay what they are. */
import type { Client as ClientOne } from "@modelcontextprotocol/sdk/client/index.js";
import type { Client as ClientTwo } from "@modelcontextprotocol/client";
import {
  sdkConnection,
  withTasks,
  type Connection,
  type McpCallingClientLike,
  type McpClientLike,
  type TaskClient,
  type WithTasks,
} from "../../src/index.js";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** The type parameter is the test; the value is only there to be looked at. */
function same<_Holds extends true>(_value?: unknown): void {
  // Nothing to run.
}

export async function usage(one: ClientOne, two: ClientTwo, own: McpClientLike): Promise<void> {
  same<Equal<ReturnType<typeof sdkConnection>, Connection>>();
  sdkConnection(one);
  sdkConnection(two, { identity: "x", timeoutMs: 5, reconnect: async () => undefined });
  sdkConnection(own);

  const wrappedOne = withTasks(one, { onAbort: "cancel", server: "ci" });
  const wrappedTwo = withTasks(two);
  same<Equal<typeof wrappedOne, WithTasks<ClientOne>>>(wrappedOne);
  same<Equal<typeof wrappedOne.callTool, ClientOne["callTool"]>>();
  same<Equal<typeof wrappedTwo.callTool, ClientTwo["callTool"]>>();
  same<Equal<typeof wrappedTwo.taskClient, TaskClient>>(wrappedTwo.taskClient);
  // One that is wrapped is still a client.
  const clients: McpCallingClientLike[] = [wrappedOne, wrappedTwo];
  same<Equal<(typeof clients)[0], McpCallingClientLike>>(clients);
  const stillOne: ClientOne = wrappedOne;
  await stillOne.callTool({ name: "x" });
  sdkConnection(wrappedTwo);

  // @ts-expect-error Not a client.
  sdkConnection({ transport: undefined });
  // @ts-expect-error Not a policy.
  withTasks(two, { onAbort: "stop" });
  // @ts-expect-error A connection alone calls no tools.
  withTasks(own);
}
