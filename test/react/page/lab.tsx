/** Owns what the page under test offers to the tests: scenes that are put up and taken down, and the store behind them. */
import { StrictMode, version } from "react";
import { createRoot, hydrateRoot, type Root } from "react-dom/client";
import type { TasksState, TaskView } from "../../../src/react/index.js";
import { flushSync } from "react-dom";
import { Scene, type SceneOptions } from "./scenes.js";
import { createScriptedStore, type ScriptedStore } from "./scriptedStore.js";

export interface MountOptions extends SceneOptions {
  readonly tasks?: readonly TaskView[];
  readonly state?: Partial<TasksState>;
  readonly strict?: boolean;
  /** Markup that a server made, to be hydrated. */
  readonly html?: string;
}

export interface Lab {
  readonly version: string;
  store: ScriptedStore;
  renders: Record<string, number>;
  problems: string[];
  mount(options: MountOptions): void;
  unmount(): void;
}

declare global {
  interface Window {
    lab: Lab;
  }
}

let root: Root | undefined;
const lab: Lab = {
  version,
  store: createScriptedStore([]),
  renders: {},
  problems: [],
  mount(options) {
    lab.unmount();
    lab.renders = {};
    lab.problems = [];
    lab.store = createScriptedStore(options.tasks ?? [], options.state);
    const tree = <Scene {...options} store={lab.store} count={count} />;
    const node = options.strict === true ? <StrictMode>{tree}</StrictMode> : tree;
    const main = document.querySelector("main");
    if (main === null) throw new Error("no main");
    if (options.html === undefined) {
      const made = createRoot(main);
      // At once: what a test does next must find the scene as it was at first.
      flushSync(() => made.render(node));
      root = made;
      return;
    }
    main.innerHTML = options.html;
    root = hydrateRoot(main, node, {
      onRecoverableError: (error) => lab.problems.push(String(error)),
    });
  },
  unmount() {
    root?.unmount();
    root = undefined;
  },
};

function count(name: string): void {
  lab.renders[name] = (lab.renders[name] ?? 0) + 1;
}

// React tells of hydration mismatches and of missing keys here.
const tell = console.error;
console.error = (...texts: unknown[]) => {
  lab.problems.push(texts.map(String).join(" "));
  tell(...texts);
};

window.lab = lab;
