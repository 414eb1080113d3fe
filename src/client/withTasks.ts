/** Owns the drop-in: an SDK client whose `callTool` sees tasks through to their end. What it does not take over passes through. */
import type { McpCallingClientLike } from "../connection/sdk/clientTypes.js";
import { checkOptions, connectionOver, readOptions } from "../connection/sdk/sdkConnection.js";
import { notConnected } from "../connection/sdk/sdkFailures.js";
import { createInterceptor, type Declared } from "../connection/sdk/sdkInterceptor.js";
import { createSdkSession } from "../connection/sdk/sdkSession.js";
import type { Connection, RequestOptions } from "../connection/types.js";
import { ClientClosedError } from "../errors.js";
import { raceSignal } from "../internal/abort.js";
import { sleep } from "../internal/clock.js";
import { isObject, type JsonObject } from "../internal/json.js";
import {
  callToolResultSchema,
  PROTOCOL_VERSION,
  RPC,
  TASKS_EXTENSION,
  type ClientCapabilities,
} from "../protocol/index.js";
import { refuseUnknown } from "../internal/options.js";
import { CLIENT_OPTIONS, mustBeObject, nonEmpty, oneOf, type TaskClientOptions } from "./options.js";
import { callThroughSdk, type SdkRequestOptions } from "./sdkCall.js";
import { clientHandlers } from "./sdkQuestions.js";
import { TaskClient } from "./taskClient.js";

/** Options of {@link withTasks}: those of the `TaskClient` inside, and how it is tied to the SDK client. */
export interface WithTasksOptions extends TaskClientOptions {
  /** The server's name in the store and in events. Default: the name that the server gives itself. */
  readonly server?: string;
  /** As `identity` of `sdkConnection`. */
  readonly identity?: string;
  /** As `reconnect` of `sdkConnection`. With it, calls outlive the transport: their end goes over the next one. */
  readonly reconnect?: () => Promise<void>;
  /**
   * What becomes of a task whose `callTool` the host aborts. Default `"leave"`: it is seen through, and its outcome
   * goes to `onSettled`. `"cancel"`: the server is asked to cancel it.
   */
  readonly onAbort?: "leave" | "cancel";
}

/** The client itself, with tasks. */
export type WithTasks<Client> = Client & {
  /** The tasks behind the calls: `tasks()`, `pendingInputs()`, `respond()`, events, `stats()`. Closed by `close()`. */
  readonly taskClient: TaskClient;
};

/**
 * Stands in for a `Client` of `@modelcontextprotocol/sdk` 1.x or of `@modelcontextprotocol/client` 2.x, connected or
 * not: `callTool` keeps its signature and answers with the final result, whether or not the server made a task of the
 * call. Results, the server's errors, the check against `outputSchema`, aborts and timeouts are the SDK's own;
 * `timeout` limits the wait for the server's answer or handle, `maxTotalTimeout` everything. What only this package can
 * say rejects with its `TasksError`s (`CallOutcomeUnknownError`, `TaskLostError`, `TaskCancelledError`, `StoreError`).
 * After a handle, `onprogress` gets the task's status messages. Everything else of the client passes through,
 * `instanceof` included.
 *
 * Questions go to the handlers that are registered on the client, unless `onInputRequest` is given. One whose handler
 * throws, answers what does not fit, or is missing stays open, and `client.onerror` is told; so are all `error` events.
 * `_meta["mcp-taskrail/callId"]` and `_meta["mcp-taskrail/context"]` of the params are `callId` and `context` of
 * `TaskClient.callTool`; they are not sent. A call with the SDK's own `task` option is left to the SDK.
 *
 * With a connected client, stored tasks are continued at once; else after `connect`. `close()` is final: it closes the
 * `TaskClient`, puts the transport back as it was and closes the client. Throws `TypeError` that names a wrong option.
 */
