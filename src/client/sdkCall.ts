/** Owns one `callTool` of a wrapped SDK client: what the host gave the SDK becomes a call of ours, and its end the SDK's answer. */
import type { WireError } from "../connection/rpc.js";
import type { CapturedRequest, SdkInterceptor } from "../connection/sdk/sdkInterceptor.js";
import {
  ClientClosedError,
  InvalidResultError,
  RpcError,
  TaskFailedError,
  WaitTimeoutError,
} from "../errors.js";
import { linkSignals } from "../internal/abort.js";
import { MAX_TIMER_MS, type Clock } from "../internal/clock.js";
import { isObject, type JsonObject } from "../internal/json.js";
import {
  lacksContent,
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_PROTOCOL_VERSION,
  RPC,
} from "../protocol/index.js";
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
  /** True where a lost connection is replaced: calls then outlive it. */
  readonly canReconnect: boolean;
  readonly outputSchemaOf: (tool: string) => JsonObject | undefined;
}

/** The SDK's own call: with this in `_meta`, and these options in place of the host's. */
export type SdkSend = (
  meta: JsonObject,
  options: SdkRequestOptions,
  /** True once the SDK's request was seen. */
  isCaptured: () => boolean,
) => Promise<unknown>;

/** How the call ended, for whoever presents it to the SDK client. */
type Ending =
  | { readonly kind: "answer"; readonly result: JsonObject }
  | { readonly kind: "wire"; readonly error: WireError }
  | { readonly kind: "timeout" }
  /** Only we can say it. */
  | { readonly kind: "own"; readonly error: unknown };

/**
 * Runs the call. What the server says (results and its errors) comes back through the SDK, with its checks and its
 * error classes; so do the end of the host's signal and its timeouts. What only we can say (the outcome is unknown,
 * the task was lost, the store refused) rejects with our own errors.
 *
 * A client that loses its transport meanwhile, and gets another, is given the end of the same call: it is not called again.
 */
export async function callThroughSdk(
  options: SdkRequestOptions,
  send: SdkSend,
  context: SdkCallContext,
): Promise<unknown> {
  const limits = linkSignals();
  const stop = linkSignals(options.signal, limits.signal);
  const { maxTotalTimeout } = options;
  const stopTotal =
    maxTotalTimeout === undefined
      ? undefined
      : context.clock.setTimer(maxTotalTimeout, () => limits.abort("Maximum total timeout exceeded"));
  let shown: CapturedRequest | undefined;
  let running: Promise<Ending> | undefined;

  function onRequest(request: CapturedRequest): void {
    shown = request;
    // The SDK repeats a call whose error says that it did not run; that number may be the end of a task that did, and
    // what is to be repeated was.
    running ??= run(request.params, { options, limits: limits.signal, stop: stop.signal }, context, {
      progress: (params) => shown?.progress(params),
    });
    void running.then((ending) => (shown === request ? present(ending, request) : undefined));
  }

  function present(ending: Ending, request: CapturedRequest): void {
    // The SDK has said so already.
    if (stop.signal.aborted) return;
    switch (ending.kind) {
      case "answer":
        return request.answer(ending.result);
      case "wire":
        return request.fail(ending.error);
      case "timeout":
        return limits.abort("Request timed out");
      case "own":
        return limits.abort("The call ended");
    }
  }

  // The SDK's timer would count the task's whole life: the limits are ours to keep.
  const given = { ...options, timeout: MAX_TIMER_MS, maxTotalTimeout: undefined, signal: stop.signal };
  const isLost = (): boolean => shown?.lost === true && !stop.signal.aborted && context.canReconnect;
  try {
    for (;;) {
      try {
        return await context.interceptor.capture(
          (meta) => send(meta, given, () => shown !== undefined),
          onRequest,
          stop.signal,
        );
      } catch (error) {
        // No transport comes any more, whatever the answer is.
        if (error instanceof ClientClosedError) throw error;
        const ending = isLost() ? await running : undefined;
        if (ending?.kind === "own") throw ending.error;
        if (ending === undefined || !isLost()) throw error;
      }
    }
  } catch (error) {
    const { aborted, reason } = limits.signal as { aborted: boolean; reason: unknown };
    const ending = aborted ? await running : undefined;
    // A limit that passed is the SDK's to say.
    throw ending?.kind === "own" && ending.error !== reason ? ending.error : error;
  } finally {
    stopTotal?.();
    stop.release();
  }
}

