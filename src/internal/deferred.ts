/** Owns a promise that is settled from outside, and whose rejection is never "unhandled". */

/** A promise with its handles. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly settled: boolean;
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** Only the first `resolve` or `reject` counts. */
export function createDeferred<T>(): Deferred<T> {
  let settled = false;
  let doResolve!: (value: T) => void;
  let doReject!: (error: unknown) => void;
  const promise = new Promise<T>((resolve, reject) => {
    doResolve = resolve;
    doReject = reject;
  });
  // Nobody may be waiting, and that is fine: whoever waits hears of it through `promise`.
  promise.catch(() => undefined);
  return {
    promise,
    get settled() {
      return settled;
    },
    resolve(value) {
      settled = true;
      doResolve(value);
    },
    reject(error) {
      settled = true;
      doReject(error);
    },
  };
}
