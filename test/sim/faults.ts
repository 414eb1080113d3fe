/** Owns the names of everything that may go wrong (or merely happen) in a world. No code beyond the lists. */

/** What the network and the layers before a server do, per exchange. */
const NETWORK_FAULTS = [
  "refuse",
  "loseRequest",
  "loseAnswer",
  "hang",
  "hangAfter",
  "duplicate",
  "delay",
  "http5xx",
  "http429",
  "http408",
  "gatewayTimeout",
  "htmlPage",
  "truncated",
  "garbage",
  "emptyBody",
  "wrongType",
  "otherId",
  "eventStream",
  "slowBody",
] as const;

/** What servers do. */
const SERVER_FAULTS = [
  "rpcInternal",
  "unknownOnce",
  "staleRead",
  "authExpiry",
  "restartKeeping",
  "restartForgetting",
  "longOutage",
  "answerNotTaken",
  "updateRefused",
  "echoSecrets",
  "hostileHints",
  "unprovenEnd",
  "otherTask",
  "hintChange",
  "ttlChange",
] as const;

/** What streams of notices do. */
const PUSH_FAULTS = [
  "pushCut",
  "pushEnd",
  "pushSilence",
  "pushStale",
  "pushDuplicate",
  "pushPartial",
  "pushRefused",
  "pushAbsent",
] as const;

/** What the store does. */
const STORE_FAULTS = ["storeSlow", "storeFails", "storeFailsAfter", "storeOutage"] as const;

/** What machines do. */
const MACHINE_FAULTS = ["crash", "crashAtAwait", "restart", "sleep", "clockForth", "clockBack"] as const;

/** What people do. */
const PEOPLE_FAULTS = [
  "answerLate",
  "answerNever",
  "answerWrong",
  "answerTwice",
  "answerElsewhere",
  "answerDeferred",
  "handlerThrows",
] as const;

/** What hosts do. */
const HOST_FAULTS = [
  "abort",
  "timeout",
  "cancel",
  "forget",
  "replay",
  "conflict",
  "settledThrows",
  "namesSwapped",
] as const;

/** What came later: at the end, so that earlier seeds keep their worlds. */
const LATER_FAULTS = ["cancelElsewhere", "cancelNotTaken"] as const;

/** Each with chance of its own, whether the world has it included: a list that grows moves the chances of those after it. */
export const OWN_CHANCE_FAULTS = ["questionChanged"] as const;

export const FAULT_KINDS = [
  ...NETWORK_FAULTS,
  ...SERVER_FAULTS,
  ...PUSH_FAULTS,
  ...STORE_FAULTS,
  ...MACHINE_FAULTS,
  ...PEOPLE_FAULTS,
  ...HOST_FAULTS,
  ...LATER_FAULTS,
  ...OWN_CHANCE_FAULTS,
] as const;

/** Something that a world may do to the product. */
export type FaultKind = (typeof FAULT_KINDS)[number];

/** What a world may come to; a run in which one of these never happened proves little of it. */
export const OUTCOME_KINDS = [
  "completed",
  "failed",
  "cancelled",
  "lost expired",
  "lost unknown",
  "lost call-outcome-unknown",
  "immediate result",
  "immediate error",
  "call not run",
  "round before a task",
  "late handle",
  "handle not stored",
  "call taken up by its id",
  "answer taken",
  "answer sent again",
  "question withdrawn",
  "question shown",
  "answered by respond",
  "answered already",
  "answered by policy",
  "answer refused as wrong",
  "outcome delivered again",
  "outcome delivered after a restart",
  "repeated call of a safe tool",
  "server down",
  "server up",
  "push open",
  "push off",
  "notice delivered",
  "retry",
] as const;

export type OutcomeKind = (typeof OUTCOME_KINDS)[number];
