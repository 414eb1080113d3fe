/** Owns one call on its way to an outcome: after every change of its record it starts what the record asks for. */
import { CallOutcomeUnknownError, ClientClosedError, type TasksError } from "../errors.js";
import { sleep } from "../internal/clock.js";
import { createDeferred } from "../internal/deferred.js";
import type { QuestionNotice } from "../task/questions.js";
import type { TaskRecord } from "../task/record.js";
import { isLostCall, isOver, type Moved } from "../task/transition.js";
import { questionError, removedError } from "./answering.js";
import { createCallFlow, type CallerOptions } from "./callFlow.js";
import { cancelFromAside, takeCharge, type Charge, type ChargeContext, type PollStart } from "./charge.js";
import { deliver, toldOf } from "./delivery.js";
import { createDriverInputs } from "./driverInputs.js";
import type { DriverServer, DriverStart, TaskDriver } from "./driverTypes.js";
import { ALL_INPUTS, answerableQuestions } from "./inputBroker.js";
import type { Leases } from "./leases.js";
import { asTasksError } from "./retryTable.js";
import { publicSnapshot } from "./publicSnapshot.js";
import { createRecordKeeper } from "./recordKeeper.js";
import type { Scheduler } from "./scheduler.js";
import { createInputReader } from "./snapshotInputs.js";
import type { EngineOptions, RecordListener, Tell } from "./types.js";

export type { DriverServer, DriverStart, TaskDriver } from "./driverTypes.js";

/** Another process's call that nobody waits for is looked up this much more seldom: its end lets go of it here. */
const UNAWAITED_LOOK_EVERY = 150;

