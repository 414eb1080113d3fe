/** Owns the one place where a task's record changes: events in, stored record out, in order. It sends nothing. */
import type { StoreError } from "../errors.js";
import { sleep } from "../internal/clock.js";
import { createLimiter } from "../internal/limiter.js";
import type { TaskEvent } from "../task/events.js";
import { mergeRecords } from "../task/merge.js";
import { backoffMs } from "../task/policy.js";
import { asOwnerOf, type TaskRecord } from "../task/record.js";
import { isOver, transition, type Moved } from "../task/transition.js";
import type { EngineOptions, Tell } from "./types.js";

/**
 * What to do when the store refuses. `keep`: go on in memory, report, and try again until it is stored; an outcome
 * is not told before it is. `must`: reject, and nothing has happened. `discard`: the record is not needed after this
 * change; it is removed, not written.
 */
export type KeepMode = "keep" | "must" | "discard";

/** What an event did. */
export interface Kept {
  readonly moved: Moved;
  /** Set when the change lives in memory only, for now. */
  readonly storeError: StoreError | undefined;
}

/** The keeper of one record. */
export interface RecordKeeper {
  readonly record: TaskRecord;
  /** Moves the record and stores it; `onChange` runs before the promise resolves. Rejects only in `must` mode, or when closed. */
  apply(event: TaskEvent, mode?: KeepMode): Promise<Kept>;
  /**
   * Takes over what other processes wrote; answers false where the record is no longer stored. `theirs`: they are in
   * charge, so their record replaces ours.
   */
  refresh(theirs: boolean): Promise<boolean>;
  /** The call was claimed anew, under this name of the process. */
  own(owner: string | undefined): void;
  /** Removes a record that stands for nothing: the call never ran. Nobody is told. */
  drop(): Promise<void>;
  /** Removes the record for good: what is under way does not bring it back. Rejects with `StoreError`. */
  remove(): Promise<void>;
  /** Resolves when no write is under way. */
  idle(): Promise<void>;
}

/** Hears of every change, after it was stored. */
export type ChangeListener = (moved: Moved, before: TaskRecord) => void;

export function createRecordKeeper(
  first: TaskRecord,
  options: Pick<EngineOptions, "clock" | "random" | "store" | "poll" | "retry" | "answerGraceMs">,
  hooks: {
    tell: Tell;
    onChange: ChangeListener;
    closing: AbortSignal;
    /** Whether this process owns the stored call, under whatever name. */
    isOurs: (record: TaskRecord) => boolean;
    /** Who writes, where another process is in charge: what is kept here is a copy of its record. */
    follower: () => string | undefined;
    /** The record is of a call that did not run, and the store would not remove it. */
    takeBack: (record: TaskRecord) => void;
  },
): RecordKeeper {
  const { clock, store } = options;
  const serial = createLimiter(1);
  let record = first;
  /** True while the handle itself is not in the store: then there is nothing that an outcome could be stored to. */
  let handleUnsaved = false;
  let resaving = false;
  /** True once the record was removed: nothing brings it back. */
  let discarded = false;

  async function apply(event: TaskEvent, mode: KeepMode): Promise<Kept> {
    const before = record;
    const moved = transition(before, event, {
      nowMs: clock.now(),
      poll: options.poll,
      answers: { answerGraceMs: options.answerGraceMs },
    });
    if (moved.record === before) return { moved, storeError: undefined };
    let storeError: StoreError | undefined;
    let kept = moved.record;
    if (mode === "discard") await discard();
    else if (moved.save && !discarded) {
      try {
        kept = await write(moved.record, mode);
        handleUnsaved = false;
      } catch (error) {
        if (mode === "must" || hooks.closing.aborted) throw error;
        storeError = error as StoreError;
        if (event.type === "handleReceived") handleUnsaved = true;
        void resave();
      }
    }
    record = kept;
    const final = kept === moved.record ? moved : { ...moved, record: kept };
    hooks.onChange(final, before);
    return { moved: final, storeError };
  }

  async function write(next: TaskRecord, mode: KeepMode): Promise<TaskRecord> {
    for (let failures = 1; ; failures += 1) {
      try {
        return await store.save(next, hooks.isOurs, hooks.follower());
      } catch (error) {
        report(error as StoreError);
        const waits = isOver(next) && !handleUnsaved && mode === "keep";
        if (!waits || hooks.closing.aborted) throw error;
        await sleep(clock, backoffMs(failures, options.retry, options.random()), { signal: hooks.closing });
      }
    }
  }

  async function remove(): Promise<void> {
    discarded = true;
    await store.remove(record.id);
  }

  async function discard(): Promise<void> {
    try {
      await remove();
    } catch (error) {
      // A process that ends before leaves it as outcome-unknown, which is true of what the next one can know.
      hooks.takeBack(record);
      report(error as StoreError);
    }
  }

  /** Keeps trying to store what lives in memory only. */
  async function resave(): Promise<void> {
    if (resaving) return;
    resaving = true;
    try {
      for (let failures = 1; ; failures += 1) {
        await sleep(clock, backoffMs(failures, options.retry, options.random()), { signal: hooks.closing });
        if (await trySave()) return;
      }
    } catch {
      // Closed: told with the failure that started this.
    } finally {
      resaving = false;
    }
  }

  async function trySave(): Promise<boolean> {
    const release = await serial.acquire(hooks.closing);
    if (discarded) {
      release();
      return true;
    }
    try {
      const stored = await store.save(record, hooks.isOurs, hooks.follower());
      handleUnsaved = false;
      takeOver(stored);
      return true;
    } catch {
      return false;
    } finally {
      release();
    }
  }

  function report(error: StoreError): void {
    hooks.tell("error", { error, server: record.server, id: record.id });
  }

  async function refresh(theirs: boolean): Promise<boolean> {
    const stored = await store.load(record.id);
    if (stored === undefined) return false;
    const mine = asOwnerOf(stored, record, hooks.isOurs);
    takeOver(theirs ? stored : mergeRecords(stored, mine, store.comparesAndSets));
    return true;
  }

  /** What another process made of the record is a change like any other. */
  function takeOver(next: TaskRecord): void {
    const before = record;
    if (JSON.stringify(next) === JSON.stringify(before)) return;
    record = next;
    const statusChanged =
      next.phase !== before.phase ||
      next.snapshot?.status !== before.snapshot?.status ||
      next.snapshot?.statusMessage !== before.snapshot?.statusMessage;
    hooks.onChange({ record: next, save: false, statusChanged, notices: [], unproven: false }, before);
  }

  async function locked<T>(run: () => Promise<T>): Promise<T> {
    const release = await serial.acquire();
    try {
      return await run();
    } finally {
      release();
    }
  }

  return {
    get record() {
      return record;
    },
    apply: (event, mode = "keep") => locked(() => apply(event, mode)),
    refresh: (theirs) => locked(() => refresh(theirs)),
    own(owner) {
      // Without waiting for a write that may take long: what it answers is put right at the next look at the roster.
      if (owner !== undefined) record = { ...record, owner };
    },
    drop: () => locked(discard),
    remove: () => locked(remove),
    idle: () => locked(async () => undefined),
  };
}
