/** Owns running what a host handed in: whatever it does, the runtime goes on. It knows no domain words. */

/**
 * Runs a host's callback. What it throws, or (where it is async) rejects with, goes to `onThrow`, which must not throw
 * itself. Nobody waits for an async one.
 */
export function runGuarded(run: () => unknown, onThrow: (error: unknown) => void): void {
  try {
    const answer = run();
    if (isThenable(answer)) answer.then(undefined, onThrow);
  } catch (error) {
    onThrow(error);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
