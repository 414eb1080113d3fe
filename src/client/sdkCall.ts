/** Owns one `callTool` of a wrapped SDK client: what the host gave the SDK becomes a call of ours, and its end the SDK's answer. */
import type { CapturedRequest, SdkInterceptor } from "../connection/sdk/sdkInterceptor.js";
import { InvalidResultError, RpcError, TaskFailedError, WaitTimeoutError } from "../errors.js";
import { linkSignals } from "../internal/abort.js";
import { MAX_TIMER_MS, type Clock } from "../internal/clock.js";
import { isObject, type JsonObject } from "../internal/json.js";
import { META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_PROTOCOL_VERSION, RPC } from "../protocol/index.js";
import type { CallToolOptions } from "./callOptions.js";
import { DEFAULT_CALL_MS } from "./options.js";
import type { TaskClient } from "./taskClient.js";
import type { TaskHandle } from "./taskHandle.js";

/** Members of `_meta` that are for us: the call id, and the context. They are not sent. */
export const META_CALL_ID = "mcp-taskrail/callId";
export const META_CONTEXT = "mcp-taskrail/context";

/** The request options of both SDKs that matter here. */
export interface SdkRequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeout?: number | undefined;
  readonly maxTotalTimeout?: number | undefined;
  readonly onprogress?: ((progress: unknown) => void) | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** What one call needs of the wrapper. */
export interface SdkCallContext {
  readonly taskClient: TaskClient;
  readonly server: string;
  readonly clock: Clock;
  readonly interceptor: SdkInterceptor;
  readonly onAbort: "leave" | "cancel";
  readonly outputSchemaOf: (tool: string) => JsonObject | undefined;
}

/** The SDK's own call: with this in `_meta`, and these options in place of the host's. */
export type SdkSend = (
  meta: JsonObject,
  options: SdkRequestOptions,
  /** True once the SDK's request was seen. */
  isCaptured: () => boolean,
) => Promise<unknown>;

/**
 * Runs the call. What the server says (results and its errors) comes back through the SDK, with its checks and its
 * error classes; so do the end of the host's signal and its timeouts. What only we can say (the outcome is unknown,
 * the task was lost, the store refused) rejects with our own errors.
 */
export async function callThroughSdk(
  options: SdkRequestOptions,
  send: SdkSend,
  context: SdkCallContext,
): Promise<unknown> {
  const stop = linkSignals(options.signal);
  const { maxTotalTimeout } = options;
  const stopTotal =
    maxTotalTimeout === undefined
      ? undefined
      : context.clock.setTimer(maxTotalTimeout, () => stop.abort("Maximum total timeout exceeded"));
  const state: { captured: boolean; own?: { readonly error: unknown } } = { captured: false };

  function onRequest(request: CapturedRequest): void {
    state.captured = true;
    run(request, options, stop.signal, context).catch((error: unknown) => {
      // The SDK has said so already.
      if (stop.signal.aborted) return;
      if (error instanceof WaitTimeoutError) return stop.abort("Request timed out");
      const wire = wireError(error);
      if (wire !== undefined) return request.fail(wire);
      state.own = { error };
      stop.abort("The call ended");
    });
  }

  try {
    // The SDK's timer would count the task's whole life: the limits are ours to keep.
    const limits = { timeout: MAX_TIMER_MS, maxTotalTimeout: undefined, signal: stop.signal };
    return await context.interceptor.capture(
      (meta) => send(meta, { ...options, ...limits }, () => state.captured),
      onRequest,
    );
  } catch (error) {
    throw state.own === undefined ? error : state.own.error;
  } finally {
    stopTotal?.();
    stop.release();
  }
}

async function run(
  request: CapturedRequest,
  options: SdkRequestOptions,
  signal: AbortSignal,
  context: SdkCallContext,
): Promise<void> {
  const { params } = request;
  const tool = params["name"] as string;
  const progress = progressOf(request);
  const call = await context.taskClient.callTool(
    context.server,
    { name: tool, arguments: (params["arguments"] ?? {}) as JsonObject },
    {
      ...callOptions(params, options),
      signal,
      onProgress: progress.notice,
      outputSchema: context.outputSchemaOf(tool),
    },
  );
  if (call.kind === "result") return request.answer(call.result as JsonObject);
  const { task } = call;
  const onAbort = (): void => void task.cancel().catch(() => undefined);
  // The host's own signal: a limit that passed says nothing about what the host wants of the task.
  if (context.onAbort === "cancel") options.signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const told = tellStatus(task, progress.status, signal);
    const result = await task.result({ signal });
    await told;
    request.answer(result as JsonObject);
  } finally {
    options.signal?.removeEventListener("abort", onAbort);
  }
}

/** After the handle there is no progress; what the server says of the task's state stands for it. */
async function tellStatus(
  task: TaskHandle,
  tell: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let last: string | undefined;
  try {
    for await (const { statusMessage } of task.updates({ signal })) {
      if (statusMessage !== undefined && statusMessage !== last) tell(statusMessage);
      last = statusMessage;
    }
  } catch {
    // The wait for the result tells why.
  }
}

function progressOf(request: CapturedRequest): {
  notice: (params: Readonly<Record<string, unknown>>) => void;
  status: (message: string) => void;
} {
  // By the protocol, progress must grow with every notice.
  let last = 0;
  return {
    notice(params) {
      const { progressToken: _ours, ...rest } = params;
      if (typeof rest["progress"] === "number") last = Math.max(last, rest["progress"]);
      request.progress(rest as JsonObject);
    },
    status(message) {
      last = Math.floor(last) + 1;
      request.progress({ progress: last, message });
    },
  };
}

function callOptions(params: JsonObject, options: SdkRequestOptions): CallToolOptions {
  const given = isObject(params["_meta"]) ? params["_meta"] : {};
  const {
    [META_CALL_ID]: callId,
    [META_CONTEXT]: context,
    [META_PROTOCOL_VERSION]: _version,
    [META_CLIENT_INFO]: _info,
    [META_CLIENT_CAPABILITIES]: _capabilities,
    progressToken: _token,
    ...meta
  } = given;
  return {
    // Anything but a string is refused by `callTool` itself, by its name.
    callId: callId as string | undefined,
    context,
    timeoutMs: options.timeout ?? DEFAULT_CALL_MS,
    ...(Object.keys(meta).length > 0 && { meta }),
    ...(options.headers !== undefined && { headers: options.headers }),
  };
}

/** What the server said, as the SDK's own answer would have been. */
function wireError(error: unknown): { code: number; message: string; data?: unknown } | undefined {
  if (error instanceof RpcError || error instanceof TaskFailedError) {
    const { rpcCode: code, message, data } = error;
    return { code, message, ...(data !== undefined && { data }) };
  }
  if (error instanceof InvalidResultError) return { code: RPC.invalidParams, message: error.message };
  return undefined;
}
