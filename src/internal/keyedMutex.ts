/** Owns mutual exclusion by key within this process. It knows nothing of what it guards and starts no timer. */

/** Runs tasks of one key one after the other, in the order of the calls; tasks of different keys run side by side. */
export interface KeyedMutex {
  /** Answers what `run` answers or rejects with. A rejection does not hold up the next task. Not re-entrant. */
  run<Result>(key: string, run: () => Promise<Result>): Promise<Result>;
  /** Keys in use; for tests of leaks. */
  readonly size: number;
}

/** A fresh mutex. */
export function keyedMutex(): KeyedMutex {
  const tails = new Map<string, Promise<void>>();
  return {
    async run(key, run) {
      const before = tails.get(key);
      const { promise: mine, done } = gate();
      tails.set(key, mine);
      try {
        await before;
        return await run();
      } finally {
        done();
        if (tails.get(key) === mine) tails.delete(key);
      }
    },
    get size() {
      return tails.size;
    },
  };
}

function gate(): { promise: Promise<void>; done: () => void } {
  let done = (): void => {};
  const promise = new Promise<void>((resolve) => {
    done = resolve;
  });
  return { promise, done };
}
