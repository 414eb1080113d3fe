/** Owns the 2026-07-28 revision over the transport of an SDK client: envelope, headers, subscriptions. It sends once, and keeps nothing. */
import { ConnectionError, RpcError } from "../../errors.js";
import { isObject, type JsonObject } from "../../internal/json.js";
import {
  mirroredHeaders,
  PROTOCOL_VERSION,
  readDescription,
  RPC,
  withEnvelope,
  type ServerDescription,
} from "../../protocol/index.js";
import { eraError } from "../rpc.js";
import type { Connection, ListenOptions, Notice, RequestOptions } from "../types.js";
import type { SdkSession } from "./sdkSession.js";

/** The requests of this revision; identity and end are the whole connection's. */
export type Dialect = Omit<Connection, "identity" | "close"> & Required<Pick<Connection, "listen">>;

export function modernConnection(session: SdkSession, defaults: { timeoutMs: number }): Dialect {
  const { clock } = session;
  let described: { description: ServerDescription; untilMs: number } | undefined;

  function request(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    const { clientInfo, capabilities, meta, tool, headers } = options;
    const args = (params["arguments"] ?? {}) as JsonObject;
    const mirrored = method === "tools/call" && tool !== undefined ? mirroredHeaders(tool, args) : {};
    const sent = session.request({
      method,
      params: withEnvelope(params, { clientInfo, capabilities, meta }),
      signal: options.signal,
      timeoutMs: options.timeoutMs ?? defaults.timeoutMs,
      // The transport sets the protocol's own headers from the message, and ignores ours of their names.
      headers: { ...headers, ...mirrored },
      onNotice: options.onNotice,
    });
    return sent.catch((error: unknown) => {
      throw explained(error, method);
    });
  }

  return {
    request,
    async discover(options) {
      if (described && clock.monotonic() < described.untilMs) return described.description;
      const description = readDescription(await request("server/discover", {}, options));
      const { supportedVersions, ttlMs } = description;
      if (supportedVersions.length > 0 && !supportedVersions.includes(PROTOCOL_VERSION)) {
        throw eraError(supportedVersions);
      }
      described = { description, untilMs: clock.monotonic() + (ttlMs ?? 0) };
      return description;
    },
    async listen(taskIds, options) {
      const { clientInfo, capabilities, signal } = options;
      const dropped = new AbortController();
      const onAbort = (): void => dropped.abort(signal.reason);
      signal.throwIfAborted();
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        await session.request({
          method: "subscriptions/listen",
          params: withEnvelope({ notifications: { taskIds: [...taskIds] } }, { clientInfo, capabilities }),
          signal: dropped.signal,
          timeoutMs: Infinity,
          onNotice: listenNotices(taskIds, options, (error) => dropped.abort(error)),
        });
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
    },
  };
}

/** The one header of tasks that not every release of the SDK sets, and that nobody above its transport can. */
function explained(error: unknown, method: string): unknown {
  if (!(error instanceof RpcError) || error.rpcCode !== RPC.headerMismatch) return error;
  if (!method.startsWith("tasks/")) return error;
  const why = "@modelcontextprotocol/client before 2.1 sends no Mcp-Name with it";
  return new RpcError(
    { code: error.rpcCode, message: `${error.message} (${why})`, data: error.data },
    { cause: error, status: error.status },
  );
}

function listenNotices(
  taskIds: readonly string[],
  { onLife, onAcknowledged, onNotice }: ListenOptions,
  drop: (error: ConnectionError) => void,
): (notice: Notice) => void {
  let acknowledged = false;
  return (notice) => {
    onLife();
    switch (notice.method) {
      case "notifications/subscriptions/acknowledged":
        if (!acknowledged) onAcknowledged(acknowledgedOf(notice, taskIds));
        acknowledged = true;
        return;
      case "notifications/cancelled":
        return drop(new ConnectionError("The server cancelled the subscription", { mayHaveRun: true }));
      default:
        if (acknowledged) onNotice(notice);
    }
  };
}

/** Of the ids that were asked for, those that the server will push for; none where it does not say. */
function acknowledgedOf({ params }: Notice, asked: readonly string[]): string[] {
  const filter = params["notifications"];
  const ids = isObject(filter) ? filter["taskIds"] : undefined;
  const accepted = new Set<unknown>(Array.isArray(ids) ? ids : []);
  return asked.filter((taskId) => accepted.has(taskId));
}
