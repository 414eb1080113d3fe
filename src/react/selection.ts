/**
 * Owns reading a part of the store's state so that it stays the same value while nothing of it changed: a component
 * renders again only for its own part, and selectors written inline cannot loop.
 */
import { useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import type { TasksState } from "../approvals/storeTypes.js";
import { useTasksContext } from "./context.js";

/** `select` is run anew when `deps` changed; `same` decides whether the value before stays. */
export function useSelection<T>(
  select: (state: TasksState) => T,
  same: (a: T, b: T) => boolean,
  deps: readonly unknown[],
): T {
  const { store } = useTasksContext();
  // What was last shown, so that a new selector that selects the same keeps it.
  const shown = useRef<{ readonly value: T } | undefined>(undefined);
  const [subscribe, read, readOnServer] = useMemo(() => {
    let seen: { readonly state: TasksState; readonly value: T } | undefined;
    const selectFrom = (state: TasksState): T => {
      if (seen?.state === state) return seen.value;
      const next = select(state);
      const before = seen ?? shown.current;
      const value = before !== undefined && same(before.value, next) ? before.value : next;
      seen = { state, value };
      return value;
    };
    return [
      (listener: () => void) => store.subscribe(listener),
      () => selectFrom(store.getSnapshot()),
      () => selectFrom(store.getServerSnapshot()),
    ] as const;
    // The selector is a new function in each render; `deps` say when it selects something else.
  }, [store, ...deps]);
  const value = useSyncExternalStore(subscribe, read, readOnServer);
  useEffect(() => {
    shown.current = { value };
  }, [value]);
  return value;
}

/** True when both lists have the same members in the same order. */
export function sameMembers<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((member, index) => member === b[index]);
}
