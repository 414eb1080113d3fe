/** Owns the list that a page shows: what events make of it, with unchanged calls staying the same objects. Pure but for what was answered here. */
import { readTask } from "./readView.js";
import { question } from "./taskFilter.js";
import { inOrder } from "./taskOrder.js";
import type { AnswerView, InputView, TaskView } from "./wire.js";

/** The calls of a page. */
export interface PageTasks {
  /** In order. The same array while nothing changed. */
  readonly list: readonly TaskView[];
  /** Everything there is; what is not among it is gone. */
  replace(tasks: readonly unknown[], nowMs: number): void;
  /** False: it is no call, and nothing changed. */
  put(task: unknown, nowMs: number): boolean;
  remove(id: string): void;
  /** The question has its answer: it is not shown again by an event that was sent before. Another version of it is. */
  answered(id: string, asked: Asked, answer: AnswerView | undefined, nowMs: number): void;
  cancelAsked(id: string): void;
  find(id: string): TaskView | undefined;
}

/** What tells a question from the others of its call. */
export type Asked = Pick<InputView, "key" | "version">;

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
    const inputs = task.inputs.filter((input) => {
      const untilMs = closed.get(question(task.id, input));
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
    const read = tasks.map(readTask).filter((task) => task !== undefined);
    set(new Map(read.map((task) => [task.id, taken(task, nowMs)])));
  }

  replace(initial, 0);
  return {
    get list() {
      return list;
    },
    replace,
    put(value, nowMs) {
      const task = readTask(value);
      if (task === undefined) return false;
      set(new Map(byId).set(task.id, taken(task, nowMs)));
      return true;
    },
    remove(id) {
      const next = new Map(byId);
      if (next.delete(id)) set(next);
    },
    answered(id, asked, answer, nowMs) {
      for (const [each, untilMs] of closed) if (untilMs <= nowMs) closed.delete(each);
      closed.set(question(id, asked), nowMs + STALE_MS);
      change(id, (task) => {
        const inputs = task.inputs.filter(
          (input) => input.key !== asked.key || input.version !== asked.version,
        );
        // The stream may have told of the answer before: then the question has gone with it.
        const isNews = answer !== undefined && inputs.length < task.inputs.length;
        if (inputs.length === task.inputs.length) return task;
        return { ...task, inputs, answers: isNews ? [...task.answers, answer] : task.answers };
      });
    },
    cancelAsked(id) {
      change(id, (task) => (task.cancelRequested ? task : { ...task, cancelRequested: true }));
    },
    find: (id) => byId.get(id),
  };
}
