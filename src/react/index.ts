/** The public names of `mcp-taskrail/react`, by hand: the provider, the hooks, the components, the store they read. */
"use client";

export { TasksProvider, type TasksProviderBase, type TasksProviderProps } from "./tasksProvider.js";
export { useApprovals, useConnection, useTasks, useTasksState, useTasksStore } from "./hooks.js";
export { useTask, type UseTask, type UseTaskOptions } from "./useTask.js";

export { TaskCard, type TaskCardBase, type TaskCardProps } from "./taskCard.js";
export { ApprovalCard, type ApprovalCardProps } from "./approvalCard.js";
export { ApprovalList, type ApprovalListProps } from "./approvalList.js";
export { ApprovalInbox, type ApprovalInboxProps } from "./approvalInbox.js";

export { useLabels, type ReviewHandlers } from "./context.js";
export { defaultLabels } from "./labels.js";
export type { Labels } from "./labelTypes.js";
export { visibleText } from "./visibleText.js";

export {
  createTasksStore,
  TasksStoreError,
  type StoreFetch,
  type StoreHeaders,
  type TasksStoreOptions,
} from "../approvals/tasksStore.js";
export type {
  AnswerOutcome,
  Approval,
  CancelOutcome,
  StoreConnection,
  TaskViewFilter,
  TasksState,
  TasksStore,
} from "../approvals/storeTypes.js";
export type { AnswerView, InputView, OutcomeView, TaskDetailView, TaskView } from "../approvals/wire.js";
