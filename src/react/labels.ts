/** Owns the English texts of the components. No markup. */
import type { FormLimits } from "../protocol/formTypes.js";
import { durationText } from "./durationText.js";
import type { Labels } from "./labelTypes.js";

const STATUS: ReadonlyMap<string, string> = new Map([
  ["working", "Working"],
  ["input_required", "Needs an answer"],
  ["completed", "Completed"],
  ["failed", "Failed"],
  ["cancelled", "Cancelled"],
  ["lost", "Outcome unknown"],
]);

const QUESTION: ReadonlyMap<string, string> = new Map([
  ["confirmation", "Confirmation needed"],
  ["elicitation-form", "Details needed"],
  ["elicitation-url", "Wants to open a page"],
  ["sampling", "Wants to use the model"],
  ["roots", "Asks which folders it may use"],
]);

const ACTION: ReadonlyMap<string, string> = new Map([
  ["accept", "accepted"],
  ["decline", "declined"],
  ["cancel", "dismissed"],
  ["answered", "answered"],
]);

const LOST: ReadonlyMap<string, string> = new Map([
  ["expired", "Its time ran out, and the server no longer knows it."],
  ["unknown", "The server no longer knows it."],
  ["gave-up", "Nobody waits for it any longer. It may still be running at the server."],
  [
    "call-outcome-unknown",
    "The connection broke while it was started. It may or may not have run, so it was not started again.",
  ],
]);

const OVER: ReadonlyMap<string, string> = new Map([
  ["withdrawn", "The server no longer asks this."],
  ["completed", "The task is completed. No answer is needed any more."],
  ["failed", "The task failed. No answer is needed any more."],
  ["cancelled", "The task was cancelled. No answer is needed any more."],
  ["lost", "The task is lost. An answer would reach nobody."],
  ["removed", "The task is no longer kept. No answer is needed any more."],
]);

const PAGE_REFUSED: ReadonlyMap<string, string> = new Map([
  [
    "scheme",
    "Only http and https addresses are opened. This is another kind, so it cannot be accepted here.",
  ],
  ["unreadable", "This is no readable address, so it cannot be accepted here."],
]);

const PAGE_WARNING: ReadonlyMap<string, string> = new Map([
  ["punycode", "The site’s name has letters beyond a–z. It can look like another one."],
  ["mixed-script", "The site’s name mixes alphabets, as names that pretend to be others do."],
  [
    "credentials",
    "The address carries a user name before the site. Look at the site, not at what stands before it.",
  ],
  ["insecure", "The connection is not encrypted (http)."],
]);

