/** Owns what the host's answers mean to a page that answered or cancelled. Never rejects: every end is an outcome. */
import type { HostAnswer } from "./hostRequests.js";
import type { AnswerOutcome, CancelOutcome } from "./storeTypes.js";
import { TasksStoreError } from "./tasksStoreError.js";

/** What became of `POST answer`. */
export async function answerOutcome(posted: Promise<HostAnswer>): Promise<AnswerOutcome> {
  try {
    const { body } = await posted;
    const { answeredAt } = body;
    // A proxy's page says 200 too.
    if (typeof answeredAt === "string") return { kind: "answered", answeredAt };
    return { kind: "failed", message: "The host's answer is not the approvals handler's" };
  } catch (error) {
    const detail = error instanceof TasksStoreError ? error.detail : undefined;
    switch (detail?.code) {
      case "already-answered": {
        const { answeredAt, by } = detail;
        return {
          kind: "already-answered",
          ...(answeredAt === undefined ? {} : { answeredAt }),
          ...(by === undefined ? {} : { by }),
        };
      }
      case "over":
      case "not-found":
        return { kind: "over" };
      case "invalid-answer":
      case "too-large":
      case "bad-request": {
        const { field, message } = detail;
        return { kind: "invalid", message, ...(field === undefined ? {} : { field }) };
      }
      default:
        return refusedOrFailed(error);
    }
  }
}

/** What became of `POST cancel`. */
export async function cancelOutcome(posted: Promise<HostAnswer>): Promise<CancelOutcome> {
  try {
    const { status } = await posted;
    if (status === 202) return { kind: "asked" };
    return { kind: "failed", message: "The host's answer is not the approvals handler's" };
  } catch (error) {
    const code = error instanceof TasksStoreError ? error.detail?.code : undefined;
    return code === "over" || code === "not-found" ? { kind: "over" } : refusedOrFailed(error);
  }
}

function refusedOrFailed(error: unknown): {
  readonly kind: "refused" | "failed";
  readonly message: string;
} {
  if (!(error instanceof TasksStoreError)) return { kind: "failed", message: "The request failed" };
  return { kind: error.refusal === "forbidden" ? "refused" : "failed", message: error.message };
}
