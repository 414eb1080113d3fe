/** Owns how a question stands by what the host says: open, answered by somebody, or no longer asked. Pure. */
import type { TasksState } from "../approvals/storeTypes.js";
import type { AnswerView, InputView } from "../approvals/wire.js";

/** Why a question needs no answer any more, where nobody answered it. */
export type OverReason = "withdrawn" | "removed" | "completed" | "failed" | "cancelled" | "lost";

/** How a question stands. */
export type Standing =
  | { readonly kind: "open" }
  | { readonly kind: "elsewhere"; readonly answer: AnswerView }
  | { readonly kind: "over"; readonly reason: OverReason };

const OPEN: Standing = { kind: "open" };

/** What tells a question from the others of its call, of earlier and later rounds too. */
export type AskedQuestion = Pick<InputView, "key" | "version" | "askedAt">;

/** How this question of this call stands. While nothing is loaded, it counts as open. */
export function standingOf(state: TasksState, id: string, asked: AskedQuestion): Standing {
  const { key, version, askedAt } = asked;
  const task = state.tasks.find((one) => one.id === id);
  // A cut list leaves calls out that the host still has.
  if (task === undefined)
    return state.loaded && !state.truncated ? { kind: "over", reason: "removed" } : OPEN;
  if (task.inputs.some((input) => input.key === key && input.version === version)) return OPEN;
  const answers = task.answers.filter((one) => one.key === key);
  const answer =
    answers.find((one) => one.version === version) ??
    // Where nobody knows which one was answered: those of earlier rounds are older than the question.
    answers.find((one) => one.version === undefined && one.answeredAt >= askedAt);
  if (answer !== undefined) return { kind: "elsewhere", answer };
  return { kind: "over", reason: task.outcome?.status ?? "withdrawn" };
}

export function sameStanding(a: Standing, b: Standing): boolean {
  if (a.kind === "elsewhere") return b.kind === "elsewhere" && a.answer === b.answer;
  return a.kind === b.kind && (a.kind !== "over" || (b.kind === "over" && a.reason === b.reason));
}
