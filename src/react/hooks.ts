/** Owns the hooks that read lists of the store: its state, tasks and approvals. Each list stays the same array while nothing of it changed. */
import { useMemo } from "react";
import type { Approval, TasksState, TasksStore, TaskViewFilter } from "../approvals/storeTypes.js";
import { approvalsOf, filterTasks } from "../approvals/taskFilter.js";
import type { TaskView } from "../approvals/wire.js";
import { useTasksContext } from "./context.js";
import { sameMembers, useSelection } from "./selection.js";

/** The store, for answers and cancels of one's own. */
export function useTasksStore(): TasksStore {
  return useTasksContext().store;
}

/** Everything at once; renders again with every change. */
export function useTasksState(): TasksState {
  return useSelection(
    (state) => state,
    (a, b) => a === b,
    [],
  );
}

/** How the page stands with the host. Renders again only when that changes. */
export function useConnection(): Pick<TasksState, "connection" | "problem" | "loaded" | "truncated"> {
  return useSelection(
    ({ connection, problem, loaded, truncated }) => ({
      connection,
      loaded,
      truncated,
      ...(problem === undefined ? {} : { problem }),
    }),
    (a, b) =>
      a.connection === b.connection &&
      a.problem === b.problem &&
      a.loaded === b.loaded &&
      a.truncated === b.truncated,
    [],
  );
}

/**
 * The calls that fit the filter: those with open questions first, then the newest. The filter may be written inline.
 * The array is the same one until one of its calls changed, came or went.
 */
export function useTasks(filter?: TaskViewFilter): readonly TaskView[] {
  return useSelection((state) => filterTasks(state.tasks, filter), sameMembers, filterDeps(filter));
}

/** The open questions of the calls that fit the filter, the oldest first; the filter may be written inline. */
export function useApprovals(filter?: TaskViewFilter): readonly Approval[] {
  const tasks = useTasks(filter);
  return useMemo(() => oldestFirst(approvalsOf(tasks)), [tasks]);
}

/** Both instants are ISO text of the host's clock, so they order as text. */
function oldestFirst(approvals: readonly Approval[]): readonly Approval[] {
  return [...approvals].sort((a, b) =>
    a.input.askedAt < b.input.askedAt ? -1 : a.input.askedAt > b.input.askedAt ? 1 : 0,
  );
}

/** What tells filters apart: their JSON, and the function where the context is decided by one. */
function filterDeps(filter: TaskViewFilter = {}): readonly unknown[] {
  const { server, tool, state, context } = filter;
  const decides = typeof context === "function" ? context : undefined;
  return [JSON.stringify([server, tool, state, decides === undefined ? context : null]), decides];
}
