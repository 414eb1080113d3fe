/** Owns the list that a page shows: what events make of it, with unchanged calls staying the same objects. Pure but for what was answered here. */
import { isObject, type JsonObject } from "../internal/json.js";
import { inOrder } from "./taskOrder.js";
import type { AnswerView, TaskView } from "./wire.js";

/** The calls of a page. */
export interface PageTasks {
  /** In order. The same array while nothing changed. */
  readonly list: readonly TaskView[];
  /** Everything there is; what is not among it is gone. */
  replace(tasks: readonly unknown[], nowMs: number): void;
  put(task: unknown, nowMs: number): void;
  remove(id: string): void;
  /** The question has its answer: it is not shown again by an event that was sent before. */
  answered(id: string, key: string, answer: AnswerView | undefined, nowMs: number): void;
  cancelAsked(id: string): void;
  find(id: string): TaskView | undefined;
}

/** An event that was on its way while a question was answered comes within this; later ones are to be believed. */
const STALE_MS = 10_000;

export function createPageTasks(initial: readonly unknown[]): PageTasks {
  let byId = new Map<string, TaskView>();
  let list: readonly TaskView[] = [];
  /** Questions that were answered here and may still be shown as open by an older event; until when that is so. */
  const closed = new Map<string, number>();

  function set(next: Map<string, TaskView>): void {
    const same = next.size === byId.size && [...next].every(([id, task]) => byId.get(id) === task);
    byId = next;
    if (same) return;
    list = [...byId.values()].sort(inOrder);
  }

  /** The call as it is to be shown: the object that is there, where nothing about it changed. */
  function taken(task: TaskView, nowMs: number): TaskView {
    const inputs = task.inputs.filter(({ key }) => {
      const untilMs = closed.get(question(task.id, key));
      return untilMs === undefined || untilMs <= nowMs;
    });
    const shown = inputs.length === task.inputs.length ? task : { ...task, inputs };
    const before = byId.get(task.id);
    return before !== undefined && JSON.stringify(before) === JSON.stringify(shown) ? before : shown;
  }

  function change(id: string, how: (task: TaskView) => TaskView): void {
    const task = byId.get(id);
    if (task !== undefined) set(new Map(byId).set(id, how(task)));
  }

  function replace(tasks: readonly unknown[], nowMs: number): void {
    set(new Map(tasks.filter(isTask).map((task) => [task.id, taken(task, nowMs)])));
  }

  replace(initial, 0);
  return {
    get list() {
      return list;
    },
    replace,
    put(task, nowMs) {
      if (isTask(task)) set(new Map(byId).set(task.id, taken(task, nowMs)));
    },
    remove(id) {
      const next = new Map(byId);
      if (next.delete(id)) set(next);
    },
    answered(id, key, answer, nowMs) {
      for (const [each, untilMs] of closed) if (untilMs <= nowMs) closed.delete(each);
      closed.set(question(id, key), nowMs + STALE_MS);
      change(id, (task) => {
        const isKnown = answer === undefined || task.answers.some((known) => known.key === key);
        const inputs = task.inputs.filter((input) => input.key !== key);
        if (isKnown && inputs.length === task.inputs.length) return task;
        return { ...task, inputs, answers: isKnown ? task.answers : [...task.answers, answer] };
      });
    },
    cancelAsked(id) {
      change(id, (task) => (task.cancelRequested ? task : { ...task, cancelRequested: true }));
    },
    find: (id) => byId.get(id),
  };
}

/** A question of a call, as the key of a map. */
export function question(id: string, key: string): string {
  return JSON.stringify([id, key]);
}

/** The little that everything here relies on; the host is ours, but a proxy may not be. */
export function isTask(value: unknown): value is TaskView {
  if (!isObject(value)) return false;
  const { id, createdAt, inputs, answers } = value as JsonObject;
  return (
    typeof id === "string" && typeof createdAt === "string" && Array.isArray(inputs) && Array.isArray(answers)
  );
}
