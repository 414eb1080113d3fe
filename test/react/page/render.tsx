/** Owns rendering a scene as a server does. */
import { version } from "react";
import { renderToString } from "react-dom/server";
import type { TaskView } from "../../../src/react/index.js";
import { Scene, type SceneOptions } from "./scenes.js";
import { createScriptedStore } from "./scriptedStore.js";

export { version };

/** The scene's markup, and how many listeners it left behind. */
export function render(
  options: SceneOptions,
  tasks: readonly TaskView[],
): { readonly html: string; readonly listeners: number } {
  const store = createScriptedStore(tasks);
  const html = renderToString(<Scene {...options} store={store} count={() => undefined} />);
  return { html, listeners: store.listeners };
}
