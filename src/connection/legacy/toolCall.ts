/** Owns `tools/call` to an earlier server: whether it asks for a task, and what its answer is. It sends once, unless the server refused to run it. */
import { ConnectionError, RpcError } from "../../errors.js";
import type { JsonObject } from "../../internal/json.js";
import { legacyParams, modernCallAnswer, offersToolTasks, type TaskSupport } from "../../protocol/legacy.js";
import type { RequestOptions } from "../types.js";
import type { TaskRegistry } from "./taskRegistry.js";
import { sending } from "./taskWatch.js";
import { isMethodNotFound, type ToolListing } from "./toolListing.js";
import type { ChannelRequestOptions, LegacyChannel } from "./types.js";

/** Why a server may answer "method not found" to a call, by what it said of itself before. */
const WHY = {
  "no-capability":
    "a server answers so when the tool runs only as a task, but this one does not declare tasks.requests.tools.call",
  forbidden:
    "a server answers so when the tool runs only as a task, but its listing does not say so in execution.taskSupport",
  optional: "the tool was called as a task, which its listing allows",
  required: "the tool was called as a task, which its listing demands",
} as const;

/** Sends calls. The answer is as `tools/call` of our revision has it. */
export function createToolCall(
  channel: LegacyChannel,
  tools: ToolListing,
  registry: TaskRegistry,
): (params: JsonObject, options: RequestOptions & ChannelRequestOptions) => Promise<JsonObject> {
  return async (params, options) => {
    const capabilities = channel.capabilities();
    if (capabilities === undefined) throw notConnected();
    const support = (fresh: boolean): Promise<TaskSupport> => {
      const { signal, timeoutMs, headers } = options;
      return tools.supportOf(typeof params["name"] === "string" ? params["name"] : "", {
        signal,
        timeoutMs,
        headers,
        fresh,
      });
    };
    const send = (asTask: boolean): Promise<JsonObject> => sendOnce(params, options, asTask);
    if (!offersToolTasks(capabilities)) {
      return send(false).catch((error: unknown) => {
        throw explained(error, "no-capability");
      });
    }
    const known = await support(false);
    options.signal?.throwIfAborted();
    try {
      return await send(known !== "forbidden");
    } catch (error) {
      if (!isMethodNotFound(error)) throw error;
      // The listing may be out of date; what is refused in this way has not run.
      const listed = await support(true).catch(() => known);
      if (options.signal?.aborted === true || (listed === "forbidden") === (known === "forbidden")) {
        throw explained(error, listed);
      }
      return send(listed !== "forbidden").catch((again: unknown) => {
        throw explained(again, listed);
      });
    }
  };

  async function sendOnce(
    params: JsonObject,
    options: RequestOptions & ChannelRequestOptions,
    asTask: boolean,
  ): Promise<JsonObject> {
    // Questions of the task may come before its handle.
    const done = asTask ? registry.callStarted() : () => undefined;
    try {
      const sent = { ...legacyParams(params, options.meta), ...(asTask && { task: {} }) };
      const answer = modernCallAnswer(await channel.request("tools/call", sent, sending(options)));
      const { resultType, taskId } = answer;
      if (resultType === "task" && typeof taskId === "string") registry.of(taskId).begin(answer);
      return answer;
    } finally {
      done();
    }
  }
}

/** There is no session at the moment: nothing was sent. */
export function notConnected(): ConnectionError {
  return new ConnectionError("There is no session with the server at the moment", { mayHaveRun: false });
}

function explained(error: unknown, why: keyof typeof WHY): unknown {
  if (!isMethodNotFound(error)) return error;
  return new RpcError(
    { code: error.rpcCode, message: `${error.message} (${WHY[why]})`, data: error.data },
    { cause: error, status: error.status },
  );
}