export function withTasks<Client extends McpCallingClientLike>(
  client: Client,
  options: WithTasksOptions = {},
): WithTasks<Client> {
  mustBeObject("options", options);
  refuseUnknown("withTasks", options, [...OWN_OPTIONS, ...CLIENT_OPTIONS]);
  const { server, identity, reconnect, onAbort = "leave", ...clientOptions } = options;
  oneOf("onAbort", onAbort, ["leave", "cancel"]);
  if (server !== undefined) nonEmpty("server", server);
  const { clock } = checkOptions(client, { identity, reconnect, clock: options.clock });
  const session = createSdkSession(client, { clock, reconnect });
  const interceptor = createInterceptor(session);
  const sdk = client as unknown as OpenClient;
  const taskClient = new TaskClient({
    onInputRequest: clientHandlers(interceptor, clock, tellHost),
    ...clientOptions,
  });
  taskClient.on("error", ({ error }) => tellHost(error));
  const outputSchemas = new Map<string, JsonObject>();
  const closing = new AbortController();
  let attaching: Promise<string> | undefined;
  let declared: Promise<Declared | undefined> | undefined;

  /** Where a host of the SDK hears of what fails none of its calls. */
  function tellHost(error: Error): void {
    sdk.onerror?.(error);
  }

  /** Resolves with the server's name once its stored tasks are picked up. */
  function attach(): Promise<string> {
    attaching ??= connectTasks().catch((error: unknown) => {
      attaching = undefined;
      throw error;
    });
    return attaching;
  }

  async function connectTasks(): Promise<string> {
    const settings = readOptions(client, { identity, clock });
    const name = server ?? client.getServerVersion()?.name ?? settings.identity;
    await taskClient.connect(name, dressed(connectionOver(session, settings), whoAsks, options));
    return name;
  }

  /** What the client says of its host, asked for once, and only where requests carry it. */
  function whoAsks(): Promise<Declared | undefined> {
    if (session.protocolVersion() !== PROTOCOL_VERSION) return Promise.resolve(undefined);
    declared ??= interceptor.declared().catch((error: unknown) => {
      declared = undefined;
      throw notConnected(error);
    });
    return declared;
  }

  /** Stored tasks go on without being asked for: what keeps them from it now (a store out of reach) may pass. */
  async function attachInBackground(): Promise<void> {
    const { signal } = closing;
    while (!signal.aborted) {
      try {
        await attach();
        return;
      } catch (error) {
        // The next call says what is wrong with the options.
        if (error instanceof TypeError) return;
        await sleep(clock, ATTACH_AGAIN_MS, { signal }).catch(() => undefined);
      }
    }
  }

  async function callTool(params: CallParams, ...rest: readonly unknown[]): Promise<unknown> {
    const [schema, given] = isSecondGeneration(client) ? [undefined, rest[0]] : [rest[0], rest[1]];
    const callOptions = (given ?? {}) as CallOptions;
    if (params.task !== undefined || callOptions.task !== undefined) return sdk.callTool(params, ...rest);
    if (closing.signal.aborted) throw new ClientClosedError();
    // The SDK says it in its own words.
    if (client.transport === undefined && !session.canReconnect) return sdk.callTool(params, ...rest);
    const attached = await raceSignal(attach(), callOptions.signal);
    return callThroughSdk(
      callOptions,
      async (meta, limits, isCaptured) => {
        const marked = { ...params, _meta: { ...params._meta, ...meta } };
        if (isSecondGeneration(client)) return sdk.callTool(marked, limits);
        try {
          return await sdk.callTool(marked, schema, limits);
        } catch (error) {
          // 1.x turns calls of tools that only run as tasks away, before anything is sent.
          if (isCaptured() || !isRefusedUnsent(error)) throw error;
          return sdk.request(
            { method: "tools/call", params: marked },
            schema ?? callToolResultSchema,
            limits,
          );
        }
      },
      {
        taskClient,
        server: attached,
        clock,
        interceptor,
        onAbort,
        canReconnect: session.canReconnect,
        outputSchemaOf: (tool) => callOptions.toolDefinition?.outputSchema ?? outputSchemas.get(tool),
      },
    );
  }

  /** What the host has listed is what the SDK checks results against; so do we, after a restart too. */
  async function listTools(...args: readonly unknown[]): Promise<unknown> {
    const listed = await sdk.listTools(...args);
    const tools = isObject(listed) && Array.isArray(listed["tools"]) ? (listed["tools"] as unknown[]) : [];
    for (const tool of tools) {
      if (!isObject(tool) || typeof tool["name"] !== "string") continue;
      if (isObject(tool["outputSchema"])) outputSchemas.set(tool["name"], tool["outputSchema"] as JsonObject);
      else outputSchemas.delete(tool["name"]);
    }
    return listed;
  }

  async function connect(...args: readonly unknown[]): Promise<unknown> {
    const connected = await sdk.connect(...args);
    session.handshakeOver();
    session.look();
    void attachInBackground();
    return connected;
  }

  async function close(): Promise<void> {
    closing.abort();
    try {
      await taskClient.close();
    } finally {
      session.close();
      await client.close();
    }
  }

  if (session.look() !== undefined) void attachInBackground();
  return standIn(client, { taskClient, callTool, listTools, connect, close });
}

