/** The public names of `mcp-taskrail/testing`: a real server, a clock and a connection for tests. */
export { startTaskServer } from "./server.js";
export type { TaskServer, TaskServerOptions, TaskServerSettings } from "./options.js";
export { spawnTaskServer, type SpawnedTaskServer, type SpawnTaskServerOptions } from "./spawn.js";
export type { Fault, FaultKind, FaultMatch, SseStyle } from "./faults.js";
export { readLog, type LogEntry } from "./log.js";
export type { Violation } from "./strict.js";
export type {
  CallContext,
  CallTool,
  RunContext,
  RunTool,
  StepsTool,
  StoredAnswer,
  TaskEnd,
  TaskStep,
  TaskTraits,
  TestCounters,
  TestInputRequest,
  TestRpcError,
  TestTask,
  TestTool,
  TestToolBase,
  ToolAnswer,
} from "./types.js";
export { fakeClock, type FakeClock, type FakeClockOptions } from "./fakeClock.js";
export {
  scriptedConnection,
  type ConnectionScript,
  type ScriptedAnswer,
  type ScriptedConnection,
  type ScriptedConnectionOptions,
  type ScriptedRequest,
  type ScriptedStep,
} from "./scriptedConnection.js";
export {
  faultPoints,
  type FaultPoint,
  type FaultPoints,
  type FaultPointsOptions,
  type RequestMoment,
} from "./faultPoints.js";
