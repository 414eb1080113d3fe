/** Owns virtual time: what happens when, on which machine, and the clocks that programs on these machines read. */
import { boundedDelay, type Clock, type StopTimer } from "../../src/internal/clock.js";

/** What an event happens to. While it sleeps its events wait; once it is dead they never come. */
export interface Machine {
  readonly name: string;
  alive: boolean;
  /** Nothing runs before this instant of the world. */
  sleepsUntil: number;
  /** Its wall clock, beside the world's. */
  wallOffsetMs: number;
  /** What its monotonic clock missed while it slept. */
  missedMs: number;
}

/** The time of one world. */
export interface Time {
  /** Milliseconds since the world began. */
  readonly now: number;
  /** Whose step is under way: timers that nobody signs belong to it. */
  readonly current: Machine | undefined;
  /** Runs later, as a step of its own. `machine` undefined: it happens to the world. */
  after(delayMs: number, run: () => void, machine?: Machine): StopTimer;
  /** Goes on to the next event and runs it; false where there is none before `untilMs`. */
  step(untilMs: number): boolean;
  /** As `after`, for what the product under test waits for: it must be gone in the end. */
  timer(delayMs: number, run: () => void, machine: Machine | undefined): StopTimer;
  /** The product's timers of a machine that wait. */
  timersOf(machine: Machine): number;
  clockOf(machine: Machine): Clock;
}

interface Event {
  at: number;
  readonly order: number;
  readonly machine: Machine | undefined;
  readonly run: () => void;
  readonly isProducts: boolean;
  stopped: boolean;
}

/** The wall clock of the world at its beginning. */
export const START_MS = Date.UTC(2026, 7, 1);

export function createTime(): Time {
  const heap: Event[] = [];
  let now = 0;
  let order = 0;
  let current: Machine | undefined;

  function add(delayMs: number, run: () => void, whose: Pick<Event, "machine" | "isProducts">): StopTimer {
    order += 1;
    const at = now + Math.ceil(boundedDelay(delayMs));
    const event: Event = { at, order, run, stopped: false, ...whose };
    push(heap, event);
    return () => void (event.stopped = true);
  }

  const timer: Time["timer"] = (delayMs, run, machine) => add(delayMs, run, { machine, isProducts: true });

  function step(untilMs: number): boolean {
    for (;;) {
      const event = heap[0];
      if (event === undefined || event.at > untilMs) {
        now = Math.max(now, Math.min(untilMs, event?.at ?? untilMs));
        return false;
      }
      pop(heap);
      const { machine } = event;
      if (event.stopped || machine?.alive === false) continue;
      if (machine !== undefined && machine.sleepsUntil > event.at) {
        event.at = machine.sleepsUntil;
        push(heap, event);
        continue;
      }
      now = event.at;
      current = machine;
      event.stopped = true;
      event.run();
      return true;
    }
  }

  return {
    get now() {
      return now;
    },
    get current() {
      return current;
    },
    after: (delayMs, run, machine) => add(delayMs, run, { machine, isProducts: false }),
    timer,
    step,
    timersOf: (machine) =>
      heap.filter((event) => event.isProducts && !event.stopped && event.machine === machine).length,
    clockOf: (machine) => ({
      now: () => START_MS + now + machine.wallOffsetMs,
      monotonic: () => now - machine.missedMs,
      setTimer(delayMs, run) {
        if (!machine.alive) return () => undefined;
        const due = now - machine.missedMs + Math.ceil(boundedDelay(delayMs));
        let stop = timer(delayMs, check, machine);
        // A monotonic clock that stood still while the machine slept makes its timers late.
        function check(): void {
          const leftMs = due - (now - machine.missedMs);
          if (leftMs > 0) stop = timer(leftMs, check, machine);
          else run();
        }
        return () => stop();
      },
    }),
  };
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Event[], event: Event): void {
  let at = heap.length;
  heap.push(event);
  while (at > 0) {
    const above = (at - 1) >> 1;
    const parent = heap[above] as Event;
    if (!isBefore(event, parent)) break;
    heap[at] = parent;
    at = above;
  }
  heap[at] = event;
}

function pop(heap: Event[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let least = 2 * at + 1;
    if (least >= heap.length) break;
    if (least + 1 < heap.length && isBefore(heap[least + 1] as Event, heap[least] as Event)) least += 1;
    if (!isBefore(heap[least] as Event, last)) break;
    heap[at] = heap[least] as Event;
    at = least;
  }
  heap[at] = last;
}