/** What may end a call early. */
interface Ends {
  readonly options: SdkRequestOptions;
  /** Limits that the host set. */
  readonly limits: AbortSignal;
  /** Those, and the host's own signal. */
  readonly stop: AbortSignal;
}

async function run(
  params: JsonObject,
  ends: Ends,
  context: SdkCallContext,
  host: { progress: (params: JsonObject) => void },
): Promise<Ending> {
  try {
    return { kind: "answer", result: await callTool(params, ends, context, progressOf(host.progress)) };
  } catch (error) {
    if (error instanceof WaitTimeoutError) return { kind: "timeout" };
    const wire = wireError(error);
    return wire === undefined ? { kind: "own", error } : { kind: "wire", error: wire };
  }
}

async function callTool(
  params: JsonObject,
  { options, limits, stop }: Ends,
  context: SdkCallContext,
  progress: ReturnType<typeof progressOf>,
): Promise<JsonObject> {
  const tool = params["name"] as string;
  const cancels = context.onAbort === "cancel";
  const call = await context.taskClient.callTool(
    context.server,
    // As the SDK's transport would have sent them: dates as texts, what JSON has no word for left out.
    { name: tool, arguments: JSON.parse(JSON.stringify(params["arguments"] ?? {})) as JsonObject },
    {
      ...callOptions(params, options),
      // What is to be cancelled must have a handle first.
      signal: cancels ? limits : stop,
      onProgress: progress.notice,
      outputSchema: context.outputSchemaOf(tool),
    },
  );
  if (call.kind === "result") return call.result as JsonObject;
  const { task } = call;
  const { signal } = options;
  // The host's own signal: a limit that passed says nothing about what the host wants of the task.
  const onAbort = (): void => void task.cancel().catch(() => undefined);
  if (cancels && signal?.aborted === true) onAbort();
  else if (cancels) signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const told = tellStatus(task, progress.status, stop);
    const result = await task.result({ signal: stop });
    await told;
    return result as JsonObject;
  } finally {
    signal?.removeEventListener("abort", onAbort);
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

function progressOf(tell: (params: JsonObject) => void): {
  notice: (params: Readonly<Record<string, unknown>>) => void;
  status: (message: string) => void;
} {
  // By the protocol, progress must grow with every notice.
  let last = 0;
  return {
    notice(params) {
      const { progressToken: _ours, ...rest } = params;
      if (typeof rest["progress"] === "number") last = Math.max(last, rest["progress"]);
      tell(rest as JsonObject);
    },
    status(message) {
      last = Math.floor(last) + 1;
      tell({ progress: last, message });
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
  const unknown = Object.keys(meta).find((key) => key.startsWith("mcp-taskrail/"));
  if (unknown !== undefined) {
    throw new TypeError(
      `_meta: unknown ${JSON.stringify(unknown)} (known: ${META_CALL_ID}, ${META_CONTEXT})`,
    );
  }
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
function wireError(error: unknown): WireError | undefined {
  if (error instanceof RpcError || error instanceof TaskFailedError) {
    const { rpcCode: code, message, data } = error;
    return { code, message, ...(data !== undefined && { data }) };
  }
  if (error instanceof InvalidResultError) {
    return { code: lacksContent(error) ? RPC.invalidRequest : RPC.invalidParams, message: error.message };
  }
  return undefined;
}
