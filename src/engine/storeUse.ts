/** Owns what an engine has under way in its store, so that nothing of it outlives the client. It retries and decides nothing. */
import type { RosterStore, TaskStore } from "../store/types.js";

/** A store, and how busy it is kept. */
export interface StoreUse {
  readonly store: TaskStore;
  /** Resolves when nothing is under way, nor begun as soon as that has ended. */
  idle(): Promise<void>;
}

/** Between two operations that belong together the engine waits for promises only, and for no more of them in a row. */
const PROMISES_BETWEEN = 100;

/**
 * The use of `store` until `closing` aborts. A reading of all records that began before that rejects with its reason at
 * the next record: over thousands it goes on for long, and a host that ends its store's connection after `close()` finds
 * it opened again. Whoever reads after the end does so by their own wish.
 */
export function createStoreUse(store: TaskStore, closing: AbortSignal): StoreUse {
  let active = 0;
  const waiting: (() => void)[] = [];

  async function counted<T>(run: () => Promise<T>): Promise<T> {
    active += 1;
    try {
      return await run();
    } finally {
      active -= 1;
      if (active === 0) for (const resolve of waiting.splice(0)) resolve();
    }
  }

  async function* all(): ReturnType<TaskStore["all"]> {
    const isHosts = closing.aborted;
    const records = store.all()[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await counted(() => records.next());
        if (next.done === true) return;
        if (!isHosts) closing.throwIfAborted();
        yield next.value;
      }
    } finally {
      await records.return?.();
    }
  }

  const roster: RosterStore = {
    read: () => counted(() => store.roster.read()),
    change: (...args) => counted(() => store.roster.change(...args)),
  };
  return {
    store: {
      load: (id) => counted(() => store.load(id)),
      save: (...args) => counted(() => store.save(...args)),
      create: (record) => counted(() => store.create(record)),
      remove: (id) => counted(() => store.remove(id)),
      claim: (...args) => counted(() => store.claim(...args)),
      all,
      roster,
      liveness: store.liveness,
      comparesAndSets: store.comparesAndSets,
      get counts() {
        return store.counts;
      },
    },
    async idle() {
      for (;;) {
        for (let left = PROMISES_BETWEEN; left > 0; left -= 1) await Promise.resolve();
        if (active === 0) return;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}
