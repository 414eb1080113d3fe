/** Owns the one error that the page's store rejects with. */
import { TasksError, type TasksErrorCode, type TasksErrorOptions } from "../errors.js";
import type { RefusalBody, RefusalCode } from "./wire.js";

/** The host did not answer what was asked of it. */
export class TasksStoreError extends TasksError {
  protected static override readonly codes: readonly TasksErrorCode[] = ["TASKS_STORE"];
  /** Why the host refused; undefined where its answer was no refusal of the approvals handler, or none came. */
  readonly refusal: RefusalCode | undefined;
  /** The HTTP status, when there was an answer. */
  readonly status: number | undefined;
  /** @internal All that the refusal said. */
  readonly detail: RefusalBody["error"] | undefined;

  constructor(
    message: string,
    options: TasksErrorOptions & {
      refusal?: RefusalCode | undefined;
      status?: number | undefined;
      detail?: RefusalBody["error"] | undefined;
    } = {},
  ) {
    super("TASKS_STORE", message, options);
    this.refusal = options.refusal;
    this.status = options.status;
    this.detail = options.detail;
  }
}
