/** The public names of `mcp-taskrail/approvals`, by hand: what serves a person's tasks to a page, and what the page makes of it. */

// The host's side.
export { approvalsHandler, type ApprovalsHandler } from "./handler.js";
export {
  type ApprovalsHandlerOptions,
  type Authorization,
  type Principal,
  type TasksSource,
} from "./handlerOptions.js";

// The page's side.
export {
  approvalsOf,
  createTasksStore,
  filterTasks,
  TasksStoreError,
  type StoreFetch,
  type StoreHeaders,
  type TasksStoreOptions,
} from "./tasksStore.js";
export type {
  AnswerBody,
  AnswerView,
  AnsweredBody,
  CancelBody,
  InputBody,
  InputView,
  OutcomeView,
  RefusalBody,
  RefusalCode,
  RemovedEvent,
  SnapshotEvent,
  TaskDetailView,
  TaskEventData,
  TaskView,
} from "./wire.js";
export type {
  AnswerOutcome,
  Approval,
  CancelOutcome,
  StoreConnection,
  TaskViewFilter,
  TasksState,
  TasksStore,
} from "./storeTypes.js";
