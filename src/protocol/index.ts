/** The wire words that the rest of the package uses. No I/O anywhere below. */
export * from "./constants.js";
export { callToolResultSchema, readCallAnswer, readCompleteAnswer, type CallAnswer } from "./answer.js";
export { readDescription, readServerName, type ServerDescription } from "./discover.js";
export { withEnvelope, type ClientCapabilities, type ClientInfo, type Envelope } from "./envelope.js";
export { decodeHeaderValue, encodeHeaderValue, requestHeaders } from "./headers.js";
export {
  checkInputResponse,
  readInputRequest,
  type InputRequest,
  type InputRequestKind,
  type ReadInputRequest,
} from "./input.js";
export { inputResponsesObject, MAX_INPUT_REQUESTS, type InputRequestEntry } from "./inputRequests.js";
export { checkStructuredContent, lacksContent } from "./outputSchema.js";
export {
  isKnownStatus,
  readTaskAnswer,
  readTaskSnapshot,
  type TaskSnapshot,
  type TaskStatus,
} from "./task.js";
export { mirroredHeaders, readToolsPage, type ToolDescription, type ToolsPage } from "./tools.js";
