/** Owns what a process does for a task while it looks after it: polls, answers, a cancellation. It ends as a whole. */
import { linkSignals } from "../internal/abort.js";
import type { InputRequestEntry } from "../protocol/index.js";
import { unsentKeys } from "../task/questions.js";
import type { TaskRecord } from "../task/record.js";
import type { DriverServer } from "./driverTypes.js";
import { createFollowUps } from "./followUps.js";
import type { Leases } from "./leases.js";
import { createPollStep } from "./pollStep.js";
import type { RecordKeeper } from "./recordKeeper.js";
import type { Scheduler } from "./scheduler.js";
import type { UsableInputs } from "./snapshotInputs.js";
import type { EngineOptions, Tell } from "./types.js";

/** What is known of polls before: none is needed to wait for, the record says when, or the interval begins now. */
export type PollStart = "at-once" | "stored" | "after-interval";

/** The charge of one task. */
export interface Charge {
  /** Starts whatever the record asks for and is not under way. */
  reconcile(record: TaskRecord, pollStart: PollStart): void;
  /** Asks for the cancellation once more. */
  sendCancel(): Promise<void>;
  /** Plans no further poll; answers in how many milliseconds it would have been due. */
  stopPolls(): number | undefined;
  /** Ends everything: another process took over. What is under way is left. */
  end(reason: unknown): void;
}

/** What a charge needs of its driver. */
export interface ChargeContext {
  readonly keeper: RecordKeeper;
  readonly options: EngineOptions;
  readonly scheduler: Scheduler;
  readonly leases: Leases;
  readonly tell: Tell;
  readonly readInputs: (entries: readonly InputRequestEntry[]) => Promise<UsableInputs>;
  /** Aborts when the task is over or the client closes. */
  readonly over: AbortSignal;
  /** An answer that came at the very end is not to wait for the next poll. */
  readonly again: () => void;
}

export function takeCharge(context: ChargeContext, { lane, shared, push }: DriverServer): Charge {
  const { keeper, options, scheduler, leases, tell, readInputs } = context;
  const { signal, abort, release } = linkSignals(context.over);
  const base = { keeper, options, tell, over: signal };
  const followUps = createFollowUps({ ...base, lane, confirm: () => leases.confirm() });
  const pollStep = createPollStep({ ...base, followUps, scheduler, shared, push, readInputs });
  let sendingAnswers = false;
  let cancelling = false;

  return {
    reconcile(record, pollStart) {
      if (!sendingAnswers && unsentKeys(record.questions).length > 0) {
        sendingAnswers = true;
        void followUps.sendAnswers().then((sent) => {
          sendingAnswers = false;
          if (sent && !signal.aborted) context.again();
        });
      }
      const isUnacked = record.cancelRequestedAtMs !== undefined && record.cancelAckedAtMs === undefined;
      if (!cancelling && (isUnacked || record.cancelAgain === "due")) {
        cancelling = true;
        // The keeper reports what it cannot store; a closing client leaves the rest to the next one.
        void followUps.sendCancel().then(
          () => (cancelling = false),
          () => undefined,
        );
      }
      pollStep.plan(pollStart);
    },
    sendCancel: () => followUps.sendCancel(),
    stopPolls() {
      const dueInMs = pollStep.dueIn();
      pollStep.stop();
      return dueInMs;
    },
    end(reason) {
      pollStep.stop();
      abort(reason);
      release();
    },
  };
}

/** A cancellation from a process that does not look after the task: its owner need not notice it first. */
export async function cancelFromAside(context: ChargeContext, { lane }: DriverServer): Promise<void> {
  const { keeper, options, tell, over, leases } = context;
  const followUps = createFollowUps({ keeper, options, tell, over, lane, confirm: () => leases.confirm() });
  await followUps.sendCancel().catch(() => undefined);
}
