/** Owns the dialect of 2025-11-25: requests of our revision go out as that one has them, and its answers come back as ours. */
import { ClientClosedError, RpcError } from "../../errors.js";
import type { Clock } from "../../internal/clock.js";
import type { JsonObject } from "../../internal/json.js";
import { RPC, type ServerDescription } from "../../protocol/index.js";
import { legacyParams, offersToolTasks, plainResult } from "../../protocol/legacy.js";
import type { Connection, Notice, RequestOptions } from "../types.js";
import { createNoticeFeed, streamDropped } from "./noticeFeed.js";
import { createTaskRegistry, inputResponsesOf } from "./taskRegistry.js";
import { createTaskWatch, sending } from "./taskWatch.js";
import { createToolCall, notConnected } from "./toolCall.js";
import { createToolListing } from "./toolListing.js";
import type { ChannelRequestOptions, LegacyChannel } from "./types.js";

/** Settings of the dialect. */
export interface LegacyConnectionOptions {
  /** Who the server is, across restarts. */
  readonly identity: string;
  readonly clock: Clock;
  /** Milliseconds without a sign of life until a request is given up, where the request does not say. */
  readonly timeoutMs: number;
}

type Options = RequestOptions & ChannelRequestOptions;

/**
 * A server of 2025-11-25 behind the seam of our revision. Closing it aborts what is open, closes the channel and asks
 * nothing of the server: tasks live on. `listen` acknowledges no task, and passes on what the server tells by itself.
 */
export function legacyConnection(channel: LegacyChannel, options: LegacyConnectionOptions): Connection {
  const { identity, clock, timeoutMs } = options;
  const tools = createToolListing(channel);
  const feed = createNoticeFeed(() => registry.dropOver());
  const registry = createTaskRegistry(channel, clock, (taskId) =>
    createTaskWatch({
      channel,
      taskId,
      clock,
      timeoutMs,
      isListened: () => feed.isListened,
      onNews: (snapshot) => feed.tell(snapshot),
    }),
  );
  const callTool = createToolCall(channel, tools, registry);
  const closing = new AbortController();

  channel.receive({
    onRequest(request) {
      feed.alive();
      return registry.onRequest(request);
    },
    onNotice(notice) {
      feed.alive();
      return onNotice(notice);
    },
    onSessionEnd() {
      tools.outdate();
      registry.sessionEnded();
      feed.drop(streamDropped());
    },
  });

  function onNotice({ method, params }: Notice): boolean {
    switch (method) {
      case "notifications/tools/list_changed":
        tools.outdate();
        return false;
      case "notifications/tasks/status": {
        const { taskId } = params;
        const watch = typeof taskId === "string" ? registry.known(taskId) : undefined;
        watch?.told(params as JsonObject);
        return watch !== undefined;
      }
      case "notifications/cancelled": {
        const { requestId } = params;
        return (
          (typeof requestId === "string" || typeof requestId === "number") && registry.takeBack(requestId)
        );
      }
      default:
        return false;
    }
  }

  async function request(method: string, params: JsonObject, given: RequestOptions): Promise<JsonObject> {
    if (closing.signal.aborted) throw new ClientClosedError();
    given.signal?.throwIfAborted();
    const all: Options = { ...given, timeoutMs: given.timeoutMs ?? timeoutMs };
    const answer = await send(method, params, all);
    feed.alive();
    return answer;
  }

  function send(method: string, params: JsonObject, all: Options): Promise<JsonObject> {
    switch (method) {
      case "tools/call":
        return callTool(params, all);
      case "tasks/get":
        return getTask(params, all);
      case "tasks/update":
        return updateTask(params, all);
      case "tasks/cancel":
        return cancelTask(params, all);
      case "server/discover":
      case "subscriptions/listen":
        return Promise.reject(unknownMethod());
      default:
        return channel.request(method, legacyParams(params, all.meta), sending(all)).then(plainResult);
    }
  }

  async function getTask(params: JsonObject, all: Options): Promise<JsonObject> {
    const taskId = textOf(params["taskId"]) ?? "";
    const watch = registry.of(taskId);
    const state = await watch.get(all);
    if (watch.isOver) registry.drop(taskId);
    return { ...state, resultType: "complete" };
  }

  /** The good ones are delivered, whatever becomes of the others; those are repeated. */
  async function updateTask(params: JsonObject, all: Options): Promise<JsonObject> {
    const watch = registry.of(textOf(params["taskId"]) ?? "");
    const sent = await Promise.allSettled(
      inputResponsesOf(params).map(([key, response]) => watch.answer(key, response, sending(all))),
    );
    for (const each of sent) if (each.status === "rejected") throw each.reason;
    return { resultType: "complete" };
  }

  async function cancelTask(params: JsonObject, all: Options): Promise<JsonObject> {
    const taskId = textOf(params["taskId"]) ?? "";
    const state = await channel.request("tasks/cancel", legacyParams({ taskId }, all.meta), sending(all));
    // Its new state comes with the next poll, for which this answer is an early notice.
    registry.known(taskId)?.told(state);
    return { resultType: "complete" };
  }

  return {
    identity,
    request,
    async discover() {
      if (closing.signal.aborted) throw new ClientClosedError();
      return describe(channel);
    },
    async listen(_taskIds, listenOptions) {
      if (closing.signal.aborted) throw new ClientClosedError();
      if (channel.capabilities() === undefined) throw notConnected();
      return feed.listen(listenOptions);
    },
    async close() {
      if (closing.signal.aborted) return;
      closing.abort(new ClientClosedError());
      registry.close();
      feed.drop(new ClientClosedError());
      await channel.close();
    },
  };
}

function describe(channel: LegacyChannel): ServerDescription {
  const capabilities = channel.capabilities();
  if (capabilities === undefined) throw notConnected();
  const info = channel.serverInfo() ?? {};
  const version = channel.protocolVersion();
  return {
    name: textOf(info["name"]),
    title: textOf(info["title"]),
    version: textOf(info["version"]),
    supportedVersions: version === undefined ? [] : [version],
    capabilities,
    tasks: offersToolTasks(capabilities),
    instructions: undefined,
    ttlMs: null,
  };
}

function unknownMethod(): RpcError {
  return new RpcError({
    code: RPC.methodNotFound,
    message: "The method does not exist in revision 2025-11-25, which this server speaks",
  });
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
