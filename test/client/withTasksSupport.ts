/** Owns what the tests of withTasks share: hosts of both SDKs on servers of both revisions, plain and wrapped. */
import { Client as ClientOne } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpOne } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { Client as ClientTwo, StreamableHTTPClientTransport as HttpTwo } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import { withTasks, type WithTasks, type WithTasksOptions } from "../../src/index.js";
import { QUICK } from "../connection/sdk/support.js";

/** Small numbers, so that nobody waits. */
export const FAST: WithTasksOptions = QUICK;

export interface Call {
  readonly name: string;
  readonly arguments?: Record<string, unknown>;
  readonly _meta?: Record<string, unknown>;
}
/** What both SDKs take beside the params. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeout?: number;
  readonly maxTotalTimeout?: number;
  readonly resetTimeoutOnProgress?: boolean;
  readonly onprogress?: (progress: { progress: number; message?: string }) => void;
}
export type Answer = Record<string, unknown> & { content?: { type: string; text?: string }[] };

/** One host: the same moves, whichever SDK. */
export interface Host<Client> {
  readonly client: Client;
  readonly call: (call: Call, options?: CallOptions) => Promise<Answer>;
}

export const ALL = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

export function newOne(capabilities: object = {}): ClientOne {
  return new ClientOne({ name: "host-one", version: "1.0.0" }, { capabilities });
}

export function newTwo(capabilities: object = {}): ClientTwo {
  return new ClientTwo(
    { name: "host-two", version: "2.0.0" },
    { capabilities, versionNegotiation: { mode: "auto" } },
  );
}

export const httpOne = (url: string): Transport => new HttpOne(new URL(url));
export const httpTwo = (url: string): HttpTwo => new HttpTwo(new URL(url));

export function hostOne<Client extends ClientOne>(client: Client): Host<Client> {
  return {
    client,
    call: (call, options) => client.callTool(call, undefined, options as never),
  };
}

export function hostTwo<Client extends ClientTwo>(client: Client): Host<Client> {
  return { client, call: (call, options) => client.callTool(call, options as never) };
}

/** A wrapped client of 1.x, connected, that ends with the test. */
export async function wrappedOne(
  url: string,
  options: WithTasksOptions = {},
  client = newOne(ALL),
): Promise<Host<WithTasks<ClientOne>>> {
  const wrapped = withTasks(client, { ...FAST, ...options });
  await wrapped.connect(httpOne(url));
  onTestFinished(() => wrapped.close());
  return hostOne(wrapped);
}

/** A wrapped client of 2.x, connected, that ends with the test. */
export async function wrappedTwo(
  url: string,
  options: WithTasksOptions = {},
  client = newTwo(ALL),
): Promise<Host<WithTasks<ClientTwo>>> {
  const wrapped = withTasks(client, { ...FAST, ...options });
  await wrapped.connect(httpTwo(url));
  onTestFinished(() => wrapped.close());
  return hostTwo(wrapped);
}