const OWN_OPTIONS = ["server", "identity", "reconnect", "onAbort"];
/** How long until the stored tasks are looked for again, where that failed. */
const ATTACH_AGAIN_MS = 2000;

interface CallParams {
  readonly name: string;
  readonly _meta?: JsonObject;
  readonly task?: unknown;
}

interface CallOptions extends SdkRequestOptions {
  /** 1.x: the host drives the task itself. */
  readonly task?: unknown;
  /** 2.x: the tool as the host knows it. */
  readonly toolDefinition?: { readonly outputSchema?: JsonObject };
}

/** The client with types that can be called: what the host gave is passed on as it is. */
interface OpenClient {
  readonly onerror?: ((error: Error) => void) | undefined;
  request(...args: readonly unknown[]): Promise<unknown>;
  callTool(...args: readonly unknown[]): Promise<unknown>;
  listTools(...args: readonly unknown[]): Promise<unknown>;
  connect(...args: readonly unknown[]): Promise<unknown>;
}

/** 2.x takes no result schema; it tells the revision that it negotiated. */
function isSecondGeneration(client: McpCallingClientLike): boolean {
  return typeof client.getNegotiatedProtocolVersion === "function";
}

function isRefusedUnsent(error: unknown): boolean {
  return isObject(error) && error["code"] === RPC.invalidRequest;
}

/** Requests say what the host's client says: its name, and what its handlers can answer, unless the options say otherwise. */
function dressed(
  connection: Connection,
  whoAsks: () => Promise<Declared | undefined>,
  options: WithTasksOptions,
): Connection {
  const isOurs = options.onInputRequest === undefined && options.capabilities === undefined;
  const dress = async <Options extends Pick<RequestOptions, "clientInfo" | "capabilities">>(
    given: Options,
  ) => {
    const declared = await whoAsks();
    if (declared === undefined) return given;
    return {
      ...given,
      clientInfo: options.clientInfo ?? declared.clientInfo ?? given.clientInfo,
      capabilities: isOurs ? answerable(declared) : given.capabilities,
    };
  };
  return {
    ...connection,
    request: async (method, params, given) => connection.request(method, params, await dress(given)),
    discover: async (given) => connection.discover(await dress(given)),
    listen: async (taskIds, given) => connection.listen?.(taskIds, await dress(given)),
  };
}

function answerable({ capabilities }: Declared): ClientCapabilities {
  const { elicitation, sampling, roots, extensions } = capabilities;
  return {
    ...(elicitation !== undefined && { elicitation }),
    ...(sampling !== undefined && { sampling }),
    ...(roots !== undefined && { roots }),
    extensions: { ...(isObject(extensions) ? extensions : {}), [TASKS_EXTENSION]: {} },
  };
}

/** The client, with these members in place of its own. Its methods run on the client itself. */
function standIn<Client extends object>(
  client: Client,
  own: Readonly<Record<string, unknown>>,
): WithTasks<Client> {
  const members = new Map<string | symbol, unknown>(Object.entries(own));
  if (Symbol.asyncDispose in client) members.set(Symbol.asyncDispose, own["close"]);
  const bound = new WeakMap<object, unknown>();
  return new Proxy(client, {
    get(target, property) {
      if (members.has(property)) return members.get(property);
      const value: unknown = Reflect.get(target, property, target);
      // What the host put on the client itself is no method.
      if (typeof value !== "function" || property === "constructor" || Object.hasOwn(target, property)) {
        return value;
      }
      // One function per method, so that it compares equal to itself.
      if (!bound.has(value)) bound.set(value, value.bind(target));
      return bound.get(value);
    },
    has: (target, property) => members.has(property) || Reflect.has(target, property),
    set(target, property, value) {
      if (!members.has(property)) return Reflect.set(target, property, value, target);
      members.set(property, value);
      return true;
    },
  }) as WithTasks<Client>;
}
