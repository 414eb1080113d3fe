/** Owns how one task is laid out. What it shows in detail is drawn by parts of their own. */
import { useId, useMemo, useState, type ReactElement } from "react";
import { approvalsOf } from "../approvals/taskFilter.js";
import type { TaskView } from "../approvals/wire.js";
import { ApprovalItems } from "./approvalList.js";
import { CancelTask } from "./cancelTask.js";
import { InsideTask, useLabels, type ReviewHandlers } from "./context.js";
import { ServerName, ServerText } from "./serverText.js";
import { TaskAnswers } from "./taskAnswers.js";
import { TaskOutcome } from "./taskOutcome.js";
import { TaskTimes } from "./taskTimes.js";
import { useLingering } from "./useLingering.js";

const NEXT = { 2: 3, 3: 4, 4: 5, 5: 6 } as const;

/** What both forms of `TaskCard` take. */
export interface TaskCardBase extends ReviewHandlers {
  /** False: the open questions of the task are not in its card (they are elsewhere on the page). Default true. */
  readonly questions?: boolean | undefined;
  /** False: no button to cancel. Default true. */
  readonly cancellable?: boolean | undefined;
  /** The level of the card's heading; its questions have the next. Default 3. */
  readonly headingLevel?: 2 | 3 | 4 | 5 | undefined;
  readonly className?: string | undefined;
}

export function TaskCardBody(props: TaskCardBase & { readonly task: TaskView }): ReactElement {
  const {
    task,
    questions = true,
    cancellable = true,
    headingLevel = 3,
    className,
    onSample,
    onRoots,
  } = props;
  const labels = useLabels();
  const titleId = useId();
  const Heading = `h${headingLevel}` as const;
  const status = task.outcome?.status ?? task.status;
  const progress = useLastText(task.statusMessage);
  const approvals = useMemo(() => (questions ? approvalsOf([task]) : []), [task, questions]);
  const lingering = useLingering(approvals);
  // What a closed card of this list says is not said again below it.
  const said = new Set(lingering.shown.filter((one) => !one.open).map(({ approval }) => approval.input.key));
  const answers = task.answers.filter(({ key }) => !said.has(key));
  const over = task.outcome !== undefined;
  return (
    <article
      className={["taskrail-card taskrail-task", className].filter(Boolean).join(" ")}
      data-status={status}
      aria-labelledby={titleId}
    >
      <header className="taskrail-card-head">
        <Heading className="taskrail-title" id={titleId}>
          <ServerName text={task.tool} />
        </Heading>
        <p className="taskrail-status" role="status">
          <span className="taskrail-dot" aria-hidden="true" />
          <ServerName text={labels.status(status)} />
        </p>
        <p className="taskrail-meta">
          <span>
            <ServerName text={task.server} className="taskrail-server" />
          </span>
          <TaskTimes task={task} />
        </p>
      </header>
      {progress === undefined || over ? null : (
        <div className="taskrail-progress" role="group" aria-label={labels.progress}>
          <ServerText text={progress} />
        </div>
      )}
      {isUnshown(task) ? <p className="taskrail-note">{labels.cannotBeShown}</p> : null}
      {questions ? (
        <InsideTask.Provider value={true}>
          <ApprovalItems
            lingering={lingering}
            headingLevel={NEXT[headingLevel]}
            onSample={onSample}
            onRoots={onRoots}
          />
        </InsideTask.Provider>
      ) : null}
      {answers.length === 0 ? null : <TaskAnswers answers={answers} />}
      {task.outcome === undefined ? null : <TaskOutcome task={task} outcome={task.outcome} />}
      {over || !cancellable ? null : <CancelTask task={task} />}
    </article>
  );
}

/** What the server asks is nothing that may be shown, such as a form without a schema; after an answer it may just be slow. */
function isUnshown({ status, inputs, answers, outcome, unshownInputs = 0 }: TaskView): boolean {
  if (outcome === undefined && unshownInputs > 0) return true;
  return status === "input_required" && outcome === undefined && inputs.length === 0 && answers.length === 0;
}

/** A status without a text keeps the one before: servers send it with some polls only, and people should not see it flicker. */
function useLastText(text: string | undefined): string | undefined {
  const [last, setLast] = useState(text);
  if (text !== undefined && text !== last) setLast(text);
  return text ?? last;
}
