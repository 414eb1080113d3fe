/** Owns how many things run at once: first come, first served. */

/** A limiter. `acquire` resolves to the release of a place. */
export interface Limiter {
  acquire(signal?: AbortSignal): Promise<() => void>;
  readonly active: number;
  readonly queued: number;
}

export function createLimiter(limit: number): Limiter {
  let active = 0;
  const queue: (() => void)[] = [];
  const releaseOnce = (): (() => void) => {
    let released = false;
    return () => {
      if (released) return;
      released = true;
      active -= 1;
      queue.shift()?.();
    };
  };
  return {
    get active() {
      return active;
    },
    get queued() {
      return queue.length;
    },
    acquire(signal) {
      if (signal?.aborted) return Promise.reject(signal.reason as Error);
      if (active < limit) {
        active += 1;
        return Promise.resolve(releaseOnce());
      }
      return new Promise((resolve, reject) => {
        const enter = (): void => {
          signal?.removeEventListener("abort", leave);
          active += 1;
          resolve(releaseOnce());
        };
        const leave = (): void => {
          const at = queue.indexOf(enter);
          if (at >= 0) queue.splice(at, 1);
          reject(signal?.reason as Error);
        };
        queue.push(enter);
        signal?.addEventListener("abort", leave, { once: true });
      });
    },
  };
}
