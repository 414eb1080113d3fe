/** Owns handing values from a producer to one reader, in order and in bounded memory. */

/** A queue with one reader. */
export interface AsyncQueue<T> extends AsyncIterable<T> {
  push(value: T): void;
  /** The reader gets what is queued, then the end. */
  end(): void;
  /** The reader gets what is queued, then the error. */
  fail(error: unknown): void;
}

/**
 * Keeps at most `limit` values for a reader that does not keep up; then the oldest go, since newer ones tell more.
 * `onReturn` runs once, when the reader stops or the queue is through.
 */
export function createAsyncQueue<T>(limit: number, onReturn: () => void = () => undefined): AsyncQueue<T> {
  const values: T[] = [];
  /** Who asked for values that are not there yet: more than one when a reader does not wait for its own `next()`. */
  const waiting: { resolve: (step: IteratorResult<T>) => void; reject: (error: unknown) => void }[] = [];
  let done: { error?: unknown } | undefined;
  let returned = false;

  const finish = (): void => {
    if (returned) return;
    returned = true;
    onReturn();
  };
  const close = (state: { error?: unknown }): void => {
    if (done !== undefined) return;
    done = state;
    const [first, ...others] = waiting.splice(0);
    if (first === undefined) return;
    finish();
    // Told once: whoever asks again is at the end.
    done = {};
    if ("error" in state) first.reject(state.error);
    else first.resolve({ done: true, value: undefined });
    for (const { resolve } of others) resolve({ done: true, value: undefined });
  };
  const iterator: AsyncIterator<T> = {
    next() {
      if (values.length > 0) return Promise.resolve({ done: false, value: values.shift() as T });
      if (done !== undefined) {
        finish();
        const state = done;
        // An error is told once; whoever asks again is at the end.
        done = {};
        return "error" in state
          ? Promise.reject(state.error)
          : Promise.resolve({ done: true, value: undefined });
      }
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
      });
    },
    return() {
      close({});
      values.length = 0;
      finish();
      return Promise.resolve({ done: true, value: undefined });
    },
  };
  return {
    push(value) {
      if (done !== undefined) return;
      const first = waiting.shift();
      if (first !== undefined) return first.resolve({ done: false, value });
      values.push(value);
      if (values.length > limit) values.shift();
    },
    end: () => close({}),
    fail: (error) => close({ error }),
    [Symbol.asyncIterator]: () => iterator,
  };
}
