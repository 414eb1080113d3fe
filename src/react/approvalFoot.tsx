/** Owns the foot of an open question: what went wrong, how long there is, and the buttons that are handed in. */
import { useContext, type ReactElement, type ReactNode } from "react";
import type { Approval } from "../approvals/storeTypes.js";
import { InsideTask, useLabels } from "./context.js";
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
  const insideTask = useContext(InsideTask);
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
            <TimeUntil at={input.answeredByPolicyAt}>
              {(left) => labels.policyWillAnswer(input.policyAction ?? "answered", left)}
            </TimeUntil>
          </span>
        </p>
      )}
      {task.expiresAt === undefined || insideTask ? null : (
        <p className="taskrail-meta">
          <span>
            <TimeUntil at={task.expiresAt}>
              {(left) => (left === undefined ? labels.timeIsUp : `${labels.taskEnds} ${left}`)}
            </TimeUntil>
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
