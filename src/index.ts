/** The public names, by hand. Runtime-neutral: web standards only, no Node built-ins, no static import of keyv. */

// The client and its handles.
export { TaskClient, type ToolCall } from "./client/taskClient.js";
export { type RespondOptions, type TaskHandle, type WaitOptions } from "./client/taskHandle.js";
export { type TaskClientOptions } from "./client/options.js";
export { type CallToolOptions, type ToolCallParams } from "./client/callOptions.js";
export { withTasks, type WithTasks, type WithTasksOptions } from "./client/withTasks.js";
export { type TaskFilter } from "./client/filter.js";
export { type TaskClientStats } from "./client/stats.js";

// Connections to servers.
export { httpConnection } from "./connection/http.js";
export { type HttpConnectionOptions, type FetchLike } from "./connection/httpOptions.js";
export { sdkConnection, type SdkConnectionOptions } from "./connection/sdk/sdkConnection.js";
export {
  type McpCallingClientLike,
  type McpClientLike,
  type McpTransportLike,
} from "./connection/sdk/clientTypes.js";
export { type Connection, type ListenOptions, type Notice, type RequestOptions } from "./connection/types.js";

// What hosts are told and asked.
export {
  type AnswerWindow,
  type EngineEvents as TaskClientEvents,
  type InputRequestHandler,
  type PublicSnapshot as TaskSnapshot,
  type PushPolicy,
  type PushState,
  type RetryClass,
  type Settled,
  type SettledHandler,
  type TaskInputRequest,
  type UnansweredPolicy,
} from "./engine/types.js";
export { type InputAnswer } from "./task/answers.js";
export { type InputRequest, type InputRequestKind } from "./protocol/index.js";
export {
  type ClientCapabilities,
  type ClientInfo,
  type ServerDescription,
  type ToolDescription,
} from "./protocol/index.js";

// Forms, for whoever draws them.
export { elicitationForm } from "./protocol/elicitationForm.js";
export { formMessages } from "./protocol/formMessages.js";
export {
  type ElicitationForm,
  type FormField,
  type FormFieldKind,
  type FormLimits,
  type FormMessages,
  type FormOption,
  type FormValue,
  type FormValues,
  type ParsedForm,
  type UnsupportedReason,
} from "./protocol/formTypes.js";

// Stores.
export { encryptedStore } from "./store/encrypted.js";
export { type KeyvAdapterLike, type KeyvLike, type KeyValueStore, type StoreInput } from "./store/types.js";

// Time, for tests and simulations.
export { systemClock, type Clock, type StopTimer } from "./internal/clock.js";
export { type JsonObject, type JsonValue } from "./internal/json.js";

// Errors.
export {
  CallIdConflictError,
  CallOutcomeUnknownError,
  CallbackError,
  ClientClosedError,
  ConnectionError,
  EraNotSupportedError,
  InputAlreadyAnsweredError,
  InputNotTakenError,
  InvalidInputResponseError,
  InvalidResponseError,
  InvalidResultError,
  MissingCapabilityError,
  RpcError,
  StoreError,
  TaskCancelledError,
  TaskFailedError,
  TaskLostError,
  TaskNotFoundError,
  TasksError,
  WaitTimeoutError,
  type LostReason,
  type TasksErrorCode,
} from "./errors.js";
