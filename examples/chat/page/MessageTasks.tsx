/** Owns the tasks that a message started, and the questions that they ask. */
import { TaskCard, useTasks } from "mcp-taskrail/react";
import type { JSX } from "react";
import { CONVERSATION } from "../names.js";

export function MessageTasks({ message }: { readonly message: string }): JSX.Element | null {
  const tasks = useTasks({ context: { conversation: CONVERSATION, message } });
  if (tasks.length === 0) return null;
  return (
    <div className="tasks" data-message={message}>
      {tasks.map((task) => (
        <TaskCard key={task.id} task={task} />
      ))}
    </div>
  );
}
