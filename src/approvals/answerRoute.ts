/** Owns what `POST answer` and `POST cancel` do: idempotent answers, who was faster, what is over. It asks nobody who sent them. */
import type { TaskHandle } from "../client/taskHandle.js";
import { InputAlreadyAnsweredError, InvalidInputResponseError } from "../errors.js";
import { sleep, type Clock } from "../internal/clock.js";
import { sha256 } from "../internal/ids.js";
import { canonicalJson, isObject, type JsonObject, type JsonValue } from "../internal/json.js";
import type { Principal } from "./handlerOptions.js";
import { checkedId } from "./requestChecks.js";
import { Refusal } from "./refusal.js";
import { isAnother, openKey, standingAnswer } from "./shownQuestion.js";
import type { AnswerBody, AnsweredBody } from "./wire.js";

/** How long the server's acknowledgement of a cancellation is waited for. It goes on after that. */
const CANCEL_WAIT_MS = 1000;
/** Of so many answers it is remembered exactly what they were; a record keeps only what is short. */
const MAX_REMEMBERED = 1000;

/** Takes answers. One per handler. */
export interface AnswerTaker {
  /** Stores an answer, or finds that it was stored before. Throws `Refusal`, and what `respond` rejects with. */
  answer(handle: TaskHandle, body: AnswerBody, who: Principal): Promise<AnsweredBody>;
}

/** The body of `POST answer`. Throws `Refusal`. */
export function answerBody(body: Record<string, unknown>): AnswerBody {
  const { key, version, response } = body;
  const id = checkedId(body["id"], "The member id");
  if (typeof key !== "string") throw new Refusal("bad-request", "The member key is missing");
  if (typeof version !== "string" || version === "")
    throw new Refusal("bad-request", "The member version is missing: it says which question was shown");
  if (!isObject(response)) throw new Refusal("bad-request", "The member response is not an object");
  return { id, key, version, response: response as JsonObject };
}

export function createAnswerTaker(): AnswerTaker {
  /** What answers that were taken here were, by scope, call, question and actor; the oldest go first. */
  const remembered = new Map<string, string>();

  async function answer(
    handle: TaskHandle,
    body: AnswerBody,
    { scope, actor }: Principal,
  ): Promise<AnsweredBody> {
    const { version, response } = body;
    const mine = canonicalJson([scope, handle.id, body.key, version, actor]);
    const digest = await sha256(canonicalJson(response));
    // Under another version too: what is open here may be behind what `respond` reads.
    const open = openKey(handle, body);
    if (open === undefined) return standing();
    try {
      await handle.respond(open, response, { by: actor, version });
    } catch (error) {
      if (error instanceof InputAlreadyAnsweredError) return standing(error.answeredAtMs);
      // Of the question itself, not of a field: it was changed or withdrawn, or the call has ended.
      if (error instanceof InvalidInputResponseError && error.field === "key") return standing();
      throw error;
    }
    const stored = standingAnswer(handle, body);
    // Two people with the same words at the same instant: one of them was first.
    if (stored?.by !== undefined && stored.by !== actor) throw alreadyAnswered(stored);
    if (stored !== undefined) remember(mine, memoryOf(digest, stored));
    return { answeredAt: (stored?.answeredAt ?? new Date(0)).toISOString() };

    /** What stands, where this answer cannot be taken. An answer to another question under the key is no answer to this one. */
    function standing(answeredAtMs?: number): AnsweredBody {
      const stands = standingAnswer(handle, body);
      if (stands === undefined && isAnother(handle, body)) throw changed();
      if (stands === undefined && answeredAtMs === undefined) throw over(handle);
      const isMine =
        stands?.by === actor &&
        (remembered.get(mine) === memoryOf(digest, stands) || isSame(stands, response));
      if (stands !== undefined && isMine) return { answeredAt: stands.answeredAt.toISOString() };
      throw alreadyAnswered(stands ?? { answeredAt: new Date(answeredAtMs ?? 0) });
    }
  }

  function remember(question: string, memory: string): void {
    remembered.delete(question);
    remembered.set(question, memory);
    const [oldest] = remembered.size > MAX_REMEMBERED ? remembered.keys() : [];
    if (oldest !== undefined) remembered.delete(oldest);
  }

  return { answer };
}

/** Asks for the cancellation. Resolves when it was asked for. Throws `Refusal`, and what `cancel` rejects with by then. */
export async function cancelTask(
  handle: TaskHandle,
  { clock, onError }: { clock: Clock; onError: (error: unknown) => void },
): Promise<void> {
  if (handle.outcome !== undefined) throw over(handle);
  const waiting = new AbortController();
  let waits = true;
  const cancelled = handle.cancel().catch((error: unknown) => {
    if (waits) throw error;
    onError(error);
  });
  const waited = sleep(clock, CANCEL_WAIT_MS, { signal: waiting.signal });
  waited.catch(() => undefined);
  try {
    await Promise.race([cancelled, waited]);
  } finally {
    waits = false;
    waiting.abort();
  }
}

/** Whether the answer is the one that is kept: the record leaves out what the protocol does not send. */
function isSame(stands: TaskHandle["answers"][number], response: JsonObject): boolean {
  if (stands.response === undefined) return false;
  return canonicalJson(sent(stands.response)) === canonicalJson(sent(response));
}

function sent({ action, content }: JsonObject): JsonValue {
  if (action !== "accept" || !isObject(content)) return { action };
  // Empty optional fields are left out before an answer is kept.
  const filled = Object.entries(content).filter(([, value]) => value !== null && value !== "");
  return filled.length === 0
    ? { action }
    : { action, content: Object.fromEntries<JsonValue>(filled as [string, JsonValue][]) };
}

/** It counts only beside the answer that it was remembered of. */
function memoryOf(digest: string, stands: TaskHandle["answers"][number]): string {
  return `${digest} ${stands.answeredAt.getTime()}`;
}

function changed(): Refusal {
  return new Refusal("over", "The server changed the question since it was shown");
}

function alreadyAnswered(stands: { readonly answeredAt: Date; readonly by?: string }): Refusal {
  return new Refusal("already-answered", "Another answer stands", {
    answeredAt: stands.answeredAt.toISOString(),
    ...(stands.by === undefined ? {} : { by: stands.by }),
  });
}

function over(handle: TaskHandle): Refusal {
  const why = handle.outcome === undefined ? "The question is not open (any more)" : "The call is over";
  return new Refusal("over", why);
}