/** The English texts, each replaceable by `TasksProvider`'s `labels`. */
export const defaultLabels: Labels = {
  locale: undefined,
  duration: durationText,

  status: (status) => STATUS.get(status) ?? status,
  progress: "Progress",
  refusedBefore: "The server did not accept the last answer. Please give another one.",
  cannotBeShown: "The server asks something that cannot be shown here. It can only be cancelled.",
  cannotBeDrawn: "This cannot be shown here.",
  elapsed: "Elapsed",
  timeLeft: "Time left",
  timeIsUp: "Time is up",
  cancel: "Cancel task",
  cancelSending: "Asking to cancel…",
  cancelAsked: "Asked to cancel. It may still finish.",
  cancelFailed: "The wish to cancel did not get through.",
  cancelOver: "It is already over.",
  showResult: "Result",
  loadingResult: "Loading the result…",
  resultNotLoaded: "The result could not be loaded.",
  emptyResult: "The result has no text.",
  toolError: "The tool reports an error.",
  failedWith: "Error",
  lost: (reason) => LOST.get(reason ?? "unknown") ?? "Nobody can say how it ended.",
  cancelledOutcome: "It was cancelled.",
  answersHeading: "Answers so far",
  taskGone: "This task is no longer kept.",
  loading: "Loading…",

  inboxHeading: "Waiting for you",
  inboxCount: (count) => (count === 1 ? "1 open question" : `${count} open questions`),
  inboxEmpty: "Nothing waits for an answer.",
  inboxTruncated: "There are more than are shown here.",
  notLive: "The connection is interrupted. What is shown may be old.",
  signedOut: "You may not see these tasks, or no longer. Sign in again.",

  question: (kind) => QUESTION.get(kind) ?? kind,
  tool: "Tool",
  server: "Connected as",
  asked: "Asked",
  accept: "Accept",
  decline: "Decline",
  dismiss: "Dismiss",
  sending: "Sending…",
  retry: "Try again",
  showAll: (characters) => `Show all (${characters} characters)`,
  showLess: "Show less",
  showMore: (count) => `Show ${count} more`,
  action: (action) => ACTION.get(action) ?? action,
  youAnswered: "You answered",
  answeredBy: "Answered by",
  answeredElsewhere: "Answered",
  answeredByPolicy: "Answered automatically",
  answeredByHost: "Answered by the application",
  over: (reason) => OVER.get(reason) ?? "No answer is needed any more.",
  refused: "You may not answer this, or no longer. Sign in again.",
  failed: "The answer may not have arrived. Sending it again is safe.",
  notTaken: "The answer was not taken.",
  policyWillAnswer: (action, left) =>
    left === undefined
      ? `It is about to be ${ACTION.get(action) ?? "answered"} automatically`
      : `Without an answer it is ${ACTION.get(action) ?? "answered"} automatically in ${left}`,
  taskEnds: "The task ends in",

  required: "required",
  optional: "optional",
  yes: "Yes",
  no: "No",
  noAnswer: "No answer",
  choose: "Choose…",
  limits: limitsText,
  sentAs: "Sent as",
  pattern: "The server wants it to match",
  undecided: "Choose one.",
  incompleteDate: "Complete the date, or clear it.",
  fieldsWrong: (count) => (count === 1 ? "One field needs a look." : `${count} fields need a look.`),
  secretWarning: "This looks like a password or a key. Servers may not ask for those here: do not enter one.",
  notAcceptable: "This form has a part that cannot be shown here, so it cannot be accepted.",
  form: {},

  openPage: "Open page",
  pageHost: "Opens",
  pageAddress: "Full address",
  copyAddress: "Copy address",
  copied: "Copied",
  pageBlocked:
    "The browser did not let the page open, so nothing was accepted. Allow new windows for this page and try again.",
  pageRefused: (reason) => PAGE_REFUSED.get(reason) ?? reason,
  pageWarning: (warning) => PAGE_WARNING.get(warning) ?? warning,
  looksLike: "shown by browsers as",

  modelSystem: "Instructions to the model",
  modelRole: (role) => (role === "user" ? "User" : role === "assistant" ? "Assistant" : role),
  modelSettings: "Settings",
  modelRun: "Run the model",
  modelRunning: "The model is running…",
  modelFailed: "That did not work.",
  modelResult: "This would be sent back",
  cannotDecline: "This cannot be declined. If you do not want it, cancel the task.",
  modelNobody: "This page cannot answer it: no model is connected here.",
  rootsIntro: "The server asks which folders it may use.",
  rootsRun: "Show the folders",
  rootsResult: "These folders would be named",
  rootsNobody: "This page cannot answer it: no folders are offered here.",
  rootsNone: "No folders.",
  stop: "Stop",
  again: "Do it again",
  sendResult: "Send",
  media: (type, mimeType, bytes) => `${type}, ${mimeType}, ${sizeText(bytes)}`,
};

function limitsText(limits: FormLimits, kind: string): string | undefined {
  const { minLength, maxLength, minimum, maximum, exclusiveMinimum, exclusiveMaximum, minItems, maxItems } =
    limits;
  const parts = [
    kind === "integer" ? "whole number" : undefined,
    minimum === undefined ? undefined : `at least ${minimum}`,
    exclusiveMinimum === undefined ? undefined : `more than ${exclusiveMinimum}`,
    maximum === undefined ? undefined : `at most ${maximum}`,
    exclusiveMaximum === undefined ? undefined : `less than ${exclusiveMaximum}`,
    minLength === undefined || minLength === 0 ? undefined : `at least ${minLength} characters`,
    maxLength === undefined ? undefined : `at most ${maxLength} characters`,
    minItems === undefined || minItems === 0 ? undefined : `at least ${choices(minItems)}`,
    maxItems === undefined ? undefined : `at most ${choices(maxItems)}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(", ");
}

function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function choices(count: number): string {
  return count === 1 ? "1 choice" : `${count} choices`;
}
