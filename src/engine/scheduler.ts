/** Owns the one timer of all tasks: who is due when. It knows no tasks, only keys. */
import { boundedDelay, type Clock, type StopTimer } from "../internal/clock.js";

/** Due times by key; a key has one due time at most. Keys are symbols: nobody meets another's by its name. */
export interface Scheduler {
  /** Runs `run` after `delayMs`, in place of what was planned for the key. */
  schedule(key: symbol, delayMs: number, run: () => void): void;
  cancel(key: symbol): void;
  /** Milliseconds until the key is due, or undefined. */
  dueIn(key: symbol): number | undefined;
  readonly size: number;
  stop(): void;
}

/** So many more cancelled entries than others may wait for their time. */
const MAX_CANCELLED = 64;

interface Entry {
  readonly key: symbol;
  readonly dueAt: number;
  readonly run: () => void;
  cancelled: boolean;
}

/**
 * Due times are kept on the monotonic clock: a wall clock that jumps moves nobody. After a long sleep of the
 * machine every overdue key runs once, in the order in which they were due.
 */
export function createScheduler(clock: Clock): Scheduler {
  const heap: Entry[] = [];
  const byKey = new Map<symbol, Entry>();
  let timer: { dueAt: number; stop: StopTimer } | undefined;
  let stopped = false;

  const arm = (): void => {
    dropCancelled(heap);
    const first = heap[0];
    if (timer !== undefined && timer.dueAt === first?.dueAt) return;
    timer?.stop();
    timer = undefined;
    if (first === undefined || stopped) return;
    timer = { dueAt: first.dueAt, stop: clock.setTimer(first.dueAt - clock.monotonic(), fire) };
  };
  const fire = (): void => {
    timer = undefined;
    const now = clock.monotonic();
    const due: Entry[] = [];
    for (let entry = heap[0]; entry !== undefined && entry.dueAt <= now; entry = heap[0]) {
      pop(heap);
      if (!entry.cancelled) due.push(entry);
    }
    for (const entry of due) {
      // One that ran before may have cancelled or moved it.
      if (entry.cancelled || byKey.get(entry.key) !== entry) continue;
      byKey.delete(entry.key);
      entry.run();
    }
    arm();
  };
  const cancel = (key: symbol): void => {
    const entry = byKey.get(key);
    if (entry === undefined) return;
    entry.cancelled = true;
    byKey.delete(key);
  };
  return {
    get size() {
      return byKey.size;
    },
    schedule(key, delayMs, run) {
      if (stopped) return;
      cancel(key);
      const entry: Entry = { key, dueAt: clock.monotonic() + boundedDelay(delayMs), run, cancelled: false };
      byKey.set(key, entry);
      push(heap, entry);
      if (heap.length > 2 * byKey.size + MAX_CANCELLED) dropAllCancelled(heap);
      arm();
    },
    cancel(key) {
      cancel(key);
      arm();
    },
    dueIn(key) {
      const entry = byKey.get(key);
      return entry === undefined ? undefined : Math.max(entry.dueAt - clock.monotonic(), 0);
    },
    stop() {
      stopped = true;
      byKey.clear();
      heap.length = 0;
      arm();
    },
  };
}

function dropCancelled(heap: Entry[]): void {
  while (heap[0]?.cancelled === true) pop(heap);
}

/** What was planned for the far future, and cancelled, would stay until then. */
function dropAllCancelled(heap: Entry[]): void {
  for (const entry of heap.splice(0)) if (!entry.cancelled) push(heap, entry);
}

function push(heap: Entry[], entry: Entry): void {
  heap.push(entry);
  let at = heap.length - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (dueAt(heap, parent) <= entry.dueAt) break;
    swap(heap, at, parent);
    at = parent;
  }
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  heap[0] = last;
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    const least = dueAt(heap, left + 1) < dueAt(heap, left) ? left + 1 : left;
    if (dueAt(heap, least) >= dueAt(heap, at)) return;
    swap(heap, at, least);
    at = least;
  }
}

function dueAt(heap: readonly Entry[], at: number): number {
  return heap[at]?.dueAt ?? Infinity;
}

function swap(heap: Entry[], a: number, b: number): void {
  const entry = heap[a] as Entry;
  heap[a] = heap[b] as Entry;
  heap[b] = entry;
}
