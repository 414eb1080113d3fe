/** Owns the hook of one task: its state as it changes, its result once it is completed, and the wish to cancel it. */
import { useCallback, useEffect, useState } from "react";
import type { JsonObject } from "../internal/json.js";
import type { CancelOutcome } from "../approvals/storeTypes.js";
import type { TaskDetailView, TaskView } from "../approvals/wire.js";
import { useTasksContext } from "./context.js";
import { useSelection } from "./selection.js";

/** What is loaded. */
export interface UseTaskOptions {
  /** False: the result stays where it is, and so does a task beyond those that the host sends. Default true. */
  readonly result?: boolean;
}

/** A task as `useTask` shows it. */
export interface UseTask {
  /** Undefined: not loaded yet, or (see `missing`) not kept. */
  readonly task: TaskView | undefined;
  /** The tool's result (a `CallToolResult`), loaded once the call is completed. */
  readonly result: JsonObject | undefined;
  /** True while the result, or a task beyond those that the host sends, is on its way. */
  readonly loading: boolean;
  /** Why the last load failed; it is tried again when the connection comes back, or by `reload`. */
  readonly error: Error | undefined;
  /** True when the host is known to keep no such task. */
  readonly missing: boolean;
  readonly cancel: () => Promise<CancelOutcome>;
  readonly reload: () => void;
}

interface Loaded {
  readonly id: string;
  readonly detail?: TaskDetailView;
  readonly error?: Error;
}

/** One task by its local id. Its state is live; its result is loaded once, when the call is completed. */
export function useTask(id: string, { result: wantsResult = true }: UseTaskOptions = {}): UseTask {
  const { store } = useTasksContext();
  const task = useSelection(
    ({ tasks }) => tasks.find((one) => one.id === id),
    (a, b) => a === b,
    [id],
  );
  const standing = useSelection(
    ({ loaded, truncated, connection }) =>
      `${loaded} ${truncated} ${connection === "live"} ${connection === "refused"}`,
    (a, b) => a === b,
    [],
  );
  const [loaded, truncated, live, refused] = standing.split(" ").map((word) => word === "true");
  const [attempt, setAttempt] = useState(0);
  const [held, setHeld] = useState<Loaded>({ id });
  // As the store: a result that was loaded is not for whoever sits there now.
  if (refused === true && held.detail !== undefined) setHeld({ id });
  const mine = held.id === id ? held : { id };
  const beyond = task === undefined && loaded === true && truncated === true;
  const wanted = wantsResult && (task?.outcome?.status === "completed" || beyond);
  const pending = wanted && mine.detail === undefined;

  useEffect(() => {
    if (!pending) return undefined;
    const stop = new AbortController();
    store.load(id, { signal: stop.signal }).then(
      (detail) => {
        if (!stop.signal.aborted) setHeld({ id, detail });
      },
      (error: unknown) => {
        if (!stop.signal.aborted) setHeld({ id, error: asError(error) });
      },
    );
    return () => stop.abort();
    // A connection that came back is a reason to try again.
  }, [store, id, pending, attempt, live]);

  const cancel = useCallback(() => store.cancel(id), [store, id]);
  const reload = useCallback(() => {
    setHeld({ id });
    setAttempt((count) => count + 1);
  }, [id]);
  return {
    task: task ?? (beyond ? mine.detail : undefined),
    result: mine.detail?.result,
    loading: loaded !== true || (pending && mine.error === undefined),
    error: mine.error,
    missing: task === undefined && loaded === true && (truncated !== true || mine.error !== undefined),
    cancel,
    reload,
  };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error("the host did not answer", { cause: error });
}
