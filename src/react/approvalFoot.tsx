/** Owns the foot of an open question: what went wrong, how long there is, and the buttons that are handed in. */
import type { ReactElement, ReactNode } from "react";
import type { Approval } from "../approvals/storeTypes.js";
import { useLabels } from "./context.js";
import { visibleText } from "./visibleText.js";
import { TimeUntil } from "./timeText.js";
import type { Answering } from "./useAnswering.js";

export interface ApprovalFootProps {
  readonly approval: Approval;
  readonly answering: Answering;
  /** What the body found wrong by itself; the answer's own trouble is said here anyway. */
  readonly problem?: string | undefined;
  readonly children?: ReactNode;
}

export function ApprovalFoot({ approval, answering, problem, children }: ApprovalFootProps): ReactElement {
  const labels = useLabels();
  const { task, input } = approval;
  const trouble = problem ?? troubleOf(answering, labels);
  const again =
    problem === undefined && (answering.state.kind === "failed" || answering.state.kind === "refused");
  return (
    <div className="taskrail-foot">
      <div className="taskrail-alert" role="alert" hidden={trouble === undefined}>
        {trouble === undefined ? null : <span>{trouble}</span>}
        {again ? (
          <button type="button" className="taskrail-button" onClick={answering.retry}>
            {labels.retry}
          </button>
        ) : null}
      </div>
      {children === undefined ? null : <div className="taskrail-actions">{children}</div>}
      {input.answeredByPolicyAt === undefined ? null : (
        <p className="taskrail-meta">
          <span>
            {labels.policyWillAnswer(input.policyAction ?? "answered")}{" "}
            <TimeUntil at={input.answeredByPolicyAt} over={labels.timeIsUp} />
          </span>
        </p>
      )}
      {task.expiresAt === undefined ? null : (
        <p className="taskrail-meta">
          <span>
            {labels.timeLeft} <TimeUntil at={task.expiresAt} over={labels.timeIsUp} />
          </span>
        </p>
      )}
    </div>
  );
}

function troubleOf({ state }: Answering, labels: ReturnType<typeof useLabels>): string | undefined {
  switch (state.kind) {
    case "refused":
    case "failed":
      return labels[state.kind];
    case "invalid":
      return state.message === "" ? labels.notTaken : `${labels.notTaken} ${visibleText(state.message)}`;
    case "editing":
    case "sending":
    case "answered":
    case "elsewhere":
    case "over":
      return undefined;
  }
}
