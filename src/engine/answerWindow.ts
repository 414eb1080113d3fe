/** Owns how long a question waits for people before the host's policy answers it. Decides only what the host said; by default nothing. */
import type { JsonObject } from "../internal/json.js";
import type { AnswerWindow, TaskInputRequest, UnansweredPolicy } from "./types.js";

/** When and what the policy will answer. */
export interface PlannedAnswer {
  readonly afterMs: number;
  readonly response: JsonObject;
}

/**
 * However long nobody was there: a process that shows a question leaves people this much of the window. A
 * machine that slept or a wall clock that jumped must not answer for them.
 */
const MIN_SHOWN_MS = 60_000;
/** Three thousand years: whoever writes more means never, and dates do not go much further. */
const NEVER_MS = 1e14;

/** What the policy says of this question, or undefined: it stays open. Throws what the host's function throws, and `TypeError`. */
export function planAnswer(policy: UnansweredPolicy, request: TaskInputRequest): PlannedAnswer | undefined {
  const isOne = typeof policy === "function";
  const window = isOne ? policy(request) : policy;
  // Not an answer to wait for; its failure is not to end the host beside the error that tells so.
  if (window instanceof Promise) window.catch(() => undefined);
  if (window === undefined || window === "keep-open") return undefined;
  checkWindow(isOne ? "the answer of unanswered" : "unanswered", window);
  if (window.afterMs > NEVER_MS) return undefined;
  const isElicitation = request.kind === "elicitation-form" || request.kind === "elicitation-url";
  // What is said for all questions is said in the words of elicitations.
  if (!isElicitation && (window.response === undefined || !isOne)) return undefined;
  return { afterMs: window.afterMs, response: window.response ?? { action: "cancel" } };
}

/** Throws `TypeError` naming the part that is wrong. */
export function checkWindow(name: string, window: unknown): asserts window is AnswerWindow {
  if (typeof window !== "object" || window === null || Array.isArray(window))
    throw new TypeError(`${name}: expected "keep-open", { afterMs, response } or a function`);
  const { afterMs, response, ...others } = window as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw new TypeError(`${name}.${unknown}: there is no such option (afterMs, response)`);
  if (typeof afterMs !== "number" || !Number.isFinite(afterMs) || afterMs < 0)
    throw new TypeError(`${name}.afterMs: expected a number of milliseconds, 0 or more`);
  if (
    response !== undefined &&
    (typeof response !== "object" || response === null || Array.isArray(response))
  )
    throw new TypeError(`${name}.response: expected an object`);
}

/** How long from now until the policy answers. */
export function windowLeftMs({ afterMs }: PlannedAnswer, askedAtMs: number, nowMs: number): number {
  const passedMs = Math.max(nowMs - askedAtMs, 0);
  return Math.max(afterMs - passedMs, Math.min(afterMs, MIN_SHOWN_MS));
}
