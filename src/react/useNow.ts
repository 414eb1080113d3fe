/** Owns the ticking of the page: the host's time, once a second, by one timer however many components read it. */
import { useSyncExternalStore } from "react";
import type { Clock, StopTimer } from "../internal/clock.js";
import { useTasksContext } from "./context.js";
import { useSelection } from "./selection.js";

const TICK_MS = 1000;

/** The host's time in milliseconds since 1970; undefined while the page is rendered on a server or hydrated. */
export function useNow(): number | undefined {
  const { clock } = useTasksContext();
  const ticker = tickerOf(clock);
  const own = useSyncExternalStore(ticker.subscribe, ticker.now, () => undefined);
  const offset = useSelection(
    (state) => state.clockOffsetMs,
    (a, b) => a === b,
    [],
  );
  return own === undefined ? undefined : own + offset;
}

interface Ticker {
  readonly subscribe: (listener: () => void) => () => void;
  readonly now: () => number | undefined;
}

const tickers = new WeakMap<Clock, Ticker>();

function tickerOf(clock: Clock): Ticker {
  const known = tickers.get(clock);
  if (known !== undefined) return known;
  const ticker = createTicker(clock);
  tickers.set(clock, ticker);
  return ticker;
}

function createTicker(clock: Clock): Ticker {
  const listeners = new Set<() => void>();
  let current: number | undefined;
  let stop: StopTimer | undefined;
  const tick = (): void => {
    current = clock.now();
    stop = clock.setTimer(TICK_MS, tick);
    for (const listener of listeners) listener();
  };
  return {
    now: () => (current ??= clock.now()),
    subscribe(listener) {
      listeners.add(listener);
      if (stop === undefined) {
        current = clock.now();
        stop = clock.setTimer(TICK_MS, tick);
      }
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        stop?.();
        stop = undefined;
        current = undefined;
      };
    },
  };
}