export function createTaskDriver(
  first: TaskRecord,
  options: EngineOptions,
  context: {
    start: DriverStart;
    /** Its server, where that is connected. */
    near: DriverServer | undefined;
    scheduler: Scheduler;
    leases: Leases;
    tell: Tell;
    caller?: CallerOptions | undefined;
    /** The record was over, as a call of unknown fate, and is not any more, or has an outcome now. */
    onFound: (driver: TaskDriver) => void;
    /** The store would not remove the record of a call that did not run. */
    takeBack: (record: TaskRecord) => void;
    /** The driver has nothing left to do. */
    onDone: (driver: TaskDriver) => void;
  },
): TaskDriver {
  const { scheduler, leases, tell } = context;
  const closing = new AbortController();
  const over = new AbortController();
  const settled = createDeferred<TaskRecord>();
  const acknowledged = createDeferred<void>();
  const listeners = new Set<RecordListener>();
  const reported = new Set<string>();
  const watchKey = Symbol("watch");
  let server: DriverServer | undefined;
  /** While it rests, where a cancellation can be sent. */
  let near = context.near;
  let charge: Charge | undefined;
  let asking: Promise<void> | undefined;
  let finished = false;
  let delivering: Promise<void> | undefined;
  /** True once the host's handler has resolved: its outcome is not to be told again. */
  let taken = false;
  let resting = context.start === "rest";
  let pollStart: PollStart = context.start === "adopt" ? "at-once" : "stored";

  const keeper = createRecordKeeper(first, options, {
    tell,
    onChange,
    closing: closing.signal,
    isOurs: (record) => leases.isOurs(record),
    follower: () => (resting ? leases.owner : undefined),
    takeBack: context.takeBack,
  });
  const readInputs = createInputReader(
    options.onInputRequest === undefined ? ALL_INPUTS : options.capabilities,
    report,
  );
  const chargeContext: ChargeContext = {
    keeper,
    options,
    scheduler,
    leases,
    tell,
    readInputs,
    over: over.signal,
    again: () => reconcile(),
  };
  const callFlow = createCallFlow({
    keeper,
    options,
    scheduler,
    tell,
    caller: context.caller,
    closing: closing.signal,
    readInputs,
    isInCharge: () => !resting,
    own: () => keeper.own(leases.owner),
    async confirm() {
      await leases.confirm();
      await asking;
    },
    onTask() {
      if (callFlow.left && options.onLateHandle === "cancel") void driver.cancel().catch(() => undefined);
      reconcile();
    },
    onVanished(error) {
      over.abort(withdrawal("The call did not run"));
      broker.withdrawAll(keeper.record, error);
      settled.reject(error);
      acknowledged.resolve();
      if (context.caller === undefined) report(asTasksError(error, "A stored call was not sent"));
      context.onDone(driver);
    },
  });
  const broker = createDriverInputs(options, {
    keeper,
    tell,
    displayName: async () => (await server?.lane.displayName()) ?? keeper.record.server,
    closing: closing.signal,
    over: over.signal,
    catchUp,
  });

  function onChange(moved: Moved, before: TaskRecord): void {
    const { record } = moved;
    const isNewTask = before.taskId === undefined && record.taskId !== undefined;
    const isOverNow = isOver(record) && !isOver(before);
    if (!resting && !leases.isOurs(record)) void askWhoseItIs();
    // The answer of a call that had been told as lost: this driver is through with it.
    if (isLostCall(before) && !isLostCall(record)) context.onFound(driver);
    for (const notice of moved.notices) reportOnce(notice);
    if (isNewTask) {
      // Also for a handle that is over or asks already: the hint is the server's pace, whatever waits there.
      pollStart = "after-interval";
      tell("created", { id: record.id, server: record.server, tool: record.tool, late: callFlow.left });
    }
    if (moved.statusChanged && !isOver(record)) {
      tell("updated", { id: record.id, server: record.server, snapshot: publicSnapshot(record) });
    }
    if (isOverNow) onOver(record);
    // Another process sent this call; ours only hears of it.
    else if (isNewTask && !callFlow.isSending) callFlow.ended();
    if (record.cancelAckedAtMs !== undefined) acknowledged.resolve();
    for (const listener of [...listeners]) listener(record);
    // A handle that we asked for is picked up in onTask, when its caller has been told what the store said of it.
    if (!isNewTask || isOverNow || !callFlow.isSending) reconcile();
  }

  function onOver(record: TaskRecord): void {
    over.abort(withdrawal("The task is over"));
    acknowledged.resolve();
    charge?.stopPolls();
    settled.resolve(record);
    callFlow.ended();
  }

  /** Starts whatever the record asks for and is not under way. Safe to call at any time. */
  function reconcile(): void {
    const { record } = keeper;
    if (closing.signal.aborted) return;
    watchStore();
    if (server !== undefined) broker.reconcile(record);
    if (isOver(record)) return void finish();
    if (server === undefined) return;
    if (record.phase === "tracking") {
      charge ??= takeCharge(chargeContext, server);
      charge.reconcile(record, pollStart);
      pollStart = "after-interval";
      return;
    }
    callFlow.advance(server.lane, server.catalog);
  }

  /** The store names another owner: it took over, or is gone and its call was never claimed (the store refused that). */
  function askWhoseItIs(): Promise<void> {
    return (asking ??= (async () => {
      const [claim] = await leases.claim([keeper.record]);
      if (closing.signal.aborted) return;
      if (claim?.kind === "theirs") rest(server);
      else if (claim?.kind === "ours") keeper.own(claim.record.owner);
    })().finally(() => (asking = undefined)));
  }

  /** Another process took over, or has been in charge all along. What this one has under way is left. */
  function rest(reachable: DriverServer | undefined): void {
    near = reachable;
    if (resting) return;
    resting = true;
    server = undefined;
    const reason = withdrawal("Another process looks after the call");
    charge?.end(reason);
    charge = undefined;
    if (!isOver(keeper.record)) broker.withdrawAll(keeper.record, reason);
    watchStore();
  }

  /** Answers and outcomes may come from another process: look into the store while somebody waits for one. */
  function watchStore(): void {
    const { record } = keeper;
    const followed = server === undefined && listeners.size > 0;
    const awaited = followed || answerableQuestions(record).length > 0;
    const done = over.signal.aborted || isOver(record);
    if (done || (!awaited && !resting)) return scheduler.cancel(watchKey);
    const everyMs = options.storeWatchMs * (awaited ? 1 : UNAWAITED_LOOK_EVERY);
    if ((scheduler.dueIn(watchKey) ?? Infinity) <= everyMs) return;
    scheduler.schedule(watchKey, everyMs, () => {
      const look = resting ? catchUp() : follow();
      // An unreachable store is reported by every write; reading again is all that is needed here.
      void look.then(watchStore, watchStore);
    });
  }

  async function catchUp(): Promise<void> {
    if (!resting) return callFlow.givingUp;
    if (over.signal.aborted || isOver(keeper.record)) return;
    const stored = await keeper.refresh(true);
    if (!stored && resting && !over.signal.aborted) onRemoved();
  }

  async function follow(): Promise<void> {
    const stored = await keeper.refresh(false);
    // A task is tracked all the same; but people are not asked for a call that is not wanted.
    if (!stored && keeper.record.phase === "asking" && !over.signal.aborted) onRemoved();
  }

  /** Another process removed the record, and there is nothing here that must go on. */
  function onRemoved(): void {
    const error = removedError();
    over.abort(error);
    broker.withdrawAll(keeper.record, error);
    settled.reject(error);
    callFlow.close(
      keeper.record.taskId === undefined ? new CallOutcomeUnknownError({ cause: error }) : error,
    );
    acknowledged.resolve();
    scheduler.cancel(watchKey);
    context.onDone(driver);
  }

  async function finish(): Promise<void> {
    if (finished) return;
    finished = true;
    const { record } = keeper;
    if (record.phase === "settled") tell("settled", toldOf(record));
    // An outcome that another process found is that process's to deliver.
    if (!resting && !leases.isOurs(record)) await askWhoseItIs();
    // Who follows another process, and yet had the last word (its own answer came late), tells it.
    const isOurWord = record.owner !== undefined && leases.isOurs(record);
    if (record.phase === "settled" && (!resting || isOurWord)) {
      const delivery = deliver(record, {
        ...options,
        signal: closing.signal,
        tell,
        onTaken: () => (taken = true),
      });
      delivering = delivery.then(async (done) => {
        if (done) await keeper.apply({ type: "delivered" }).catch(() => undefined);
      });
      await delivering;
    }
    context.onDone(driver);
  }

  /** Every snapshot may find the same thing wrong. */
  function reportOnce(notice: QuestionNotice): void {
    const said = notice.what === "too-many" ? notice.what : `${notice.what}:${notice.key}`;
    if (reported.has(said)) return;
    reported.add(said);
    report(questionError(notice));
  }

  function report(error: TasksError): void {
    tell("error", { error, server: keeper.record.server, id: keeper.record.id });
  }

  async function cancel(): Promise<void> {
    if (isOver(keeper.record)) return;
    if (closing.signal.aborted) throw new ClientClosedError();
    await catchUp();
    if (over.signal.aborted) return;
    if (keeper.record.phase === "asking") await keeper.apply({ type: "callAbandoned" });
    const { record } = keeper;
    // Else the process in charge was sending it by then: what comes of it is cancelled.
    if (isOver(record)) return;
    const isUnsent = record.taskId === undefined && record.call?.inFlight !== true;
    if (isUnsent && !resting) return callFlow.leave();
    // Acknowledged before, and yet it runs on: the host means it, so the server hears it once more.
    if (record.cancelAckedAtMs !== undefined && charge !== undefined) return charge.sendCancel();
    await keeper.apply({ type: "cancelRequested" });
    // The process in charge would send it when it next looks into the store; this one need not wait for that.
    if (resting && near !== undefined && record.taskId !== undefined)
      void cancelFromAside(chargeContext, near);
    // Where another process is in charge, only the store tells what came of it.
    const unwatch = driver.watch(() => undefined);
    await acknowledged.promise.finally(unwatch);
  }

  const driver: TaskDriver = {
    id: first.id,
    get record() {
      return keeper.record;
    },
    wait: (limits) => callFlow.wait(limits),
    settled: settled.promise,
    get resting() {
      return resting;
    },
    catchUp,
    attach(connected) {
      if (closing.signal.aborted) return;
      server = connected;
      near = undefined;
      resting = false;
      reconcile();
    },
    claimAnew: askWhoseItIs,
    rest,
    watch(listener) {
      listeners.add(listener);
      watchStore();
      return () => {
        listeners.delete(listener);
        watchStore();
      };
    },
    openInputs: () => broker.open(keeper.record),
    respond: (key, response, from) => broker.respond(key, response, { ...from, source: "respond" }),
    cancel,
    async taken() {
      if (options.onSettled === undefined && keeper.record.phase === "settled") {
        await keeper.apply({ type: "delivered" }).catch(() => undefined);
      }
    },
    get isSending() {
      return callFlow.isSending;
    },
    async drain() {
      const dueInMs = charge?.stopPolls();
      if (dueInMs !== undefined && keeper.record.failures === undefined) {
        const notBeforeMs = Math.ceil(options.clock.now() + dueInMs);
        await keeper.apply({ type: "paused", notBeforeMs }).catch(() => undefined);
      }
      await callFlow.idle();
      if (delivering !== undefined) {
        // A handler may close the client as the last thing it does: what it took is written down; it is not waited for.
        await sleep(options.clock, 0, { keepAlive: true });
        if (taken) await delivering;
      }
      await keeper.idle();
    },
    remove: () => keeper.remove(),
    stop(reason) {
      closing.abort(reason);
      over.abort(reason);
      charge?.stopPolls();
      scheduler.cancel(watchKey);
      broker.withdrawAll(keeper.record, reason);
      callFlow.close(reason);
      settled.reject(reason);
      acknowledged.reject(reason);
      listeners.clear();
    },
  };
  if (resting) watchStore();
  if (isOver(first)) settled.resolve(first);
  if (first.taskId !== undefined || isOver(first)) callFlow.ended();
  return driver;
}

function withdrawal(why: string): DOMException {
  return new DOMException(why, "AbortError");
}
