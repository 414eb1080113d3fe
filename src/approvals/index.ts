/** The public names of `mcp-taskrail/approvals`, by hand: what serves a person's tasks to a page, and what the page makes of it. */
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
  TaskDetailView,
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
