/** Owns how a task's end is told: its result (loaded when it is opened), its error, or why nobody knows. */
import { useState, type ReactElement } from "react";
import type { OutcomeView, TaskView } from "../approvals/wire.js";
import { useLabels } from "./context.js";
import { ServerText } from "./serverText.js";
import { TaskResult } from "./taskResult.js";

export interface TaskOutcomeProps {
  readonly task: TaskView;
  readonly outcome: OutcomeView;
}

export function TaskOutcome({ task, outcome }: TaskOutcomeProps): ReactElement {
  const labels = useLabels();
  const [opened, setOpened] = useState(false);
  switch (outcome.status) {
    case "completed":
      return (
        <div className="taskrail-outcome">
          {outcome.isError === true ? (
            <p className="taskrail-note taskrail-note-bad">{labels.toolError}</p>
          ) : null}
          <details
            className="taskrail-details"
            onToggle={(event) => setOpened(event.currentTarget.open || opened)}
          >
            <summary>{labels.showResult}</summary>
            {opened ? <TaskResult id={task.id} /> : null}
          </details>
        </div>
      );
    case "failed":
      return (
        <div className="taskrail-outcome taskrail-note taskrail-note-bad">
          <p>
            {labels.failedWith} {outcome.error?.code}
          </p>
          {outcome.error === undefined ? null : <ServerText text={outcome.error.message} />}
        </div>
      );
    case "cancelled":
      return (
        // The last status text is of before: it would read as if the task went on.
        <p className="taskrail-outcome taskrail-note">{labels.cancelledOutcome}</p>
      );
    case "lost":
      return (
        <p className="taskrail-outcome taskrail-note taskrail-note-warning">{labels.lost(outcome.reason)}</p>
      );
  }
}
