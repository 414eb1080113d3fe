/** Owns the keys of a terminal while the demo runs: nothing is echoed into the view, y and n answer, Ctrl+C ends. */

/** The person at the keyboard. */
export interface Keyboard {
  /** Waits for y or n; undefined when the signal aborts first. Keys pressed earlier do not count. */
  yesOrNo(signal: AbortSignal): Promise<boolean | undefined>;
  /** Gives the terminal back. Harmless to repeat. */
  close(): void;
}

const CTRL_C = "\u0003";
const ANSWERS: Readonly<Record<string, boolean>> = { y: true, n: false };

export function openKeyboard(input: NodeJS.ReadStream, onInterrupt: () => void): Keyboard {
  let waiting: ((answer: boolean) => void) | undefined;
  const onKeys = (keys: string): void => {
    for (const key of keys) {
      if (key === CTRL_C) return onInterrupt();
      const answer = ANSWERS[key.toLowerCase()];
      if (answer !== undefined) waiting?.(answer);
    }
  };
  input.setEncoding("utf8").setRawMode(true).on("data", onKeys).resume();
  return {
    yesOrNo: (signal) =>
      new Promise((resolve) => {
        const done = (answer: boolean | undefined): void => {
          waiting = undefined;
          signal.removeEventListener("abort", onAbort);
          resolve(answer);
        };
        const onAbort = (): void => done(undefined);
        if (signal.aborted) return done(undefined);
        signal.addEventListener("abort", onAbort, { once: true });
        waiting = done;
      }),
    close() {
      input.off("data", onKeys).setRawMode(false).pause();
    },
  };
}
