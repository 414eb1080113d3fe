/** Owns the public card of one task: given as it is, or by its local id. */
import type { ReactElement } from "react";
import type { TaskView } from "../approvals/wire.js";
import { CardBoundary } from "./cardBoundary.js";
import { useLabels } from "./context.js";
import { useConnection } from "./hooks.js";
import { TaskCardBody, type TaskCardBase } from "./taskCardBody.js";
import { useTask } from "./useTask.js";

export type { TaskCardBase } from "./taskCardBody.js";

/** A task of `useTasks`, or the local id of one. */
export type TaskCardProps = TaskCardBase &
  ({ readonly task: TaskView; readonly id?: undefined } | { readonly id: string; readonly task?: undefined });

/**
 * One call: tool, server, status in words, progress, times, its open questions, who answered what, how it ended. By id,
 * it is kept up to date by itself.
 */
export function TaskCard({ task, id, ...rest }: TaskCardProps): ReactElement {
  if (task !== undefined) return <GuardedBody key={task.id} task={task} {...rest} />;
  return <TaskCardById key={id} id={id} {...rest} />;
}

function GuardedBody(props: TaskCardBase & { readonly task: TaskView }): ReactElement {
  return (
    <CardBoundary of={props.task}>
      <TaskCardBody {...props} />
    </CardBoundary>
  );
}

function TaskCardById({ id, ...rest }: TaskCardBase & { readonly id: string }): ReactElement {
  const labels = useLabels();
  const { task, missing } = useTask(id, { result: false });
  const { connection } = useConnection();
  if (task !== undefined) return <GuardedBody task={task} {...rest} />;
  return (
    <article
      className={["taskrail-card taskrail-task", rest.className].filter(Boolean).join(" ")}
      data-status=""
    >
      <p className="taskrail-status-line">
        {connection === "refused" ? labels.signedOut : missing ? labels.taskGone : labels.loading}
      </p>
    </article>
  );
}
