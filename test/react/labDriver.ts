/** Owns driving the lab of an open page from a test: what is mounted, what the host says, what was asked of it. */
import type { Locator, Page } from "playwright-core";
import type { AnswerOutcome, CancelOutcome, TasksState } from "../../src/approvals/storeTypes.js";
import type { TaskDetailView, TaskView } from "../../src/approvals/wire.js";
import type { MountOptions } from "./page/lab.js";
import type { Asked } from "./page/scriptedStore.js";

export interface LabDriver {
  /** Mounts a scene (by default a card that stays) and answers the first card, once it is there. */
  mount(options: Partial<MountOptions>): Promise<Locator>;
  unmount(): Promise<void>;
  asked(): Promise<readonly Asked[]>;
  settle(outcome: AnswerOutcome | CancelOutcome): Promise<void>;
  put(task: TaskView): Promise<void>;
  remove(id: string): Promise<void>;
  set(changes: Partial<TasksState>): Promise<void>;
  detail(task: TaskDetailView | undefined): Promise<void>;
  listeners(): Promise<number>;
  renders(): Promise<Readonly<Record<string, number>>>;
  /** What React complained of since the mount. */
  problems(): Promise<readonly string[]>;
}

/** All arguments travel as JSON text. */
export function drive(page: Page): LabDriver {
  return {
    async mount(options) {
      await page.evaluate(
        (text) => window.lab.mount(JSON.parse(text) as MountOptions),
        JSON.stringify({ scene: "card", ...options }),
      );
      return page.locator(".taskrail-card").first();
    },
    unmount: () => page.evaluate(() => window.lab.unmount()),
    asked: async () =>
      JSON.parse(await page.evaluate(() => JSON.stringify(window.lab.store.asked))) as Asked[],
    settle: (outcome) =>
      page.evaluate(
        (text) => window.lab.store.settle(JSON.parse(text) as AnswerOutcome),
        JSON.stringify(outcome),
      ),
    put: (task) =>
      page.evaluate((text) => window.lab.store.put(JSON.parse(text) as TaskView), JSON.stringify(task)),
    remove: (id) => page.evaluate((one) => window.lab.store.remove(one), id),
    set: (changes) =>
      page.evaluate(
        (text) => window.lab.store.set(JSON.parse(text) as Partial<TasksState>),
        JSON.stringify(changes),
      ),
    detail: (task) =>
      page.evaluate(
        (text) => {
          window.lab.store.detail = text === undefined ? undefined : (JSON.parse(text) as TaskDetailView);
        },
        task && JSON.stringify(task),
      ),
    listeners: () => page.evaluate(() => window.lab.store.listeners),
    renders: () => page.evaluate(() => window.lab.renders),
    problems: () => page.evaluate(() => window.lab.problems),
  };
}

/** True while the element has the focus. */
export function hasFocus(element: Locator): Promise<boolean> {
  return element.evaluate((node) => node === document.activeElement);
}
