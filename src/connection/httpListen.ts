/** Owns reading the stream of `subscriptions/listen` from an HTTP response. It opens and reopens nothing, and reads no task. */
import { ConnectionError, InvalidResponseError, TasksError } from "../errors.js";
import { isObject } from "../internal/json.js";
import { META_SUBSCRIPTION_ID } from "../protocol/index.js";
import { bodyFailure } from "./failures.js";
import { isEventStream, readAnswer, type AnswerContext } from "./httpAnswer.js";
import type { ResponseLike } from "./httpOptions.js";
import { parseJson, readMessage, type Incoming } from "./rpc.js";
import { readEvents } from "./sse.js";
import type { ListenOptions, Notice } from "./types.js";

/** The request that opened the stream, and who hears what it brings. */
export interface ListenContext extends Omit<AnswerContext, "onNotice"> {
  /** The task ids that were asked for. */
  readonly taskIds: readonly string[];
  readonly told: Pick<ListenOptions, "onAcknowledged" | "onNotice" | "onLife">;
}

/**
 * Reads until the server ends the stream: answers its result, or its error. Rejects with `ConnectionError` when the
 * stream ends without one, and as `readAnswer` where there is no stream.
 *
 * What cannot be read ends the stream: a notice may have been lost in it, and whoever listens anew looks at every task.
 */
export async function readListenAnswer(response: ResponseLike, context: ListenContext): Promise<Incoming> {
  const { status } = response;
  if (!isEventStream(response)) return readAnswer(response, { ...context, onNotice: () => undefined });
  try {
    return await readStream(response, context);
  } catch (error) {
    throw error instanceof TasksError ? error : bodyFailure(error, status);
  }
}

async function readStream({ body, status }: ResponseLike, context: ListenContext): Promise<Incoming> {
  const { id, taskIds, told, signal, maxBytes } = context;
  let acknowledged = false;
  // No limit on the whole: a stream lives as long as its tasks.
  const events = body ? readEvents(body, { maxEventBytes: maxBytes, signal, onBytes: told.onLife }) : [];
  for await (const event of events) {
    if (event.event !== undefined && event.event !== "message") continue;
    const message = parseJson(event.data);
    if (message === undefined)
      throw new InvalidResponseError("An event of the stream is not JSON", { status });
    const incoming = readMessage(message, id);
    if (incoming.kind === "result" || incoming.kind === "error") return incoming;
    if (incoming.kind === "ignored" || isOfAnother(incoming.notice, id)) continue;
    const { method, params } = incoming.notice;
    if (method === "notifications/cancelled") {
      if (params["requestId"] === id) throw dropped("The server cancelled the subscription", status);
    } else if (method === "notifications/subscriptions/acknowledged") {
      if (!acknowledged) told.onAcknowledged(acknowledgedOf(params, taskIds));
      acknowledged = true;
    } else if (acknowledged) {
      told.onNotice(incoming.notice);
    }
  }
  throw dropped("The stream ended without a word of the server", status);
}

/** Of the ids that were asked for, those that the server will push for; none where it names none. */
function acknowledgedOf(params: Notice["params"], asked: readonly string[]): string[] {
  const { notifications } = params;
  const ids = isObject(notifications) ? notifications["taskIds"] : undefined;
  const accepted = new Set<unknown>(Array.isArray(ids) ? ids : []);
  return asked.filter((taskId) => accepted.has(taskId));
}

/** Some servers mark nothing: what comes on this stream is then of this stream. */
function isOfAnother({ params }: Notice, id: string): boolean {
  const meta = params["_meta"];
  const subscription = isObject(meta) ? meta[META_SUBSCRIPTION_ID] : undefined;
  return subscription !== undefined && subscription !== id;
}

function dropped(message: string, status: number): ConnectionError {
  return new ConnectionError(message, { status, mayHaveRun: true });
}
