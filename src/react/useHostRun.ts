/** Owns one run of the host's own code (its model, its folders): started by the person, stopped by them or with the card. */
import { useCallback, useEffect, useRef, useState } from "react";
import { isObject, type JsonObject } from "../internal/json.js";

export type HostRunState =
  { readonly kind: "idle" | "running" | "failed" } | { readonly kind: "done"; readonly result: JsonObject };

export function useHostRun(run: ((signal: AbortSignal) => Promise<JsonObject>) | undefined): {
  readonly state: HostRunState;
  readonly start: () => void;
  readonly stop: () => void;
} {
  const [state, setState] = useState<HostRunState>({ kind: "idle" });
  const running = useRef<AbortController | undefined>(undefined);
  const end = useCallback(() => {
    running.current?.abort();
    running.current = undefined;
  }, []);
  useEffect(() => end, [end]);

  const start = (): void => {
    if (run === undefined) return;
    end();
    const control = new AbortController();
    running.current = control;
    setState({ kind: "running" });
    const settle = (next: HostRunState): void => {
      // One that was stopped or replaced has no say any more.
      if (running.current !== control) return;
      running.current = undefined;
      setState(next);
    };
    // Host code may also throw at once.
    Promise.resolve()
      .then(() => run(control.signal))
      .then(
        (result) => settle(isObject(result) ? { kind: "done", result } : { kind: "failed" }),
        () => settle({ kind: "failed" }),
      );
  };
  const stop = useCallback(() => {
    end();
    setState({ kind: "idle" });
  }, [end]);
  return { state, start, stop };
}
