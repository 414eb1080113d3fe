/** Owns waiting under signals: nothing here leaves a listener behind. */

/** Settles as the promise does, or rejects with the signal's own reason when that comes first. */
export function raceSignal<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise<T>((resolve, reject) => {
    if (signal.aborted) {
      // The promise goes on without us; its failure is somebody else's to hear.
      promise.catch(() => undefined);
      return reject(signal.reason);
    }
    const leave = observe(promise, {
      resolve(value) {
        signal.removeEventListener("abort", onAbort);
        resolve(value);
      },
      reject(error) {
        signal.removeEventListener("abort", onAbort);
        reject(error);
      },
    });
    function onAbort(): void {
      leave();
      reject(signal?.reason as Error);
    }
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

interface Observer<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** Who waits, by promise. */
const observers = new WeakMap<Promise<unknown>, Set<Observer<never>>>();

/**
 * Hears of the promise until the returned function is called. A reaction to a promise cannot be taken back, so all
 * waits share one: short waits for something long would otherwise pile up until it settles.
 */
function observe<T>(promise: Promise<T>, observer: Observer<T>): () => void {
  const known = observers.get(promise) as Set<Observer<T>> | undefined;
  const waiting = known ?? new Set<Observer<T>>();
  waiting.add(observer);
  if (known === undefined) {
    observers.set(promise, waiting);
    const settle = (tell: (each: Observer<T>) => void): void => {
      observers.delete(promise);
      for (const each of [...waiting]) tell(each);
    };
    promise.then(
      (value) => settle((each) => each.resolve(value)),
      (error: unknown) => settle((each) => each.reject(error)),
    );
  }
  return () => void waiting.delete(observer);
}

/** A child signal of several parents, for one short piece of work. Call `release` when the work is over. */
export function linkSignals(...parents: (AbortSignal | undefined)[]): {
  signal: AbortSignal;
  abort: (reason: unknown) => void;
  release: () => void;
} {
  const controller = new AbortController();
  const undo: (() => void)[] = [];
  for (const parent of parents) {
    if (parent === undefined) continue;
    if (parent.aborted) controller.abort(parent.reason);
    const onAbort = (): void => controller.abort(parent.reason);
    parent.addEventListener("abort", onAbort, { once: true });
    undo.push(() => parent.removeEventListener("abort", onAbort));
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => undo.forEach((run) => run()),
  };
}
