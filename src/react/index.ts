/** The public names of `mcp-taskrail/react`, by hand. */
export type { Approval, TaskViewFilter, TasksState, TasksStore } from "../approvals/storeTypes.js";
export type { InputView, TaskView } from "../approvals/wire.js";
