/** Owns the life of a store that a provider makes: one per URL, closed once the provider is gone for good. */
import { useEffect, useRef, useState } from "react";
import type { TasksStore } from "../approvals/storeTypes.js";
import { createTasksStore, type StoreHeaders, type TasksStoreOptions } from "../approvals/tasksStore.js";

/** `headers` is read anew for each request; the others when the store is made. */
export function useOwnStore(url: string, options: TasksStoreOptions): TasksStore {
  const headers = useRef<StoreHeaders | undefined>(options.headers);
  const make = (): Held => {
    const { headers: _latest, ...rest } = options;
    const latest: StoreHeaders = () => {
      const given = headers.current ?? {};
      return typeof given === "function" ? given() : given;
    };
    return { url, store: createTasksStore(url, { ...rest, headers: latest }), closed: false };
  };
  // Strict Mode makes a second one and drops it: a store that nobody subscribes to holds nothing.
  const [held, setHeld] = useState(make);
  let current = held;
  if (held.url !== url) {
    current = make();
    setHeld(current);
  }
  const shown = useRef<Held | undefined>(undefined);
  useEffect(() => {
    headers.current = options.headers;
  });
  useEffect(() => {
    // A tree that was hidden and is shown again keeps its state, but its store was closed.
    if (current.closed) {
      setHeld(make());
      return undefined;
    }
    shown.current = current;
    return () => {
      shown.current = undefined;
      // Strict Mode takes effects down and sets them up again at once: only what stays down is the end.
      queueMicrotask(() => {
        if (shown.current === current) return;
        current.closed = true;
        current.store.close();
      });
    };
  }, [current]);
  return current.store;
}

interface Held {
  readonly url: string;
  readonly store: TasksStore;
  closed: boolean;
}
