/** Owns which calls of the page's state are wanted, and which questions they ask, and what tells those apart. Pure; answers the same objects, so that views can be kept. */
import { canonicalJson } from "../internal/json.js";
import type { Approval, TasksState, TaskViewFilter } from "./storeTypes.js";
import type { InputView, TaskView } from "./wire.js";

/** The calls that fit, in their order; all conditions that are given must hold. */
export function filterTasks(
  from: TasksState | readonly TaskView[],
  filter: TaskViewFilter = {},
): readonly TaskView[] {
  const tasks = "tasks" in from ? from.tasks : from;
  return tasks.filter((task) => fits(task, filter));
}

/** The open questions of the calls that fit: the calls in their order, the questions of one call oldest first. */
export function approvalsOf(
  from: TasksState | readonly TaskView[],
  filter: TaskViewFilter = {},
): readonly Approval[] {
  return filterTasks(from, filter).flatMap((task) => task.inputs.map((input) => ({ task, input })));
}

/** A question of a call, as the key of a map: what the server asks anew under the same key is another one. */
export function question(id: string, { key, version }: Pick<InputView, "key" | "version">): string {
  return JSON.stringify([id, key, version]);
}

function fits(task: TaskView, { server, tool, state, context }: TaskViewFilter): boolean {
  if (server !== undefined && task.server !== server) return false;
  if (tool !== undefined && task.tool !== tool) return false;
  if (!fitsState(task, state)) return false;
  if (context === undefined) return true;
  if (typeof context === "function") return context(task.context);
  return canonicalJson(task.context ?? null) === canonicalJson(context);
}

function fitsState(task: TaskView, state: TaskViewFilter["state"]): boolean {
  switch (state) {
    case undefined:
      return true;
    case "live":
      return task.outcome === undefined;
    case "settled":
      return task.outcome !== undefined;
    case "input":
      return task.inputs.length > 0;
  }
}
