/** Owns what `TasksProvider` hands down: the store, the texts, the clock and the host's own answers. No components. */
import { createContext, useContext } from "react";
import type { Clock } from "../internal/clock.js";
import type { JsonObject } from "../internal/json.js";
import type { TasksStore } from "../approvals/storeTypes.js";
import type { Labels } from "./labelTypes.js";

/** How the host answers what no form can: the person reviews what comes back before it is sent. */
export interface ReviewHandlers {
  /**
   * Runs the host's model for a sampling request, after the person asked for it, and answers a `CreateMessageResult`.
   * The signal aborts when the person stops it or the question is over. Without it the page cannot answer sampling.
   */
  readonly onSample?: ((params: JsonObject, signal: AbortSignal) => Promise<JsonObject>) | undefined;
  /** Answers `{ roots: [{ uri, name? }] }`. Without it the page cannot answer questions for roots. */
  readonly onRoots?: ((signal: AbortSignal) => Promise<JsonObject>) | undefined;
}

/** What the hooks and components read. */
export interface TasksContextValue extends ReviewHandlers {
  readonly store: TasksStore;
  readonly labels: Labels;
  readonly clock: Clock;
}

export const TasksContext = createContext<TasksContextValue | undefined>(undefined);

/** True for what is drawn inside of a task's card, which says already what there is to say of the task. */
export const InsideTask = createContext(false);

/** Throws outside of a `TasksProvider`. */
export function useTasksContext(): TasksContextValue {
  const value = useContext(TasksContext);
  if (value === undefined)
    throw new TypeError("the hooks and components of mcp-taskrail/react need a TasksProvider above");
  return value;
}

/** The texts of the components, for components of one's own. */
export function useLabels(): Labels {
  return useTasksContext().labels;
}
