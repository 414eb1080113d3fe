/** Owns the times of a task: how long it has run or ran, and how long the server keeps it. */
import type { ReactElement } from "react";
import type { TaskView } from "../approvals/wire.js";
import { useLabels } from "./context.js";
import { TimeBetween, TimeSince, TimeUntil } from "./timeText.js";

export function TaskTimes({ task }: { readonly task: TaskView }): ReactElement {
  const labels = useLabels();
  const { createdAt, expiresAt, outcome } = task;
  if (outcome !== undefined) {
    return (
      <span>
        {labels.elapsed} <TimeBetween from={createdAt} to={outcome.settledAt} />
      </span>
    );
  }
  return (
    <>
      <span>
        {labels.elapsed} <TimeSince at={createdAt} />
      </span>
      {expiresAt === undefined ? null : (
        <span>
          <TimeUntil at={expiresAt}>
            {(left) => (left === undefined ? labels.timeIsUp : `${labels.timeLeft} ${left}`)}
          </TimeUntil>
        </span>
      )}
    </>
  );
}
