/** Owns a store whose host is the test itself: it shows what it is told, and keeps answers until the test says what becomes of them. */
import type {
  AnswerOutcome,
  CancelOutcome,
  TasksState,
  TasksStore,
} from "../../../src/approvals/storeTypes.js";
import type { TaskDetailView, TaskView } from "../../../src/approvals/wire.js";
import type { JsonObject } from "../../../src/internal/json.js";

/** What somebody wanted of the host. */
export interface Asked {
  readonly what: "answer" | "cancel" | "load";
  readonly id: string;
  readonly key?: string;
  readonly version?: string;
  readonly response?: JsonObject;
}

export interface ScriptedStore extends TasksStore {
  readonly asked: readonly Asked[];
  /** How many listen now. */
  readonly listeners: number;
  /** The most that ever listened, and how often it was closed. */
  readonly closed: number;
  set(changes: Partial<TasksState>): void;
  put(task: TaskView): void;
  remove(id: string): void;
  /** Settles the oldest answer or cancel that waits. */
  settle(outcome: AnswerOutcome | CancelOutcome): void;
  /** What `load` answers; undefined: it fails. */
  detail: TaskDetailView | undefined;
}

export function createScriptedStore(
  tasks: readonly TaskView[],
  changes: Partial<TasksState> = {},
): ScriptedStore {
  const first: TasksState = {
    connection: "live",
    tasks,
    truncated: false,
    clockOffsetMs: 0,
    loaded: true,
    ...changes,
  };
  let state = first;
  const listeners = new Set<{ readonly run: () => void }>();
  const asked: Asked[] = [];
  const waiting: ((outcome: never) => void)[] = [];
  let closed = 0;
  const set = (next: Partial<TasksState>): void => {
    state = { ...state, ...next };
    for (const { run } of [...listeners]) run();
  };
  const later = <T>(request: Asked): Promise<T> => {
    asked.push(request);
    return new Promise<T>((resolve) => waiting.push(resolve));
  };
  const store: ScriptedStore = {
    asked,
    detail: undefined,
    get listeners() {
      return listeners.size;
    },
    get closed() {
      return closed;
    },
    subscribe(run) {
      const entry = { run };
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
    getSnapshot: () => state,
    getServerSnapshot: () => first,
    answer: (id, key, response, { version } = {}) =>
      later({ what: "answer", id, key, ...(version === undefined ? {} : { version }), response }),
    cancel: (id) => later({ what: "cancel", id }),
    load(id) {
      asked.push({ what: "load", id });
      return store.detail === undefined ? Promise.reject(new Error("no")) : Promise.resolve(store.detail);
    },
    refresh: () => undefined,
    close: () => void (closed += 1),
    set,
    put(task) {
      const known = state.tasks.some((one) => one.id === task.id);
      set({
        tasks: known ? state.tasks.map((one) => (one.id === task.id ? task : one)) : [...state.tasks, task],
      });
    },
    remove: (id) => set({ tasks: state.tasks.filter((one) => one.id !== id) }),
    settle(outcome) {
      const resolve = waiting.shift();
      if (resolve === undefined) throw new Error("nothing waits");
      resolve(outcome as never);
    },
  };
  return store;
}
