/** Owns the shape of every text that the components say by themselves. Types only. */
import type { FormLimits, FormMessages } from "../protocol/formTypes.js";

/** All texts of the components. Give any of them to `TasksProvider` for another language or another tone. */
export interface Labels {
  /** The language of dates and times, a BCP 47 tag; the browser's where it is undefined. */
  readonly locale: string | undefined;
  /** How long something is: `1 min 5 s`. */
  readonly duration: (ms: number) => string;

  /** A call's status in words; unknown ones as the server said them. */
  readonly status: (status: string) => string;
  readonly progress: string;
  /** The server waits for an answer to something that may not be shown. */
  readonly cannotBeShown: string;
  /** The server refused the answer that was given; another one may be. */
  readonly refusedBefore: string;
  /** In the place of a card that failed while it was drawn. */
  readonly cannotBeDrawn: string;
  readonly elapsed: string;
  readonly timeLeft: string;
  /** The time is up, but the call is not over yet. */
  readonly timeIsUp: string;
  readonly cancel: string;
  readonly cancelSending: string;
  /** The server was asked to cancel: it may still end in any way. */
  readonly cancelAsked: string;
  readonly cancelFailed: string;
  readonly cancelOver: string;
  readonly showResult: string;
  readonly loadingResult: string;
  readonly resultNotLoaded: string;
  readonly emptyResult: string;
  readonly toolError: string;
  readonly failedWith: string;
  /** Why nobody can say how the call ended, by reason: expired, unknown, gave-up, call-outcome-unknown. */
  readonly lost: (reason: string | undefined) => string;
  readonly cancelledOutcome: string;
  readonly answersHeading: string;
  readonly taskGone: string;
  readonly loading: string;

  readonly inboxHeading: string;
  readonly inboxCount: (count: number) => string;
  readonly inboxEmpty: string;
  readonly inboxTruncated: string;
  readonly notLive: string;
  /** The person is refused, and nothing is shown any more. */
  readonly signedOut: string;

  /** What kind of question it is: confirmation, elicitation-form, elicitation-url, sampling, roots. */
  readonly question: (kind: string) => string;
  readonly tool: string;
  readonly server: string;
  readonly asked: string;
  readonly accept: string;
  readonly decline: string;
  readonly dismiss: string;
  readonly sending: string;
  readonly retry: string;
  readonly showAll: (characters: number) => string;
  readonly showLess: string;
  /** How many more parts of a list there are. */
  readonly showMore: (count: number) => string;
  /** What an answer's action was: accept, decline, cancel, answered. */
  readonly action: (action: string) => string;
  readonly youAnswered: string;
  readonly answeredBy: string;
  readonly answeredElsewhere: string;
  /** Nobody answered in time, so the policy of the application did. */
  readonly answeredByPolicy: string;
  /** The application's own code answered. */
  readonly answeredByHost: string;
  /** Why the question needs no answer any more: withdrawn, completed, failed, cancelled, lost, removed. */
  readonly over: (reason: string) => string;
  readonly refused: string;
  readonly failed: string;
  readonly notTaken: string;
  /** What the policy will do, as of `action`; `left` is the time until then in words, undefined once it has passed. */
  readonly policyWillAnswer: (action: string, left: string | undefined) => string;
  /** Before the time that is left to the question's task. */
  readonly taskEnds: string;

  readonly required: string;
  readonly optional: string;
  readonly yes: string;
  readonly no: string;
  readonly noAnswer: string;
  readonly choose: string;
  readonly limits: (limits: FormLimits, kind: string) => string | undefined;
  readonly sentAs: string;
  /** Before the server's own regular expression, which this page does not run. */
  readonly pattern: string;
  /** A yes or no that the person did not decide. */
  readonly undecided: string;
  readonly incompleteDate: string;
  readonly fieldsWrong: (count: number) => string;
  readonly secretWarning: string;
  readonly notAcceptable: string;
  /** The texts of the checks of a form; see `elicitationForm`. */
  readonly form: Partial<FormMessages>;

  readonly openPage: string;
  readonly pageHost: string;
  readonly pageAddress: string;
  readonly copyAddress: string;
  readonly copied: string;
  readonly pageBlocked: string;
  readonly pageRefused: (reason: string) => string;
  /** What is odd about the address: punycode, credentials, mixed-script, insecure. */
  readonly pageWarning: (warning: string) => string;
  readonly looksLike: string;

  readonly modelSystem: string;
  readonly modelRole: (role: string) => string;
  readonly modelSettings: string;
  readonly modelRun: string;
  readonly modelRunning: string;
  readonly modelFailed: string;
  readonly modelResult: string;
  /** Of the questions that have no "no": sampling and roots. */
  readonly cannotDecline: string;
  readonly modelNobody: string;
  readonly rootsIntro: string;
  readonly rootsRun: string;
  readonly rootsResult: string;
  readonly rootsNobody: string;
  readonly rootsNone: string;
  readonly stop: string;
  readonly again: string;
  readonly sendResult: string;
  /** Something that is not shown: `image, image/png, 12 kB`. */
  readonly media: (type: string, mimeType: string, bytes: number) => string;
}
